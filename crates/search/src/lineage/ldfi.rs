//! Plain lineage-driven fault injection, to compare with.
//!
//! Owns the order of probes: minimal hitting sets of the paths known when they
//! were computed, all of them run, also those that a later path rules out; k
//! grows when all of one size have been run.

use std::collections::VecDeque;

use murphy_hitting::Set;

use super::evidence::Evidence;
use super::fastfi::formula;
use super::{Decision, Procedure, is_new};

pub(super) struct Ldfi {
    most_faults: usize,
    size: usize,
    waiting: VecDeque<Set>,
}

impl Ldfi {
    pub(super) fn new(most_faults: Option<usize>) -> Self {
        Ldfi {
            most_faults: most_faults.unwrap_or(usize::MAX),
            size: 1,
            waiting: VecDeque::new(),
        }
    }
}

impl Procedure for Ldfi {
    fn decide(&mut self, evidence: &Evidence) -> Option<Decision> {
        loop {
            while let Some(set) = self.waiting.pop_front() {
                if is_new(&set, evidence) {
                    return Some(Decision::probe(set));
                }
            }
            let solutions = formula(evidence)?;
            let solutions = solutions.minimal().at_most(self.size);
            self.waiting = solutions.filter(|set| is_new(set, evidence)).collect();
            if self.waiting.is_empty() {
                if self.size >= self.most_faults.min(evidence.elements.spots().len()) {
                    return None;
                }
                self.size += 1;
            }
        }
    }
}

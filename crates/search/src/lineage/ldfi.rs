//! Plain lineage-driven fault injection, to compare with.
//!
//! Owns the order of probes: minimal hitting sets of the paths known when they
//! were computed, all of them run, also those that a later path rules out; k
//! grows when all of one size have been run.

use std::collections::VecDeque;

use murphy_hitting::Set;

use super::evidence::Evidence;
use super::fastfi::Paths;
use super::{Decision, Procedure, is_new};

/// Solutions that wait at most; there can be millions, each of which would be
/// run.
const MOST_WAITING: usize = 10_000;

pub(super) struct Ldfi {
    most_faults: usize,
    size: usize,
    waiting: VecDeque<Set>,
    paths: Paths,
}

impl Ldfi {
    pub(super) fn new(most_faults: Option<usize>) -> Self {
        Ldfi {
            most_faults: most_faults.unwrap_or(usize::MAX),
            size: 1,
            waiting: VecDeque::new(),
            paths: Paths::default(),
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
            self.paths.update(evidence)?;
            let solutions = self.paths.formula.minimal().at_most(self.size);
            let new = solutions.filter(|set| is_new(set, evidence));
            self.waiting = new.take(MOST_WAITING).collect();
            if self.waiting.is_empty() {
                if self.size >= self.most_faults.min(evidence.elements.spots().len()) {
                    return None;
                }
                self.size += 1;
            }
        }
    }
}

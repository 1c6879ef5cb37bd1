//! FastFI's published procedure (its algorithm 2), to compare with.
//!
//! Owns the order of probes as printed there: minimal hitting sets of the
//! paths, of at most k faults; a new path throws the waiting ones away; k
//! grows only when a new path leaves none. That loses what is larger whenever
//! the sets of one size end with a failure. The solver is ours, which is
//! complete; the published one loses minimal sets beyond that.

use murphy_hitting::{Formula, Set};

use super::evidence::Evidence;
use super::{Decision, Procedure, is_new};

pub(super) struct FastFi {
    most_faults: usize,
    size: usize,
    waiting: Vec<Set>,
    paths: usize,
}

impl FastFi {
    pub(super) fn new(most_faults: Option<usize>) -> Self {
        FastFi {
            most_faults: most_faults.unwrap_or(usize::MAX),
            size: 1,
            waiting: Vec::new(),
            paths: 0,
        }
    }

    fn solve(&mut self, formula: &Formula) {
        self.waiting = formula.minimal().at_most(self.size).collect();
    }
}

impl Procedure for FastFi {
    fn decide(&mut self, evidence: &Evidence) -> Option<Decision> {
        let paths = evidence.paths().count();
        if paths > self.paths {
            let is_first = self.paths == 0;
            self.paths = paths;
            let formula = formula(evidence)?;
            self.solve(&formula);
            if !is_first && self.waiting.is_empty() && self.size < self.most_faults {
                self.size += 1;
                self.solve(&formula);
            }
        }
        while let Some(set) = self.waiting.pop() {
            if is_new(&set, evidence) {
                return Some(Decision::probe(set));
            }
        }
        None
    }
}

/// The paths as clauses; `None` if one of them needs nothing, so that no set
/// of faults can fail.
pub(super) fn formula(evidence: &Evidence) -> Option<Formula> {
    let mut formula = Formula::new();
    for path in evidence.paths() {
        formula.add(path.clone()).ok()?;
    }
    Some(formula)
}

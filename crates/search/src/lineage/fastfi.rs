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

/// Solutions computed at once.
const AT_ONCE: usize = 256;

pub(super) struct FastFi {
    most_faults: usize,
    size: usize,
    waiting: Vec<Set>,
    paths: Paths,
}

impl FastFi {
    pub(super) fn new(most_faults: Option<usize>) -> Self {
        FastFi {
            most_faults: most_faults.unwrap_or(usize::MAX),
            size: 1,
            waiting: Vec::new(),
            paths: Paths::default(),
        }
    }

    /// Solves anew; the published solver lists all solutions, of which there
    /// can be millions, where the next few do.
    fn solve(&mut self, evidence: &Evidence) {
        let solutions = self.paths.formula.minimal().at_most(self.size);
        let new = solutions.filter(|set| is_new(set, evidence));
        self.waiting = new.take(AT_ONCE).collect();
    }
}

impl Procedure for FastFi {
    fn decide(&mut self, evidence: &Evidence) -> Option<Decision> {
        let is_first = self.paths.taken_in == 0;
        if self.paths.update(evidence)? {
            self.solve(evidence);
            if !is_first && self.waiting.is_empty() && self.size < self.most_faults {
                self.size += 1;
                self.solve(evidence);
            }
        }
        loop {
            while let Some(set) = self.waiting.pop() {
                if is_new(&set, evidence) {
                    return Some(Decision::probe(set));
                }
            }
            self.solve(evidence);
            if self.waiting.is_empty() {
                return None;
            }
        }
    }
}

/// The paths seen so far, as clauses.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) formula: Formula,
    taken_in: usize,
}

impl Paths {
    /// Takes in what is new; says whether anything is. `None` if a path needs
    /// nothing, so that no set of faults can fail.
    pub(super) fn update(&mut self, evidence: &Evidence) -> Option<bool> {
        let before = self.taken_in;
        for path in evidence.paths().skip(before) {
            self.taken_in += 1;
            self.formula.add(path.clone()).ok()?;
        }
        Some(self.taken_in > before)
    }
}

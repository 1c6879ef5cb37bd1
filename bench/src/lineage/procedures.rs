//! The published procedures that look for failing combinations, to compare
//! with: FastFI's algorithm 2, and plain lineage-driven fault injection.
//!
//! Owns which set of calls each of them makes fail next. Both try minimal
//! hitting sets of the paths, a *path* being the calls that went well in an
//! execution that succeeded. The solver is ours, which is complete; the
//! published one loses minimal sets beyond what the procedures lose.

use std::collections::{HashMap, HashSet, VecDeque};

use murphy_hitting::{Formula, Set};
use murphy_model::{Execution, Fault, Faultload, Mode, Point};

/// Solutions that FastFI computes at once. The published solver lists all, of
/// which there can be millions, where the next few do.
const AT_ONCE: usize = 256;

/// Solutions that wait at most in LDFI; there can be millions, each of which
/// would be run.
const MOST_WAITING: usize = 10_000;

/// A published procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// A new path throws the waiting sets away; sizes grow only when a new
    /// path leaves none. That loses what is larger whenever the sets of one
    /// size end with a failure.
    FastFi,
    /// All sets of a size are run, also those that a later path rules out;
    /// then sizes grow.
    Ldfi,
}

/// A search by a published procedure, and what it has seen.
pub struct Search {
    procedure: Procedure,
    most_faults: usize,
    size: usize,
    waiting: VecDeque<Set>,
    points: Vec<Point>,
    numbers: HashMap<Point, usize>,
    paths: Formula,
    has_new_path: bool,
    run: HashSet<Set>,
    failures: Vec<Set>,
}

impl Search {
    /// Runs a procedure to its end, or until there were `most_cases`
    /// executions. Every call can fail with a 503, at most `most_faults` at
    /// once.
    pub fn run(
        procedure: Procedure,
        most_faults: usize,
        most_cases: usize,
        mut execute: impl FnMut(&Faultload) -> Execution,
    ) -> Self {
        let mut search = Search {
            procedure,
            most_faults,
            size: 1,
            waiting: VecDeque::new(),
            points: Vec::new(),
            numbers: HashMap::new(),
            paths: Formula::default(),
            has_new_path: false,
            run: HashSet::new(),
            failures: Vec::new(),
        };
        let mut next = Some(Set::new());
        while let Some(set) = next.filter(|_| search.run.len() < most_cases) {
            let execution = execute(&search.faultload(&set));
            search.learn(set, &execution);
            next = search.next();
        }
        search
    }

    /// The executions made, the one without faults included.
    pub fn explored(&self) -> usize {
        self.run.len()
    }

    /// The combinations that failed and hold no smaller one that did.
    pub fn minimal(&self) -> impl Iterator<Item = Faultload> {
        let holds = |set: &Set, other: &Set| other != set && other.is_subset(set);
        let is_minimal = move |set: &&Set| !self.failures.iter().any(|other| holds(set, other));
        let minimal = self.failures.iter().filter(is_minimal);
        minimal.map(|set| self.faultload(set))
    }

    fn faultload(&self, set: &Set) -> Faultload {
        let fault = |at: usize| Fault::at(self.points[at].clone(), Mode::status(503));
        Faultload::new(set.iter().map(fault)).expect("every point fails in one way")
    }

    fn learn(&mut self, planned: Set, execution: &Execution) {
        self.run.insert(planned);
        let (mut path, mut injected) = (Set::new(), Set::new());
        for call in execution.trace.calls() {
            // The scenario's own request never fails.
            if call.parent.is_none() {
                continue;
            }
            let number = self.number(&call.point);
            if call.injected.is_some() {
                injected.insert(number);
            } else if call.reply.is_some_and(|reply| reply.is_ok()) {
                path.insert(number);
            }
        }
        if execution.verdict.is_failure() {
            self.failures.push(injected);
        } else {
            path.subtract(&injected);
            let added = self.paths.add(path);
            added.expect("no request here succeeds without a call");
            self.has_new_path = true;
        }
    }

    fn number(&mut self, point: &Point) -> usize {
        let fresh = self.points.len();
        let number = *self.numbers.entry(point.clone()).or_insert(fresh);
        if number == fresh {
            self.points.push(point.clone());
        }
        number
    }

    fn next(&mut self) -> Option<Set> {
        match self.procedure {
            Procedure::FastFi => self.next_of_fastfi(),
            Procedure::Ldfi => self.next_of_ldfi(),
        }
    }

    fn next_of_fastfi(&mut self) -> Option<Set> {
        if std::mem::take(&mut self.has_new_path) {
            self.solve(AT_ONCE);
            let is_first = self.run.len() == 1;
            if !is_first && self.waiting.is_empty() && self.size < self.most_faults {
                self.size += 1;
                self.solve(AT_ONCE);
            }
        }
        loop {
            while let Some(set) = self.waiting.pop_back() {
                if self.is_new(&set) {
                    return Some(set);
                }
            }
            self.solve(AT_ONCE);
            if self.waiting.is_empty() {
                return None;
            }
        }
    }

    fn next_of_ldfi(&mut self) -> Option<Set> {
        loop {
            while let Some(set) = self.waiting.pop_front() {
                if self.is_new(&set) {
                    return Some(set);
                }
            }
            self.solve(MOST_WAITING);
            if self.waiting.is_empty() {
                if self.size >= self.most_faults.min(self.points.len()) {
                    return None;
                }
                self.size += 1;
            }
        }
    }

    /// Takes the next solutions of the present size in place of those waiting.
    fn solve(&mut self, most: usize) {
        let solutions = self.paths.minimal().at_most(self.size);
        let new = solutions.filter(|set| self.is_new(set));
        self.waiting = new.take(most).collect();
    }

    /// Whether a set was not run and holds none that failed.
    fn is_new(&self, set: &Set) -> bool {
        !self.run.contains(set) && !self.failures.iter().any(|failed| failed.is_subset(set))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use murphy_corpus::{Simulator, find};
    use murphy_search::{Lineage, Modes, Options, explore};

    use super::*;

    fn replicas() -> Simulator {
        let app = find("replicas").unwrap();
        let settings = app.settings_from_text("apis=4 replicas=3").unwrap();
        Simulator::new(app, settings)
    }

    #[test]
    fn both_find_the_same_as_the_product_with_more_executions() {
        let mut options = Options::new(Modes::Same(vec![Mode::status(503)]));
        options.max_faults = Some(3);
        let mut system = replicas();
        let certificate = explore(&mut Lineage::new(options), 1, |f| system.run(f));
        let all: BTreeSet<Faultload> = certificate.minimal.unwrap().into_iter().collect();
        for procedure in [Procedure::FastFi, Procedure::Ldfi] {
            let mut system = replicas();
            let search = Search::run(procedure, 3, usize::MAX, |f| system.run(f));
            assert_eq!(search.minimal().collect::<BTreeSet<_>>(), all);
            assert!(search.explored() > certificate.explored, "{procedure:?}");
        }
    }
}

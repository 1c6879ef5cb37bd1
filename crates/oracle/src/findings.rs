//! Findings: from failing executions to bugs.
//!
//! Owns what counts as the same bug. A failing faultload that contains a
//! smaller failing one tells nothing new; minimal ones that fail the same
//! calls with the same complaint are one bug in several modes. Faults that
//! were planned but never struck are not blamed.

use std::collections::BTreeSet;

use murphy_model::{BugClass, Execution, Faultload, Finding, Target};

use crate::minimal::{Numbering, Numbers, minimal};
use crate::scenario;

/// Digits of an identifier: short enough to be typed, long enough for the
/// findings of one campaign to differ.
const ID_DIGITS: usize = 6;

/// What was held against the executions of one scenario.
#[derive(Debug)]
pub struct Findings {
    scenario: String,
    numbering: Numbering,
    failures: Vec<Failure>,
}

/// A failing execution, without its trace.
#[derive(Debug)]
struct Failure {
    number: usize,
    struck: Faultload,
    faults: Numbers,
    oracle: &'static str,
    complaint: String,
    class: BugClass,
}

impl Findings {
    /// Nothing yet against this scenario.
    pub fn new(scenario: impl Into<String>) -> Self {
        Findings {
            scenario: scenario.into(),
            numbering: Numbering::default(),
            failures: Vec::new(),
        }
    }

    /// Judges an execution. Its number decides which of two equally small
    /// faultloads comes first; the order of judging decides nothing.
    pub fn judge(&mut self, number: usize, execution: &Execution) {
        let Some((complaint, class)) = scenario::judge(execution) else {
            return;
        };
        let struck = execution.trace.struck();
        self.failures.push(Failure {
            number,
            faults: self.numbering.of(&struck),
            struck,
            oracle: scenario::NAME,
            complaint: complaint.to_owned(),
            class,
        });
    }

    /// How many executions failed.
    pub fn failed_executions(&self) -> usize {
        self.failures.len()
    }

    /// The bugs, smallest faultload first.
    ///
    /// A failure that no fault struck is a finding of its own with the empty
    /// faultload; it is not taken as the reason of any other.
    pub fn into_findings(mut self) -> Vec<Finding> {
        self.failures
            .sort_by_key(|failure| (failure.struck.len(), failure.number));
        let sets = self.failures.iter().map(|failure| failure.faults.clone());
        let smallest: BTreeSet<Numbers> = minimal(sets).into_iter().collect();
        let is_minimal = |f: &&Failure| f.faults.is_empty() || smallest.contains(&f.faults);
        let mut bugs: Vec<Bug<'_>> = Vec::new();
        for failure in self.failures.iter().filter(is_minimal) {
            match bugs.iter_mut().find(|bug| bug.is_shown_by(failure)) {
                Some(bug) => bug.shown_by.push(failure),
                None => bugs.push(Bug::new(failure)),
            }
        }
        let mut ids = BTreeSet::new();
        bugs.iter()
            .map(|bug| bug.finding(&self.scenario, &self.failures, &mut ids))
            .collect()
    }
}

/// Minimal failures that are one bug.
struct Bug<'f> {
    targets: Vec<&'f Target>,
    /// Never empty; the first is the one to show.
    shown_by: Vec<&'f Failure>,
}

impl<'f> Bug<'f> {
    fn new(failure: &'f Failure) -> Self {
        Bug {
            targets: targets(failure).collect(),
            shown_by: vec![failure],
        }
    }

    fn is_shown_by(&self, failure: &Failure) -> bool {
        let first = self.shown_by[0];
        first.complaint == failure.complaint
            && first.oracle == failure.oracle
            && self.targets.iter().copied().eq(targets(failure))
    }

    fn finding(&self, scenario: &str, all: &[Failure], ids: &mut BTreeSet<String>) -> Finding {
        let first = self.shown_by[0];
        let mut others: Vec<Faultload> = Vec::new();
        for failure in &self.shown_by[1..] {
            if failure.struck != first.struck && !others.contains(&failure.struck) {
                others.push(failure.struck.clone());
            }
        }
        Finding {
            id: self.id(scenario, ids),
            class: first.class,
            oracle: first.oracle,
            faultload: first.struck.clone(),
            summary: first.complaint.clone(),
            execution: first.number,
            seen: all.iter().filter(|failure| self.explains(failure)).count(),
            also: others,
        }
    }

    /// Whether the failure is this bug: shows it, or holds more faults beside.
    fn explains(&self, failure: &Failure) -> bool {
        let within = |shown: &&Failure| {
            let larger = shown.faults.is_proper_subset(&failure.faults) && !shown.faults.is_empty();
            let equal = shown.faults == failure.faults && shown.complaint == failure.complaint;
            larger || equal
        };
        self.shown_by.iter().any(within)
    }

    /// The same bug gets the same identifier in every campaign; should two of
    /// one campaign begin alike, the second gets more digits.
    fn id(&self, scenario: &str, taken: &mut BTreeSet<String>) -> String {
        let first = self.shown_by[0];
        let mut hasher = blake3::Hasher::new();
        let parts = [scenario, first.oracle, &first.complaint].map(str::to_owned);
        let targets = self.targets.iter().map(|target| target.to_string());
        for part in parts.into_iter().chain(targets) {
            // The length keeps neighbouring parts from running into each other.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let digits = hasher.finalize().to_hex();
        let lengths = ID_DIGITS..=digits.len();
        let mut candidates = lengths.map(|length| format!("M-{}", &digits[..length]));
        candidates
            .find(|id| taken.insert(id.clone()))
            .expect("different bugs have different hashes")
    }
}

fn targets(failure: &Failure) -> impl Iterator<Item = &Target> {
    failure.struck.iter().map(|(target, _)| target)
}

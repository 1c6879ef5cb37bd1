//! Findings: from failing executions to bugs.
//!
//! Owns what counts as the same bug. A failing faultload that contains a
//! smaller failing one tells nothing new. Where an oracle can name the edge
//! that is to blame, everything it says about that edge is one bug; otherwise
//! minimal faultloads that fail the same calls with the same complaint are one
//! bug in several modes. Faults that were planned but never struck are not
//! blamed. Of all executions only what is held against them is kept, and the
//! calls of those that may be shown.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use murphy_model::{BugClass, Edge, Faultload, Finding, Observed, Point, Severity, Shown, Target};

use crate::complaint::Complaint;
use crate::judge;
use crate::minimal::{Added, Minimal, Numbering, Numbers};
use crate::oracle::Oracle;
use crate::reference::Reference;
use crate::settings::Settings;

/// Digits of an identifier: short enough to be typed, long enough for the
/// findings of one campaign to differ.
const ID_DIGITS: usize = 6;

/// What was held against the executions of one scenario.
#[derive(Debug)]
pub struct Findings {
    scenario: String,
    settings: Settings,
    reference: Arc<Reference>,
    numbering: Numbering,
    failures: Vec<Failure>,
    minimal: BTreeMap<Family, Minimal>,
    shown: BTreeMap<(Key, Numbers), Candidate>,
    /// How many bugs there are that fail the build; counted anew whenever
    /// `shown` changes, which is far more seldom than it is asked for.
    bugs: usize,
    failed: BTreeSet<usize>,
}

/// One complaint about one execution.
#[derive(Debug)]
struct Failure {
    number: usize,
    key: Key,
    blamed: Faultload,
    faults: Numbers,
    class: BugClass,
    severity: Severity,
    edge: Option<Point>,
}

/// What failures of the same bug have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    oracle: Oracle,
    summary: String,
    place: Place,
}

/// What a bug is told by, besides what is said about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The calls that fail.
    Faults(Vec<Target>),
    /// The edge that is to blame.
    Edge(Edge),
}

/// Failures among which a smaller faultload explains a larger one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    /// All that an oracle says.
    Of(Oracle),
    /// What it says about one edge.
    At(Key),
}

impl Key {
    fn family(&self) -> Family {
        match self.place {
            Place::Faults(_) => Family::Of(self.oracle),
            Place::Edge(_) => Family::At(self.clone()),
        }
    }
}

/// The first execution in which a minimal faultload shows a bug. One for each
/// such faultload: which will be the smallest is known only in the end.
#[derive(Debug)]
struct Candidate {
    number: usize,
    /// The gravest word about any such execution.
    severity: Severity,
    shown: Arc<Shown>,
}

impl Findings {
    /// Nothing yet against this scenario, by default settings and without
    /// knowing what happens without faults.
    pub fn new(scenario: impl Into<String>) -> Self {
        Findings::with(scenario, Settings::default(), Arc::default())
    }

    /// Nothing yet against this scenario.
    pub fn with(
        scenario: impl Into<String>,
        settings: Settings,
        reference: Arc<Reference>,
    ) -> Self {
        Findings {
            scenario: scenario.into(),
            settings,
            reference,
            numbering: Numbering::default(),
            failures: Vec::new(),
            minimal: BTreeMap::new(),
            shown: BTreeMap::new(),
            bugs: 0,
            failed: BTreeSet::new(),
        }
    }

    /// Judges an execution. Its number decides which of two equally small
    /// faultloads comes first; the order of judging decides nothing.
    pub fn judge(&mut self, number: usize, observed: &Observed) {
        let mut keys = BTreeSet::new();
        for (oracle, severity, complaint) in judge(observed, &self.reference, &self.settings) {
            if severity == Severity::Fail {
                self.failed.insert(number);
            }
            let failure = self.failure(number, observed, oracle, severity, complaint);
            // One edge may be to blame several times in one execution.
            if keys.insert(failure.key.clone()) {
                self.keep(failure, observed);
            }
        }
    }

    fn failure(
        &mut self,
        number: usize,
        observed: &Observed,
        oracle: Oracle,
        severity: Severity,
        complaint: Complaint,
    ) -> Failure {
        let trace = &observed.execution.trace;
        let blamed = match oracle {
            Oracle::NotExercised => observed.execution.faultload.clone(),
            _ => trace.struck(),
        };
        let place = match complaint.edge {
            Some(id) if blames_edges(oracle) => Place::Edge(trace.edge(id)),
            _ => Place::Faults(blamed.iter().map(|(target, _)| target.clone()).collect()),
        };
        Failure {
            number,
            key: Key {
                oracle,
                summary: complaint.summary,
                place,
            },
            faults: self.numbering.of(&blamed),
            blamed,
            class: complaint.class,
            severity,
            edge: complaint.edge.map(|id| trace.call(id).point.clone()),
        }
    }

    fn keep(&mut self, failure: Failure, observed: &Observed) {
        let family = failure.key.family();
        let minimal = self.minimal.entry(family.clone()).or_default();
        match minimal.add(&failure.faults) {
            Added::Larger => {}
            Added::Known => self.offer(&failure, observed),
            Added::New => {
                let holds =
                    |key: &Key, faults: &Numbers| minimal.holds(faults) || key.family() != family;
                self.shown.retain(|(key, faults), _| holds(key, faults));
                self.offer(&failure, observed);
            }
        }
        self.failures.push(failure);
    }

    /// Keeps what was seen, unless an earlier execution shows the same.
    fn offer(&mut self, failure: &Failure, observed: &Observed) {
        let number = failure.number;
        let place = (failure.key.clone(), failure.faults.clone());
        let known = self.shown.get(&place);
        let was = known.map(|known| known.severity);
        let severity = was.max(Some(failure.severity)).unwrap_or(failure.severity);
        if known.is_none_or(|known| number < known.number) {
            let shown = Arc::new(Shown {
                trace: observed.execution.trace.clone(),
                details: observed.details.clone(),
            });
            let candidate = Candidate {
                number,
                severity,
                shown,
            };
            self.shown.insert(place, candidate);
        } else if let Some(known) = self.shown.get_mut(&place) {
            known.severity = severity;
        }
        if was != Some(severity) {
            self.bugs = self.failing_bugs();
        }
    }

    fn failing_bugs(&self) -> usize {
        let fails = |(_, candidate): &(_, &Candidate)| candidate.severity == Severity::Fail;
        let failing = self.shown.iter().filter(fails);
        let keys: BTreeSet<&Key> = failing.map(|((key, _), _)| key).collect();
        keys.len()
    }

    /// How many executions failed: those that an oracle whose word fails the
    /// build complained about.
    pub fn failed_executions(&self) -> usize {
        self.failed.len()
    }

    /// How many bugs there are up to now that are more than warnings. More
    /// executions may show that several are one.
    pub fn bugs(&self) -> usize {
        self.bugs
    }

    /// The bugs: failures before warnings, smallest faultload first.
    ///
    /// A failure that no fault struck is a finding of its own with the empty
    /// faultload; it is not taken as the reason of any other.
    pub fn findings(&self) -> Vec<Finding> {
        let mut failures: Vec<&Failure> = self.failures.iter().collect();
        failures.sort_by_key(|failure| (failure.rank(), failure.key.oracle));
        let mut bugs: Vec<Bug<'_>> = Vec::new();
        let mut places: BTreeMap<&Key, usize> = BTreeMap::new();
        for failure in &failures {
            if !self.minimal[&failure.key.family()].holds(&failure.faults) {
                continue;
            }
            let at = *places.entry(&failure.key).or_insert(bugs.len());
            match bugs.get_mut(at) {
                Some(bug) => bug.shown_by.push(failure),
                None => bugs.push(Bug::new(failure)),
            }
        }
        bugs.sort_by_key(|bug| Reverse(bug.severity()));
        let mut ids = BTreeSet::new();
        let mut finding = |bug: &Bug<'_>| {
            let first = bug.shown_by[0];
            let place = (first.key.clone(), first.faults.clone());
            let shown = self.shown[&place].shown.clone();
            bug.finding(&self.scenario, &failures, shown, &mut ids)
        };
        bugs.iter().map(&mut finding).collect()
    }

    /// The same, when nothing more is to be judged.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings()
    }
}

/// Whether an oracle speaks of how an edge is configured, rather than of what
/// became of a whole execution.
fn blames_edges(oracle: Oracle) -> bool {
    match oracle {
        Oracle::Scenario | Oracle::Response | Oracle::NoCause | Oracle::NotExercised => false,
        Oracle::WrongStatus
        | Oracle::TimeoutInversion
        | Oracle::RetryNotIdempotent
        | Oracle::RetryAmplification
        | Oracle::RetryAtOnce
        | Oracle::RedundantCalls => true,
    }
}

impl Failure {
    fn rank(&self) -> (usize, usize) {
        (self.blamed.len(), self.number)
    }
}

/// Minimal failures that are one bug.
struct Bug<'f> {
    /// Never empty; the first is the one to show.
    shown_by: Vec<&'f Failure>,
}

impl<'f> Bug<'f> {
    fn new(failure: &'f Failure) -> Self {
        Bug {
            shown_by: vec![failure],
        }
    }

    fn severity(&self) -> Severity {
        let severities = self.shown_by.iter().map(|failure| failure.severity);
        severities.max().expect("a bug is shown by something")
    }

    fn finding(
        &self,
        scenario: &str,
        all: &[&Failure],
        shown: Arc<Shown>,
        ids: &mut BTreeSet<String>,
    ) -> Finding {
        let first = self.shown_by[0];
        let mut others: Vec<Faultload> = Vec::new();
        for failure in &self.shown_by[1..] {
            if failure.blamed != first.blamed && !others.contains(&failure.blamed) {
                others.push(failure.blamed.clone());
            }
        }
        Finding {
            id: self.id(scenario, ids),
            severity: self.severity(),
            class: first.class,
            oracle: first.key.oracle.name(),
            faultload: first.blamed.clone(),
            summary: first.key.summary.clone(),
            edge: first.edge.clone(),
            execution: first.number,
            shown,
            seen: all.iter().filter(|failure| self.explains(failure)).count(),
            also: others,
        }
    }

    /// Whether the failure is this bug: shows it, or holds more faults beside.
    fn explains(&self, failure: &Failure) -> bool {
        let key = &self.shown_by[0].key;
        if let Place::Edge(_) = key.place {
            return *key == failure.key;
        }
        let within = |shown: &&Failure| {
            let larger = shown.faults.is_proper_subset(&failure.faults) && !shown.faults.is_empty();
            let equal = shown.faults == failure.faults && key.summary == failure.key.summary;
            larger || equal
        };
        key.oracle == failure.key.oracle && self.shown_by.iter().any(within)
    }

    /// The same bug gets the same identifier in every campaign; should two of
    /// one campaign begin alike, the second gets more digits.
    fn id(&self, scenario: &str, taken: &mut BTreeSet<String>) -> String {
        let key = &self.shown_by[0].key;
        let mut hasher = blake3::Hasher::new();
        let parts = [scenario, key.oracle.name(), &key.summary].map(str::to_owned);
        let place: Vec<String> = match &key.place {
            Place::Faults(targets) => targets.iter().map(Target::to_string).collect(),
            Place::Edge(edge) => vec![edge.to_string()],
        };
        for part in parts.into_iter().chain(place) {
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

//! Findings: from failing executions to bugs.
//!
//! Owns what counts as the same bug. A failing faultload that contains a
//! smaller failing one tells nothing new. Where an oracle can name the edge
//! that is to blame, everything it says about that edge is one bug; otherwise
//! minimal faultloads that fail the same calls with the same complaint are one
//! bug in several modes, whichever attempts of the calls they are injected into. An
//! attempt that was made again and failed again counts for nothing beside the
//! last one ([`crate::core_faults`]). Faults that were planned but never injected are not
//! blamed. Of all executions only complaints about them is kept, and the
//! calls of those that may be shown.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use murphy_model::{
    BugClass, Edge, Faultload, Finding, Found, Observed, Point, Severity, Shown, Target,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::complaint::Complaint;
use crate::core_faults;
use crate::judge;
use crate::limits::without_limits;
use crate::minimal::{Added, Numbering, Numbers, SetId, Sets};
use crate::oracle::Oracle;
use crate::reference::Reference;
use crate::settings::Settings;

/// Digits of an identifier: short enough to be typed, long enough for the
/// findings of one campaign to differ.
const ID_DIGITS: usize = 6;

/// The complaints about the executions of one scenario.
#[derive(Debug)]
pub struct Findings {
    scenario: String,
    settings: Settings,
    reference: Arc<Reference>,
    numbering: Numbering,
    bugs: Vec<Bug>,
    /// The place of each bug in `bugs`.
    places: FxHashMap<Key, usize>,
    families: BTreeMap<FamilyId, Family>,
    /// How many bugs there are that fail the build.
    failing: usize,
    /// What showed for the first time and was not asked for yet.
    news: Vec<Found>,
}

/// One complaint about one execution.
struct Failure {
    number: usize,
    /// Which complaint about that execution it is.
    order: usize,
    key: Key,
    blamed: Faultload,
    /// What those faults come down to, if to less.
    core: Option<Faultload>,
    class: BugClass,
    severity: Severity,
    edge: Option<Point>,
}

/// What failures of the same bug have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    oracle: Oracle,
    summary: String,
    place: Place,
}

/// What a bug is told by, besides what is said about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// The calls that fail, whichever attempts of them.
    Faults(Vec<Target>),
    /// The edge that is to blame.
    Edge(Edge),
}

/// Failures among which a smaller faultload explains a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FamilyId {
    /// All that an oracle says.
    Of(Oracle),
    /// What it says about one edge: all that is one bug.
    At(usize),
}

/// The failing faultloads of a family.
#[derive(Debug, Default)]
struct Family {
    sets: Sets,
    members: Vec<Member>,
}

/// A failing faultload.
#[derive(Debug)]
struct Member {
    faults: Numbers,
    core: Option<Numbers>,
    /// How many complaints there are about its executions.
    failures: usize,
    /// The bugs that it shows if it is minimal.
    bugs: Vec<usize>,
}

/// Failures that are one bug.
#[derive(Debug)]
struct Bug {
    key: Key,
    family: FamilyId,
    /// How many failures have its key.
    failures: usize,
    /// The minimal faultloads that show it; none if smaller ones explain all.
    shown_by: BTreeMap<SetId, Candidate>,
    /// How many of those fail the build.
    failing: usize,
    /// Whether it was among the news.
    is_told: bool,
}

/// The first execution in which a minimal faultload shows a bug. One for each
/// such faultload: which will be the smallest is known only in the end.
#[derive(Debug)]
struct Candidate {
    number: usize,
    order: usize,
    blamed: Faultload,
    class: BugClass,
    edge: Option<Point>,
    /// The gravest word about any such execution.
    severity: Severity,
    /// How many failures there are that are just this.
    failures: usize,
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
            bugs: Vec::new(),
            places: FxHashMap::default(),
            families: BTreeMap::new(),
            failing: 0,
            news: Vec::new(),
        }
    }

    /// Judges an execution. Its number decides which of two equally small
    /// faultloads comes first; the order of judging decides nothing.
    ///
    /// Tells whether an oracle complained whose word fails the build.
    pub fn judge(&mut self, number: usize, observed: &Observed) -> bool {
        let complaints = judge(observed, &self.reference, &self.settings);
        let mut bugs = FxHashSet::default();
        let mut core = None;
        let mut fails = false;
        for (order, (oracle, severity, complaint)) in complaints.into_iter().enumerate() {
            fails |= severity == Severity::Fail;
            let core = core.get_or_insert_with(|| {
                core_faults::core(&observed.execution.trace, &self.reference)
            });
            let failure = Failure {
                number,
                order,
                core: core.clone().filter(|_| oracle != Oracle::NotExercised),
                ..failure(observed, oracle, severity, complaint)
            };
            let bug = self.bug(&failure.key);
            // One edge may be to blame several times in one execution.
            if bugs.insert(bug) {
                self.keep(bug, failure, observed);
            }
        }
        fails
    }

    /// The place of the bug with this key.
    fn bug(&mut self, key: &Key) -> usize {
        if let Some(known) = self.places.get(key) {
            return *known;
        }
        let new = self.bugs.len();
        self.places.insert(key.clone(), new);
        self.bugs.push(Bug {
            key: key.clone(),
            family: match key.place {
                Place::Faults(_) => FamilyId::Of(key.oracle),
                Place::Edge(_) => FamilyId::At(new),
            },
            failures: 0,
            shown_by: BTreeMap::new(),
            failing: 0,
            is_told: false,
        });
        new
    }

    fn keep(&mut self, at: usize, failure: Failure, observed: &Observed) {
        let faults = self.numbering.of(&failure.blamed);
        let core = failure.core.as_ref().map(|core| self.numbering.of(core));
        let bug = &mut self.bugs[at];
        bug.failures += 1;
        let family = self.families.entry(bug.family).or_default();
        let Added { id, demoted } = family.add(faults, core);
        for larger in demoted {
            for other in family.member(larger).bugs.clone() {
                self.failing -= self.bugs[other].forget(larger);
            }
        }
        let is_minimal = family.sets.is_minimal(id);
        let member = family.member(id);
        member.failures += 1;
        if !is_minimal {
            return;
        }
        if !member.bugs.contains(&at) {
            member.bugs.push(at);
        }
        // It may have shown before, but only with more faults than it takes.
        if !std::mem::replace(&mut self.bugs[at].is_told, true) {
            self.news.push(failure.found(observed));
        }
        self.failing += self.bugs[at].offer(id, failure, observed);
    }

    /// What showed for the first time since this was last asked: what fails the
    /// build before what is only said of the same execution.
    pub fn take_news(&mut self) -> Vec<Found> {
        let mut news = std::mem::take(&mut self.news);
        news.sort_by_key(|found| Reverse(found.severity));
        news
    }

    /// How many bugs there are up to now that are more than warnings. More
    /// executions may show that several are one.
    pub fn bugs(&self) -> usize {
        self.failing
    }

    /// The bugs: failures before warnings, smallest faultload first.
    ///
    /// A failure without an injected fault is a finding of its own with the empty
    /// faultload; it is not taken as the reason of any other.
    pub fn findings(&self) -> Vec<Finding> {
        let seen = self.seen();
        let bugs = self.bugs.iter().zip(seen);
        let mut bugs: Vec<(Shows<'_>, usize)> = bugs
            .filter_map(|(bug, seen)| Some((bug.shows()?, seen)))
            .collect();
        bugs.sort_by_key(|(bug, _)| (Reverse(bug.severity()), bug.rank()));
        let mut ids = BTreeSet::new();
        let finding = |(bug, seen): &(Shows<'_>, usize)| Finding {
            id: bug.key.id(&self.scenario, &mut ids),
            ..bug.finding(*seen)
        };
        bugs.iter().map(finding).collect()
    }

    /// How many failures are each bug: show it, or hold more faults beside.
    fn seen(&self) -> Vec<usize> {
        let mut seen: Vec<usize> = self.bugs.iter().map(Bug::failures_alike).collect();
        for (id, family) in &self.families {
            // All that is said about an edge is counted with its bug already.
            let larger = family.larger().filter(|_| matches!(id, FamilyId::Of(_)));
            for member in larger {
                let parts = [Some(&member.faults), member.core.as_ref()];
                let parts = parts.into_iter().flatten();
                let smaller = parts.flat_map(|it| family.sets.minimal_within(it));
                let bugs = smaller.flat_map(|id| &family.members[id.index()].bugs);
                let bugs: BTreeSet<usize> = bugs.copied().collect();
                for bug in bugs {
                    seen[bug] += member.failures;
                }
            }
        }
        seen
    }

    /// The same, when nothing more is to be judged.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings()
    }
}

impl Failure {
    fn found(&self, observed: &Observed) -> Found {
        Found {
            execution: self.number,
            severity: self.severity,
            class: self.class,
            oracle: self.key.oracle.name().into(),
            faultload: self.blamed.clone(),
            summary: self.key.summary.clone(),
            edge: self.edge.clone(),
            shown: Arc::new(Shown {
                trace: observed.execution.trace.clone(),
                details: Vec::new(),
            }),
        }
    }
}

fn failure(
    observed: &Observed,
    oracle: Oracle,
    severity: Severity,
    complaint: Complaint,
) -> Failure {
    let trace = &observed.execution.trace;
    let blamed = match oracle {
        Oracle::NotExercised => observed.execution.faultload.clone(),
        _ => trace.injected(),
    };
    let place = match complaint.edge {
        Some(id) if oracle.blames_edges() => Place::Edge(trace.edge(id)),
        // Which attempt was not reached is all that there is to say.
        _ if oracle == Oracle::NotExercised => {
            Place::Faults(blamed.iter().map(|(target, _)| target.clone()).collect())
        }
        _ => Place::Faults(calls_of(&blamed)),
    };
    Failure {
        number: 0,
        order: 0,
        core: None,
        key: Key {
            oracle,
            summary: complaint.summary,
            place,
        },
        blamed,
        class: complaint.class,
        severity,
        edge: complaint.edge.map(|id| trace.call(id).point.clone()),
    }
}

/// The calls that faults are injected into, whichever attempts of them.
fn calls_of(faultload: &Faultload) -> Vec<Target> {
    let targets = faultload.iter().map(|(target, _)| match target {
        Target::Call(point) => Target::Call(point.first_attempts()),
        Target::Every(_) | Target::Matching(_) => target.clone(),
    });
    let mut calls: Vec<Target> = targets.collect();
    calls.sort();
    calls.dedup();
    calls
}

impl Family {
    fn add(&mut self, faults: Numbers, core: Option<Numbers>) -> Added {
        let added = self.sets.add(&faults, core.as_ref());
        if added.id.index() == self.members.len() {
            self.members.push(Member {
                faults,
                core,
                failures: 0,
                bugs: Vec::new(),
            });
        }
        added
    }

    fn member(&mut self, id: SetId) -> &mut Member {
        &mut self.members[id.index()]
    }

    /// The faultloads that contain a smaller one.
    fn larger(&self) -> impl Iterator<Item = &Member> {
        let members = self.members.iter().enumerate();
        let larger = members.filter(|(index, _)| !self.sets.is_minimal(SetId::at(*index)));
        larger.map(|(_, member)| member)
    }
}

impl Bug {
    /// Takes note of a minimal faultload that shows it; 1 if it fails the
    /// build only since then.
    fn offer(&mut self, id: SetId, failure: Failure, observed: &Observed) -> usize {
        let before = self.failing;
        let severity = failure.severity;
        let was = match self.shown_by.get_mut(&id) {
            Some(known) => {
                let was = known.severity;
                known.take(failure, observed);
                Some(was)
            }
            None => {
                self.shown_by.insert(id, Candidate::new(failure, observed));
                None
            }
        };
        let fails = severity == Severity::Fail && was != Some(Severity::Fail);
        self.failing += usize::from(fails);
        usize::from(before == 0 && self.failing > 0)
    }

    /// Forgets a faultload that a smaller one explains; 1 if it fails the
    /// build no more.
    fn forget(&mut self, id: SetId) -> usize {
        let fails = |candidate: Candidate| candidate.severity == Severity::Fail;
        let failed = self.shown_by.remove(&id).is_some_and(fails);
        self.failing -= usize::from(failed);
        usize::from(failed && self.failing == 0)
    }

    /// How many failures are this bug, larger faultloads aside.
    fn failures_alike(&self) -> usize {
        match self.family {
            FamilyId::Of(_) => self.shown_by.values().map(|it| it.failures).sum(),
            FamilyId::At(_) => self.failures,
        }
    }

    /// What shows it, if anything does.
    fn shows(&self) -> Option<Shows<'_>> {
        let mut ways: Vec<&Candidate> = self.shown_by.values().collect();
        ways.sort_by_key(|way| way.rank());
        let key = &self.key;
        (!ways.is_empty()).then_some(Shows { key, ways })
    }
}

impl Candidate {
    fn new(failure: Failure, observed: &Observed) -> Self {
        Candidate {
            number: failure.number,
            order: failure.order,
            blamed: failure.blamed,
            class: failure.class,
            edge: failure.edge,
            severity: failure.severity,
            failures: 1,
            shown: Arc::new(Shown {
                trace: observed.execution.trace.clone(),
                details: observed.details.clone(),
            }),
        }
    }

    /// Keeps what was seen, unless an earlier execution shows the same.
    fn take(&mut self, failure: Failure, observed: &Observed) {
        let severity = self.severity.max(failure.severity);
        let failures = self.failures + 1;
        if failure.number < self.number {
            *self = Candidate::new(failure, observed);
        }
        self.severity = severity;
        self.failures = failures;
    }

    fn rank(&self) -> (usize, usize) {
        (self.blamed.len(), self.number)
    }
}

/// A bug with the minimal faultloads that show it.
struct Shows<'f> {
    key: &'f Key,
    /// Never empty; the first is the one to show.
    ways: Vec<&'f Candidate>,
}

impl Shows<'_> {
    fn severity(&self) -> Severity {
        let severities = self.ways.iter().map(|way| way.severity);
        severities.max().expect("a bug is shown by something")
    }

    fn rank(&self) -> ((usize, usize), Oracle, usize) {
        let first = self.ways[0];
        (first.rank(), self.key.oracle, first.order)
    }

    /// All but its name.
    fn finding(&self, seen: usize) -> Finding {
        let first = self.ways[0];
        Finding {
            id: String::new(),
            severity: self.severity(),
            class: first.class,
            oracle: self.key.oracle.name().into(),
            faultload: first.blamed.clone(),
            summary: self.key.summary.clone(),
            edge: first.edge.clone(),
            execution: first.number,
            shown: first.shown.clone(),
            seen,
            also: self.ways[1..]
                .iter()
                .map(|way| way.blamed.clone())
                .collect(),
        }
    }
}

impl Key {
    /// The same bug gets the same identifier in every campaign; should two of
    /// one campaign begin alike, the second gets more digits.
    fn id(&self, scenario: &str, taken: &mut BTreeSet<String>) -> String {
        let mut hasher = blake3::Hasher::new();
        let summary = without_limits(&self.summary);
        let parts = [scenario, self.oracle.name(), &summary].map(str::to_owned);
        let place: Vec<String> = match &self.place {
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

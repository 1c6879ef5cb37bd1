//! The lineage strategy: every minimal failing combination, without trying
//! most of the others.
//!
//! An execution that succeeded shows calls that suffice; whatever fails must
//! hit one of them. The strategy keeps these clauses ([`evidence`]), looks for
//! sets of faults that meet all of them ([`find`]), and probes until those are
//! exactly the sets that were seen to fail. Which probe comes next is
//! [`steered`]'s to choose. Owns the proposals, their order and the certificate. `docs/design/lineage.md`
//! has the argument.

mod elements;
mod evidence;
mod explain;
mod find;
mod plan;
mod steer;
mod steered;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use murphy_hitting::Set;
use murphy_model::{Certificate, Execution, Faultload, Incomplete, Point, Verdict};

use crate::model::count;
use crate::options::{Options, Reduction};
use crate::strategy::{Step, Strategy, Ticket};

use evidence::Evidence;
use steered::Steered;

/// What to run next.
struct Decision {
    probe: Set,
    /// What will come next, if all goes as expected.
    likely: Vec<Set>,
}

impl Decision {
    fn probe(probe: Set) -> Self {
        Decision {
            probe,
            likely: Vec::new(),
        }
    }
}

/// The lineage strategy.
pub struct Lineage {
    options: Options,
    steered: Steered,
    evidence: Evidence,
    state: State,
    under_way: HashMap<Ticket, Set>,
    /// Executions that came back, until it is their turn.
    back: HashMap<Set, Execution>,
    numbers: HashMap<Faultload, usize>,
    /// The first execution in which exactly these faults were injected, more or less
    /// than was planned.
    injected: HashMap<Faultload, usize>,
    tickets: u64,
    explored: usize,
    not_exercised: usize,
    stopped: bool,
}

/// Where a search stands.
enum State {
    /// This must be learnt before anything is decided.
    Awaits(Decision),
    /// There is nothing more to try.
    Ended(Option<Incomplete>),
}

impl Lineage {
    /// A search that knows nothing yet.
    pub fn new(options: Options) -> Self {
        Lineage {
            steered: Steered::new(options.max_faults),
            evidence: Evidence::new(options.reduces(Reduction::Modes)),
            options,
            state: State::Awaits(Decision::probe(Set::new())),
            under_way: HashMap::new(),
            back: HashMap::new(),
            numbers: HashMap::new(),
            injected: HashMap::new(),
            tickets: 0,
            explored: 0,
            not_exercised: 0,
            stopped: false,
        }
    }

    /// Every point seen that can be injected, in the order first seen.
    pub fn points(&self) -> Vec<&Point> {
        self.evidence.catalogue.fallible_points()
    }

    /// The number under which the execution of a faultload was taken in.
    pub fn number(&self, faultload: &Faultload) -> Option<usize> {
        self.numbers.get(faultload).copied()
    }

    /// Executions taken in so far.
    pub fn explored(&self) -> usize {
        self.explored
    }

    /// The combinations up to the bound that fail and of which no part does:
    /// each was run, and nothing else was injected. If the search is not complete,
    /// only those of which every part is known not to fail.
    fn minimal(&self, is_complete: bool) -> Vec<Faultload> {
        let fits = |set: &&Set| self.options.max_faults.is_none_or(|most| set.len() <= most);
        let is_known = |set: &&Set| is_complete || self.evidence.is_known_minimal(set);
        let minimal = self.evidence.minimal_failures().into_iter();
        let minimal = minimal.filter(fits).filter(is_known);
        let sorted: BTreeSet<Faultload> = minimal.map(|set| self.faultload(set)).collect();
        sorted.into_iter().collect()
    }

    fn faultload(&self, set: &Set) -> Faultload {
        let faults = self.evidence.elements.fault_set(set);
        self.evidence.catalogue.faultload(&faults)
    }

    /// Takes in what came back, in the order it was decided upon.
    fn advance(&mut self) {
        while let State::Awaits(decision) = &self.state {
            let Some((set, execution)) = self.back.remove_entry(&decision.probe) else {
                return;
            };
            self.take_in(&set, &execution);
            self.state = self.decide();
        }
    }

    fn take_in(&mut self, set: &Set, execution: &Execution) {
        self.explored += 1;
        let is_missing = matches!(execution.verdict, Verdict::NotExercised { .. });
        self.not_exercised += usize::from(is_missing);
        self.numbers
            .insert(execution.faultload.clone(), self.explored);
        let injected = self.injected.entry(execution.trace.injected());
        injected.or_insert(self.explored);
        self.evidence
            .learn(set, execution, self.explored, &self.options);
    }

    fn decide(&mut self) -> State {
        if !self.evidence.any_success() {
            return State::Ended(Some(Incomplete::NoSuccess));
        }
        if self.options.max_faults == Some(0) {
            return State::Ended(None);
        }
        match self.steered.decide(&self.evidence) {
            None => State::Ended(self.shortfall()),
            Some(decision) => match self.options.max_cases {
                Some(most) if self.explored >= most => {
                    let waiting = 1 + decision.likely.len();
                    State::Ended(Some(Incomplete::Cases { waiting }))
                }
                _ => State::Awaits(decision),
            },
        }
    }

    /// Why a search that has nothing more to try is not complete.
    fn shortfall(&self) -> Option<Incomplete> {
        if self.evidence.contradictions() > 0 {
            return Some(Incomplete::Contradicted);
        }
        self.steered.gave_up().then_some(Incomplete::GaveUp)
    }

    fn propose(&mut self, set: Set) -> Step {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let faultload = self.faultload(&set);
        self.under_way.insert(ticket, set);
        Step::Try(ticket, faultload)
    }

    fn is_asked(&self, set: &Set) -> bool {
        self.back.contains_key(set) || self.under_way.values().any(|other| other == set)
    }

    fn certificate(&self, incomplete: Option<Incomplete>) -> Certificate {
        let points = count::points(&self.evidence.catalogue, &self.evidence.reference);
        Certificate {
            points: points.total,
            conditional: points.conditional,
            space: points.space,
            explored: self.explored,
            considered: self.explored,
            pruned: BTreeMap::new(),
            skips: None,
            not_exercised: self.not_exercised,
            speculative: self.back.len(),
            bound: self.options.max_faults,
            minimal: Some(self.minimal(incomplete.is_none())),
            incomplete,
            assumptions: ASSUMPTIONS.map(str::to_owned).to_vec(),
            flags: self.evidence.flags.clone(),
            audit: None,
        }
    }
}

/// What must be true of the system for the certificate to hold.
const ASSUMPTIONS: [&str; 3] = [
    "what fails still fails when more fails",
    "calls that sufficed once suffice whenever none of them fails",
    "whether an execution fails depends on its faults alone",
];

impl Strategy for Lineage {
    fn next(&mut self) -> Step {
        if self.stopped && self.under_way.is_empty() {
            self.state = State::Ended(Some(Incomplete::Stopped { waiting: 1 }));
        }
        match &self.state {
            State::Awaits(decision) => {
                let mut wanted = std::iter::once(&decision.probe).chain(&decision.likely);
                let next = wanted.find(|set| !self.is_asked(set)).cloned();
                match next.filter(|_| !self.stopped) {
                    Some(set) => self.propose(set),
                    None => Step::Wait,
                }
            }
            State::Ended(_) if !self.under_way.is_empty() => Step::Wait,
            State::Ended(incomplete) => {
                let incomplete = incomplete.clone();
                Step::Done(Box::new(self.certificate(incomplete)))
            }
        }
    }

    fn learn(&mut self, ticket: Ticket, execution: Execution) {
        let set = self.under_way.remove(&ticket);
        let set = set.expect("every execution answers a proposal, once");
        self.back.insert(set, execution);
        self.advance();
    }

    fn stop(&mut self) {
        self.stopped |= !matches!(self.state, State::Ended(_));
    }

    fn break_off(&mut self) {
        self.stop();
        self.under_way.clear();
    }
}

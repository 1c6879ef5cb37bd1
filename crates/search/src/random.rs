//! The random strategy: a seeded baseline to compare others with.
//!
//! Owns nothing but luck: it draws faultloads over the points seen so far and
//! claims no completeness. Proposals are drawn in rounds, each from what was
//! known before it, so that the result does not depend on how many executions
//! are under way.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use murphy_model::{Certificate, Execution, Faultload, Incomplete, Point, Verdict};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, PointId};
use crate::explain::Explanation;
use crate::model::{Model, count};
use crate::options::Options;
use crate::resolve::NeverSeen;
use crate::strategy::{Step, Strategy, Ticket};

/// Executions if the options do not bound them: without a bound a baseline
/// would never end.
const DEFAULT_CASES: usize = 100;

/// Proposals drawn from the same knowledge.
const ROUND: usize = 16;

/// Draws in a row that may bring up nothing new before the search ends.
const PATIENCE: usize = 1000;

/// The random strategy.
pub struct Random {
    options: Options,
    rng: fastrand::Rng,
    catalogue: Catalogue,
    model: Model,
    round: VecDeque<FaultSet>,
    under_way: HashMap<Ticket, FaultSet>,
    back: BTreeMap<Ticket, Execution>,
    drawn: HashSet<FaultSet>,
    /// The executions by what was to fail, as they are numbered: in the order
    /// proposed, since all are taken in.
    numbers: HashMap<FaultSet, usize>,
    tickets: u64,
    explored: usize,
    not_exercised: usize,
    stopped: bool,
}

impl Random {
    /// A baseline from this seed.
    pub fn new(options: Options, seed: u64) -> Self {
        Random {
            options,
            rng: fastrand::Rng::with_seed(seed),
            catalogue: Catalogue::default(),
            model: Model::default(),
            round: VecDeque::from([FaultSet::default()]),
            under_way: HashMap::new(),
            back: BTreeMap::new(),
            drawn: HashSet::from([FaultSet::default()]),
            numbers: HashMap::new(),
            tickets: 0,
            explored: 0,
            not_exercised: 0,
            stopped: false,
        }
    }

    /// Every point seen that can be injected, in the order first seen.
    pub fn points(&self) -> Vec<&Point> {
        self.catalogue.fallible_points()
    }

    /// The faultloads over points seen that a faultload may mean, at most
    /// `most` of them.
    pub fn resolve(&self, faultload: &Faultload, most: usize) -> Result<Vec<Faultload>, NeverSeen> {
        self.catalogue.resolve(faultload, most)
    }

    /// What became of a faultload over points that were seen.
    pub fn explain(&self, faultload: &Faultload) -> Result<Explanation, NeverSeen> {
        let faults = match self.catalogue.numbered(faultload)? {
            Ok(faults) => faults,
            Err(mode) => return Ok(Explanation::unasked(mode)),
        };
        let is_too_many = self
            .options
            .max_faults
            .is_some_and(|most| faults.len() > most);
        Ok(match self.numbers.get(&faults) {
            Some(number) => Explanation::Run { number: *number },
            None if is_too_many => Explanation::too_many(),
            None => Explanation::Open {
                reason: "it was not drawn: a random search tries a sample only".to_owned(),
            },
        })
    }

    fn most(&self) -> usize {
        self.options.max_cases.unwrap_or(DEFAULT_CASES)
    }

    fn take_in_round(&mut self) {
        for execution in std::mem::take(&mut self.back).into_values() {
            self.explored += 1;
            self.not_exercised +=
                usize::from(matches!(execution.verdict, Verdict::NotExercised { .. }));
            let number = self.explored;
            self.model
                .learn(&execution, number, &mut self.catalogue, &self.options);
        }
    }

    fn draw_round(&mut self) {
        let points: Vec<PointId> = self.catalogue.fallible().collect();
        let size = ROUND.min(self.most() - self.explored.min(self.most()));
        let mut misses = 0;
        while self.round.len() < size && misses < PATIENCE && !points.is_empty() {
            let faults = self.draw(&points);
            match self.drawn.insert(faults.clone()) {
                true => self.round.push_back(faults),
                false => misses += 1,
            }
        }
    }

    /// Each further fault is half as likely as the one before it.
    fn draw(&mut self, points: &[PointId]) -> FaultSet {
        let most = self
            .options
            .max_faults
            .unwrap_or(points.len())
            .min(points.len());
        let mut faults = FaultSet::default();
        while faults.len() < most {
            let point = points[self.rng.usize(..points.len())];
            let modes = &self.catalogue.entry(point).modes;
            let fault = FaultKey::at(point, modes[self.rng.usize(..modes.len())]);
            faults = faults.union(&[fault]).unwrap_or(faults);
            if self.rng.bool() {
                break;
            }
        }
        faults
    }

    fn certificate(&self) -> Certificate {
        let points = count::points(&self.catalogue, &self.model.reference);
        Certificate {
            points: points.total,
            conditional: points.conditional,
            space: points.space,
            explored: self.explored,
            considered: self.explored,
            pruned: BTreeMap::new(),
            skips: None,
            not_exercised: self.not_exercised,
            speculative: 0,
            bound: self.options.max_faults,
            incomplete: Some(Incomplete::Sampling),
            assumptions: Vec::new(),
            flags: self.model.flags.clone(),
            audit: None,
            minimal: None,
        }
    }
}

impl Strategy for Random {
    fn next(&mut self) -> Step {
        if self.round.is_empty() && self.under_way.is_empty() {
            self.take_in_round();
            if !self.stopped {
                self.draw_round();
            }
        }
        match self.round.pop_front() {
            Some(faults) => {
                self.tickets += 1;
                let ticket = Ticket(self.tickets);
                self.numbers.insert(faults.clone(), self.tickets as usize);
                let faultload = self.catalogue.faultload(&faults);
                self.under_way.insert(ticket, faults);
                Step::Try(ticket, faultload)
            }
            None if self.under_way.is_empty() => Step::Done(Box::new(self.certificate())),
            None => Step::Wait,
        }
    }

    fn learn(&mut self, ticket: Ticket, execution: Execution) {
        self.under_way
            .remove(&ticket)
            .expect("every execution answers a proposal, once");
        self.back.insert(ticket, execution);
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.round.clear();
    }

    fn break_off(&mut self) {
        self.stop();
        self.under_way.clear();
    }
}

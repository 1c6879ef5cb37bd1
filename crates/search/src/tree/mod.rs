//! The tree strategy: every distinct behaviour of every service, once.
//!
//! Owns the way from executions to proposals: [`frontier`] keeps the
//! faultloads that wait, [`engine`] learns, judges and grows them one at a
//! time. This module lets several executions be under way: results are taken
//! in in the order in which the engine asks for them, so that what is learnt
//! does not depend on how many there are.

pub(crate) mod engine;
mod frontier;
mod grow;

use std::collections::HashMap;

use murphy_model::{Certificate, Execution, Faultload, Incomplete};

use crate::catalogue::FaultSet;
use crate::options::{Options, Order};
use crate::strategy::{Step, Strategy, Ticket};
use engine::Engine;
use frontier::Candidate;

/// How far ahead of its turn a faultload may be run. Further ahead more of
/// them turn out needless.
const LOOK_AHEAD: usize = 256;

/// The tree strategy.
pub struct Tree {
    pub(crate) engine: Engine,
    /// The faultload whose turn it is.
    turn: Option<Candidate>,
    under_way: HashMap<Ticket, FaultSet>,
    /// Executions that came back before their turn.
    early: HashMap<FaultSet, Execution>,
    tickets: u64,
    speculative: usize,
    stopped: bool,
}

impl Tree {
    /// A search from nothing: the first proposal is the reference execution.
    pub fn new(options: Options) -> Self {
        Tree {
            engine: Engine::new(options),
            turn: None,
            under_way: HashMap::new(),
            early: HashMap::new(),
            tickets: 0,
            speculative: 0,
            stopped: false,
        }
    }

    /// Executions taken in so far.
    pub fn explored(&self) -> usize {
        self.engine.explored()
    }

    /// Faultloads waiting to be looked at.
    pub fn waiting(&self) -> usize {
        self.engine.waiting()
    }

    /// Whether nothing but combinations waits: every fault was tried alone.
    pub fn are_singles_done(&self) -> bool {
        let is_combination = |next: &Candidate| next.faults.len() > 1;
        self.engine.options.order == Order::BreadthFirst
            && self.turn.as_ref().is_some_and(is_combination)
    }

    /// Faultloads looked at and not run so far.
    pub fn skipped(&self) -> usize {
        self.engine.skipped()
    }

    /// The number under which the execution of this faultload was taken in, if
    /// it was.
    pub fn number(&self, faultload: &Faultload) -> Option<usize> {
        let catalogue = &self.engine.catalogue;
        let keys: Option<Vec<_>> = faultload.faults().map(|f| catalogue.key_of(&f)).collect();
        self.engine.numbers.get(&FaultSet::new(keys?)).copied()
    }

    /// What the search covered up to now.
    pub fn certificate(&self) -> Certificate {
        let mut certificate = self.engine.certificate();
        certificate.speculative = self.speculative;
        certificate
    }

    /// Takes in what is at hand until it is the turn of a faultload that was
    /// not run yet; `None` when there are no more.
    fn advance(&mut self) -> Option<&Candidate> {
        loop {
            if self.turn.is_none() {
                self.turn = Some(self.engine.pop()?);
            }
            let turn = self.turn.as_ref()?;
            let Some(execution) = self.early.remove(&turn.faults) else {
                break;
            };
            let candidate = self.turn.take()?;
            self.engine.learn(&candidate, &execution);
        }
        self.turn.as_ref()
    }

    fn propose(&mut self, faults: FaultSet) -> Step {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let faultload = self.engine.catalogue.faultload(&faults);
        self.under_way.insert(ticket, faults);
        Step::Try(ticket, faultload)
    }

    /// Throws away what came back before its turn; the turn will not come.
    fn finish(&mut self) -> Step {
        self.speculative += std::mem::take(&mut self.early).len();
        let mut certificate = self.certificate();
        let waiting = self.waiting() + usize::from(self.turn.is_some());
        if self.stopped && waiting > 0 {
            certificate.incomplete = Some(Incomplete::Stopped { waiting });
            certificate.skips = None;
        }
        Step::Done(Box::new(certificate))
    }

    fn is_proposed(&self, faults: &FaultSet) -> bool {
        self.early.contains_key(faults) || self.under_way.values().any(|other| other == faults)
    }
}

impl Strategy for Tree {
    fn next(&mut self) -> Step {
        let turn = self.advance().map(|candidate| candidate.faults.clone());
        let Some(turn) = turn.filter(|_| !self.stopped) else {
            return match self.under_way.is_empty() {
                true => self.finish(),
                false => Step::Wait,
            };
        };
        if !self.is_proposed(&turn) {
            return self.propose(turn);
        }
        let ahead = self.under_way.len() + self.early.len();
        let most = self.engine.options.max_cases.unwrap_or(usize::MAX);
        if self.engine.explored() + ahead >= most {
            return Step::Wait;
        }
        let proposed = |faults: &FaultSet| self.is_proposed(faults);
        match self.engine.look_ahead(LOOK_AHEAD, proposed) {
            Some(faults) => self.propose(faults),
            None => Step::Wait,
        }
    }

    fn learn(&mut self, ticket: Ticket, execution: Execution) {
        let faults = self
            .under_way
            .remove(&ticket)
            .expect("every execution answers a proposal, once");
        self.early.insert(faults, execution);
        self.advance();
    }

    fn stop(&mut self) {
        self.stopped = true;
    }

    fn break_off(&mut self) {
        self.stop();
        self.under_way.clear();
    }
}

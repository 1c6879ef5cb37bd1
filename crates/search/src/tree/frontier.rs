//! The faultloads that wait to be looked at.
//!
//! Owns their order: fewest faults first, or latest first. What a retry loop
//! turned up goes before everything else.

use std::collections::{BTreeMap, HashSet, VecDeque};

use crate::catalogue::{FaultSet, PointId};
use crate::options::Order;

/// A faultload that may be worth running.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) faults: FaultSet,
    /// The point whose modes this faultload is the first to distinguish.
    pub(crate) defines: Option<PointId>,
}

/// The waiting faultloads.
#[derive(Debug)]
pub(crate) struct Frontier {
    order: Order,
    urgent: VecDeque<Candidate>,
    by_size: BTreeMap<usize, VecDeque<Candidate>>,
    stack: Vec<Candidate>,
    considered: HashSet<FaultSet>,
}

impl Frontier {
    pub(crate) fn new(order: Order) -> Self {
        Frontier {
            order,
            urgent: VecDeque::new(),
            by_size: BTreeMap::new(),
            stack: Vec::new(),
            considered: HashSet::new(),
        }
    }

    /// Whether a faultload has been put here before; marks it as such.
    pub(crate) fn is_new(&mut self, faults: &FaultSet) -> bool {
        self.considered.insert(faults.clone())
    }

    /// Adds faultloads that follow from one execution, first to be tried first.
    pub(crate) fn extend(&mut self, candidates: Vec<Candidate>) {
        match self.order {
            Order::DepthFirst => self.stack.extend(candidates.into_iter().rev()),
            Order::BreadthFirst => {
                for candidate in candidates {
                    let size = candidate.faults.len();
                    self.by_size.entry(size).or_default().push_back(candidate);
                }
            }
        }
    }

    /// Puts back a faultload that was taken out, to be taken out first again.
    pub(crate) fn put_back(&mut self, candidate: Candidate) {
        self.urgent.push_front(candidate);
    }

    /// Adds a faultload to be tried next.
    pub(crate) fn push_urgent(&mut self, candidate: Candidate) {
        self.urgent.push_back(candidate);
    }

    pub(crate) fn pop(&mut self) -> Option<Candidate> {
        if let Some(candidate) = self.urgent.pop_front() {
            return Some(candidate);
        }
        if let Some(candidate) = self.stack.pop() {
            return Some(candidate);
        }
        let mut smallest = self.by_size.first_entry()?;
        let candidate = smallest.get_mut().pop_front();
        if smallest.get().is_empty() {
            smallest.remove();
        }
        candidate
    }

    /// The waiting faultloads, next one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Candidate> {
        let by_size = self.by_size.values().flatten();
        self.urgent
            .iter()
            .chain(self.stack.iter().rev())
            .chain(by_size)
    }

    pub(crate) fn len(&self) -> usize {
        let by_size: usize = self.by_size.values().map(VecDeque::len).sum();
        self.urgent.len() + self.stack.len() + by_size
    }

    pub(crate) fn considered(&self) -> usize {
        self.considered.len()
    }
}

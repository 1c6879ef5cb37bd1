//! The canonical order of one caller's calls.
//!
//! Calls that a caller makes side by side arrive in an order that chance
//! decides, and what one of them seems to wait for is partly chance too. Owns
//! what is known of it: the least a call was ever seen to wait for. A call is
//! put as early as that allows; among calls that could come next, the one
//! whose point was seen first does. Callers that make one call at a time keep
//! the order in which they made them.

use std::collections::HashMap;

use murphy_hitting::Set;

use crate::catalogue::PointId;

use super::observation::Label;

/// A call as its siblings see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) point: PointId,
    pub(crate) label: Label,
    pub(crate) arrived: u32,
    pub(crate) finished: Option<u32>,
}

impl Item {
    fn before(&self, other: &Item) -> bool {
        self.finished
            .is_some_and(|finished| finished < other.arrived)
    }
}

/// A set of replies, by the numbers a [`CallOrder`] gives them.
pub(crate) type Replies = Set;

/// What an execution said about the order of one caller's calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OrderNews {
    /// Nothing that was not known.
    Nothing,
    /// That the caller makes calls side by side: what was seen of it so far
    /// must be taken in again.
    Concurrent,
    /// That these calls wait for no more than these replies.
    Freed(Vec<(PointId, Replies)>),
}

/// What is known of the order of one caller's calls.
#[derive(Debug, Default)]
pub(crate) struct CallOrder {
    /// Whether the caller was ever seen to make calls side by side.
    concurrent: bool,
    /// If so: the least its calls were seen to wait for.
    enough: HashMap<PointId, Vec<Replies>>,
    numbers: HashMap<(PointId, Label), usize>,
}

impl CallOrder {
    pub(crate) fn is_concurrent(&self) -> bool {
        self.concurrent
    }

    /// Notes that the caller makes calls side by side; what was seen of it so
    /// far must then be taken in again.
    pub(crate) fn set_concurrent(&mut self) {
        self.concurrent = true;
    }

    /// Forgets everything but whether calls are made side by side: replies
    /// are known by other labels now.
    pub(crate) fn start_over(&mut self) {
        *self = CallOrder {
            concurrent: self.concurrent,
            ..CallOrder::default()
        };
    }

    /// Takes in the calls of one execution, in order of arrival.
    pub(crate) fn learn(&mut self, calls: &[Item]) -> OrderNews {
        if !self.concurrent && one_by_one(calls) {
            return OrderNews::Nothing;
        }
        let turned = !std::mem::replace(&mut self.concurrent, true);
        let mut freed = Vec::new();
        for call in calls {
            let done = calls.iter().filter(|other| other.before(call));
            let waited_for: Replies = done.map(|done| self.number(done)).collect();
            if self.note(call.point, &waited_for) {
                freed.push((call.point, waited_for));
            }
        }
        match (turned, freed.is_empty()) {
            (true, _) => OrderNews::Concurrent,
            (false, true) => OrderNews::Nothing,
            (false, false) => OrderNews::Freed(freed),
        }
    }

    /// The replies of these calls, as a set.
    pub(crate) fn replies(&mut self, calls: &[Item]) -> Replies {
        match self.concurrent {
            true => calls.iter().map(|call| self.number(call)).collect(),
            false => Replies::default(),
        }
    }

    fn number(&mut self, call: &Item) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry((call.point, call.label)).or_insert(next)
    }

    fn note(&mut self, point: PointId, waited_for: &Replies) -> bool {
        let known = self.enough.entry(point).or_default();
        if known.iter().any(|enough| enough.is_subset(waited_for)) {
            return false;
        }
        known.retain(|enough| !waited_for.is_subset(enough));
        known.push(waited_for.clone());
        true
    }

    /// The canonical order of calls given in order of arrival, as indices.
    pub(crate) fn arrange(&self, calls: &[Item]) -> Vec<usize> {
        if !self.concurrent {
            return (0..calls.len()).collect();
        }
        let numbers: Vec<Option<usize>> = calls
            .iter()
            .map(|call| self.numbers.get(&(call.point, call.label)).copied())
            .collect();
        let all: Replies = numbers.iter().flatten().copied().collect();
        let enough: Vec<Vec<&Replies>> = calls
            .iter()
            .map(|call| self.enough_within(call.point, &all))
            .collect();
        let mut waiting: Vec<usize> = (0..calls.len()).collect();
        let mut emitted = Replies::default();
        let mut order = Vec::with_capacity(calls.len());
        while !waiting.is_empty() {
            let free = |index: &&usize| {
                let (call, enough) = (&calls[**index], &enough[**index]);
                enough.iter().any(|enough| enough.is_subset(&emitted))
                    || !waiting.iter().any(|other| calls[*other].before(call))
            };
            let next = waiting
                .iter()
                .filter(free)
                .min_by_key(|i| (calls[**i].point, **i));
            let next = *next.expect("the earliest of the waiting calls waits for nothing");
            waiting.retain(|index| *index != next);
            emitted.extend(numbers[next]);
            order.push(next);
        }
        order
    }

    /// What was enough for a call, as far as these replies hold it.
    fn enough_within(&self, point: PointId, replies: &Replies) -> Vec<&Replies> {
        let known = self.enough.get(&point).map_or(&[][..], Vec::as_slice);
        known
            .iter()
            .filter(|enough| enough.is_subset(replies))
            .collect()
    }
}

fn one_by_one(calls: &[Item]) -> bool {
    calls.windows(2).all(|pair| pair[0].before(&pair[1]))
}

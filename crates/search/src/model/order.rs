//! The canonical order of one caller's calls.
//!
//! Calls that a caller makes side by side arrive in an order that chance
//! decides, and what one of them seems to wait for is partly chance too. Owns
//! what is known of it: the least a call was ever seen to wait for. A call is
//! put as early as that allows; among calls that could come next, the one
//! whose point was seen first does. Callers that make one call at a time keep
//! the order in which they made them.

use std::collections::HashMap;

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

/// Replies that were enough for a call to be made.
type Enough = Vec<(PointId, Label)>;

/// What is known of the order of one caller's calls.
#[derive(Debug, Default)]
pub(crate) struct CallOrder {
    /// Whether the caller was ever seen to make calls side by side.
    concurrent: bool,
    /// If so: the least its calls were seen to wait for.
    enough: HashMap<PointId, Vec<Enough>>,
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

    /// Takes in the calls of one execution, in order of arrival; says whether
    /// a call was seen to wait for less than was known.
    pub(crate) fn learn(&mut self, calls: &[Item]) -> bool {
        let mut news = false;
        if !self.concurrent {
            self.concurrent = !one_by_one(calls);
            news = self.concurrent;
        }
        if !self.concurrent {
            return false;
        }
        for call in calls {
            let done = calls.iter().filter(|other| other.before(call));
            let mut replies: Enough = done.map(|item| (item.point, item.label)).collect();
            replies.sort_unstable();
            news |= self.note(call.point, replies);
        }
        news
    }

    fn note(&mut self, point: PointId, replies: Enough) -> bool {
        let known = self.enough.entry(point).or_default();
        if known.iter().any(|enough| is_subset(enough, &replies)) {
            return false;
        }
        known.retain(|enough| !is_subset(&replies, enough));
        known.push(replies);
        true
    }

    /// The canonical order of calls given in order of arrival, as indices.
    pub(crate) fn arrange(&self, calls: &[Item]) -> Vec<usize> {
        if !self.concurrent {
            return (0..calls.len()).collect();
        }
        let mut waiting: Vec<usize> = (0..calls.len()).collect();
        let mut emitted: Enough = Vec::new();
        let mut order = Vec::with_capacity(calls.len());
        while !waiting.is_empty() {
            let free = |index: &&usize| {
                let call = &calls[**index];
                let own = !waiting.iter().any(|other| calls[*other].before(call));
                own || self.known_free(call.point, &emitted)
            };
            let next = waiting
                .iter()
                .filter(free)
                .min_by_key(|i| (calls[**i].point, **i));
            let next = *next.expect("the earliest of the waiting calls waits for nothing");
            waiting.retain(|index| *index != next);
            emitted.push((calls[next].point, calls[next].label));
            order.push(next);
        }
        order
    }

    fn known_free(&self, point: PointId, emitted: &Enough) -> bool {
        let known = self.enough.get(&point);
        known.is_some_and(|known| {
            let holds = |enough: &Enough| enough.iter().all(|reply| emitted.contains(reply));
            known.iter().any(holds)
        })
    }
}

fn one_by_one(calls: &[Item]) -> bool {
    calls.windows(2).all(|pair| pair[0].before(&pair[1]))
}

/// Whether all of a sorted list is in another.
fn is_subset(small: &Enough, large: &Enough) -> bool {
    small.iter().all(|reply| large.binary_search(reply).is_ok())
}

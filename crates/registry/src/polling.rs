//! Calls that a service goes on making while it serves nobody.
//!
//! Owns noticing them while an execution runs, so that it is not waited for as
//! long as they go on. `model` finds the same calls in what was recorded.

use std::sync::Arc;

use bytes::Bytes;
use murphy_model::{Interface, Link, POLLS};
use rustc_hash::FxHashMap;

use crate::control::{Arrival, Parent};

/// How often the same was asked for while the caller served nobody.
#[derive(Debug, Default)]
pub(crate) struct Polling {
    seen: FxHashMap<Kind, usize>,
}

/// What equal calls have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Kind {
    caller: Option<Arc<str>>,
    callee: Arc<str>,
    interface: Interface,
    /// Of a caller that has served one call, it may well be the work for that
    /// call, so what is sent counts.
    body: Option<Bytes>,
}

impl Polling {
    /// Takes a call in that was made while its caller served nobody; whether
    /// it is one of those that go on for good.
    pub(crate) fn goes_on(&mut self, arrival: &Arrival, link: Link) -> bool {
        let caller = match &arrival.claim.parent {
            Parent::Infer { caller, .. } => caller.clone(),
            Parent::Entry | Parent::Known(_) => None,
        };
        let count = self.seen.entry(Kind {
            caller,
            callee: arrival.destination.clone(),
            interface: arrival.interface.clone(),
            body: (link == Link::Inferred).then(|| arrival.body.clone()),
        });
        let count = count.or_default();
        *count += 1;
        *count > POLLS
    }

    /// A call failed: what comes now may be retries, which have an end.
    pub(crate) fn failed(&mut self) {
        self.seen.clear();
    }
}

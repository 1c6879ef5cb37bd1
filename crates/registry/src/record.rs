//! What was seen of an execution: the trace, and what a trace has no room for.
//!
//! Owns the reading of records: which parents were inferred, which planned
//! faults were never injected.
//! What to make of it is for the oracles.

use bytes::Bytes;
use murphy_model::{CallId, Detail, Fault, Faultload, Link, Point, Trace, is_idle};

use crate::ExecutionId;
use crate::control::Arrival;

/// All that was seen of one execution.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Which execution.
    pub execution: ExecutionId,
    /// The calls.
    pub trace: Trace,
    /// More about each call, in the same order.
    pub details: Vec<Detail>,
    /// The requests themselves, in the same order, where the plan asked for
    /// them to be kept; empty otherwise.
    pub requests: Vec<Arrival>,
    /// The bodies of their successful answers, likewise.
    pub answers: Vec<Option<Bytes>>,
    /// The calls of phases in which nothing could fail; the trace is without
    /// them.
    pub unarmed: Vec<Point>,
    /// Whether all calls had ended when the record was taken; if not, waiting
    /// for them was given up.
    pub quiet: bool,
}

impl Recorded {
    /// More about one call.
    pub fn detail(&self, id: CallId) -> &Detail {
        &self.details[id.0 as usize]
    }

    /// The planned faults that were injected into no call, or took no effect where they
    /// did. A pass says nothing about these.
    pub fn not_exercised(&self, planned: &Faultload) -> Vec<Fault> {
        murphy_model::not_exercised(planned, &self.trace, &self.details)
    }

    /// The record without some calls and all that was called for them.
    pub fn without(&self, is_left_out: impl Fn(CallId) -> bool) -> Self {
        let (trace, kept) = self.trace.without(is_left_out);
        fn of<T: Clone>(all: &[T], kept: &[CallId]) -> Vec<T> {
            let kept = kept.iter().filter_map(|CallId(id)| all.get(*id as usize));
            kept.cloned().collect()
        }
        Recorded {
            execution: self.execution,
            trace,
            details: of(&self.details, &kept),
            requests: of(&self.requests, &kept),
            answers: of(&self.answers, &kept),
            unarmed: self.unarmed.clone(),
            quiet: self.quiet,
        }
    }

    /// The calls whose parent could not be told for certain among several, or
    /// at all, or had answered before.
    pub fn doubtful(&self) -> impl Iterator<Item = CallId> + '_ {
        let doubtful = |id: &CallId| {
            let link = self.detail(*id).link;
            link == Link::Ambiguous || is_idle(&self.trace, *id, link)
        };
        self.trace.ids().filter(doubtful)
    }
}

//! What was seen of an execution: the trace, and what a trace has no room for.
//!
//! Owns the reading of records: who gave up and when, how attempts were
//! spaced, which parents were inferred, which planned faults never landed.
//! What to make of it is for the oracles.

use std::time::Duration;

use bytes::Bytes;
use murphy_model::{CallId, Detail, Fault, Faultload, Link, Trace};

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

    /// The waits between the attempts of the call at `id`, from the end of one
    /// to the arrival of the next.
    pub fn spacing(&self, id: CallId) -> Vec<Duration> {
        let call = self.trace.call(id);
        let attempts: Vec<CallId> = self
            .trace
            .children(call.parent)
            .filter(|other| self.trace.call(*other).point.same_call(&call.point))
            .collect();
        let gap = |pair: &[CallId]| {
            let finished = self.detail(pair[0]).finished?;
            Some(self.detail(pair[1]).arrived.saturating_sub(finished))
        };
        attempts.windows(2).filter_map(gap).collect()
    }

    /// The siblings that were under way at the same time as the call at `id`.
    pub fn overlapping(&self, id: CallId) -> impl Iterator<Item = CallId> + '_ {
        let parent = self.trace.call(id).parent;
        let siblings = self.trace.children(parent);
        siblings.filter(move |other| self.trace.overlap(id, *other))
    }

    /// The calls whose parent could not be told for certain among several, or
    /// at all.
    pub fn doubtful(&self) -> impl Iterator<Item = CallId> + '_ {
        let doubtful = |id: &CallId| {
            let link = self.detail(*id).link;
            matches!(link, Link::Ambiguous | Link::Orphan)
        };
        self.trace.ids().filter(doubtful)
    }
}

//! What was seen of an execution: the trace, and what a trace has no room for.
//!
//! Owns the reading of records: which parents were inferred, which planned
//! faults never landed.
//! What to make of it is for the oracles.

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

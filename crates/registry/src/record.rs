//! What was seen of an execution: the trace, and what a trace has no room for.
//!
//! Owns the reading of records: who gave up and when, how attempts were
//! spaced, which parents were inferred, which planned faults never landed.
//! What to make of it is for the oracles.

use std::time::Duration;

use murphy_model::{CallId, Fault, Faultload, Trace};

use crate::{ExecutionId, Organic};

/// How the parent of a call was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// Our own stamp came back, or the call is an entry call.
    Certain,
    /// By span ids: the tracing library said so.
    Spans,
    /// By what was in flight: exactly one call could have made it, provided
    /// that callers make one call at a time.
    Inferred,
    /// Several calls in flight could have made it; the latest was taken.
    Ambiguous,
    /// No call in flight could have made it; it stands on its own.
    Orphan,
}

/// What is known of a call beyond its [`murphy_model::Call`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// When it arrived, since the execution began.
    pub arrived: Duration,
    /// When its answer was on its way back, or its caller gone.
    pub finished: Option<Duration>,
    /// Whether, and how long after its arrival, the caller went away.
    pub gave_up: Option<Duration>,
    /// How the callee failed on its own.
    pub organic: Option<Organic>,
    /// Whether the fault that struck it took effect; `None` if none struck.
    pub landed: Option<bool>,
    /// Whether the body was longer than the limit, so that only its beginning
    /// tells it apart from others.
    pub body_cut: bool,
    /// How its parent was found.
    pub link: Link,
}

/// All that was seen of one execution.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Which execution.
    pub execution: ExecutionId,
    /// The calls.
    pub trace: Trace,
    /// More about each call, in the same order.
    pub details: Vec<Detail>,
    /// Whether all calls had ended when the record was taken; if not, waiting
    /// for them was given up.
    pub quiet: bool,
}

impl Recorded {
    /// More about one call.
    pub fn detail(&self, id: CallId) -> &Detail {
        &self.details[id.0 as usize]
    }

    /// The planned faults that struck no call, or took no effect where they
    /// did. A pass says nothing about these.
    pub fn not_exercised(&self, planned: &Faultload) -> Vec<Fault> {
        let landed = |fault: &Fault| {
            let calls = self.trace.calls().iter().zip(&self.details);
            calls
                .filter(|(call, _)| call.injected.as_ref() == Some(fault))
                .any(|(_, detail)| detail.landed == Some(true))
        };
        planned.faults().filter(|fault| !landed(fault)).collect()
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

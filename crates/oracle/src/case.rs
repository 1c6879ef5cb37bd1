//! A case: an execution before its judges.
//!
//! Owns the questions that several oracles ask about it.

use murphy_model::{CallId, GrpcCode, Mode, Observed, Outcome, Place, Reply, Trace};

use crate::reference::Reference;
use crate::settings::Settings;

/// An execution with what it is measured against.
pub(crate) struct Case<'c> {
    pub(crate) observed: &'c Observed,
    pub(crate) reference: &'c Reference,
    pub(crate) settings: &'c Settings,
}

impl<'c> Case<'c> {
    pub(crate) fn trace(&self) -> &'c Trace {
        &self.observed.execution.trace
    }

    /// Whether any fault was injected.
    pub(crate) fn any_fault(&self) -> bool {
        let mut calls = self.trace().calls().iter();
        calls.any(|call| call.injected.is_some())
    }

    /// Whether the fault injected into a call took effect, as far as is known.
    pub(crate) fn landed(&self, id: CallId) -> bool {
        let landed = self
            .observed
            .detail(id)
            .map(|detail| detail.landed != Some(false));
        self.trace().call(id).injected.is_some() && landed.unwrap_or(true)
    }

    /// The faults that took effect on calls made, directly or not, to serve
    /// this one.
    pub(crate) fn faults_below(&self, id: CallId) -> impl Iterator<Item = Mode> {
        let below = self.trace().ids().filter(move |other| {
            self.landed(*other) && self.trace().ancestors(*other).any(|above| above == id)
        });
        below.filter_map(|other| self.trace().call(other).mode())
    }

    /// The call as `service METHOD /path`, in quotes.
    pub(crate) fn name(&self, id: CallId) -> String {
        format!("`{}`", Place::of(&self.trace().call(id).point))
    }

    /// Who made the call, in quotes.
    pub(crate) fn caller(&self, id: CallId) -> String {
        match self.trace().call(id).parent {
            Some(parent) => {
                let frame = self.trace().call(parent).point.frame();
                format!("`{}`", frame.destination)
            }
            None => "the scenario".to_owned(),
        }
    }
}

/// Whether the caller went away before an answer came. One that has seen the
/// status and leaves the rest of the body unread has not given up.
pub(crate) fn gave_up(observed: &Observed, id: CallId) -> bool {
    observed.execution.trace.call(id).reply == Some(Reply::TimedOut)
}

/// Whether someone further up was given up on before: the caller may have gone
/// away for that reason, and then it says nothing about its own patience.
///
/// That someone further up was answered before means nothing: callers that
/// give up answer at once, and the two are noticed at two proxies.
pub(crate) fn was_abandoned(observed: &Observed, id: CallId) -> bool {
    let trace = &observed.execution.trace;
    let ended = |id: CallId| trace.call(id).finished.unwrap_or(u32::MAX);
    let mut above = trace.ancestors(id);
    above.any(|above| gave_up(observed, above) && ended(above) < ended(id))
}

/// Whether a mode makes the caller wait.
pub(crate) fn takes_time(mode: Mode) -> bool {
    matches!(
        mode.outcome(),
        Outcome::Hang | Outcome::Delay(_) | Outcome::Slow(_)
    )
}

/// Whether a call is over and went wrong.
pub(crate) fn failed(reply: Option<Reply>) -> bool {
    reply.is_some_and(|reply| reply.is_failure())
}

/// Whether the answer says that it is the server's failure.
pub(crate) fn is_their_failure(reply: Reply) -> bool {
    let theirs = |code: GrpcCode| {
        const THEIRS: [&str; 6] = [
            "UNKNOWN",
            "INTERNAL",
            "UNAVAILABLE",
            "DATA_LOSS",
            "DEADLINE_EXCEEDED",
            "RESOURCE_EXHAUSTED",
        ];
        THEIRS.contains(&code.name())
    };
    match reply {
        Reply::Status(status) => status >= 500,
        Reply::Grpc(code) => theirs(code),
        Reply::Reset | Reply::Closed | Reply::TimedOut | Reply::Broken | Reply::NoTls(_) => true,
        Reply::GrpcOk => false,
    }
}

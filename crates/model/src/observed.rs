//! An execution with everything that was seen of it beyond its trace.
//!
//! Owns the words for what a proxy notices and a trace has no room for: times,
//! who gave up, how a callee failed on its own, how sure a parent is. Kept
//! apart from [`Execution`], which is all that a search learns from: two
//! executions that differ only here are the same to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{CallId, Execution, Fault, Faultload, PayloadHash, Trace, json};

/// How a callee failed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Organic {
    /// Nothing listens there.
    Refused,
    /// Nobody has started it yet, or said where it is.
    NotStarted,
    /// It could not be reached: no such host, no route.
    Unreachable,
    /// The connection was not made in time.
    ConnectTimedOut,
    /// The connection broke before an answer came.
    Reset,
    /// The connection broke in the middle of the answer.
    BrokenAnswer,
    /// What came back is no answer in the protocol.
    NotHttp,
    /// It does not speak TLS, or not with us.
    NoTls,
    /// Its certificate has expired, or is not valid yet.
    CertificateExpired,
    /// Its certificate is for another name.
    CertificateName,
    /// Its certificate is signed by nobody who is trusted.
    CertificateUntrusted,
    /// It wants a client certificate, and has not got one.
    ClientCertificateWanted,
}

/// How the parent of a call was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// Our own stamp came back, or the call is an entry call.
    #[default]
    Certain,
    /// By span ids: the tracing library said so.
    Spans,
    /// By what was in flight: exactly one call could have made it, provided
    /// that callers make one call at a time.
    Inferred,
    /// Several calls in flight could have made it; the latest was taken.
    Ambiguous,
    /// Its caller served several calls before, and none that is in flight: it
    /// works in the background. The call it served last was taken.
    Background,
    /// No call in flight could have made it; it stands on its own.
    Orphan,
}

/// What is known of a call beyond its [`crate::Call`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// When it arrived, since the execution began.
    #[serde(rename = "arrived_ns", with = "json::nanos")]
    pub arrived: Duration,
    /// When its answer was on its way back, or its caller gone.
    #[serde(
        default,
        rename = "finished_ns",
        skip_serializing_if = "Option::is_none",
        with = "json::some_nanos"
    )]
    pub finished: Option<Duration>,
    /// Whether, and how long after its arrival, the caller went away before
    /// the answer was complete. Where its status had come by then, the reply is
    /// that status; otherwise it is [`crate::Reply::TimedOut`].
    #[serde(
        default,
        rename = "gave_up_ns",
        skip_serializing_if = "Option::is_none",
        with = "json::some_nanos"
    )]
    pub gave_up: Option<Duration>,
    /// How the callee failed on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organic: Option<Organic>,
    /// Whether the fault injected into it took effect; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landed: Option<bool>,
    /// Whether the body was longer than the limit, so that only its beginning
    /// distinguishes it from others.
    #[serde(default, skip_serializing_if = "json::is_default")]
    pub body_cut: bool,
    /// The hash of the idempotency key that it carries: attempts
    /// with the same one are one piece of work to the callee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<PayloadHash>,
    /// How its parent was found.
    #[serde(default, skip_serializing_if = "json::is_default")]
    pub link: Link,
}

/// One execution and all that was seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// What a search learns from.
    pub execution: Execution,
    /// More about each call, in the order of the trace; empty where nothing
    /// more is known, as in a simulation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Detail>,
    /// Whether all calls had ended when the record was taken.
    pub quiet: bool,
    /// How long the scenario took.
    #[serde(rename = "took_ns", with = "json::nanos")]
    pub took: Duration,
    /// What the scenario printed, if it prints and it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What services logged meanwhile, as text for a person, if it was kept.
    /// Apart from the scenario's own words: it may be about other executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<String>,
}

impl Observed {
    /// An execution of which nothing more is known than its trace.
    pub fn bare(execution: Execution, took: Duration) -> Self {
        Observed {
            execution,
            details: Vec::new(),
            quiet: true,
            took,
            output: None,
            logged: None,
        }
    }

    /// All that was printed, the services' logs after the scenario's words.
    pub fn printed(&self) -> Option<String> {
        let both = [&self.output, &self.logged].into_iter().flatten();
        let text: String = both.map(String::as_str).collect();
        (!text.is_empty()).then_some(text)
    }

    /// How long a call took, if that is known; one that was not over when the
    /// scenario was, until then.
    pub fn time_of(&self, id: CallId) -> Option<Duration> {
        let detail = self.detail(id)?;
        let ended = detail.finished.unwrap_or(self.took);
        Some(ended.saturating_sub(detail.arrived))
    }

    /// More about one call, if it is known.
    pub fn detail(&self, id: CallId) -> Option<&Detail> {
        self.details.get(id.0 as usize)
    }
}

/// The planned faults that were injected into no call, or took no effect where they did.
pub fn not_exercised(planned: &Faultload, trace: &Trace, details: &[Detail]) -> Vec<Fault> {
    let landed = |fault: &Fault| {
        let calls = trace.calls().iter().zip(details);
        calls
            .filter(|(call, _)| call.injected.as_ref() == Some(fault))
            .any(|(_, detail)| detail.landed == Some(true))
    };
    planned.faults().filter(|fault| !landed(fault)).collect()
}

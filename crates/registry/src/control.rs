//! What a proxy and the control plane say to each other.
//!
//! Owns the messages and the one trait between the two, so that each is tested
//! without the other. Every question is answered from memory, at once.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use murphy_model::{CallId, Interface, Mode, Organic, PayloadHash, Reply};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::handshakes::{Greeting, Handshake};
use crate::hex;

/// One execution, among all that any control plane ever began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionId(pub u64);

impl ExecutionId {
    /// The trace id we give an execution. It fits into 64 bits, because stacks
    /// with ids of that size hand on no more; never zero, which W3C forbids.
    pub fn trace(self) -> TraceKey {
        TraceKey(u128::from(self.0.max(1)))
    }
}

/// One call of one execution: what a proxy stamps on the way into a service
/// and finds again on that service's own calls. Without a call it names the
/// execution itself, and what carries it is an entry call.
///
/// Written `0123456789abcdef-1f`, or `0123456789abcdef` without a call: only
/// characters that every carrier lets pass unescaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The execution.
    pub execution: ExecutionId,
    /// The call in its trace.
    pub call: Option<CallId>,
}

impl CallKey {
    /// The span that stands for a call whose request brought none: the same
    /// for the same call, different for others, never zero. Proxies write it
    /// and the registry knows it, so that it need not be reported.
    pub fn span(&self) -> SpanId {
        let call = self.call.map_or(0, |call| u64::from(call.0) + 1);
        // An odd factor moves different calls to different spans.
        let mixed = self.execution.0 ^ call.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        SpanId(mixed.max(1))
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExecutionId({self})")
    }
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        f.write_str(std::str::from_utf8(name.as_bytes()).expect("digits are ASCII"))
    }
}

/// The text of a [`CallKey`]. It is written for every call of an execution,
/// and takes no memory of its own.
#[derive(Clone, Copy)]
pub struct CallName {
    text: [u8; CallName::LONGEST],
    length: usize,
}

impl CallName {
    /// How long it can be.
    pub const LONGEST: usize = 16 + 1 + 8;

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }
}

impl CallKey {
    /// How it is written.
    pub fn name(&self) -> CallName {
        let mut text = [b'-'; CallName::LONGEST];
        text[..16].copy_from_slice(&hex::digits(self.execution.0));
        let Some(CallId(call)) = self.call else {
            return CallName { text, length: 16 };
        };
        let zeros = (call.leading_zeros() / 4).min(7);
        // Without the leading zeros; what is left over behind is not shown.
        let digits = hex::digits(u64::from(call) << (32 + 4 * zeros));
        text[17..].copy_from_slice(&digits[..8]);
        CallName {
            text,
            length: CallName::LONGEST - zeros as usize,
        }
    }
}

/// A text that names no call of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a call: 16 hexadecimal digits, then optionally `-` and 1 to 8 more")]
pub struct NoCallKey;

impl CallKey {
    /// Reads it as it is written; lower-case digits only.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (execution, call) = text.split_at_checked(16)?;
        let call = match call {
            [] => None,
            [b'-', digits @ ..] if (1..=8).contains(&digits.len()) => {
                Some(CallId(hex::parse(digits)? as u32))
            }
            _ => return None,
        };
        let execution = ExecutionId(hex::parse(execution)?);
        Some(CallKey { execution, call })
    }
}

impl FromStr for CallKey {
    type Err = NoCallKey;

    fn from_str(text: &str) -> Result<Self, NoCallKey> {
        CallKey::parse(text.as_bytes()).ok_or(NoCallKey)
    }
}

/// What travels through a whole execution unchanged: a trace id, or the
/// digest of a request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceKey(pub u128);

/// A span id as some tracing library made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(pub u64);

/// The span ids a request carries, where its carrier has any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The span of the call itself, as its caller made it.
    pub own: Option<SpanId>,
    /// The span it was made under. Some stacks send it (B3), most do not.
    pub parent: Option<SpanId>,
}

/// One worker of a campaign: it runs one execution at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerId(pub u32);

/// What one carrier found in a request's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextHint {
    /// Our own mark: certain.
    Stamp(CallKey),
    /// A trace id that may be one of ours; the parent is to be inferred.
    Trace(TraceKey, Spans),
}

/// Where a request came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// At a worker's own listener: the scenario sent it.
    Entry(WorkerId),
    /// In front of a service; the calling service, if only one calls here.
    Service {
        /// The only caller of this listener, where that is known.
        caller: Option<Arc<str>>,
    },
    /// In front of a service, at an address that anybody may have been given:
    /// other services, and the test itself.
    Fixed {
        /// Whose test calls here where nothing else says who does, if there is
        /// only one worker and no service is known to call here.
        worker: Option<WorkerId>,
    },
    /// At a listener for our own requests, and for steps around executions:
    /// they belong to none.
    Murphy,
}

/// A request that belongs to a live execution, as far as can be told before
/// its body is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The execution it belongs to.
    pub execution: ExecutionId,
    /// The call it was made from.
    pub parent: Parent,
}

/// The call that a request was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// None: the scenario itself sent it.
    Entry,
    /// This one.
    Known(CallId),
    /// To be inferred from spans and from what is in flight at the caller.
    Infer {
        /// What the request's carrier says of spans.
        spans: Spans,
        /// The calling service, where that is known.
        caller: Option<Arc<str>>,
        /// Whether the test itself may have sent it, which is assumed where
        /// no call is in flight that could have.
        maybe_test: bool,
    },
}

/// A request of a live execution, body read as far as identity needs it.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Whose it is.
    pub claim: Owner,
    /// The service it is sent to.
    pub destination: Arc<str>,
    /// What it asks for, with the concrete path.
    pub interface: Interface,
    /// The query, without `?`.
    pub query: String,
    /// The body, up to the proxy's limit.
    pub body: Bytes,
    /// Whether there was more of the body than is in `body`.
    pub body_cut: bool,
    /// The hash of the idempotency key among its headers or in its body.
    pub idempotency_key: Option<PayloadHash>,
    /// The place in the caller's code, if a client library says so.
    pub site: Option<String>,
    /// What else travels with the execution, to be recognised later.
    pub hints: Vec<ContextHint>,
    /// Where it came in, if its caller spoke TLS with us there.
    pub over_tls: Option<Origin>,
    /// The headers that were to be noted and that it had, by their names.
    pub noted: Vec<(&'static str, String)>,
}

impl Arrival {
    /// A header that was to be noted, if the request had it.
    pub fn noted(&self, name: &str) -> Option<&str> {
        let noted = self.noted.iter().find(|(noted, _)| *noted == name);
        noted.map(|(_, value)| value.as_str())
    }
}

/// A request that belongs to no execution, as far as anybody can tell.
#[derive(Clone, Copy, Debug)]
pub struct Unclaimed<'r> {
    /// What its carriers found.
    pub hints: &'r [ContextHint],
    /// Where it came in.
    pub origin: &'r Origin,
    /// The service it is sent to.
    pub destination: &'r Arc<str>,
    /// What it asks for, with the concrete path.
    pub interface: &'r Interface,
}

/// What is to be done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its name, to be stamped on the request and given back in `finish`.
    pub key: CallKey,
    /// The trace id of the execution, where the request has none.
    pub trace: TraceKey,
    /// How it is to fail; `None`: not at all.
    pub fault: Option<Mode>,
    /// When it was counted as arrived; [`Ending::took`] begins here.
    pub arrived: Instant,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What the caller saw.
    pub reply: Reply,
    /// How the callee failed on its own, if it did.
    pub organic: Option<Organic>,
    /// Whether the fault really took effect; true where there was none.
    /// False where a caller gave up before, or there was nothing to spoil.
    pub landed: bool,
    /// Whether the caller went away before the answer was complete.
    pub gave_up: bool,
    /// The time from the arrival to now, by the proxy's clock.
    pub took: Duration,
    /// The body of the answer, where it is the callee's own and a success:
    /// 2xx, or gRPC OK. `None` where a fault replaced or changed the answer,
    /// or the answer cannot have a body (204, or a HEAD request).
    pub body: Option<AnswerBody>,
    /// What the callee had answered, where that was lost or replaced.
    pub lost: Option<LostAnswer>,
    /// The error code in the answer that was injected, in the words of the
    /// service that is called.
    pub code: Option<String>,
}

/// An answer that its caller never got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostAnswer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: AnswerBody,
}

/// The body of an answer, as far as it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerBody {
    /// Decoded where it came as gzip or deflate, otherwise as it came. Of a
    /// gRPC answer: its first message.
    pub bytes: Bytes,
    /// Whether there was more than this.
    pub cut: bool,
}

/// The execution of a call is not known, or not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such execution, or it has ended")]
pub struct Unknown;

/// The control plane as a proxy sees it.
pub trait Control: Send + Sync + 'static {
    /// Whether no execution is live, so that requests need not be looked at.
    fn idle(&self) -> bool;

    /// Whose request this is, from the first hint that is known; `None`: of no
    /// live execution, to be passed on untouched. Asked before the body is
    /// read, for every request: it must answer from memory.
    fn recognise(&self, hints: &[ContextHint], origin: &Origin) -> Option<Owner>;

    /// A request was passed on that [`Control::recognise`] gave to nobody:
    /// whoever runs executions wants to know what they do not see.
    fn unclaimed(&self, _: &Unclaimed<'_>) {}

    /// A request to this service was passed on untouched, because its path is
    /// to be ignored.
    fn ignored(&self, _: &Arc<str>) {}

    /// Names a call and says what is to be done with it. When it answers
    /// [`Unknown`] the execution ended meanwhile: the request is nobody's.
    fn arrive(&self, arrival: Arrival) -> Result<Decision, Unknown>;

    /// A caller begins a TLS handshake, to call this service: what is to become
    /// of it. Which call it is for is known from executions before; where it is
    /// not, nothing is injected.
    fn handshake(&self, _: &Origin, _: &Arc<str>) -> Greeting {
        Greeting::Goes
    }

    /// The caller broke off a handshake because of its fault: its call ends
    /// here. Of a caller that took the certificate nothing is reported; the
    /// call arrives like any other.
    fn broke_off(&self, _: Handshake) {}

    /// Whether each call to this service is to have a handshake of its own, so
    /// that connections of callers are closed after every answer.
    fn wants_handshakes(&self, _: &Arc<str>) -> bool {
        false
    }

    /// Changes when [`Control::wants_handshakes`] may have come true: idle
    /// connections must not be used any more then.
    fn handshakes_wanted(&self) -> Option<watch::Receiver<()>> {
        None
    }

    /// The callee of a call has answered with this status, and the answer is to
    /// be lost or replaced. False: it is to be passed on after all, and nothing
    /// was injected.
    fn is_still_to_fail(&self, _: CallKey, _status: u16) -> bool {
        true
    }

    /// Reports what came of a call. Called before the end of the answer is
    /// sent on, so that whatever the caller does next comes after it.
    fn finish(&self, key: CallKey, ending: Ending);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_as_it_is_written() {
        let execution = ExecutionId(0x0123_4567_89ab_cdef);
        for call in [
            None,
            Some(0),
            Some(0x1f),
            Some(0x10),
            Some(0xabc_def0),
            Some(u32::MAX),
        ] {
            let call = call.map(CallId);
            let key = CallKey { execution, call };
            assert_eq!(key.to_string().parse(), Ok(key));
            let digits = call.map_or(String::new(), |call| format!("-{:x}", call.0));
            assert_eq!(key.to_string(), format!("0123456789abcdef{digits}"));
        }
    }

    #[test]
    fn other_texts_are_no_keys() {
        let others = [
            "",
            "0123456789abcdef-",
            "0123456789ABCDEF",
            "0123456789abcde",
            "0123456789abcdef-123456789",
            "0123456789abcdef-+1",
            "00f067aa0ba902b7-x",
            "é123456789abcde",
        ];
        for text in others {
            assert_eq!(text.parse::<CallKey>(), Err(NoCallKey), "{text}");
        }
    }
}

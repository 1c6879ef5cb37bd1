//! A mode: how a call fails, as phase and outcome.
//!
//! Owns which combinations make sense and what they mean for the callee and
//! the caller. The text form lives in `syntax`; making it happen on a wire is
//! the proxy's job, one file per outcome.

use std::time::Duration;

use crate::{Protocol, Reply};

/// When, relative to the callee's work, a fault is injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The callee never sees the request.
    Before,
    /// The callee does its work; its answer is lost or replaced.
    After,
    /// The callee does its work and answers; how the messages travel changes.
    Delivery,
}

/// What the caller gets instead of the callee's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// An HTTP status from 100 to 599.
    Status(u16),
    /// A gRPC status other than OK.
    Grpc(GrpcCode),
    /// The connection is reset.
    Reset,
    /// The connection is closed without an answer.
    Close,
    /// No answer, until the caller gives up.
    Hang,
    /// The answer comes, later by this much.
    Delay(Duration),
    /// The body ends after this many bytes.
    Truncate(u64),
    /// The body trickles at this many bytes a second.
    Slow(u64),
    /// The body is not what its content type says.
    Malformed,
    /// The callee is sent the request twice; the caller sees the first answer.
    Duplicate,
    /// The TLS handshake fails, for callers that speak TLS with the proxy.
    Tls(TlsFault),
}

/// How a TLS handshake fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsFault {
    /// The connection is closed in the middle of it.
    Handshake,
    /// The certificate has expired.
    Expired,
    /// The certificate is signed by an authority that nobody trusts.
    Untrusted,
    /// The certificate is for another host.
    Name,
}

impl TlsFault {
    /// All of them.
    pub const ALL: [TlsFault; 4] = [
        TlsFault::Handshake,
        TlsFault::Expired,
        TlsFault::Untrusted,
        TlsFault::Name,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            TlsFault::Handshake => "handshake",
            TlsFault::Expired => "expired",
            TlsFault::Untrusted => "untrusted",
            TlsFault::Name => "name",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        TlsFault::ALL.into_iter().find(|fault| fault.name() == name)
    }
}

/// A gRPC status code other than OK, 1 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrpcCode(u8);

/// The names of the gRPC status codes, at their number less one.
const GRPC_NAMES: [&str; 16] = [
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

impl GrpcCode {
    /// The code with this number; `None` for OK (0) and unassigned numbers.
    pub fn new(number: u8) -> Option<Self> {
        (1..=16).contains(&number).then_some(GrpcCode(number))
    }

    /// The code with this name, in upper case with underscores.
    pub fn named(name: &str) -> Option<Self> {
        let index = GRPC_NAMES.iter().position(|known| *known == name)?;
        Some(GrpcCode(index as u8 + 1))
    }

    /// All codes, by number.
    pub fn all() -> impl Iterator<Item = GrpcCode> {
        (1..=16).map(GrpcCode)
    }

    /// The number on the wire.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The name in the gRPC specification.
    pub fn name(self) -> &'static str {
        GRPC_NAMES[usize::from(self.0) - 1]
    }
}

/// How a call fails. Only combinations that make sense can be built.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    phase: Phase,
    outcome: Outcome,
}

impl std::fmt::Debug for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{self}`")
    }
}

impl Mode {
    /// A mode; `None` where the phase and the outcome exclude each other.
    ///
    /// Delay and duplicate are matters of delivery and of nothing else;
    /// truncated, slow and malformed bodies need an answer to spoil, so they
    /// come after; a handshake comes before everything; a status must be one
    /// HTTP knows.
    pub fn new(phase: Phase, outcome: Outcome) -> Option<Self> {
        let fits = match outcome {
            Outcome::Status(status) => phase != Phase::Delivery && (100..600).contains(&status),
            Outcome::Grpc(_) | Outcome::Reset | Outcome::Close | Outcome::Hang => {
                phase != Phase::Delivery
            }
            Outcome::Delay(_) | Outcome::Duplicate => phase == Phase::Delivery,
            Outcome::Truncate(_) | Outcome::Slow(_) | Outcome::Malformed => phase == Phase::After,
            Outcome::Tls(_) => phase == Phase::Before,
        };
        fits.then_some(Mode { phase, outcome })
    }

    /// The callee is not reached and this status comes back.
    ///
    /// # Panics
    /// If `status` is no HTTP status; meant for statuses written in code.
    pub fn status(status: u16) -> Self {
        Mode::new(Phase::Before, Outcome::Status(status)).expect("an HTTP status is 100 to 599")
    }

    /// The callee is not reached and the connection is reset.
    pub const RESET: Mode = Mode {
        phase: Phase::Before,
        outcome: Outcome::Reset,
    };

    /// The callee is not reached and the caller waits until it gives up.
    pub const HANG: Mode = Mode {
        phase: Phase::Before,
        outcome: Outcome::Hang,
    };

    /// When the fault is injected.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What the caller gets.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Whether the callee is kept from running, and with it every call it
    /// would have made. Only then does a fault hide what is downstream.
    pub fn is_blocking(&self) -> bool {
        self.phase == Phase::Before
    }

    /// What the caller sees, where the mode alone decides it.
    ///
    /// `None` where the callee's own status still arrives: late, twice asked
    /// for, slowly, or with a body that is not what it says.
    pub fn reply(&self) -> Option<Reply> {
        match self.outcome {
            Outcome::Status(status) => Some(Reply::Status(status)),
            Outcome::Grpc(code) => Some(Reply::Grpc(code)),
            Outcome::Reset => Some(Reply::Reset),
            Outcome::Close => Some(Reply::Closed),
            Outcome::Hang => Some(Reply::TimedOut),
            Outcome::Truncate(_) => Some(Reply::Broken),
            Outcome::Tls(fault) => Some(Reply::NoTls(fault)),
            Outcome::Delay(_) | Outcome::Slow(_) | Outcome::Duplicate | Outcome::Malformed => None,
        }
    }

    /// How the TLS handshake fails, if that is how.
    pub fn tls(&self) -> Option<TlsFault> {
        match self.outcome {
            Outcome::Tls(fault) => Some(fault),
            _ => None,
        }
    }

    /// Whether the callee's own answer arrives as it was sent: late, or after
    /// the callee was asked twice.
    pub fn keeps_body(&self) -> bool {
        matches!(self.outcome, Outcome::Delay(_) | Outcome::Duplicate)
    }

    /// Whether a call over `protocol` can fail this way.
    ///
    /// An HTTP status can be returned to a gRPC client (every client maps it);
    /// a gRPC status means nothing to an HTTP client.
    pub fn fits(&self, protocol: Protocol) -> bool {
        !matches!((self.outcome, protocol), (Outcome::Grpc(_), Protocol::Http))
    }
}

//! Murphy's vocabulary: the words every other crate speaks.
//!
//! A [`Call`] is one request seen on its way to a service. Its [`Point`] is the
//! identity it keeps across executions; a [`Fault`] makes a point fail in a
//! [`Mode`]; a [`Faultload`] is a set of faults; an [`Execution`] is one run
//! of the scenario under a faultload, with its [`Trace`] and [`Verdict`]; a
//! [`Certificate`] states what a whole search covered.
//!
//! All of it has one JSON form, versioned by [`FORMAT`]; an [`Event`] is what
//! happened in a campaign, in the past tense.
//!
//! This crate is pure: no sockets, no clocks, no randomness. How a call gets
//! its point is decided here ([`identity`]) and nowhere else, so the simulator
//! and the proxies cannot disagree. Deciding what to try next is `search`'s
//! job; making a fault happen is the proxy's.

mod answers;
mod armed;
mod background;
mod certificate;
mod edge;
mod event;
mod execution;
mod fault;
mod finding;
pub mod identity;
mod interface;
mod json;
mod left_out;
mod mode;
mod observed;
mod pattern;
mod payload;
mod point;
mod polling;
mod profile;
mod syntax;
mod trace;

pub use answers::{AnswerMask, AnswerMasks};
pub use armed::Armed;
pub use background::BackgroundCall;
pub use certificate::{Audit, Certificate, Flag, Incomplete, Skips};
pub use edge::{Edge, Place};
pub use event::{Began, Besides, Ended, Event, Found, LeftBehind, Sink, Standing};
pub use execution::{Execution, Verdict};
pub use fault::{Conflict, Fault, Faultload, Target};
pub use finding::{BugClass, Finding, Severity, Shown};
pub use identity::{Arrival, Identifier, Identity};
pub use interface::{Interface, PathTemplates, Protocol};
pub use json::FORMAT;
pub use left_out::LeftOutCall;
pub use mode::{GrpcCode, Mode, Outcome, Phase, TlsFault};
pub use observed::{Detail, Link, Observed, Organic, not_exercised};
pub use pattern::{Attempts, FramePattern, InterfacePattern, Pattern, Text};
pub use payload::{NoPayloadHash, PayloadHash};
pub use point::{Frame, Point, Predecessors, Sibling};
pub use polling::{POLLS, is_idle, polling};
pub use profile::{EdgeProfile, Span};
pub use syntax::{ModeSet, SyntaxError, nearest, nearest_first, underlined};
pub use trace::{Call, CallId, Reply, Trace};

//! The core of the control plane: who is calling, which point is it, does a
//! fault apply, what came of it.
//!
//! A campaign [`begin`](Registry::begin)s an execution with its faultload,
//! [`collect`](Registry::collect)s what was [`Recorded`] once the execution is
//! quiet, and [`end`](Registry::end)s it. In between, proxies report calls
//! through [`Control`], the one trait they know. Owns the state of running
//! executions and the inference of parents; the names of calls come from
//! `model`, and reading or writing bytes is the proxy's job.

mod call_graph;
mod call_record;
mod control;
mod execution;
mod handshakes;
pub mod hex;
mod infer;
mod injector;
mod name_cache;
mod places;
mod polling;
mod record;
mod registry;
mod unattributed;

pub use call_graph::CallGraph;
pub use control::{
    AnswerBody, Arrival, CallKey, CallName, ContextHint, Control, Decision, Ending, ExecutionId,
    LostAnswer, Origin, Owner, Parent, SpanId, Spans, TraceKey, Unclaimed, Unknown, WorkerId,
};
pub use handshakes::{Greeting, Handshake};
pub use injector::{Injector, SharedInjector};
pub use murphy_model::{Detail, Link, Organic};
pub use places::Places;
pub use record::Recorded;
pub use registry::{BeginError, Plan, Registry, Settings};
pub use unattributed::Unattributed;

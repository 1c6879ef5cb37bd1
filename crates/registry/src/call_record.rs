//! A call as it is kept while its execution runs.
//!
//! Owns keeping it small. Fresh memory is what calls cost most: the kernel has
//! to find and clear it. So all attempts of a call share one point, and what
//! few calls have is behind a pointer.

use std::sync::Arc;

use bytes::Bytes;
use murphy_model::{Call, CallId, Detail, Fault, Mode, PayloadHash, Point, Reply};

/// The body of a callee's own successful answer.
#[derive(Debug)]
pub(crate) enum SeenBody {
    /// There was none, or nobody saw it.
    None,
    /// As it came: to compare it takes longer than to pass it on, so that is
    /// left for when the record is taken.
    Raw(Bytes),
    /// What tells it from others: there was no room for more.
    Hashed(Option<PayloadHash>),
}

/// What a call is part of; what is called for it is part of the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What is searched: it is in the trace, and may fail.
    Search,
    /// What a service does by itself.
    Background,
    /// A phase of the scenario in which nothing fails.
    Unarmed,
}

/// A call that was seen.
#[derive(Debug)]
pub(crate) struct CallRecord {
    /// The point of its first attempt.
    pub(crate) first: Point,
    /// Which attempt it is.
    pub(crate) count: u32,
    /// The rest as in [`Call`].
    pub(crate) parent: Option<CallId>,
    pub(crate) part: Part,
    /// Whether it is in no record.
    pub(crate) is_left_out: bool,
    /// Whether its execution is not over before it is.
    pub(crate) is_awaited: bool,
    pub(crate) arrived: u32,
    pub(crate) finished: Option<u32>,
    pub(crate) reply: Option<Reply>,
    pub(crate) injected: Option<Arc<Fault>>,
    pub(crate) body: SeenBody,
    /// What a [`Call`] has no room for; here all the same, because to write in
    /// two places that are not in the cache takes twice as long.
    pub(crate) detail: Detail,
}

impl CallRecord {
    pub(crate) fn point(&self) -> Point {
        self.first.attempt(self.count)
    }

    /// What was injected, if anything was.
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.injected.as_ref().map(|fault| fault.mode)
    }

    /// The call as it is recorded, its body as `hash` tells it from others.
    pub(crate) fn call(&self, hash: impl FnOnce(&Point, &[u8]) -> Option<PayloadHash>) -> Call {
        Call {
            point: self.point(),
            parent: self.parent,
            arrived: self.arrived,
            finished: self.finished,
            reply: self.reply,
            injected: self.injected.as_deref().cloned(),
            body: match &self.body {
                SeenBody::None => None,
                SeenBody::Raw(bytes) => hash(&self.first, bytes),
                SeenBody::Hashed(body) => *body,
            },
        }
    }
}

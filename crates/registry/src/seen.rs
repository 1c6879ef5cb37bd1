//! A call as it is kept while its execution runs.
//!
//! Owns keeping it small. Fresh memory is what calls cost most: the kernel has
//! to find and clear it. So all attempts of a call share one point, and what
//! few calls have is behind a pointer.

use std::sync::Arc;

use murphy_model::{Call, CallId, Detail, Fault, Mode, PayloadHash, Point, Reply};

/// A call that was seen.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The point of its first attempt.
    pub(crate) first: Point,
    /// Which attempt it is.
    pub(crate) count: u32,
    /// The rest as in [`Call`].
    pub(crate) parent: Option<CallId>,
    pub(crate) arrived: u32,
    pub(crate) finished: Option<u32>,
    pub(crate) reply: Option<Reply>,
    pub(crate) injected: Option<Arc<Fault>>,
    pub(crate) body: Option<PayloadHash>,
    /// What a [`Call`] has no room for; here all the same, because to write in
    /// two places that are not in the cache takes twice as long.
    pub(crate) detail: Detail,
}

impl Seen {
    /// Its own point.
    pub(crate) fn point(&self) -> Point {
        self.first.attempt(self.count)
    }

    /// How it was made to fail, if it was.
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.injected.as_ref().map(|fault| fault.mode)
    }

    /// The call as it is recorded.
    pub(crate) fn call(&self) -> Call {
        Call {
            point: self.point(),
            parent: self.parent,
            arrived: self.arrived,
            finished: self.finished,
            reply: self.reply,
            injected: self.injected.as_deref().cloned(),
            body: self.body,
        }
    }
}

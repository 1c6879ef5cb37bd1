//! A caller that has said that it sends no more, and may wait for its answer.
//!
//! Owns noticing that it has gone away, which no packet tells: its socket is
//! looked at from time to time.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::upload::Stopped;
use crate::stream::Stream;

/// How soon it is looked at again at first: a caller that closes its
/// connection may be seen in the middle of that.
const SOONEST: Duration = Duration::from_millis(1);

/// How soon later on.
const LATEST: Duration = Duration::from_millis(100);

/// When a half-closed caller is looked at next.
pub(super) struct HalfClosed {
    next: Pin<Box<Sleep>>,
    pause: Duration,
}

impl HalfClosed {
    /// A caller whose end was just read; `None` if it has gone away, as far as
    /// can be told.
    pub(super) fn new(caller: &dyn Stream) -> Option<Self> {
        caller.still_reads().then(|| HalfClosed {
            next: Box::pin(tokio::time::sleep(SOONEST)),
            pause: SOONEST,
        })
    }

    /// Looks at it if it is time.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        caller: &dyn Stream,
    ) -> Result<(), Stopped> {
        while self.next.as_mut().poll(cx) == Poll::Ready(()) {
            if !caller.still_reads() {
                return Err(Stopped::Gone);
            }
            self.pause = (2 * self.pause).min(LATEST);
            self.next.as_mut().reset(Instant::now() + self.pause);
        }
        Ok(())
    }
}

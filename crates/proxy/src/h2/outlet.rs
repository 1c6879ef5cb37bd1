//! What has gone out on a connection.
//!
//! Owns the one thing `h2` does not tell: whether what was handed to it has
//! reached the socket. It matters because `h2` throws queued frames away when
//! a stream is reset, and because a request that was never written may be sent
//! again elsewhere.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Progress of one connection. All that touch it run on one thread; it is
/// atomic only because tasks must be able to move.
#[derive(Default)]
pub(super) struct Outlet {
    written: AtomicU64,
    blocked: AtomicBool,
    closed: AtomicBool,
    /// How often all that was queued has been written.
    rounds: AtomicU64,
    tasks: Mutex<Tasks>,
    awaited: AtomicBool,
}

#[derive(Default)]
struct Tasks {
    /// The task that writes.
    writer: Option<Waker>,
    /// Those who wait for it.
    waiting: Vec<Waker>,
}

impl Outlet {
    /// Some bytes were written to the socket.
    pub(super) fn wrote(&self, bytes: usize) {
        self.written
            .store(self.written.load(Relaxed) + bytes as u64, Relaxed);
        self.blocked.store(false, Relaxed);
    }

    /// The socket takes no more for now.
    pub(super) fn blocked(&self) {
        self.blocked.store(true, Relaxed);
    }

    /// How many bytes were written so far.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    /// The connection was polled: unless the socket was full, all frames that
    /// the peer's windows have room for are written now.
    pub(super) fn polled(&self, cx: &Context<'_>) {
        if self.blocked.load(Relaxed) {
            return;
        }
        let rounds = self.rounds.load(Relaxed);
        self.rounds.store(rounds + 1, Relaxed);
        if rounds == 0 {
            self.tasks().writer = Some(cx.waker().clone());
        }
        if self.awaited.swap(false, Relaxed) {
            self.wake_waiting();
        }
    }

    /// Nothing will be written any more.
    pub(super) fn close(&self) {
        self.closed.store(true, Relaxed);
        self.tasks().writer = None;
        self.wake_waiting();
    }

    /// Waits until all that was handed to `h2` so far is written, but for what
    /// the peer's windows have no room for.
    pub(super) async fn see_out(&self) {
        let before = self.rounds.load(Relaxed);
        poll_fn(|cx| {
            if self.rounds.load(Relaxed) != before || self.closed.load(Relaxed) {
                return Poll::Ready(());
            }
            let mut tasks = self.tasks();
            tasks.waiting.push(cx.waker().clone());
            self.awaited.store(true, Relaxed);
            // Maybe all is written: then nothing else would wake it.
            if let Some(writer) = &tasks.writer {
                writer.wake_by_ref();
            }
            Poll::Pending
        })
        .await;
    }

    fn wake_waiting(&self) {
        let waiting = std::mem::take(&mut self.tasks().waiting);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(seen_out: std::pin::Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        seen_out.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn all_is_out_when_the_connection_was_polled_and_not_blocked() {
        let outlet = Outlet::default();
        let cx = Context::from_waker(Waker::noop());
        outlet.polled(&cx);
        let mut seen_out = std::pin::pin!(outlet.see_out());
        assert!(poll(seen_out.as_mut()).is_pending());
        outlet.wrote(10);
        outlet.blocked();
        outlet.polled(&cx);
        assert!(poll(seen_out.as_mut()).is_pending());
        outlet.wrote(10);
        outlet.polled(&cx);
        assert!(poll(seen_out.as_mut()).is_ready());
        assert_eq!(outlet.written(), 20);
    }

    #[test]
    fn nobody_waits_for_a_connection_that_has_ended() {
        let outlet = Outlet::default();
        let mut seen_out = std::pin::pin!(outlet.see_out());
        assert!(poll(seen_out.as_mut()).is_pending());
        outlet.close();
        assert!(poll(seen_out.as_mut()).is_ready());
        assert!(poll(std::pin::pin!(outlet.see_out())).is_ready());
    }
}

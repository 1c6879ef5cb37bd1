//! Waiting for less than a tick.
//!
//! The runtime's timers count milliseconds, and a wait of fifty microseconds
//! takes one or two of them. Owns waits that are that short, by timers of the
//! system's own; where it has none, they take as long as they do.

use std::time::Duration;

/// Short waits, as many at once as one likes. Their timers are kept for the
/// next: to make one takes longer than most are waited for.
#[derive(Default)]
pub(super) struct Moments {
    #[cfg(target_os = "linux")]
    idle: std::sync::Mutex<Vec<linux::Timer>>,
}

impl Moments {
    /// Waits for this long, and hardly longer.
    pub(super) async fn pass(&self, time: Duration) {
        if self.finely(time).await.is_none() {
            tokio::time::sleep(time).await;
        }
    }

    /// `None` where the system has no such timer, or no more of them.
    #[cfg(target_os = "linux")]
    async fn finely(&self, time: Duration) -> Option<()> {
        let idle = || self.idle.lock().expect("no panic while it is held");
        // Out of the lock before it is waited for.
        let kept = idle().pop();
        let timer = kept.or_else(linux::Timer::new)?;
        timer.pass(time).await?;
        idle().push(timer);
        Some(())
    }

    #[cfg(not(target_os = "linux"))]
    async fn finely(&self, _: Duration) -> Option<()> {
        None
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// One timer, for one wait at a time.
    pub(super) struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        pub(super) fn new() -> Option<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags).ok()?;
            #[expect(
                deprecated,
                reason = "what is unsound needs a descriptor closed by others; ours is owned"
            )]
            let timer = AsyncFd::with_interest(timer, Interest::READABLE).ok()?;
            Some(Timer(timer))
        }

        /// Who gives up waiting must not use it again: it may ring at any time.
        pub(super) async fn pass(&self, time: Duration) -> Option<()> {
            let once = Itimerspec {
                it_interval: Timespec::default(),
                // No time at all would stop the timer.
                it_value: time.max(Duration::from_nanos(1)).try_into().ok()?,
            };
            // Setting it also takes back that it rang the last time.
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once).ok()?;
            self.0.readable().await.ok()?.clear_ready();
            Some(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_moment_is_never_shorter_than_asked_for() {
        let moments = Moments::default();
        for micros in [700, 0, 3_000, 1, 50, 700] {
            let time = Duration::from_micros(micros);
            let began = Instant::now();
            moments.pass(time).await;
            assert!(began.elapsed() >= time, "{time:?}");
        }
    }

    #[tokio::test]
    async fn who_gives_up_cuts_nobody_short() {
        let moments = Moments::default();
        for _ in 0..50 {
            let soon = moments.pass(Duration::from_micros(300));
            let _ = tokio::time::timeout(Duration::ZERO, soon).await;
            let began = Instant::now();
            let time = Duration::from_micros(600);
            tokio::join!(moments.pass(time), moments.pass(time));
            assert!(began.elapsed() >= time);
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_moment_takes_less_than_a_tick() {
        let moments = Moments::default();
        // The best of many: others may have the processor.
        let mut best = Duration::MAX;
        for _ in 0..200 {
            let began = Instant::now();
            moments.pass(Duration::from_micros(50)).await;
            best = best.min(began.elapsed());
        }
        assert!(best < Duration::from_millis(1), "{best:?}");
        assert_eq!(moments.idle.lock().unwrap().len(), 1, "one is enough");
    }
}

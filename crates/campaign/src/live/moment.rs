//! Waiting for less than a tick.
//!
//! The runtime's timers count milliseconds, and a wait of fifty microseconds
//! takes one or two of them. Owns waits that are that short, by a timer of the
//! system's own; where it has none, they take as long as they do.

use std::time::Duration;

/// Waits for this long, and hardly longer.
pub(super) async fn pass(time: Duration) {
    if finely(time).await.is_none() {
        tokio::time::sleep(time).await;
    }
}

/// `None` where the system has no such timer, or no more of them.
#[cfg(target_os = "linux")]
async fn finely(time: Duration) -> Option<()> {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let timer = timerfd_create(
        TimerfdClockId::Monotonic,
        TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
    );
    let timer = timer.ok()?;
    let once = Itimerspec {
        it_interval: Timespec::default(),
        // No time at all would stop the timer.
        it_value: time.max(Duration::from_nanos(1)).try_into().ok()?,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once).ok()?;
    #[expect(
        deprecated,
        reason = "what is unsound needs a descriptor closed by others; ours is owned"
    )]
    let timer = AsyncFd::with_interest(timer, Interest::READABLE).ok()?;
    let _rung = timer.readable().await.ok()?;
    Some(())
}

#[cfg(not(target_os = "linux"))]
async fn finely(_: Duration) -> Option<()> {
    None
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_moment_is_never_shorter_than_asked_for() {
        for micros in [0, 1, 50, 700, 3_000] {
            let time = Duration::from_micros(micros);
            let began = Instant::now();
            pass(time).await;
            assert!(began.elapsed() >= time, "{time:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_moment_takes_less_than_a_tick() {
        // The best of many: others may have the processor.
        let mut best = Duration::MAX;
        for _ in 0..200 {
            let began = Instant::now();
            pass(Duration::from_micros(50)).await;
            best = best.min(began.elapsed());
        }
        assert!(best < Duration::from_millis(1), "{best:?}");
    }
}

//! Time as the services feel it, slower or faster than it passes.
//!
//! Services wait up to a minute for each other, and tests have no minute to
//! spare. Owns the one factor between the two, so that a timeout and what it
//! races against always shrink together.

use std::time::{Duration, Instant};

/// Longer than anything here waits, short enough to be added to any moment.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Tells the services' time, and waits by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pace: f64,
    started: Instant,
}

impl Clock {
    /// A clock at zero. What takes the services a second takes `pace` seconds.
    pub(super) fn new(pace: f64) -> Self {
        Clock {
            pace,
            started: Instant::now(),
        }
    }

    /// The services' time.
    pub(super) fn now(&self) -> Duration {
        scaled(self.started.elapsed(), 1.0 / self.pace)
    }

    /// How long that which takes the services `felt` really takes.
    pub(super) fn real(&self, felt: Duration) -> Duration {
        scaled(felt, self.pace)
    }

    /// Waits, by the services' time.
    pub(super) async fn sleep(self, felt: Duration) {
        tokio::time::sleep(self.real(felt)).await;
    }
}

fn scaled(time: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * factor)
        .unwrap_or(FOREVER)
        .min(FOREVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_scaled_and_never_overflows() {
        let clock = Clock::new(0.02);
        assert_eq!(
            clock.real(Duration::from_secs(15)),
            Duration::from_millis(300)
        );
        assert_eq!(Clock::new(2.0).real(Duration::MAX), FOREVER);
    }
}

//! How long an execution is waited for after its scenario has ended.
//!
//! Calls that nobody waits for arrive late. Owns how long they may take: as
//! long as it was set or seen, or what is usual.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where nothing ever came later, this is enough for what a scenario's last
/// answer overtook.
const USUAL: Duration = Duration::from_millis(2);

/// What is overtaken is under way on a hop or two. How long these take is told
/// by the scenario, which is a good many: this share of it is enough, too.
const SHARE: u32 = 10;

/// Less than this is not waited for with any certainty.
const LEAST: Duration = Duration::from_micros(50);

/// Calls that came late once may come later another time.
const SAFETY: u32 = 3;

/// The longest that is waited for by itself. Every execution pays it; who
/// knows of calls that come later sets `grace`.
pub(super) const MOST: Duration = Duration::from_secs(1);

/// How long an execution is waited for after its scenario has ended.
pub(super) struct Grace {
    /// As it was set, or seen to be needed.
    known: Option<Duration>,
    /// The shortest time that the scenario took without faults, in nanoseconds:
    /// the first times it pays for connections, too. `u64::MAX` until one is
    /// known.
    shortest: AtomicU64,
}

impl Grace {
    /// As it is set.
    pub(super) fn set(known: Duration) -> Self {
        Grace {
            known: Some(known),
            shortest: AtomicU64::new(u64::MAX),
        }
    }

    /// From now on as is usual, or as is needed for calls that came so late.
    pub(super) fn settle(&mut self, late: Option<Duration>) {
        self.known = late.map(|late| (late * SAFETY).min(MOST));
    }

    /// How long, if calls were seen to come late.
    pub(super) fn for_late_calls(&self) -> Option<Duration> {
        self.known
    }

    /// A scenario took so long without faults.
    pub(super) fn learn(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.shortest.fetch_min(took, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Duration {
        self.known.unwrap_or_else(|| self.usual())
    }

    fn usual(&self) -> Duration {
        let shortest = Duration::from_nanos(self.shortest.load(Ordering::Relaxed));
        (shortest / SHARE).clamp(LEAST, USUAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_grace_follows_the_scenario_within_bounds() {
        let mut usual = Grace::set(Duration::ZERO);
        usual.settle(None);
        assert_eq!(usual.get(), USUAL);
        for (took, grace) in [(10_000, 1_000), (12_000, 1_000), (800, 80), (20, 50)] {
            usual.learn(Duration::from_micros(took));
            assert_eq!(usual.get(), Duration::from_micros(grace), "{took}");
        }
    }

    #[test]
    fn what_came_late_is_waited_for_three_times_as_long() {
        let mut late = Grace::set(Duration::ZERO);
        late.settle(Some(Duration::from_millis(30)));
        late.learn(Duration::from_micros(1));
        assert_eq!(late.get(), Duration::from_millis(90));
        late.settle(Some(Duration::from_millis(600)));
        assert_eq!(late.get(), MOST);
    }
}

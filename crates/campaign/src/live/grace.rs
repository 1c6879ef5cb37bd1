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

/// How long an execution is waited for after its scenario has ended.
pub(super) enum Grace {
    /// As it was set, or seen to be needed.
    Known(Duration),
    /// By the shortest time that the scenario took without faults, in
    /// nanoseconds: the first times it pays for connections, too.
    Usual(AtomicU64),
}

impl Grace {
    /// For a scenario after which the last call came so late, if any did.
    pub(super) fn of(late: Option<Duration>) -> Self {
        match late {
            Some(late) => Grace::Known(late * SAFETY),
            None => Grace::Usual(AtomicU64::new(u64::MAX)),
        }
    }

    /// A scenario took so long without faults.
    pub(super) fn learn(&self, took: Duration) {
        if let Grace::Usual(shortest) = self {
            let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            shortest.fetch_min(took, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self) -> Duration {
        match self {
            Grace::Known(known) => *known,
            Grace::Usual(shortest) => {
                let took = Duration::from_nanos(shortest.load(Ordering::Relaxed));
                (took / SHARE).clamp(LEAST, USUAL)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_grace_follows_the_scenario_within_bounds() {
        let usual = Grace::of(None);
        assert_eq!(usual.get(), USUAL);
        for (took, grace) in [(10_000, 1_000), (12_000, 1_000), (800, 80), (20, 50)] {
            usual.learn(Duration::from_micros(took));
            assert_eq!(usual.get(), Duration::from_micros(grace), "{took}");
        }
    }

    #[test]
    fn what_came_late_is_waited_for_three_times_as_long() {
        let late = Grace::of(Some(Duration::from_millis(30)));
        late.learn(Duration::from_micros(1));
        assert_eq!(late.get(), Duration::from_millis(90));
    }
}

//! Which processor a thread is on, so that two that are kept awake need not
//! share one.
//!
//! Who waits awake lets others go first, so a scheduler sees no reason to part
//! two of them: on one processor they take turns between any two steps of a
//! call, while the next processor sleeps. Owns moving over. Nothing is pinned
//! by that: where a thread goes next is up to the scheduler again, and what
//! is started from it may run anywhere.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Where a thread is, for others to see.
pub(crate) struct Seat(AtomicUsize);

/// No processor.
const NOWHERE: usize = usize::MAX;

impl Seat {
    /// One that nobody has taken.
    pub(crate) fn free() -> Self {
        Seat(AtomicUsize::new(NOWHERE))
    }

    /// The calling thread is here now.
    pub(crate) fn take(&self) {
        self.0.store(here().unwrap_or(NOWHERE), Ordering::Relaxed);
    }

    /// Nobody is here any more.
    pub(crate) fn leave(&self) {
        self.0.store(NOWHERE, Ordering::Relaxed);
    }

    fn is_at(&self, processor: usize) -> bool {
        self.0.load(Ordering::Relaxed) == processor
    }
}

/// Moves the calling thread to a processor that none of these are on, if it
/// shares one of theirs and there is such a one; whether that was tried.
pub(crate) fn move_away_from<'s>(seats: impl Iterator<Item = &'s Seat> + Clone) -> bool {
    let shared = here().is_some_and(|here| seats.clone().any(|seat| seat.is_at(here)));
    if shared {
        move_to_any(|processor| !seats.clone().any(|seat| seat.is_at(processor)));
    }
    shared
}

#[cfg(target_os = "linux")]
fn here() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

/// Moves the calling thread to one of these processors, if it may go there.
#[cfg(target_os = "linux")]
fn move_to_any(wanted: impl Fn(usize) -> bool) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let Ok(allowed) = sched_getaffinity(None) else {
        return;
    };
    let mut there = CpuSet::new();
    for processor in (0..CpuSet::MAX_CPU).filter(|it| allowed.is_set(*it) && wanted(*it)) {
        there.set(processor);
    }
    // It is moved by being allowed nowhere else, and may then go everywhere
    // again.
    if there.count() > 0 && sched_setaffinity(None, &there).is_ok() {
        let _ = sched_setaffinity(None, &allowed);
    }
}

#[cfg(not(target_os = "linux"))]
fn here() -> Option<usize> {
    None
}

#[cfg(not(target_os = "linux"))]
fn move_to_any(_: impl Fn(usize) -> bool) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn who_shares_a_processor_moves_and_may_go_anywhere_afterwards() {
        let allowed = sched_getaffinity(None).unwrap();
        let taken = Seat::free();
        // The scheduler may move this thread at any time; rarely each time.
        let moved = (0..100).any(|_| {
            taken.take();
            move_away_from([&taken].into_iter()) && !taken.is_at(here().unwrap())
        });
        assert!(moved || allowed.count() == 1, "there is somewhere to go");
        assert!(sched_getaffinity(None).unwrap() == allowed);
    }

    #[test]
    fn nobody_moves_for_a_seat_that_is_free_or_where_all_are_taken() {
        let allowed = sched_getaffinity(None).unwrap();
        let free = Seat::free();
        assert!(!move_away_from([&free].into_iter()));
        let everywhere = (0..1024).map(|it| Seat(AtomicUsize::new(it)));
        let everywhere: Vec<Seat> = everywhere.collect();
        assert!(move_away_from(everywhere.iter()), "tried in vain");
        free.take();
        free.leave();
        assert!(!move_away_from([&free].into_iter()));
        assert!(sched_getaffinity(None).unwrap() == allowed);
    }
}

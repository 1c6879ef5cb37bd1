//! Whose turn it is, where scenarios are ours to begin.
//!
//! When a scenario has ended, calls that nobody waits for may still be under
//! way. Where every call says whose it is, the next scenario need not wait for
//! them. Owns who plays: each worker one scenario at a time, in the order in
//! which they were handed over. Where there is but one worker, executions also
//! end in the order in which they began, as if each were waited for.

use std::collections::BTreeSet;
use std::sync::{Mutex as StdMutex, MutexGuard as StdMutexGuard};

use tokio::sync::{Mutex, MutexGuard, Semaphore, SemaphorePermit};

/// Hands out turns.
pub(super) struct Turns {
    /// As many as there are free workers.
    seats: Semaphore,
    free: StdMutex<BTreeSet<u32>>,
    /// Only where there is one worker: several end as they will.
    ending: Option<Mutex<()>>,
}

/// Somebody's turn, until it is dropped.
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    worker: u32,
    playing: Option<Seat<'t>>,
    ending: Option<MutexGuard<'t, ()>>,
}

/// A worker that plays, free again when this is dropped.
struct Seat<'t> {
    turns: &'t Turns,
    worker: u32,
    /// Given back last, when the worker is among the free ones already.
    _permit: SemaphorePermit<'t>,
}

impl Turns {
    /// For so many workers, numbered from 0.
    pub(super) fn new(workers: u32) -> Self {
        Turns {
            seats: Semaphore::new(workers as usize),
            free: StdMutex::new((0..workers).collect()),
            ending: (workers == 1).then(Mutex::default),
        }
    }

    /// Waits until it is the next one's turn.
    pub(super) async fn next(&self) -> Turn<'_> {
        let permit = self.seats.acquire().await.expect("it is never closed");
        // The lowest: its connections were used before.
        let worker = self.free().pop_first().expect("one for each permit");
        let seat = Seat {
            turns: self,
            worker,
            _permit: permit,
        };
        Turn {
            turns: self,
            worker,
            playing: Some(seat),
            ending: None,
        }
    }

    fn free(&self) -> StdMutexGuard<'_, BTreeSet<u32>> {
        self.free.lock().expect("no panic while it is held")
    }
}

impl Turn<'_> {
    /// Who plays.
    pub(super) fn worker(&self) -> u32 {
        self.worker
    }

    /// Lets the next one play while this one ends.
    pub(super) async fn let_next(&mut self) {
        // First this one must be sure to end before the next one does.
        self.wait_for_last().await;
        self.playing = None;
    }

    /// Waits until those before have ended, where that matters.
    pub(super) async fn wait_for_last(&mut self) {
        if let Some(ending) = &self.turns.ending {
            self.ending = Some(ending.lock().await);
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.turns.free().insert(self.worker);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, sleep};

    use super::*;

    /// Executions in the order given: how long each plays and is waited for,
    /// in milliseconds; those in capitals let nobody play meanwhile. What they
    /// do, and who plays.
    async fn course(workers: u32, times: &[(&'static str, u64, u64)]) -> Vec<String> {
        let (turns, log) = (Turns::new(workers), StdMutex::new(Vec::new()));
        let note = |what: String| log.lock().unwrap().push(what);
        let execution = async |&(name, plays, ends): &(&str, u64, u64)| {
            let mut turn = turns.next().await;
            note(format!("{name} plays at {}", turn.worker()));
            sleep(Duration::from_millis(plays)).await;
            match name == name.to_uppercase() {
                true => turn.wait_for_last().await,
                false => turn.let_next().await,
            }
            note(format!("{name} ends"));
            sleep(Duration::from_millis(ends)).await;
            note(format!("{name} is over"));
        };
        futures_util::future::join_all(times.iter().map(execution)).await;
        assert_eq!(turns.free().len(), workers as usize);
        log.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn one_plays_at_a_time_and_all_end_in_order() {
        let times = [("a", 10, 100), ("b", 10, 1), ("C", 10, 5), ("d", 10, 1)];
        let expected = [
            "a plays at 0",
            "a ends",
            "b plays at 0",
            "a is over",
            "b ends",
            "C plays at 0",
            "b is over",
            "C ends",
            "C is over",
            "d plays at 0",
            "d ends",
            "d is over",
        ];
        assert_eq!(course(1, &times).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn of_several_who_ends_holds_up_nobody() {
        let times = [("a", 10, 100), ("b", 20, 1), ("c", 5, 1), ("d", 30, 1)];
        let expected = [
            "a plays at 0",
            "b plays at 1",
            "a ends",
            "c plays at 0",
            "c ends",
            "d plays at 0",
            "c is over",
            "b ends",
            "b is over",
            "d ends",
            "d is over",
            "a is over",
        ];
        assert_eq!(course(2, &times).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_leaves_the_turn_to_others() {
        let turns = Turns::new(1);
        let first = turns.next().await;
        let given_up = tokio::time::timeout(Duration::from_millis(1), turns.next()).await;
        assert!(given_up.is_err());
        drop(first);
        assert_eq!(turns.next().await.worker(), 0);
    }
}

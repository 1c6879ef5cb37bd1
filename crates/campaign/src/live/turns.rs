//! Whose turn it is, where one scenario runs at a time.
//!
//! When a scenario has ended, calls that nobody waits for may still be under
//! way. Where every call says whose it is, the next scenario need not wait for
//! them. Owns the order: scenarios run one after the other, and executions end
//! in the order in which they began, as if each were waited for.

use tokio::sync::{Mutex, MutexGuard};

/// Hands out turns.
#[derive(Default)]
pub(super) struct Turns {
    playing: Mutex<()>,
    ending: Mutex<()>,
}

/// Somebody's turn, until it is dropped.
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    playing: Option<MutexGuard<'t, ()>>,
    ending: Option<MutexGuard<'t, ()>>,
}

impl Turns {
    /// Waits until it is the next one's turn.
    pub(super) async fn next(&self) -> Turn<'_> {
        Turn {
            turns: self,
            playing: Some(self.playing.lock().await),
            ending: None,
        }
    }
}

impl Turn<'_> {
    /// Lets the next one play while this one ends.
    pub(super) async fn let_next(&mut self) {
        // First this one must be sure to end before the next one does.
        self.ending = Some(self.turns.ending.lock().await);
        self.playing = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as StdMutex;

    use tokio::time::{Duration, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_plays_at_a_time_and_all_end_in_order() {
        let (turns, log) = (Turns::default(), StdMutex::new(Vec::new()));
        let execution = async |name: &'static str, plays: u64, ends: u64| {
            let mut turn = turns.next().await;
            log.lock().unwrap().push((name, "plays"));
            sleep(Duration::from_millis(plays)).await;
            turn.let_next().await;
            log.lock().unwrap().push((name, "ends"));
            sleep(Duration::from_millis(ends)).await;
            log.lock().unwrap().push((name, "over"));
        };
        tokio::join!(
            execution("a", 10, 100),
            execution("b", 10, 1),
            execution("c", 10, 1)
        );
        let expected = [
            ("a", "plays"),
            ("a", "ends"),
            ("b", "plays"),
            ("a", "over"),
            ("b", "ends"),
            ("c", "plays"),
            ("b", "over"),
            ("c", "ends"),
            ("c", "over"),
        ];
        assert_eq!(*log.lock().unwrap(), expected);
    }
}

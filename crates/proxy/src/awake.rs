//! Keeps a thread awake while something is about to happen on it.
//!
//! Waking a thread that sleeps takes a while, most on virtual machines, where
//! an idle processor is given back. In a campaign that runs one execution at a
//! time every hop would pay that twice, and more than for the hop itself. So a
//! thread that has just had something to do looks for more for a little while
//! before it sleeps, and lets whoever else wants the processor go first.
//!
//! Owns when to look and when to sleep; what a little while is, is set by who
//! knows what is being waited for.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::seat::{Seat, move_away_from};

/// Keeps one thread awake.
pub struct Awake {
    most: Duration,
    until: Mutex<Option<Instant>>,
    stirred: Notify,
    seat: Seat,
    others: Vec<Arc<Awake>>,
}

impl Awake {
    /// Awake for at most this long after something happened. Where there is
    /// only one processor others need it, so never.
    pub fn new(most: Duration) -> Self {
        let alone = std::thread::available_parallelism().is_ok_and(|it| it.get() == 1);
        Awake {
            most: if alone { Duration::ZERO } else { most },
            until: Mutex::new(None),
            stirred: Notify::new(),
            seat: Seat::free(),
            others: Vec::new(),
        }
    }

    /// Likewise, and on a processor of its own: not on one of those where
    /// these keep their threads awake, as long as there are enough.
    pub fn apart_from(self, others: Vec<Arc<Awake>>) -> Self {
        Awake { others, ..self }
    }

    /// Whether it ever keeps a thread awake.
    pub fn is_on(&self) -> bool {
        !self.most.is_zero()
    }

    /// Something happened; more may come of it.
    pub fn stir(&self) {
        if !self.is_on() {
            return;
        }
        let until = Instant::now() + self.most;
        // Who looks already sees the new time by itself.
        if self.until().replace(until).is_none() {
            self.stirred.notify_one();
        }
    }

    /// Nothing more is worth waiting for awake, until it is stirred again.
    pub fn rest(&self) {
        *self.until() = None;
    }

    /// Keeps the thread that runs it awake, never ending. It helps only if
    /// events are looked for on this thread: on a runtime of one thread.
    pub async fn stay(&self) -> ! {
        loop {
            // Once each time: where it is brought back, others are in need.
            let mut moved = false;
            while self.is_time() {
                self.seat.take();
                moved = moved || move_away_from(self.others.iter().map(|it| &it.seat));
                std::thread::yield_now();
                // The runtime looks for events before it comes back here.
                tokio::task::yield_now().await;
            }
            self.seat.leave();
            self.stirred.notified().await;
        }
    }

    fn is_time(&self) -> bool {
        let mut until = self.until();
        *until = until.filter(|until| Instant::now() < *until);
        until.is_some()
    }

    fn until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.until.lock().expect("no panic while it is held")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// As `new` on a machine with many processors.
    fn awake(most: Duration) -> Awake {
        Awake {
            most,
            ..Awake::new(most)
        }
    }

    /// Does something on a thread that is kept awake.
    async fn beside(awake: &Awake, work: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = work => {}
            never = awake.stay() => never,
        }
    }

    #[tokio::test]
    async fn who_is_stirred_looks_until_the_time_is_over() {
        let awake = awake(Duration::from_millis(5));
        awake.stir();
        assert!(awake.is_time());
        let began = Instant::now();
        let asleep = async {
            while awake.until().is_some() {
                tokio::task::yield_now().await;
            }
        };
        beside(&awake, asleep).await;
        assert!(began.elapsed() >= Duration::from_millis(4));
        assert!(!awake.is_time());
    }

    #[tokio::test]
    async fn others_are_let_through_while_it_looks() {
        let awake = awake(LONG);
        awake.stir();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let task = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            sender.send(()).unwrap();
        });
        let received = async { receiver.await.unwrap() };
        beside(&awake, received).await;
        task.await.unwrap();
    }

    #[tokio::test]
    async fn it_sleeps_unless_it_is_stirred() {
        let never = awake(Duration::ZERO);
        never.stir();
        assert!(!never.is_time());
        let later = awake(LONG);
        let stirred = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert!(!later.is_time());
            later.stir();
            tokio::task::yield_now().await;
            assert!(later.is_time());
        };
        beside(&later, stirred).await;
        later.rest();
        assert!(!later.is_time());
        later.stir();
        assert!(later.is_time());
    }
}

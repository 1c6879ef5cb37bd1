//! A single-threaded executor with simulated time and seeded scheduling.
//!
//! Owns tasks and timers. General-purpose executors run ready tasks in the
//! order they became ready; here a seed picks among them, so that concurrent
//! calls really interleave differently from seed to seed and identically for
//! the same seed. Time passes only when nothing is ready.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::net::BoxFuture;

/// Simulated time after which whatever still waits is cut off; no example
/// system waits for anything this long on purpose.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Runs one scenario and everything it sets in motion.
pub(super) struct Executor {
    handle: Handle,
}

/// Spawns tasks and tells the time; cheap to clone.
#[derive(Clone)]
pub(super) struct Handle(Arc<Shared>);

struct Shared {
    ready: Mutex<Vec<usize>>,
    state: Mutex<State>,
}

struct State {
    spawned: Vec<BoxFuture<()>>,
    timers: BinaryHeap<Reverse<(Duration, usize)>>,
    timer_wakers: Vec<Option<Waker>>,
    now: Duration,
    rng: fastrand::Rng,
}

struct TaskWaker {
    task: usize,
    shared: Arc<Shared>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut ready = self.shared.ready.lock().expect("no panic while waking");
        if !ready.contains(&self.task) {
            ready.push(self.task);
        }
    }
}

impl Executor {
    pub(super) fn new(seed: u64, now: Duration) -> Self {
        Executor {
            handle: Handle(Arc::new(Shared {
                ready: Mutex::new(Vec::new()),
                state: Mutex::new(State {
                    spawned: Vec::new(),
                    timers: BinaryHeap::new(),
                    timer_wakers: Vec::new(),
                    now,
                    rng: fastrand::Rng::with_seed(seed),
                }),
            })),
        }
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs `main` and all it spawns until nothing moves any more; `None` if
    /// `main` itself got stuck.
    pub(super) fn run<T: Send + 'static>(&self, main: BoxFuture<T>) -> Option<T> {
        let result = Arc::new(Mutex::new(None));
        let slot = result.clone();
        self.handle.spawn(Box::pin(async move {
            let value = main.await;
            *slot.lock().expect("only main writes its result") = Some(value);
        }));
        self.run_tasks();
        result.lock().expect("main has ended").take()
    }

    fn run_tasks(&self) {
        let deadline = self.handle.now() + PATIENCE;
        let mut tasks: Vec<Option<(BoxFuture<()>, Waker)>> = Vec::new();
        loop {
            self.adopt(&mut tasks);
            match self.pick() {
                Some(task) => poll(&mut tasks[task]),
                None if self.advance(deadline) => {}
                None => break,
            }
        }
    }

    fn adopt(&self, tasks: &mut Vec<Option<(BoxFuture<()>, Waker)>>) {
        let spawned = std::mem::take(&mut self.handle.state().spawned);
        for future in spawned {
            let waker = Waker::from(Arc::new(TaskWaker {
                task: tasks.len(),
                shared: self.handle.0.clone(),
            }));
            waker.wake_by_ref();
            tasks.push(Some((future, waker)));
        }
    }

    fn pick(&self) -> Option<usize> {
        let mut ready = self.handle.0.ready.lock().expect("no panic while picking");
        match ready.len() {
            0 => None,
            1 => ready.pop(),
            many => {
                let chosen = self.handle.state().rng.usize(..many);
                Some(ready.swap_remove(chosen))
            }
        }
    }

    /// Moves time to the next timer and wakes it; false when there is none.
    fn advance(&self, deadline: Duration) -> bool {
        let mut state = self.handle.state();
        let Some(Reverse((due, timer))) = state.timers.pop() else {
            return false;
        };
        if due > deadline {
            return false;
        }
        // A timer whose waiter is gone (the answer came in time) passes
        // without time passing.
        if let Some(waker) = state.timer_wakers[timer].take() {
            state.now = state.now.max(due);
            drop(state);
            waker.wake();
        }
        true
    }
}

fn poll(task: &mut Option<(BoxFuture<()>, Waker)>) {
    let Some((future, waker)) = task else { return };
    let waker = waker.clone();
    if future
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_ready()
    {
        *task = None;
    }
}

impl Handle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0
            .state
            .lock()
            .expect("no panic while the executor's state is held")
    }

    pub(super) fn now(&self) -> Duration {
        self.state().now
    }

    pub(super) fn spawn(&self, future: BoxFuture<()>) {
        self.state().spawned.push(future);
    }

    /// Runs a future as a task of its own; the answer can be awaited or not,
    /// the task goes on either way.
    pub(super) fn run_apart<T: Send + 'static>(&self, future: BoxFuture<T>) -> Answer<T> {
        let slot = Arc::new(Mutex::new(Slot {
            value: None,
            waiting: None,
        }));
        let answer = Answer(slot.clone());
        self.spawn(Box::pin(async move {
            let value = future.await;
            let waiting = {
                let mut slot = slot.lock().expect("no panic while answering");
                slot.value = Some(value);
                slot.waiting.take()
            };
            if let Some(waker) = waiting {
                waker.wake();
            }
        }));
        answer
    }

    pub(super) fn sleep(&self, time: Duration) -> Sleep {
        Sleep {
            due: self.now() + time,
            timer: None,
            handle: self.clone(),
        }
    }
}

struct Slot<T> {
    value: Option<T>,
    waiting: Option<Waker>,
}

/// The answer of a task of its own.
pub(super) struct Answer<T>(Arc<Mutex<Slot<T>>>);

impl<T> Future for Answer<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut slot = self.0.lock().expect("no panic while awaiting");
        match slot.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                slot.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Waits until a moment of simulated time.
pub(super) struct Sleep {
    due: Duration,
    timer: Option<usize>,
    handle: Handle,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let handle = self.handle.clone();
        let mut state = handle.state();
        if state.now >= self.due {
            return Poll::Ready(());
        }
        match self.timer {
            Some(timer) => state.timer_wakers[timer] = Some(cx.waker().clone()),
            None => {
                let timer = state.timer_wakers.len();
                state.timer_wakers.push(Some(cx.waker().clone()));
                state.timers.push(Reverse((self.due, timer)));
                self.timer = Some(timer);
            }
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    /// A timer nobody waits for any more must not hold time up.
    fn drop(&mut self) {
        if let Some(timer) = self.timer {
            self.handle.state().timer_wakers[timer] = None;
        }
    }
}

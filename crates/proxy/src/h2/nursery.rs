//! The exchanges of one connection, run in the task of that connection.
//!
//! Owns who is to be polled next: the connection, or which exchange. A task of
//! the runtime for each stream would do as well, but costs an allocation, two
//! moves and a place in the runtime's queues per request, and lets the
//! connection be polled once too often; here what a stream needs is used again
//! by the next one.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// How often a connection and its exchanges may set each other going before
/// other tasks get their turn.
const TURNS: usize = 8;

/// How many exchanges' room is kept for the next ones.
const SPARE: usize = 32;

/// Exchanges under way.
pub(super) struct Nursery<F> {
    places: Vec<Place<F>>,
    /// Places where nothing is under way.
    free: Vec<usize>,
    /// Taken from the bell to be polled.
    due: Vec<usize>,
    bell: Arc<Bell>,
    /// What wakes the connection.
    connection: Waker,
}

/// Where one exchange runs.
struct Place<F> {
    exchange: Option<Pin<Box<Option<F>>>>,
    ringer: Arc<Ringer>,
    waker: Waker,
}

/// Where everyone rings who wants to be polled.
struct Bell(Mutex<Rung>);

struct Rung {
    /// The exchanges that rang.
    exchanges: Vec<usize>,
    /// Whether the connection rang.
    connection: bool,
    /// Whether the task runs, and will look here before it rests.
    awake: bool,
    task: Waker,
}

/// Rings for one exchange.
struct Ringer {
    place: usize,
    rang: AtomicBool,
    bell: Arc<Bell>,
}

/// Rings for the connection.
struct ConnectionRinger(Arc<Bell>);

impl<F: Future<Output = ()>> Nursery<F> {
    pub(super) fn new() -> Self {
        let bell = Arc::new(Bell(Mutex::new(Rung {
            exchanges: Vec::new(),
            connection: true,
            awake: false,
            task: Waker::noop().clone(),
        })));
        Nursery {
            places: Vec::new(),
            free: Vec::new(),
            due: Vec::new(),
            connection: Waker::from(Arc::new(ConnectionRinger(bell.clone()))),
            bell,
        }
    }

    /// Whether nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }

    /// Takes on an exchange, to be polled soon.
    pub(super) fn add(&mut self, exchange: F) {
        let place = self.free.pop().unwrap_or_else(|| self.add_place());
        let place = &mut self.places[place];
        match &mut place.exchange {
            Some(room) => room.as_mut().set(Some(exchange)),
            none => *none = Some(Box::pin(Some(exchange))),
        }
        place.ringer.ring();
    }

    fn add_place(&mut self) -> usize {
        let ringer = Arc::new(Ringer {
            place: self.places.len(),
            rang: AtomicBool::new(false),
            bell: self.bell.clone(),
        });
        self.places.push(Place {
            exchange: None,
            waker: Waker::from(ringer.clone()),
            ringer,
        });
        self.places.len() - 1
    }

    /// Polls whoever rang: exchanges, and the connection, which may bring more
    /// of them. Ready when the connection is.
    pub(super) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut connection: impl FnMut(&mut Self, &mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.bell.wake_up(cx);
        for _ in 0..TURNS {
            // First those whose frames the connection can then send at once.
            self.poll_exchanges();
            if self.bell.take_connection() {
                let waker = self.connection.clone();
                let polled = connection(self, &mut Context::from_waker(&waker));
                if polled.is_ready() {
                    return polled;
                }
            }
            if self.bell.rest() {
                return Poll::Pending;
            }
        }
        self.bell.rest_with_more_to_do();
        Poll::Pending
    }

    /// Polls the exchanges that are left without a connection; ready when none
    /// is.
    pub(super) fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let polled = self.poll(cx, |_, _| Poll::Pending);
        match self.is_empty() {
            true => Poll::Ready(()),
            false => polled,
        }
    }

    fn poll_exchanges(&mut self) {
        self.bell.take_exchanges(&mut self.due);
        while let Some(due) = self.due.pop() {
            if self.places[due].poll().is_ready() {
                self.free.push(due);
                if due >= SPARE {
                    self.places[due].exchange = None;
                }
            }
        }
    }
}

impl<F: Future<Output = ()>> Place<F> {
    fn poll(&mut self) -> Poll<()> {
        // Whoever rang since the last poll, on whatever thread, is seen.
        self.ringer.rang.swap(false, AcqRel);
        let Some(room) = &mut self.exchange else {
            return Poll::Pending;
        };
        // A late ring for who was here before finds it empty.
        let Some(exchange) = room.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let polled = exchange.poll(&mut Context::from_waker(&self.waker));
        if polled.is_ready() {
            room.as_mut().set(None);
        }
        polled
    }
}

impl Bell {
    fn rung(&self) -> MutexGuard<'_, Rung> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_up(&self, cx: &Context<'_>) {
        let mut rung = self.rung();
        rung.awake = true;
        rung.task.clone_from(cx.waker());
    }

    /// Takes the exchanges that rang, so that the first is taken off first.
    fn take_exchanges(&self, due: &mut Vec<usize>) {
        std::mem::swap(&mut self.rung().exchanges, due);
        due.reverse();
    }

    fn take_connection(&self) -> bool {
        std::mem::take(&mut self.rung().connection)
    }

    /// Rests unless somebody rang meanwhile.
    fn rest(&self) -> bool {
        let mut rung = self.rung();
        rung.awake = rung.connection || !rung.exchanges.is_empty();
        !rung.awake
    }

    fn rest_with_more_to_do(&self) {
        let mut rung = self.rung();
        rung.awake = false;
        rung.task.wake_by_ref();
    }

    fn ring(&self, note: impl FnOnce(&mut Rung)) {
        let mut rung = self.rung();
        note(&mut rung);
        // Once is enough to wake it.
        if !std::mem::replace(&mut rung.awake, true) {
            rung.task.wake_by_ref();
        }
    }
}

impl Ringer {
    fn ring(&self) {
        if !self.rang.swap(true, AcqRel) {
            self.bell.ring(|rung| rung.exchanges.push(self.place));
        }
    }
}

impl Wake for Ringer {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

impl Wake for ConnectionRinger {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.ring(|rung| rung.connection = true);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use tokio::sync::oneshot;

    use super::*;

    /// A connection that takes on these exchanges and stays open.
    async fn run<F: Future<Output = ()>>(exchanges: Vec<F>) {
        let mut nursery = Nursery::new();
        let mut coming = exchanges.into_iter();
        poll_fn(|cx| {
            let polled = nursery.poll(cx, |nursery, _| {
                coming.by_ref().for_each(|exchange| nursery.add(exchange));
                Poll::<()>::Pending
            });
            match polled.is_pending() && nursery.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }

    #[tokio::test]
    async fn all_are_polled_until_they_are_done() {
        let (exchanges, ends): (Vec<_>, Vec<_>) = (0..100)
            .map(|_| {
                let (end, ended) = oneshot::channel::<()>();
                let exchange = async move {
                    tokio::task::yield_now().await;
                    let _ = ended.await;
                };
                (exchange, end)
            })
            .unzip();
        let ending = tokio::spawn(async move {
            for end in ends.into_iter().rev() {
                tokio::task::yield_now().await;
                let _ = end.send(());
            }
        });
        run(exchanges).await;
        ending.await.unwrap();
    }

    #[tokio::test]
    async fn those_left_without_a_connection_are_seen_off() {
        let mut nursery = Nursery::new();
        for pause in [0, 5, 10] {
            let pause = std::time::Duration::from_millis(pause);
            nursery.add(tokio::time::sleep(pause));
        }
        poll_fn(|cx| nursery.poll_rest(cx)).await;
        assert!(nursery.is_empty());
        poll_fn(|cx| nursery.poll_rest(cx)).await;
    }

    #[tokio::test]
    async fn a_place_is_used_again_and_late_rings_do_no_harm() {
        let mut nursery = Nursery::new();
        let old: Arc<Mutex<Option<Waker>>> = Arc::default();
        let polls = Arc::new(AtomicUsize::new(0));
        for round in 0..3 {
            let (old, polls) = (old.clone(), polls.clone());
            let mut first = true;
            nursery.add(poll_fn(move |cx| {
                polls.fetch_add(1, Relaxed);
                let late = old.lock().unwrap().replace(cx.waker().clone());
                late.into_iter().for_each(Waker::wake);
                match std::mem::take(&mut first) && round < 2 {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            }));
            poll_fn(|cx| {
                let _ = nursery.poll(cx, |_, _| Poll::<()>::Pending);
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(nursery.places.len(), 1);
        assert!(polls.load(Relaxed) >= 3);
        assert!(!nursery.is_empty());
    }

    #[tokio::test]
    async fn an_exchange_that_never_rests_leaves_others_their_turn() {
        let mut nursery = Nursery::new();
        nursery.add(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        let busy = poll_fn(|cx| nursery.poll(cx, |_, _| Poll::<()>::Pending));
        tokio::select! {
            biased;
            () = busy => unreachable!(),
            () = tokio::time::sleep(std::time::Duration::from_millis(10)) => {}
        }
    }
}

//! Connections to a service that wait for their next request.
//!
//! Owns which of them may be used again: not those that waited for long,
//! because services close them at some point and a request would meet the
//! close half-way; not those that have something to say already.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::stream::Stream;

/// How long a connection may wait. Some servers close theirs after 2 s
/// (gunicorn), most after 5 s or more.
const IDLE_LIMIT: Duration = Duration::from_secs(1);

/// How many may wait at once: a burst should not be held against the service.
const COUNT_LIMIT: usize = 64;

/// HTTP/1.1 connections kept open to a service.
#[derive(Default)]
pub(crate) struct Pool {
    idle: Arc<Mutex<Idle>>,
}

#[derive(Default)]
struct Idle {
    /// In the order they came, so that the oldest are in front.
    connections: VecDeque<(Instant, Box<dyn Stream>)>,
    /// Whether a task looks after those that nobody takes.
    swept: bool,
}

impl Pool {
    /// A connection that can be used at once: the one that came last, so that
    /// those no longer needed grow old.
    pub(super) fn take(&self) -> Option<Box<dyn Stream>> {
        let mut idle = lock(&self.idle);
        while let Some((since, mut stream)) = idle.connections.pop_back() {
            if since.elapsed() > IDLE_LIMIT {
                idle.connections.clear();
                return None;
            }
            if stream.is_silent() {
                return Some(stream);
            }
        }
        None
    }

    /// Keeps a connection on which an answer has just ended.
    pub(super) fn put(&self, stream: Box<dyn Stream>) {
        let mut idle = lock(&self.idle);
        if idle.connections.len() >= COUNT_LIMIT {
            idle.connections.pop_front();
        }
        idle.connections.push_back((Instant::now(), stream));
        if !std::mem::replace(&mut idle.swept, true) {
            tokio::spawn(sweep(self.idle.clone()));
        }
    }
}

fn lock(idle: &Mutex<Idle>) -> MutexGuard<'_, Idle> {
    idle.lock().expect("no panic while the pool is looked at")
}

/// Closes what nobody takes any more, until nothing is left: connections that
/// the service has closed must not pile up in a proxy without traffic.
async fn sweep(idle: Arc<Mutex<Idle>>) {
    loop {
        tokio::time::sleep(IDLE_LIMIT).await;
        let mut idle = lock(&idle);
        while let Some((since, _)) = idle.connections.front()
            && since.elapsed() > IDLE_LIMIT
        {
            idle.connections.pop_front();
        }
        if idle.connections.is_empty() {
            idle.swept = false;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Both ends of a connection.
    type Ends = (Box<dyn Stream>, Box<dyn Stream>);

    async fn over_tcp() -> Ends {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap());
        let (ours, theirs) = tokio::join!(ours, listener.accept());
        (Box::new(ours.unwrap()), Box::new(theirs.unwrap().0))
    }

    fn in_memory((): ()) -> Ends {
        let (ours, theirs) = tokio::io::duplex(8);
        (Box::new(ours), Box::new(theirs))
    }

    #[tokio::test]
    async fn the_last_one_is_taken_first_unless_it_was_closed_or_has_spoken() {
        let over_tcp = [over_tcp().await, over_tcp().await, over_tcp().await];
        for [first, second, third] in [over_tcp, [(); 3].map(in_memory)] {
            let pool = Pool::default();
            pool.put(first.0);
            pool.put(second.0);
            pool.put(third.0);
            let (mut idle, closed, mut spoke) = (first.1, second.1, third.1);
            drop(closed);
            spoke.write_all(b"?").await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
            pool.take().unwrap().write_all(b"!").await.unwrap();
            assert_eq!(idle.read_u8().await.unwrap(), b'!');
            assert!(pool.take().is_none());
        }
    }

    #[tokio::test]
    async fn what_nobody_takes_is_closed() {
        let pool = Pool::default();
        let mut others = Vec::new();
        for _ in 0..COUNT_LIMIT + 5 {
            let (ours, theirs) = in_memory(());
            pool.put(ours);
            others.push(theirs);
        }
        assert_eq!(lock(&pool.idle).connections.len(), COUNT_LIMIT);
        tokio::time::sleep(IDLE_LIMIT * 5 / 2).await;
        assert_eq!(lock(&pool.idle).connections.len(), 0);
        assert!(!lock(&pool.idle).swept);
    }
}

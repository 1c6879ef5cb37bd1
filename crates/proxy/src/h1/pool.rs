//! Connections to a service that wait for their next request.
//!
//! Owns which of them may be used again: not those that waited for long,
//! because services close them at some point and a request would meet the
//! close half-way; not those that have something to say already.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::RecvFlags;
use tokio::net::TcpStream;

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
    connections: VecDeque<(Instant, TcpStream)>,
    /// Whether a task looks after those that nobody takes.
    swept: bool,
}

impl Pool {
    /// A connection that can be used at once: the one that came last, so that
    /// those no longer needed grow old.
    pub(super) fn take(&self) -> Option<TcpStream> {
        let mut idle = lock(&self.idle);
        while let Some((since, stream)) = idle.connections.pop_back() {
            if since.elapsed() > IDLE_LIMIT {
                idle.connections.clear();
                return None;
            }
            if is_silent(&stream) {
                return Some(stream);
            }
        }
        None
    }

    /// Keeps a connection on which an answer has just ended.
    pub(super) fn put(&self, stream: TcpStream) {
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

/// Whether the callee has neither closed the connection nor sent anything
/// unasked. The socket itself is asked: what the runtime knows of it is from
/// when it looked last, and a close that came since would be met by the
/// request. One that comes from now on is: nobody can tell it from the callee's
/// answer to the request, and it is taken for that.
fn is_silent(stream: &TcpStream) -> bool {
    let peeked = rustix::net::recv(stream, &mut [0_u8], RecvFlags::PEEK | RecvFlags::DONTWAIT);
    matches!(peeked, Err(Errno::AGAIN))
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
    use tokio::net::TcpListener;

    use super::*;

    async fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let ours = TcpStream::connect(listener.local_addr().unwrap());
        let (ours, theirs) = tokio::join!(ours, listener.accept());
        (ours.unwrap(), theirs.unwrap().0)
    }

    #[tokio::test]
    async fn the_last_one_is_taken_first_unless_it_was_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let pool = Pool::default();
        let (first, _open) = pair(&listener).await;
        let (second, closed) = pair(&listener).await;
        let address = first.local_addr().unwrap();
        pool.put(first);
        pool.put(second);
        drop(closed);
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(pool.take().unwrap().local_addr().unwrap(), address);
        assert!(pool.take().is_none());
    }

    #[tokio::test]
    async fn what_nobody_takes_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let pool = Pool::default();
        let mut others = Vec::new();
        for _ in 0..COUNT_LIMIT + 5 {
            let (ours, theirs) = pair(&listener).await;
            pool.put(ours);
            others.push(theirs);
        }
        assert_eq!(lock(&pool.idle).connections.len(), COUNT_LIMIT);
        tokio::time::sleep(IDLE_LIMIT * 5 / 2).await;
        assert_eq!(lock(&pool.idle).connections.len(), 0);
        assert!(!lock(&pool.idle).swept);
    }
}

//! HTTP/2 connections kept open to a service.
//!
//! Owns which connection a request goes out on: the first with room for one
//! more stream, or a fresh one. Each has a task that moves its frames, and
//! leaves the pool when that task ends.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use h2::SendStream;
use h2::client::{ResponseFuture, SendRequest};
use http::Request;
use murphy_registry::Organic;
use tokio::sync::watch;

use super::callee::organic;
use super::outlet::Outlet;
use super::socket::Socket;
use super::{CONNECTION_WINDOW, RESET_STREAMS, SEND_BUFFER, STREAM_WINDOW, header_list};
use crate::connect::{Protocol, connect};
use crate::destination::Destination;
use crate::settings::Settings;

/// How many streams a service takes as long as it has not said so. None is
/// opened until then, or those too many would come back refused.
const NOT_SAID: usize = 0;

/// How many connections are kept beyond those in use.
const SPARE: usize = 4;

/// The connections to a service.
#[derive(Default)]
pub(crate) struct Pool {
    lines: Arc<Lines>,
}

#[derive(Default)]
struct Lines(Mutex<State>);

#[derive(Default)]
struct State {
    open: Vec<Line>,
    /// The connection being made, if one is: all wait for the same.
    coming: Option<watch::Receiver<Coming>>,
    count: u64,
}

/// What became of a connection being made, once that is known.
type Coming = Option<Result<(), Organic>>;

/// A connection that is open.
struct Line {
    number: u64,
    /// Only to be cloned: one that has sent keeps track of its last stream.
    requests: SendRequest<Bytes>,
    load: Arc<Load>,
}

/// What goes on on a connection.
#[derive(Default)]
struct Load {
    streams: AtomicUsize,
    /// Whether a request went out on it that a carrier had changed.
    changed: AtomicBool,
    outlet: Arc<Outlet>,
}

/// The right to one stream of a connection.
pub(super) struct Lease {
    line: u64,
    requests: Option<SendRequest<Bytes>>,
    load: Arc<Load>,
}

impl Lease {
    /// Which connection it is on.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// How many bytes its connection has written.
    pub(super) fn written(&self) -> u64 {
        self.load.outlet.written()
    }

    /// Whether this is the first request on its connection that a carrier has
    /// changed; to be asked of these only.
    pub(super) fn is_first_changed(&self) -> bool {
        !self.load.changed.load(Relaxed) && !self.load.changed.swap(true, Relaxed)
    }

    /// Sends the head of a request, once.
    pub(super) fn send(
        &mut self,
        head: Request<()>,
        ends: bool,
    ) -> Result<(ResponseFuture, SendStream<Bytes>), h2::Error> {
        let mut requests = self.requests.take().expect("a lease is used once");
        requests.send_request(head, ends)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.load.streams.fetch_sub(1, Relaxed);
    }
}

impl Pool {
    /// A stream on a connection to the service, but not on the one called
    /// `not`.
    pub(super) async fn lease(
        &self,
        destination: &Arc<Destination>,
        not: Option<u64>,
    ) -> Result<Lease, Organic> {
        loop {
            let mut coming = {
                let mut state = self.lines.lock();
                if let Some(lease) = state.lease(not) {
                    return Ok(lease);
                }
                state.coming(&self.lines, destination)
            };
            // The sender is dropped only with the runtime.
            let come = coming.wait_for(Option::is_some).await;
            let come = come.map_or(Some(Err(Organic::Unreachable)), |come| *come);
            come.unwrap_or(Err(Organic::Unreachable))?;
        }
    }
}

impl Lines {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection was made.
    fn add(&self, requests: SendRequest<Bytes>, load: Arc<Load>) -> u64 {
        let mut state = self.lock();
        state.coming = None;
        state.count += 1;
        let number = state.count;
        state.open.push(Line {
            number,
            requests,
            load,
        });
        number
    }

    fn remove(&self, number: u64) {
        self.lock().open.retain(|line| line.number != number);
    }
}

impl State {
    fn lease(&mut self, not: Option<u64>) -> Option<Lease> {
        let mut at = 0;
        while let Some(line) = self.open.get_mut(at) {
            if Some(line.number) == not || !line.has_room() {
                at += 1;
            } else if line.is_alive() {
                let lease = line.lease();
                self.close_surplus(at + 1);
                return Some(lease);
            } else {
                self.open.remove(at);
            }
        }
        None
    }

    /// Closes connections that many calls at once needed and that nothing goes
    /// on any more, when the first `used` of them are enough.
    fn close_surplus(&mut self, used: usize) {
        if self.open.len() > used + SPARE {
            let surplus = self.open.split_off(used + SPARE);
            let busy = surplus.into_iter().filter(|line| !line.is_idle());
            self.open.extend(busy);
        }
    }

    fn coming(
        &mut self,
        lines: &Arc<Lines>,
        destination: &Arc<Destination>,
    ) -> watch::Receiver<Coming> {
        let start = || {
            let (come, coming) = watch::channel(None);
            // A task of its own: whoever asked first may go away first.
            tokio::spawn(open(lines.clone(), destination.clone(), come));
            coming
        };
        self.coming.get_or_insert_with(start).clone()
    }
}

impl Line {
    /// Whether its task still runs and its peer takes new streams.
    fn is_alive(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        !matches!(self.requests.poll_ready(&mut cx), Poll::Ready(Err(_)))
    }

    fn has_room(&self) -> bool {
        self.load.streams.load(Relaxed) < self.requests.current_max_send_streams()
    }

    fn is_idle(&self) -> bool {
        self.load.streams.load(Relaxed) == 0
    }

    fn lease(&self) -> Lease {
        self.load.streams.fetch_add(1, Relaxed);
        Lease {
            line: self.number,
            requests: Some(self.requests.clone()),
            load: self.load.clone(),
        }
    }
}

/// Makes a connection and moves its frames until it ends.
async fn open(lines: Arc<Lines>, destination: Arc<Destination>, come: watch::Sender<Coming>) {
    let load = Arc::new(Load::default());
    let made = handshake(&destination, load.outlet.clone()).await;
    drop(destination);
    let (requests, mut frames) = match made {
        Ok(made) => made,
        Err(organic) => {
            lines.lock().coming = None;
            come.send_replace(Some(Err(organic)));
            return;
        }
    };
    let number = lines.add(requests, load);
    come.send_replace(Some(Ok(())));
    // What goes wrong is told to every stream.
    let _ = poll_fn(|cx| frames.as_mut().poll(cx)).await;
    lines.remove(number);
}

type Frames = Pin<Box<h2::client::Connection<Socket, Bytes>>>;

/// Connects, and waits for the service to say how many streams it takes.
async fn handshake(
    destination: &Destination,
    outlet: Arc<Outlet>,
) -> Result<(SendRequest<Bytes>, Frames), Organic> {
    let stream = connect(destination, Protocol::Http2).await?;
    let socket = Socket::new(stream, BytesMut::new(), outlet);
    let made = client(&destination.settings).handshake(socket).await;
    let (requests, frames) = made.map_err(|_| Organic::Reset)?;
    let mut frames = Box::pin(frames);
    let said = settings(&requests, &mut frames);
    match tokio::time::timeout(destination.settings.connect_timeout, said).await {
        Ok(said) => said.map(|()| (requests, frames)),
        Err(_) => Err(Organic::NotHttp),
    }
}

async fn settings(requests: &SendRequest<Bytes>, frames: &mut Frames) -> Result<(), Organic> {
    poll_fn(|cx| {
        let ended = frames.as_mut().poll(cx);
        if requests.current_max_send_streams() != NOT_SAID {
            return Poll::Ready(Ok(()));
        }
        ended.map(|ended| match ended {
            Err(error) => Err(organic(&error)),
            Ok(()) => Err(Organic::Reset),
        })
    })
    .await
}

fn client(settings: &Settings) -> h2::client::Builder {
    let mut builder = h2::client::Builder::new();
    builder
        .enable_push(false)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_header_list_size(header_list(settings))
        .initial_max_send_streams(NOT_SAID)
        .max_concurrent_reset_streams(RESET_STREAMS)
        .max_local_error_reset_streams(None);
    builder
}

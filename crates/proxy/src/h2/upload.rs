//! The body of a request on its way from the caller to the callee.
//!
//! Owns how much of it is read before the call is named, the rest that follows
//! while the answer is awaited, and, for a while, a copy for a second try.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use h2::{RecvStream, SendStream};
use http::HeaderMap;

use super::parts::{Incoming, Part, poll_room};
use crate::exchange::{Gone, Prefix, Reading};
use crate::grpc;

/// How much of a body that nobody asked to read is kept for a second try: the
/// small ones.
const KEPT: usize = 16 * 1024;

/// A request's body.
pub(super) struct Upload {
    body: Incoming,
    /// Read, and not sent yet.
    waiting: VecDeque<Part>,
    /// How many of the bytes waiting the caller may already send again.
    released: usize,
    /// Whether any of it was sent.
    begun: bool,
    /// Whether its end was sent, or never will be.
    over: bool,
    kept: Kept,
}

impl Upload {
    /// A body of which nothing was read.
    pub(super) fn new(body: RecvStream) -> Self {
        Upload {
            body: Incoming::new(body),
            waiting: VecDeque::new(),
            released: 0,
            begun: false,
            over: false,
            kept: Kept::default(),
        }
    }

    /// Whether there is none, so that the head ends the request. Asked when
    /// the head is sent.
    pub(super) fn is_empty(&mut self) -> bool {
        self.over = self.waiting.is_empty() && self.body.ended();
        self.over
    }

    /// Whether nothing more of it will come.
    pub(super) fn has_ended(&self) -> bool {
        self.body.ended()
    }

    /// Whether nothing more is to be sent.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Reads the beginning of the body, once, to be sent later all the same.
    pub(super) async fn read(&mut self, reading: Reading) -> Result<Prefix, Gone> {
        if self.body.ended() {
            return Ok(Prefix::default());
        }
        let mut read = BytesMut::new();
        let mut end = None;
        while end.is_none() && !enough(&read, reading) {
            match self.next(reading).await? {
                None => break,
                Some(Part::Data(data)) => read.extend_from_slice(&data),
                Some(Part::Last(data)) => {
                    read.extend_from_slice(&data);
                    end = Some(None);
                }
                Some(Part::Trailers(trailers)) => end = Some(Some(trailers)),
            }
        }
        let bytes = read.freeze();
        self.released = bytes.len();
        self.kept.limit = bytes.len() + KEPT;
        let prefix = prefix(bytes.clone(), end.is_some(), reading);
        self.waiting.extend(parts(bytes, end));
        Ok(prefix)
    }

    /// The next part, or `None` if it does not come in time.
    async fn next(&mut self, reading: Reading) -> Result<Option<Part>, Gone> {
        // Mostly it is there already, and needs no timer.
        let there = poll_fn(|cx| Poll::Ready(self.body.poll_part(cx))).await;
        let part = match there {
            Poll::Ready(part) => part,
            Poll::Pending => {
                let part = poll_fn(|cx| self.body.poll_part(cx));
                match tokio::time::timeout(reading.patience, part).await {
                    Ok(part) => part,
                    Err(_) => return Ok(None),
                }
            }
        };
        let part = part.map_err(|_| Gone)?;
        self.body.release(part.len());
        Ok(Some(part))
    }

    /// Sends what there is, as far as there is room; ready when all is sent,
    /// or the callee takes no more.
    pub(super) fn poll_send(
        &mut self,
        to: &mut SendStream<Bytes>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Gone>> {
        while !self.over {
            let part = match self.waiting.pop_front() {
                Some(part) => part,
                None => ready!(self.body.poll_part(cx)).map_err(|_| Gone)?,
            };
            // The first goes without asking, so that small bodies are cheap.
            let asks = self.begun && part.len() > 0;
            if asks && poll_room(to, part.len(), cx).is_pending() {
                self.waiting.push_front(part);
                return Poll::Pending;
            }
            self.send(part, to);
        }
        Poll::Ready(Ok(()))
    }

    fn send(&mut self, part: Part, to: &mut SendStream<Bytes>) {
        self.kept.keep(&part);
        self.begun = true;
        let (length, ends) = (part.len(), part.ends());
        // A callee that takes no more may still answer.
        self.over = part.send(to).is_err() || ends;
        let released = self.released.min(length);
        self.released -= released;
        if !ends {
            self.body.release(length - released);
        }
    }

    /// Starts over, for another stream; false if it cannot be had again.
    pub(super) fn rewind(&mut self) -> bool {
        let Some(parts) = self.kept.parts() else {
            return false;
        };
        self.kept = Kept {
            limit: self.kept.limit,
            ..Kept::default()
        };
        let again: usize = parts.iter().map(Part::len).sum();
        self.released += again;
        parts
            .into_iter()
            .rev()
            .for_each(|part| self.waiting.push_front(part));
        self.begun = false;
        self.over = false;
        true
    }

    /// All of it, once more, if it was sent whole and kept.
    pub(super) fn again(&mut self) -> Option<Vec<Part>> {
        let whole = self.over && (!self.begun || self.kept.end.is_some());
        whole.then(|| self.kept.parts()).flatten()
    }
}

fn enough(read: &[u8], reading: Reading) -> bool {
    let message = || grpc::first_message(read).is_some_and(|message| read.len() >= message);
    read.len() >= reading.limit || (reading.one_message && message())
}

/// What of the bytes read says which call it is.
fn prefix(mut read: Bytes, ended: bool, reading: Reading) -> Prefix {
    let most = read.len().min(reading.limit);
    let mut cut = !ended || most < read.len();
    let message = grpc::first_message(&read);
    match message.filter(|message| reading.one_message && *message <= most) {
        Some(message) => {
            // Whatever follows, and whether it has come yet, identifies no call.
            read.truncate(message);
            cut = false;
        }
        None => read.truncate(most),
    }
    Prefix { bytes: read, cut }
}

/// Bytes, and maybe the end and maybe trailers, as parts; none of them empty.
fn parts(bytes: Bytes, end: Option<Option<HeaderMap>>) -> impl DoubleEndedIterator<Item = Part> {
    let data = match end {
        Some(None) => Part::Last(bytes),
        _ => Part::Data(bytes),
    };
    let trailers = end.flatten().map(Part::Trailers);
    let data = (data.len() > 0).then_some(data);
    data.into_iter().chain(trailers)
}

/// What was sent, as long as it is not much.
struct Kept {
    limit: usize,
    data: BytesMut,
    end: Option<Option<HeaderMap>>,
    lost: bool,
}

impl Default for Kept {
    fn default() -> Self {
        Kept {
            limit: KEPT,
            data: BytesMut::new(),
            end: None,
            lost: false,
        }
    }
}

impl Kept {
    fn keep(&mut self, part: &Part) {
        if self.lost {
            return;
        }
        self.lost = self.data.len() + part.len() > self.limit;
        match part {
            _ if self.lost => self.data = BytesMut::new(),
            Part::Data(data) => self.data.extend_from_slice(data),
            Part::Last(data) => {
                self.data.extend_from_slice(data);
                self.end = Some(None);
            }
            Part::Trailers(trailers) => self.end = Some(Some(trailers.clone())),
        }
    }

    fn parts(&self) -> Option<Vec<Part>> {
        (!self.lost).then(|| parts(self.data.clone().freeze(), self.end.clone()).collect())
    }
}

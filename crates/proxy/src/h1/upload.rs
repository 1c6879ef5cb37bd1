//! A request on its way from the caller to the callee.
//!
//! Owns how much of it has come and how much was sent. A request that is in
//! the buffer as a whole stays there until the exchange is over, so that it
//! can be sent once more; of any other, what was sent is forgotten, so that a
//! body of any length takes the room of one buffer.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::body::Body;
use super::buffer::{Buffer, LARGE};
use super::chunked::{Malformed, Sink, Unseen};
use super::framing::Framing;
use crate::stream::Stream;

/// Why a request does not become complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The caller went away.
    Gone,
    /// Its body is not what its head says.
    Malformed,
}

impl From<Malformed> for Stopped {
    fn from(Malformed: Malformed) -> Self {
        Stopped::Malformed
    }
}

/// How far a request is.
pub(super) struct Upload {
    body: Body,
    /// The bytes at the front of the buffer that are known to be of this
    /// request, the head included.
    seen: usize,
    /// How many of them were sent.
    sent: usize,
    /// How much of a head was sent that replaces the one in the buffer.
    sent_of_lead: usize,
    /// Whether any of it was written to the callee.
    begun: bool,
    /// Whether some of it was forgotten.
    discarded: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is something to be sent, or there will be.
    Going,
    /// All was sent.
    Done,
    /// The callee takes no more.
    Refused,
}

impl Upload {
    /// A request whose head is at the front of the buffer.
    pub(super) fn new(head: usize, framing: Framing) -> Self {
        Upload {
            body: Body::new(framing),
            seen: head,
            sent: 0,
            sent_of_lead: 0,
            begun: false,
            discarded: false,
            state: State::Going,
        }
    }

    /// How many bytes at the front of the buffer are of this request.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }

    /// How many bytes at the front of the buffer were sent.
    pub(super) fn sent(&self) -> usize {
        self.sent
    }

    /// What is still to come from the caller.
    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    /// Whether all of it has come.
    pub(super) fn is_whole(&self) -> bool {
        self.body.ended()
    }

    /// Whether all of it is in the buffer, to be sent as often as needed.
    pub(super) fn is_kept(&self) -> bool {
        self.is_whole() && !self.discarded
    }

    /// Whether any of it was written to the callee.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether nothing more will be sent to the callee.
    pub(super) fn is_over(&self) -> bool {
        self.state != State::Going
    }

    /// Whether all of it was sent to the callee.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes note of what has come.
    pub(super) fn scan(&mut self, inbound: &Buffer) -> Result<(), Malformed> {
        self.feed(inbound, &mut Unseen)
    }

    /// The same, with the content of the body for `sink` to see.
    pub(super) fn feed(&mut self, inbound: &Buffer, sink: &mut impl Sink) -> Result<(), Malformed> {
        self.seen += self.body.feed(&inbound.held()[self.seen..], sink)?;
        Ok(())
    }

    /// Begins to send, also for another time. The first `replaced` bytes are
    /// not sent: another head is.
    pub(super) fn begin(&mut self, replaced: usize) {
        self.sent = replaced;
        self.sent_of_lead = 0;
        self.begun = false;
        self.state = State::Going;
    }

    /// Forgets what has come of the request.
    pub(super) fn discard(&mut self, inbound: &mut Buffer) {
        inbound.consume(self.seen);
        self.discarded = true;
        self.seen = 0;
        self.sent = 0;
    }

    /// The request is over, and what follows in the buffer is none of it.
    pub(super) fn forget(&mut self) {
        self.seen = 0;
        self.sent = 0;
        self.state = State::Done;
    }

    /// Sends what there is, `lead` first, and goes on with what the caller
    /// sends.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        caller: &mut Box<dyn Stream>,
        inbound: &mut Buffer,
        lead: &[u8],
        callee: &mut Box<dyn Stream>,
    ) -> Poll<Result<(), Stopped>> {
        loop {
            // More may have come while the callee was being reached.
            self.scan(inbound)?;
            if ready!(self.poll_send(cx, inbound, lead, callee)).is_err() {
                // It may have answered all the same.
                self.state = State::Refused;
                return Poll::Ready(Ok(()));
            }
            if self.body.ended() {
                self.state = State::Done;
                return Poll::Ready(Ok(()));
            }
            self.discard(inbound);
            match ready!(inbound.poll_fill(cx, caller, LARGE)) {
                Ok(0) | Err(_) => return Poll::Ready(Err(Stopped::Gone)),
                Ok(_) => {}
            }
        }
    }

    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        inbound: &Buffer,
        lead: &[u8],
        callee: &mut Box<dyn Stream>,
    ) -> Poll<io::Result<()>> {
        loop {
            let lead = &lead[self.sent_of_lead..];
            let rest = &inbound.held()[self.sent..self.seen];
            if lead.is_empty() && rest.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let count = ready!(poll_write_both(cx, callee, lead, rest))?;
            self.begun = true;
            let of_lead = count.min(lead.len());
            self.sent_of_lead += of_lead;
            self.sent += count - of_lead;
        }
    }
}

fn poll_write_both(
    cx: &mut Context<'_>,
    stream: &mut Box<dyn Stream>,
    first: &[u8],
    second: &[u8],
) -> Poll<io::Result<usize>> {
    let stream = Pin::new(stream);
    let count = match (first.is_empty(), second.is_empty()) {
        (true, _) => ready!(stream.poll_write(cx, second))?,
        (_, true) => ready!(stream.poll_write(cx, first))?,
        _ => {
            let both = [IoSlice::new(first), IoSlice::new(second)];
            ready!(stream.poll_write_vectored(cx, &both))?
        }
    };
    Poll::Ready(match count {
        0 => Err(ErrorKind::WriteZero.into()),
        _ => Ok(count),
    })
}

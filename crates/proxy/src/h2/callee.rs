//! The callee's side of an exchange: a stream of a shared connection.
//!
//! Owns sending a request, waiting for the head of its answer, and reading the
//! parts that follow. Dropping it before the end cancels the request.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response};
use murphy_registry::Organic;

use super::parts::{Incoming, Part};
use super::pool::Lease;
use crate::exchange::{Abort, Failure};

/// A request that was sent, and its answer as it comes.
pub(super) struct Callee {
    /// Where the request's body goes.
    pub(super) upload: SendStream<Bytes>,
    answer: Answer,
    lease: Lease,
    /// How much its connection had written before it.
    written: u64,
}

enum Answer {
    Awaited(ResponseFuture),
    Begun { body: Incoming, ended: bool },
}

/// What comes before a body.
pub(super) enum Heading {
    /// An answer that is not the last word (1xx).
    Interim(Response<()>),
    /// The answer's head.
    Final(Response<()>),
}

impl Callee {
    /// Sends the head of a request; `ends`: it has no body.
    pub(super) fn call(
        mut lease: Lease,
        head: Request<()>,
        ends: bool,
    ) -> Result<Callee, h2::Error> {
        let written = lease.written();
        let (answer, upload) = lease.send(head, ends)?;
        Ok(Callee {
            upload,
            answer: Answer::Awaited(answer),
            lease,
            written,
        })
    }

    /// What comes before the answer's body; nothing after its head.
    pub(super) fn poll_heading(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Heading, h2::Error>> {
        let Answer::Awaited(answer) = &mut self.answer else {
            return Poll::Pending;
        };
        match ready!(answer.poll_informational(cx)) {
            Some(Ok(interim)) => return Poll::Ready(Ok(Heading::Interim(interim))),
            Some(Err(error)) => return Poll::Ready(Err(error)),
            None => {}
        }
        let (head, body) = ready!(Pin::new(answer).poll(cx))?.into_parts();
        self.begin(body);
        Poll::Ready(Ok(Heading::Final(Response::from_parts(head, ()))))
    }

    fn begin(&mut self, body: RecvStream) {
        let body = Incoming::new(body);
        let ended = body.ended();
        self.answer = Answer::Begun { body, ended };
    }

    /// Whether all of the answer has been read.
    pub(super) fn ended(&self) -> bool {
        matches!(self.answer, Answer::Begun { ended: true, .. })
    }

    /// The next part of the answer, after its head.
    pub(super) fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Result<Part, h2::Error>> {
        let Answer::Begun { body, ended } = &mut self.answer else {
            return Poll::Pending;
        };
        if *ended {
            return Poll::Ready(Ok(Part::Last(Bytes::new())));
        }
        let part = ready!(body.poll_part(cx));
        *ended = part.as_ref().is_ok_and(Part::ends);
        Poll::Ready(part)
    }

    /// This many bytes of the answer were sent on: as many more may come.
    pub(super) fn release(&mut self, bytes: usize) {
        if let Answer::Begun { body, ended: false } = &mut self.answer {
            body.release(bytes);
        }
    }

    /// Which connection it is on.
    pub(super) fn line(&self) -> u64 {
        self.lease.line()
    }

    /// Whether the service has not seen the request, for all that went wrong
    /// with it: none of it was written, or the service says so itself. RFC 9113
    /// (8.7) lets any request be sent again then; a connection that merely ends
    /// says nothing of the kind, and is the service's answer.
    pub(super) fn unseen(&self, error: &h2::Error) -> bool {
        let unwritten = self.lease.written() == self.written;
        says_unprocessed(error) || unwritten
    }
}

/// Whether the service says that it has not processed the request.
fn says_unprocessed(error: &h2::Error) -> bool {
    let refused = error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM);
    // `h2` gives this to streams only that come after the last one that the
    // service says it may have processed.
    let went_away = error.is_go_away();
    error.is_remote() && (refused || went_away)
}

/// How a request failed that was not answered.
pub(super) fn failure(error: &h2::Error) -> Failure {
    let was_reset = |error: &io::Error| error.kind() == ErrorKind::ConnectionReset;
    match error.get_io() {
        _ if error.is_library() => Failure::Callee(organic(error)),
        Some(io) if !was_reset(io) => Failure::HungUp(Abort::Close, organic(error)),
        _ => Failure::HungUp(Abort::Reset, organic(error)),
    }
}

/// What an error says of the callee before it has answered.
pub(super) fn organic(error: &h2::Error) -> Organic {
    match error.is_library() {
        true => Organic::NotHttp,
        false => Organic::Reset,
    }
}

/// The reason for which an answer was interrupted or not given, to be handed on.
pub(super) fn reason(error: &h2::Error) -> Reason {
    match error.is_reset() && error.is_remote() {
        true => error.reason().unwrap_or(Reason::INTERNAL_ERROR),
        false if says_unprocessed(error) => Reason::REFUSED_STREAM,
        false => Reason::INTERNAL_ERROR,
    }
}

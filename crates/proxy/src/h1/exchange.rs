//! One request of HTTP/1.1 and its answer.
//!
//! Owns what is known of both while they pass, and what becomes of the
//! caller's connection afterwards. Everything happens in the task of that
//! connection: whoever waits for one side keeps an eye on the other, so that
//! bodies flow both ways at once and a caller that leaves is noticed.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;

use super::answer::AnswerHead;
use super::body::Body;
use super::buffer::{Buffer, LARGE};
use super::closing::Then;
use super::half_closed::HalfClosed;
use super::head::{BadHead, RequestHead};
use super::upload::{Stopped, Upload};
use super::{canned, duplicate};
use crate::call_guard::CallGuard;
use crate::destination::Destination;
use crate::exchange::{
    Abort, Asked, Canned, Exchange, Failure, Gone, Head, Piece, Prefix, Reading,
};
use crate::headers::Headers;
use crate::stream::Stream;

/// What a connection keeps from one request to the next.
pub(super) struct Connection {
    pub(super) caller: Box<dyn Stream>,
    /// What came from the caller: the request, and maybe the next ones.
    pub(super) inbound: Buffer,
    /// What came from the callee.
    pub(super) outbound: Buffer,
    pub(super) head: RequestHead,
    /// The head that is forwarded in place of the one that came, if it was
    /// changed; needed for as long as the request is being sent.
    pub(super) lead: Vec<u8>,
    /// Memory for what the caller is sent that is not as it came.
    pub(super) rendered: Vec<u8>,
}

/// An answer of the callee's, once its head is there.
pub(super) struct Answer {
    pub(super) head: AnswerHead,
    pub(super) body: Body,
    /// The head, taken out of the buffer; empty while it is still there.
    pub(super) head_bytes: Vec<u8>,
    /// The lines of the trailer section, as far as the body was decoded.
    pub(super) trailers: Vec<u8>,
}

/// One request and its answer.
pub(super) struct H1<'a> {
    pub(super) destination: &'a Destination,
    pub(super) connection: &'a mut Connection,
    pub(super) upload: Upload,
    /// The callee, as long as something is to be sent to it or to come.
    pub(super) callee: Option<Box<dyn Stream>>,
    pub(super) answer: Option<Answer>,
    /// Whether the caller was told to go on by us, and the callee's own word
    /// is to be kept from it.
    pub(super) continued_by_us: bool,
    /// Whether the caller was told to go on by anyone.
    pub(super) continued: bool,
    /// Whether the caller was sent the beginning of an answer.
    pub(super) began_answer: bool,
    /// How many bytes the caller was sent.
    pub(super) sent_to_caller: u64,
    /// Whether the caller was told that nothing follows this answer, by us.
    pub(super) told_to_close: bool,
    /// Set once the caller has said that it sends no more.
    half_closed: Option<HalfClosed>,
    /// Whether something the caller sent was thrown away.
    pub(super) flooded: bool,
    pub(super) then: Then,
}

impl<'a> H1<'a> {
    /// The exchange that begins with the head just read.
    pub(super) fn new(destination: &'a Destination, connection: &'a mut Connection) -> Self {
        let upload = Upload::new(connection.head.len(), connection.head.framing());
        if let Some(authority) = &destination.authority {
            connection.head.set("host", authority.as_bytes());
        }
        H1 {
            destination,
            connection,
            upload,
            callee: None,
            answer: None,
            continued_by_us: false,
            continued: false,
            began_answer: false,
            sent_to_caller: 0,
            told_to_close: false,
            half_closed: None,
            flooded: false,
            // Whoever answers says so; without an answer nothing can follow.
            then: Then::Close,
        }
    }

    /// What becomes of the connection.
    pub(super) fn end(self) -> Then {
        let inbound = &mut self.connection.inbound;
        inbound.consume(self.upload.seen());
        let more_to_come = self.flooded || !inbound.is_empty() || !self.upload.is_whole();
        match self.then {
            Then::Close if more_to_come => Then::Linger,
            then => then,
        }
    }

    /// Sends what there is of the request, and sees what the caller is doing.
    pub(super) fn poll_caller(&mut self, cx: &mut Context<'_>) -> Result<(), Stopped> {
        let Connection {
            caller,
            inbound,
            lead,
            ..
        } = &mut *self.connection;
        if !self.upload.is_over()
            && let Some(callee) = &mut self.callee
        {
            let polled = self.upload.poll(cx, caller, inbound, lead, callee);
            match polled {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(stopped)) => return Err(stopped),
                Poll::Pending => return Ok(()),
            }
        }
        if let Some(half_closed) = &mut self.half_closed {
            return half_closed.poll(cx, &**caller);
        }
        // What comes now is the next request, or waits for the callee.
        let most = self.upload.seen() + LARGE;
        loop {
            match inbound.poll_fill(cx, caller, most) {
                Poll::Ready(Ok(0)) if self.upload.is_whole() => {
                    let half_closed = HalfClosed::new(&**caller).ok_or(Stopped::Gone)?;
                    return self.half_closed.insert(half_closed).poll(cx, &**caller);
                }
                Poll::Ready(Ok(0) | Err(_)) => return Err(Stopped::Gone),
                Poll::Ready(Ok(_)) => {}
                Poll::Pending => return Ok(()),
            }
        }
    }

    /// Waits for more from the callee, without holding more than `most`.
    pub(super) async fn hear(&mut self, most: usize) -> Result<io::Result<usize>, Gone> {
        let heard = poll_fn(|cx| self.poll_hear(cx, most)).await;
        match heard {
            Ok(read) => Ok(read),
            Err(stopped) => Err(self.stop(stopped).await),
        }
    }

    fn poll_hear(
        &mut self,
        cx: &mut Context<'_>,
        most: usize,
    ) -> Poll<Result<io::Result<usize>, Stopped>> {
        let sending = !self.upload.is_over();
        if sending {
            self.poll_caller(cx)?;
        }
        let Some(callee) = &mut self.callee else {
            return Poll::Ready(Ok(Ok(0)));
        };
        if let Poll::Ready(read) = self.connection.outbound.poll_fill(cx, callee, most) {
            return Poll::Ready(Ok(read));
        }
        if !sending {
            self.poll_caller(cx)?;
        }
        Poll::Pending
    }

    /// Sends bytes to the caller, while its own go on to the callee.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        let mut written = 0;
        let wrote = poll_fn(|cx| {
            while written < bytes.len() {
                let caller = Pin::new(&mut self.connection.caller);
                match caller.poll_write(cx, &bytes[written..]) {
                    Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(Err(Stopped::Gone)),
                    Poll::Ready(Ok(count)) => {
                        written += count;
                        self.sent_to_caller += count as u64;
                    }
                    Poll::Pending if self.upload.is_over() => return Poll::Pending,
                    Poll::Pending => {
                        self.poll_caller(cx)?;
                        return Poll::Pending;
                    }
                }
            }
            Poll::Ready(Ok(()))
        });
        match wrote.await {
            Ok(()) => Ok(()),
            Err(stopped) => Err(self.stop(stopped).await),
        }
    }

    /// Sends the first `count` bytes from the callee on to the caller.
    pub(super) async fn write_heard(&mut self, count: usize) -> Result<(), Gone> {
        let mut outbound = std::mem::take(&mut self.connection.outbound);
        let written = self.write(&outbound.held()[..count]).await;
        outbound.consume(count);
        self.connection.outbound = outbound;
        written
    }

    /// Sends what was rendered to the caller.
    pub(super) async fn write_rendered(&mut self) -> Result<(), Gone> {
        let rendered = std::mem::take(&mut self.connection.rendered);
        let written = self.write(&rendered).await;
        self.connection.rendered = rendered;
        written
    }

    /// There will be no complete request; where it is malformed, its caller is
    /// told so.
    pub(super) async fn stop(&mut self, stopped: Stopped) -> Gone {
        self.callee = None;
        match stopped {
            Stopped::Gone => self.then = Then::Close,
            Stopped::Malformed if self.began_answer => self.then = Then::Reset,
            Stopped::Malformed => {
                // Without a callee nothing is sent on, so this cannot stop
                // again for the same reason.
                self.then = Then::Linger;
                let refusal = canned::refusal(BadHead::Malformed);
                let _ = Box::pin(self.write(&refusal)).await;
            }
        }
        Gone
    }

    /// Whether the caller's connection ends after this answer although both
    /// sides would go on: its next call is to have a handshake of its own.
    pub(super) fn is_last(&self) -> bool {
        let destination = self.destination;
        self.connection.caller.is_tls()
            && destination.control.wants_handshakes(&destination.service)
    }

    /// Whether the caller still waits to be told to go on.
    pub(super) fn awaits_continue(&self) -> bool {
        self.connection.head.expects_continue() && !self.continued && !self.upload.is_whole()
    }
}

impl Exchange for H1<'_> {
    type Headers = RequestHead;

    fn asked(&self) -> Asked<'_> {
        Asked {
            method: self.connection.head.method(),
            target: self.connection.head.target(),
        }
    }

    fn is_over_tls(&self) -> bool {
        self.connection.caller.is_tls()
    }

    fn headers(&self) -> &RequestHead {
        &self.connection.head
    }

    fn headers_mut(&mut self) -> &mut RequestHead {
        &mut self.connection.head
    }

    async fn read_body(&mut self, reading: Reading) -> Result<Prefix, Gone> {
        self.read_prefix(reading).await
    }

    async fn forward(&mut self) -> Result<Head, Failure> {
        self.ask_callee().await
    }

    async fn forward_again(&mut self) -> bool {
        duplicate::forward(self).await
    }

    async fn relay(&mut self, guard: Option<&mut CallGuard<'_>>) {
        self.relay_answer(guard).await;
    }

    async fn next_piece(&mut self) -> Result<Piece, Failure> {
        self.decode_piece().await
    }

    async fn start_answer(&mut self) -> Result<(), Gone> {
        self.send_head().await
    }

    async fn send(&mut self, data: Bytes) -> Result<(), Gone> {
        self.send_framed(&data).await
    }

    async fn finish(&mut self, trailers: Option<http::HeaderMap>) -> Result<(), Gone> {
        self.send_end(trailers).await
    }

    async fn respond(&mut self, answer: Canned) -> Result<(), Gone> {
        self.answer_ourselves(answer).await
    }

    async fn abort(&mut self, how: Abort) {
        self.callee = None;
        self.then = match how {
            Abort::Reset => Then::Reset,
            // To the caller this would look like the proper end.
            Abort::Close if self.began_answer && self.ends_with_connection() => Then::Reset,
            Abort::Close => Then::Linger,
        };
    }

    async fn gone(&mut self) {
        poll_fn(|cx| {
            loop {
                if self.poll_caller(cx).is_err() {
                    return Poll::Ready(());
                }
                if !self.throw_away_flood() {
                    return Poll::Pending;
                }
            }
        })
        .await;
    }
}

//! One request on its way through a proxy, whatever the protocol.
//!
//! Owns the words in which outcomes are written: a request can be forwarded,
//! its answer relayed, replaced, spoiled or withheld. HTTP/1.1 (`h1`) and
//! HTTP/2 (`h2`) each implement them once; what is done with them is decided
//! in `call` and `outcomes`.

use std::time::Duration;

use bytes::Bytes;
use murphy_registry::Organic;

use crate::call_guard::CallGuard;
use crate::coding::Coding;
use crate::headers::Headers;

/// The caller went away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// Why there is no answer, or no more of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The caller went away first.
    Gone,
    /// The callee failed on its own.
    Callee(Organic),
    /// The callee ended its connection, or the stream, in this way before it
    /// answered. It may have seen the request, so this is its answer.
    HungUp(Abort, Organic),
}

impl From<Gone> for Failure {
    fn from(Gone: Gone) -> Self {
        Failure::Gone
    }
}

/// The beginning of a request's body, or all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix {
    /// What was read, without any framing of the protocol.
    pub(crate) bytes: Bytes,
    /// Whether there is, or may be, more.
    pub(crate) cut: bool,
}

/// How much of a request's body is waited for before the call is named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Not more than this many bytes.
    pub(crate) limit: usize,
    /// Not when nothing has come for this long: the caller may be waiting for
    /// an answer before it sends more.
    pub(crate) patience: Duration,
    /// Of a gRPC call only the first message: a stream may never end.
    pub(crate) one_message: bool,
}

/// The head of a callee's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The status; 101 after an upgrade.
    pub(crate) status: u16,
    /// The length of the body, if it is announced.
    pub(crate) length: Option<u64>,
    /// The gRPC status, where it stands in the head (trailers only).
    pub(crate) grpc_status: Option<Bytes>,
    /// How the body, or the messages in it, are compressed.
    pub(crate) coding: Coding,
}

/// The next part of a callee's answer.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Some of the body, without framing.
    Data(Bytes),
    /// The end, with whatever trailers came.
    End(Option<http::HeaderMap>),
}

/// An answer made up by the proxy.
#[derive(Clone, Debug)]
pub(crate) struct Canned {
    pub(crate) status: u16,
    /// The headers, without those of framing.
    pub(crate) headers: Vec<(http::HeaderName, http::HeaderValue)>,
    /// The body. Sent to nobody who asked with HEAD.
    pub(crate) body: Bytes,
}

/// How a connection, or a stream of one, ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// TCP RST; `RST_STREAM` with INTERNAL_ERROR.
    Reset,
    /// TCP FIN; `RST_STREAM` with CANCEL, or with INTERNAL_ERROR where some of
    /// the answer was sent.
    Close,
}

/// What is asked for, as it stands in the request's head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    /// The path with the query, as sent.
    pub(crate) target: &'a str,
}

/// One request and its answer, on both sides of the proxy.
///
/// The order of use is: look at the head; maybe [`read_body`](Self::read_body);
/// then either answer without the callee ([`respond`](Self::respond),
/// [`abort`](Self::abort), [`gone`](Self::gone)) or [`forward`](Self::forward)
/// and deal with its answer. Whatever is not called does not happen: an
/// exchange that is dropped unanswered closes its connection or stream.
pub(crate) trait Exchange: Send {
    /// The headers of the request.
    type Headers: Headers + Send + Sync;

    fn asked(&self) -> Asked<'_>;

    /// Whether its caller speaks TLS with us.
    fn is_over_tls(&self) -> bool;

    /// The headers of the request.
    fn headers(&self) -> &Self::Headers;

    /// The headers of the request, to be changed before it is forwarded.
    fn headers_mut(&mut self) -> &mut Self::Headers;

    /// Reads the beginning of the body, to be forwarded later all the same. A
    /// caller that waits for `100 Continue` is told to go on.
    fn read_body(&mut self, reading: Reading) -> impl Future<Output = Result<Prefix, Gone>> + Send;

    /// Sends the request to the callee and waits for the head of its answer.
    /// Interim answers (1xx but 101) are passed on. The rest of the request's
    /// body goes on being sent while the answer is dealt with.
    fn forward(&mut self) -> impl Future<Output = Result<Head, Failure>> + Send;

    /// Sends the request, which must have been read whole, once more to the
    /// callee on a connection or stream of its own, and throws its answer
    /// away. False if that could not be done.
    fn forward_again(&mut self) -> impl Future<Output = bool> + Send;

    /// Passes the callee's answer on as it is, after `forward`. What came of
    /// it is told to `guard` before its end is sent. After an upgrade
    /// (101) both sides are joined until one of them is done.
    fn relay(&mut self, guard: Option<&mut CallGuard<'_>>) -> impl Future<Output = ()> + Send;

    /// The next part of the callee's answer, after `forward`.
    fn next_piece(&mut self) -> impl Future<Output = Result<Piece, Failure>> + Send;

    /// Sends the head of the callee's answer on, to be followed by `send` and
    /// `finish` or `abort`.
    fn start_answer(&mut self) -> impl Future<Output = Result<(), Gone>> + Send;

    /// Sends some of the answer's body, and sees it out.
    fn send(&mut self, data: Bytes) -> impl Future<Output = Result<(), Gone>> + Send;

    /// Ends the answer as it should end.
    fn finish(
        &mut self,
        trailers: Option<http::HeaderMap>,
    ) -> impl Future<Output = Result<(), Gone>> + Send;

    /// Answers in the callee's stead.
    fn respond(&mut self, answer: Canned) -> impl Future<Output = Result<(), Gone>> + Send;

    /// Ends the exchange without an answer, or without the rest of it. What
    /// was sent before still goes out, as far as the protocol lets it.
    fn abort(&mut self, how: Abort) -> impl Future<Output = ()> + Send;

    /// Waits until the caller goes away.
    fn gone(&mut self) -> impl Future<Output = ()> + Send;
}

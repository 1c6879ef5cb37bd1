//! One stream of a caller, and the stream of the callee that answers it.
//!
//! Owns how the two belong together: while either is waited for, the request's
//! body goes on being sent, and the caller's leaving ends it all.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use http::uri::Scheme;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header,
};
use murphy_registry::Organic;

use super::callee::{self, Callee, Heading};
use super::caller::Caller;
use super::fields::Fields;
use super::parts::{GRPC_STATUS, Part};
use super::pool::Lease;
use super::upload::Upload;
use crate::call_guard::CallGuard;
use crate::coding::Coding;
use crate::destination::Destination;
use crate::exchange::{
    Abort, Asked, Canned, Exchange, Failure, Gone, Head, Piece, Prefix, Reading,
};
use crate::grpc;
use crate::headers::Headers;

/// How long a second answer is read that nobody will see: some never end.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// One request and its answer.
pub(super) struct StreamExchange<'a> {
    destination: &'a Arc<Destination>,
    /// The request but for its headers.
    request: Request<()>,
    fields: Fields,
    upload: Upload,
    caller: Caller,
    callee: Option<Callee>,
    /// The head of the callee's answer, until it is sent on.
    answer: Option<Response<()>>,
    /// Whether that head is all of the answer.
    bare: bool,
    /// Bytes of the answer given away by `next_piece`: more may come when they
    /// are dealt with.
    given: usize,
    /// Whether the caller was told to go on with its body.
    told_to_continue: bool,
    /// Whether the caller speaks TLS with us.
    pub(super) is_tls: bool,
    /// The reason for which the caller's stream is reset: the callee's, where
    /// it had one.
    reset_for: Reason,
}

/// Why there is nothing more from the callee.
enum Broken {
    Gone,
    Callee(h2::Error),
}

/// A request that was not answered.
struct Unanswered {
    failure: Failure,
    /// The connection on which the service cannot have seen it.
    unseen_on: Option<u64>,
}

impl From<Gone> for Broken {
    fn from(Gone: Gone) -> Self {
        Broken::Gone
    }
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Unanswered {
            failure,
            unseen_on: None,
        }
    }
}

/// Makes it a request to a host that is reached over TLS.
fn send_to(authority: &str, request: &mut Request<()>) {
    request.headers_mut().remove(header::HOST);
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = authority.parse().ok();
    // A path alone is all that can be missing, which no request is without.
    *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
}

impl<'a> StreamExchange<'a> {
    pub(super) fn new(
        destination: &'a Arc<Destination>,
        mut request: Request<()>,
        upload: Upload,
        caller: Caller,
    ) -> Self {
        if let Some(authority) = &destination.authority {
            send_to(authority, &mut request);
        }
        let fields = Fields::new(std::mem::take(request.headers_mut()));
        StreamExchange {
            destination,
            request,
            fields,
            upload,
            caller,
            callee: None,
            answer: None,
            bare: false,
            given: 0,
            told_to_continue: false,
            is_tls: false,
            reset_for: Reason::INTERNAL_ERROR,
        }
    }

    fn callee(&mut self) -> &mut Callee {
        self.callee.as_mut().expect("the request was forwarded")
    }

    /// Goes on with what is to be done whatever is waited for; ready only when
    /// the caller has gone.
    fn poll_aside(&mut self, cx: &mut Context<'_>) -> Poll<Gone> {
        if let Some(callee) = &mut self.callee
            && let Poll::Ready(Err(Gone)) = self.upload.poll_send(&mut callee.upload, cx)
        {
            return Poll::Ready(Gone);
        }
        self.caller.poll_gone(cx).map(|()| Gone)
    }

    /// The head of the request, to be sent. A copy is kept, since it may have
    /// to be sent again.
    fn head(&self) -> Request<()> {
        let mut head = self.request.clone();
        *head.headers_mut() = self.fields.map().clone();
        if head.uri().authority().is_none() {
            // A request with `host` in its place, as made from HTTP/1.1, which
            // `h2` sends on only if told so.
            *head.version_mut() = Version::HTTP_11;
        }
        head
    }

    /// A stream to the callee.
    async fn lease(&mut self, not: Option<u64>) -> Result<Lease, Failure> {
        let mut lease = pin!(self.destination.h2.lease(self.destination, not));
        poll_fn(|cx| match lease.as_mut().poll(cx) {
            Poll::Ready(lease) => Poll::Ready(lease.map_err(Failure::Callee)),
            Poll::Pending => self.caller.poll_gone(cx).map(|()| Err(Failure::Gone)),
        })
        .await
    }

    /// Sends the request, on any connection but one, and waits for the head of
    /// its answer.
    async fn call(&mut self, not: Option<u64>) -> Result<Response<()>, Unanswered> {
        self.reset_for = Reason::INTERNAL_ERROR;
        let lease = self.lease(not).await?;
        let ends = self.upload.is_empty();
        let mut head = self.head();
        if self.fields.are_changed() && lease.is_first_changed() {
            self.fields.let_into_table(head.headers_mut());
        }
        let callee = Callee::call(lease, head, ends);
        let not_http = |_| Failure::Callee(Organic::NotHttp);
        self.callee = Some(callee.map_err(not_http)?);
        match poll_fn(|cx| self.poll_head(cx)).await {
            Ok(head) => Ok(head),
            Err(Broken::Gone) => Err(Failure::Gone.into()),
            Err(Broken::Callee(error)) => Err(self.unanswered(&error)),
        }
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Response<()>, Broken>> {
        loop {
            match self.callee().poll_heading(cx) {
                Poll::Ready(Ok(Heading::Interim(interim))) => self.inform(interim),
                Poll::Ready(Ok(Heading::Final(head))) => return Poll::Ready(Ok(head)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Broken::Callee(error))),
                Poll::Pending => return self.poll_aside(cx).map(|Gone| Err(Broken::Gone)),
            }
        }
    }

    fn inform(&mut self, interim: Response<()>) {
        if !(self.told_to_continue && interim.status() == StatusCode::CONTINUE) {
            self.caller.inform(interim);
        }
    }

    fn unanswered(&mut self, error: &h2::Error) -> Unanswered {
        self.reset_for = callee::reason(error);
        let callee = self.callee();
        Unanswered {
            failure: callee::failure(error),
            unseen_on: callee.unseen(error).then(|| callee.line()),
        }
    }

    /// Takes the head of the answer, and says what is in it.
    fn begin(&mut self, answer: Response<()>) -> Head {
        self.bare = self.callee().ended();
        let headers = answer.headers();
        let length = headers.get(header::CONTENT_LENGTH);
        let kind = headers.get(header::CONTENT_TYPE);
        let is_grpc = kind.is_some_and(|kind| grpc::is_grpc(kind.as_bytes()));
        let grpc_status = headers.get(&GRPC_STATUS);
        let head = Head {
            status: answer.status().as_u16(),
            length: length
                .and_then(|length| length.to_str().ok())
                .and_then(|length| length.parse().ok()),
            grpc_status: grpc_status.map(|status| Bytes::copy_from_slice(status.as_bytes())),
            coding: coding(&answer, is_grpc),
        };
        self.answer = Some(answer);
        head
    }

    /// The next part of the answer.
    async fn part(&mut self) -> Result<Part, Broken> {
        poll_fn(|cx| match self.callee().poll_part(cx) {
            Poll::Ready(part) => Poll::Ready(part.map_err(Broken::Callee)),
            Poll::Pending => self.poll_aside(cx).map(|Gone| Err(Broken::Gone)),
        })
        .await
    }

    /// How much of the answer there is room for, once it is some.
    async fn room(&mut self, wanted: usize) -> Result<usize, Gone> {
        poll_fn(|cx| match self.caller.poll_room(wanted, cx) {
            Poll::Ready(room) => Poll::Ready(room),
            Poll::Pending => self.poll_aside(cx).map(Err),
        })
        .await
    }

    /// Waits until all that was sent is out.
    async fn see_out(&mut self) -> Result<(), Gone> {
        let outlet = self.caller.outlet();
        let mut seen_out = pin!(outlet.see_out());
        poll_fn(|cx| match seen_out.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Ok(())),
            Poll::Pending => self.poll_aside(cx).map(Err),
        })
        .await
    }

    /// Passes the answer on, head, body and end.
    async fn pass_on(&mut self, guard: &mut Option<&mut CallGuard<'_>>) -> Result<(), Broken> {
        let head = self.answer.take().expect("the request was forwarded");
        let status = head.status().as_u16();
        let in_head = match guard {
            Some(guard) if guard.wants_grpc_status() => head.headers().get(&GRPC_STATUS).cloned(),
            _ => None,
        };
        if let Some(guard) = guard
            && !self.is_bodiless(head.status())
        {
            guard.copy_body(status, coding(&head, guard.wants_grpc_status()));
        }
        if self.bare {
            report(guard, status, in_head.as_ref());
            return Ok(self.caller.start(head, true)?);
        }
        self.caller.start(head, false)?;
        if let Some(guard) = guard {
            guard.head_sent(status);
        }
        let mut first = true;
        loop {
            let part = self.part().await?;
            let (length, ends) = (part.len(), part.ends());
            // The first goes without asking, so that small bodies are cheap.
            if length > 0 && !first {
                self.room(length).await?;
            }
            first = false;
            copy(guard, &part);
            if ends {
                report(guard, status, part.grpc_status().or(in_head.as_ref()));
            }
            self.caller.send(part)?;
            if ends {
                return Ok(());
            }
            self.callee().release(length);
        }
    }

    /// Whether an answer with this status can have no body.
    fn is_bodiless(&self, status: StatusCode) -> bool {
        self.request.method() == Method::HEAD || status == StatusCode::NO_CONTENT
    }

    /// Sends the rest of a request whose answer was complete before it.
    async fn finish_upload(&mut self) {
        let Some(callee) = &mut self.callee else {
            return;
        };
        if self.upload.is_over() {
            return;
        }
        poll_fn(|cx| {
            let done = self.upload.poll_send(&mut callee.upload, cx).is_ready()
                || callee.upload.poll_reset(cx).is_ready()
                || self.caller.poll_gone(cx).is_ready();
            if done { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Sends the head of the answer, if that is still to be done.
    fn start(&mut self, ends: bool) -> Result<(), Gone> {
        match self.answer.take() {
            Some(head) => self.caller.start(head, ends),
            None => Ok(()),
        }
    }

    /// Waits for an answer that nobody will see; false if none comes.
    async fn discard(&mut self, mut second: Callee) -> bool {
        let answered = poll_fn(|cx| {
            loop {
                match second.poll_heading(cx) {
                    Poll::Ready(Ok(Heading::Interim(_))) => {}
                    Poll::Ready(Ok(Heading::Final(_))) => return Poll::Ready(true),
                    Poll::Ready(Err(_)) => return Poll::Ready(false),
                    Poll::Pending => return self.poll_aside(cx).map(|Gone| false),
                }
            }
        });
        if !answered.await {
            return false;
        }
        let drained = async {
            while let Ok(part) = poll_fn(|cx| second.poll_part(cx)).await
                && !part.ends()
            {
                second.release(part.len());
            }
        };
        let _ = tokio::time::timeout(DRAIN_TIME, drained).await;
        true
    }
}

impl Exchange for StreamExchange<'_> {
    type Headers = Fields;

    fn asked(&self) -> Asked<'_> {
        let uri = self.request.uri();
        let target = match uri.path_and_query() {
            Some(path) => path.as_str(),
            // CONNECT has nothing but an authority.
            None => uri.authority().map_or("", |authority| authority.as_str()),
        };
        Asked {
            method: self.request.method().as_str(),
            target,
        }
    }

    fn is_over_tls(&self) -> bool {
        self.is_tls
    }

    fn headers(&self) -> &Fields {
        &self.fields
    }

    fn headers_mut(&mut self) -> &mut Fields {
        &mut self.fields
    }

    async fn read_body(&mut self, reading: Reading) -> Result<Prefix, Gone> {
        if waits_for_continue(&self.fields) && !self.upload.has_ended() {
            let mut interim = Response::new(());
            *interim.status_mut() = StatusCode::CONTINUE;
            self.caller.inform(interim);
            self.told_to_continue = true;
        }
        self.upload.read(reading).await
    }

    async fn forward(&mut self) -> Result<Head, Failure> {
        let mut not = None;
        loop {
            let unanswered = match self.call(not).await {
                Ok(answer) => return Ok(self.begin(answer)),
                Err(unanswered) => unanswered,
            };
            self.callee = None;
            let again = not.is_none() && unanswered.unseen_on.is_some();
            if !again || !self.upload.rewind() {
                return Err(unanswered.failure);
            }
            not = unanswered.unseen_on;
        }
    }

    async fn forward_again(&mut self) -> bool {
        let Some(parts) = self.upload.again() else {
            return false;
        };
        let Ok(lease) = self.lease(None).await else {
            return false;
        };
        let Ok(mut second) = Callee::call(lease, self.head(), parts.is_empty()) else {
            return false;
        };
        for part in parts {
            if part.send(&mut second.upload).is_err() {
                return false;
            }
        }
        self.discard(second).await
    }

    async fn relay(&mut self, mut guard: Option<&mut CallGuard<'_>>) {
        match self.pass_on(&mut guard).await {
            Ok(()) => self.finish_upload().await,
            Err(Broken::Gone) => {
                self.callee = None;
                if let Some(guard) = guard {
                    guard.gave_up();
                }
            }
            Err(Broken::Callee(error)) => {
                if let Some(guard) = guard {
                    guard.broke(Failure::Callee(Organic::BrokenAnswer));
                }
                let _ = self.see_out().await;
                self.caller.reset(callee::reason(&error));
            }
        }
    }

    async fn next_piece(&mut self) -> Result<Piece, Failure> {
        let given = std::mem::take(&mut self.given);
        self.callee().release(given);
        match self.part().await {
            Ok(Part::Last(rest)) if rest.is_empty() => Ok(Piece::End(None)),
            Ok(Part::Data(data) | Part::Last(data)) => {
                self.given = data.len();
                Ok(Piece::Data(data))
            }
            Ok(Part::Trailers(trailers)) => Ok(Piece::End(Some(trailers))),
            Err(Broken::Gone) => Err(Failure::Gone),
            Err(Broken::Callee(_)) => Err(Failure::Callee(Organic::BrokenAnswer)),
        }
    }

    async fn start_answer(&mut self) -> Result<(), Gone> {
        match self.bare {
            // Its head is also its end, which `finish` sends.
            true => Ok(()),
            false => self.start(false),
        }
    }

    async fn send(&mut self, mut data: Bytes) -> Result<(), Gone> {
        self.start(false)?;
        while !data.is_empty() {
            let room = self.room(data.len()).await?;
            let share = data.split_to(room.min(data.len()));
            self.caller.send(Part::Data(share))?;
        }
        self.see_out().await
    }

    async fn finish(&mut self, trailers: Option<HeaderMap>) -> Result<(), Gone> {
        let bare = self.answer.is_some() && trailers.is_none();
        self.start(bare)?;
        if !bare {
            let end = trailers.map_or(Part::Last(Bytes::new()), Part::Trailers);
            self.caller.send(end)?;
        }
        self.finish_upload().await;
        Ok(())
    }

    async fn respond(&mut self, answer: Canned) -> Result<(), Gone> {
        self.callee = None;
        let bodiless = matches!(answer.status, 100..=199 | 204 | 304);
        let body = match bodiless || self.request.method() == Method::HEAD {
            true => Bytes::new(),
            false => answer.body.clone(),
        };
        self.caller.start(canned(answer), body.is_empty())?;
        if !body.is_empty() {
            self.caller.send(Part::Last(body))?;
        }
        Ok(())
    }

    async fn abort(&mut self, how: Abort) {
        self.callee = None;
        let began = self.caller.started();
        if began {
            let _ = self.see_out().await;
        }
        self.caller.reset(match how {
            Abort::Reset => self.reset_for,
            // Some callers (Node) would take this for the proper end.
            Abort::Close if began => Reason::INTERNAL_ERROR,
            Abort::Close => Reason::CANCEL,
        });
    }

    async fn gone(&mut self) {
        poll_fn(|cx| self.poll_aside(cx)).await;
    }
}

fn canned(answer: Canned) -> Response<()> {
    let mut head = Response::new(());
    *head.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let length = match answer.status {
        100..=199 | 204 => None,
        _ => (!answer.body.is_empty()).then(|| HeaderValue::from(answer.body.len())),
    };
    let headers = head.headers_mut();
    headers.extend(answer.headers);
    headers.extend(length.map(|length| (header::CONTENT_LENGTH, length)));
    head
}

fn waits_for_continue(fields: &Fields) -> bool {
    let expect = fields.first("expect");
    expect.is_some_and(|expect| expect.eq_ignore_ascii_case(b"100-continue"))
}

/// How an answer's body, or the messages in it, are compressed.
fn coding(head: &Response<()>, grpc: bool) -> Coding {
    let name = match grpc {
        true => HeaderName::from_static("grpc-encoding"),
        false => header::CONTENT_ENCODING,
    };
    let mut values = head.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => Coding::named(only.as_bytes()),
        // Two lines make a list, of which nothing is decoded.
        _ => Coding::Plain,
    }
}

/// Copies what a part has of the body, if it is to be copied.
fn copy(guard: &mut Option<&mut CallGuard<'_>>, part: &Part) {
    if let (Some(guard), Part::Data(data) | Part::Last(data)) = (guard, part)
        && let Some(copy) = guard.body_copy()
    {
        copy.push(data);
    }
}

/// Tells what came of the call, before its end is sent.
fn report(guard: &mut Option<&mut CallGuard<'_>>, status: u16, grpc_status: Option<&HeaderValue>) {
    if let Some(guard) = guard {
        let grpc_status = grpc_status.map(HeaderValue::as_bytes);
        guard.answered(status, grpc_status);
    }
}

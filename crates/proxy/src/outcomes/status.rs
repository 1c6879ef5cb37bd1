//! An HTTP status in place of the callee's answer.
//!
//! Owns what is said with it: what the user wrote for this status, else what a
//! cloud service says that the request is for (`murphy_dialect`), else a plain
//! text. Only a call that fails this way is asked which service it is for.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use murphy_dialect::Request;
use murphy_model::{Mode, Reply};

use crate::call::split_target;
use crate::call_guard::CallGuard;
use crate::destination::Destination;
use crate::exchange::{Canned, Exchange};
use crate::headers::Headers;
use crate::settings::MARKER;

/// What an injected answer says: plain text, never JSON, since a caller that
/// takes any body for its data would otherwise be told that all is well.
const BODY: &str = "Injected fault";

/// What a client is told that asks when to come back.
const RETRY_AFTER: &str = "1";

pub(super) async fn play<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    status: u16,
    mode: Mode,
) {
    let mut answer = answer(destination, exchange, guard, status);
    guard.landed();
    guard.replied(Reply::Status(status));
    answer.headers.extend(marker(destination, mode));
    let _ = exchange.respond(answer).await;
}

fn answer<E: Exchange>(
    destination: &Destination,
    exchange: &E,
    guard: &mut CallGuard<'_>,
    status: u16,
) -> Canned {
    let own = || users(destination, status);
    let mut of_cloud = || in_dialect(destination, exchange, guard, status);
    let (headers, body) = own()
        .or_else(&mut of_cloud)
        .unwrap_or_else(|| usual(status));
    Canned {
        status,
        headers,
        body,
    }
}

/// The headers and the body of an answer.
type Content = (Vec<(HeaderName, HeaderValue)>, Bytes);

fn users(destination: &Destination, status: u16) -> Option<Content> {
    let own = destination.settings.answers.get(&status)?;
    Some((own.headers.clone(), own.body.clone().into()))
}

/// What the cloud service says that this request is for. SDKs take a plain text
/// for no answer of the service, and some then do not try again.
fn in_dialect<E: Exchange>(
    destination: &Destination,
    exchange: &E,
    guard: &mut CallGuard<'_>,
    status: u16,
) -> Option<Content> {
    let (_, query) = split_target(exchange.asked().target);
    let headers = exchange.headers();
    let header = |name: &str| headers.text(name);
    let request = Request {
        query,
        header: &header,
    };
    let dialect = destination.settings.dialects.of(&request)?;
    let answer = dialect.answer(status, &request_id(guard))?;
    guard.says(answer.code);
    Some((answer.headers, answer.body.into()))
}

/// By which the call is found again whose answer an exception came from.
fn request_id(guard: &CallGuard<'_>) -> String {
    format!("murphy-{}", guard.key())
}

fn usual(status: u16) -> Content {
    (usual_headers(status), Bytes::from_static(BODY.as_bytes()))
}

fn usual_headers(status: u16) -> Vec<(HeaderName, HeaderValue)> {
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    let mut headers = vec![(header::CONTENT_TYPE, text)];
    if matches!(status, 429 | 503) {
        headers.push((header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER)));
    }
    headers
}

/// The header that tells an injected answer from a real one.
pub(super) fn marker(destination: &Destination, mode: Mode) -> Option<(HeaderName, HeaderValue)> {
    let value = HeaderValue::try_from(mode.to_string()).ok()?;
    destination
        .settings
        .marker
        .then(|| (HeaderName::from_static(MARKER), value))
}

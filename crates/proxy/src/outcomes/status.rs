//! An HTTP status in place of the callee's answer.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use murphy_model::{Mode, Reply};

use crate::call_guard::CallGuard;
use crate::destination::Destination;
use crate::exchange::{Canned, Exchange};
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
    guard.landed();
    guard.replied(Reply::Status(status));
    let _ = exchange.respond(answer(destination, status, mode)).await;
}

fn answer(destination: &Destination, status: u16, mode: Mode) -> Canned {
    let own = destination.settings.answers.get(&status);
    let (mut headers, body) = match own {
        Some(own) => (own.headers.clone(), Bytes::from(own.body.clone())),
        None => (usual_headers(status), Bytes::from_static(BODY.as_bytes())),
    };
    headers.extend(marker(destination, mode));
    Canned {
        status,
        headers,
        body,
    }
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

//! No answer, until the caller gives up: its patience is measured, not guessed.
//! Where a library at the caller's side can raise the client's own time-out,
//! it is told to at once: the caller sees the same, without the waiting.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use murphy_model::{Mode, Reply};

use super::status::marker;
use crate::call_guard::CallGuard;
use crate::destination::Destination;
use crate::exchange::{Canned, Exchange};
use crate::settings::LOST;

/// What stands where the library is told: without it, it would be a time-out
/// as well.
const STATUS: u16 = 504;

pub(super) async fn play<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    mode: Mode,
) {
    guard.landed();
    if guard.can_caller_raise() {
        guard.replied(Reply::TimedOut);
        let _ = exchange.respond(told_to_raise(destination, mode)).await;
        return;
    }
    exchange.gone().await;
    guard.gave_up();
}

fn told_to_raise(destination: &Destination, mode: Mode) -> Canned {
    let lost = (
        HeaderName::from_static(LOST),
        HeaderValue::from_static("timeout"),
    );
    Canned {
        status: STATUS,
        headers: [Some(lost), marker(destination, mode)]
            .into_iter()
            .flatten()
            .collect(),
        body: Bytes::new(),
    }
}

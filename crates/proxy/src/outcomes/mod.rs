//! Outcomes: what a failure looks like on the wire, one file each.
//!
//! Handshakes fail before there is a request: those are played in `tls`. Owns
//! which file plays which mode, and what the phases mean: before, the
//! callee is never reached; after, it has done its work and its answer is
//! thrown away.

mod close;
mod delay;
mod duplicate;
mod grpc_status;
mod hang;
mod malformed;
mod organic;
mod reset;
mod slow;
mod status;
mod truncate;

use std::time::Duration;

use http::HeaderMap;
use murphy_model::{Mode, Outcome, Phase, Protocol};

use crate::call;
use crate::call_guard::CallGuard;
use crate::destination::Destination;
use crate::exchange::{Abort, Exchange, Failure, Head, Piece};

pub(crate) use organic::organic;

/// How much of an answer that nobody will see is read, so that its callee can
/// finish its work, and for how long: some answers never end.
const DRAIN_LIMIT: usize = 16 * 1024 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Makes a call fail.
pub(crate) async fn play<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    mode: Mode,
    grpc: bool,
) {
    let protocol = if grpc { Protocol::Grpc } else { Protocol::Http };
    if !mode.fits(protocol) || mode.tls().is_some() {
        // Planned for a call that cannot fail this way, or not any more:
        // reported as a fault that took no effect.
        return call::deliver(exchange, guard, grpc).await;
    }
    if mode.phase() == Phase::Before {
        return replace(destination, exchange, guard, mode).await;
    }
    let Some(head) = call::forward(exchange, guard, grpc).await else {
        return;
    };
    if mode.phase() == Phase::After && !guard.is_still_to_fail(head.status) {
        return exchange.relay(Some(guard)).await;
    }
    if let Err(failure) = spoil(destination, exchange, guard, mode, &head, grpc).await {
        guard.broke(failure);
        exchange.abort(Abort::Reset).await;
    }
}

/// What becomes of a call that the callee has answered.
async fn spoil<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    mode: Mode,
    head: &Head,
    grpc: bool,
) -> Result<(), Failure> {
    match mode.outcome() {
        Outcome::Delay(time) => delay::play(exchange, guard, time).await,
        Outcome::Truncate(bytes) => truncate::play(exchange, guard, head, bytes).await,
        Outcome::Slow(rate) => slow::play(exchange, guard, head, rate).await,
        Outcome::Malformed => malformed::play(exchange, guard, head, grpc).await,
        Outcome::Duplicate => duplicate::play(exchange, guard).await,
        _ => {
            drain(exchange, guard, head).await?;
            replace(destination, exchange, guard, mode).await;
            Ok(())
        }
    }
}

/// What a caller gets instead of any answer of the callee's.
async fn replace<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    mode: Mode,
) {
    match mode.outcome() {
        Outcome::Status(status) => status::play(destination, exchange, guard, status, mode).await,
        Outcome::Grpc(code) => grpc_status::play(destination, exchange, guard, code, mode).await,
        Outcome::Close => close::play(exchange, guard).await,
        Outcome::Hang => hang::play(destination, exchange, guard, mode).await,
        _ => reset::play(exchange, guard).await,
    }
}

/// Reads the callee's answer to its end and throws it away, but for what is
/// reported of it.
async fn drain<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    head: &Head,
) -> Result<(), Failure> {
    let mut copy = guard.copy_of_lost(head.coding);
    let mut ended = false;
    let all = async {
        let mut read = 0;
        while read < DRAIN_LIMIT {
            match exchange.next_piece().await? {
                Piece::Data(data) => {
                    read += data.len();
                    copy.push(&data);
                }
                Piece::End(_) => {
                    ended = true;
                    break;
                }
            }
        }
        Ok(())
    };
    let drained = tokio::time::timeout(DRAIN_TIME, all).await;
    guard.lost(head.status, copy, ended);
    match drained {
        Ok(Err(Failure::Gone)) => Err(Failure::Gone),
        // An answer that breaks, or never ends, is lost to the caller anyway.
        _ => Ok(()),
    }
}

/// Ends an answer as the callee ended it, and reports it as the callee's.
async fn end<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    head: &Head,
    trailers: Option<HeaderMap>,
) -> Result<(), Failure> {
    let in_trailers = trailers.as_ref().and_then(|t| t.get("grpc-status"));
    let grpc_status = match in_trailers {
        Some(status) => Some(status.as_bytes()),
        None => head.grpc_status.as_deref(),
    };
    guard.answered(head.status, grpc_status);
    exchange.finish(trailers).await?;
    Ok(())
}

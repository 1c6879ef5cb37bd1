//! The connection is reset: RST, or `RST_STREAM` on a shared connection.

use murphy_model::Reply;

use crate::call_guard::CallGuard;
use crate::exchange::{Abort, Exchange};

pub(super) async fn play<E: Exchange>(exchange: &mut E, guard: &mut CallGuard<'_>) {
    guard.landed();
    guard.replied(Reply::Reset);
    exchange.abort(Abort::Reset).await;
}

//! The connection is closed without an answer.

use murphy_model::Reply;

use crate::call_guard::CallGuard;
use crate::exchange::{Abort, Exchange};

pub(super) async fn play<E: Exchange>(exchange: &mut E, guard: &mut CallGuard<'_>) {
    guard.landed();
    guard.replied(Reply::Closed);
    exchange.abort(Abort::Close).await;
}

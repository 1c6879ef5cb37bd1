//! The callee gets the request twice; the caller sees the first answer.

use crate::call_guard::CallGuard;
use crate::exchange::{Exchange, Failure};

pub(super) async fn play<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
) -> Result<(), Failure> {
    if exchange.forward_again().await {
        guard.landed();
    }
    exchange.relay(Some(guard)).await;
    Ok(())
}

//! The callee's answer comes, later.

use std::time::Duration;

use crate::call_guard::CallGuard;
use crate::exchange::{Exchange, Failure};

pub(super) async fn play<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    time: Duration,
) -> Result<(), Failure> {
    guard.landed();
    tokio::select! {
        () = exchange.gone() => return Err(Failure::Gone),
        () = tokio::time::sleep(time) => {}
    }
    exchange.relay(Some(guard)).await;
    Ok(())
}

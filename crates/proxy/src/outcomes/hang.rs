//! No answer, until the caller gives up: its patience is measured, not guessed.

use crate::call_guard::CallGuard;
use crate::exchange::Exchange;

pub(super) async fn play<E: Exchange>(exchange: &mut E, guard: &mut CallGuard<'_>) {
    guard.landed();
    exchange.gone().await;
    guard.gave_up();
}

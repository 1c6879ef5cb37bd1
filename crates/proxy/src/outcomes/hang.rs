//! No answer, until the caller gives up: its patience is measured, not guessed.

use crate::exchange::Exchange;
use crate::watch::Watch;

pub(super) async fn play<E: Exchange>(exchange: &mut E, watch: &mut Watch<'_>) {
    watch.landed();
    exchange.gone().await;
    watch.gave_up().await;
}

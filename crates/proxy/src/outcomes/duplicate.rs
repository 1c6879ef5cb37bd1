//! The callee gets the request twice; the caller sees the first answer.

use crate::exchange::{Exchange, Failure};
use crate::watch::Watch;

pub(super) async fn play<E: Exchange>(
    exchange: &mut E,
    watch: &mut Watch<'_>,
) -> Result<(), Failure> {
    if exchange.forward_again().await {
        watch.landed();
    }
    exchange.relay(Some(watch)).await;
    Ok(())
}

//! The callee's answer comes, later.

use std::time::Duration;

use crate::exchange::{Exchange, Failure};
use crate::watch::Watch;

pub(super) async fn play<E: Exchange>(
    exchange: &mut E,
    watch: &mut Watch<'_>,
    time: Duration,
) -> Result<(), Failure> {
    watch.landed();
    tokio::select! {
        () = exchange.gone() => return Err(Failure::Gone),
        () = tokio::time::sleep(time) => {}
    }
    exchange.relay(Some(watch)).await;
    Ok(())
}

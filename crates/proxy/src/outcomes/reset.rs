//! The connection is reset: RST, or `RST_STREAM` on a shared connection.

use murphy_model::Reply;

use crate::exchange::{Abort, Exchange};
use crate::watch::Watch;

pub(super) async fn play<E: Exchange>(exchange: &mut E, watch: &mut Watch<'_>) {
    watch.landed();
    watch.replied(Reply::Reset).await;
    exchange.abort(Abort::Reset).await;
}

//! The connection is closed without an answer.

use murphy_model::Reply;

use crate::exchange::{Abort, Exchange};
use crate::watch::Watch;

pub(super) async fn play<E: Exchange>(exchange: &mut E, watch: &mut Watch<'_>) {
    watch.landed();
    watch.replied(Reply::Closed).await;
    exchange.abort(Abort::Close).await;
}

//! The ends of a caller's connection.
//!
//! Owns the difference between a close and a reset. Linux turns a close into
//! a reset when bytes have come that nobody read, and the caller may then
//! lose an answer it was sent; so those bytes are read first.

use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::buffer::{Buffer, LARGE};
use crate::stream::Stream;

/// How long a caller gets to notice that nothing more will come.
const LINGER_TIME: Duration = Duration::from_secs(1);

/// How much it may still send.
const LINGER_LIMIT: usize = 1024 * 1024;

/// What becomes of a caller's connection after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The next request is served.
    Next,
    /// It is closed.
    Close,
    /// It is closed, and what the caller still sends is read before.
    Linger,
    /// It is reset.
    Reset,
}

/// Closes a connection. A caller inside TLS is told so: a connection that just
/// ends may have been cut by anybody.
pub(super) async fn part(mut caller: Box<dyn Stream>) {
    if caller.is_tls() {
        let _ = tokio::time::timeout(LINGER_TIME, caller.shutdown()).await;
    }
}

/// Says that nothing more will come, and reads what the caller still sends.
pub(super) async fn linger(mut caller: Box<dyn Stream>, mut inbound: Buffer) {
    if caller.shutdown().await.is_err() {
        return;
    }
    let drain = async {
        let mut read = 0;
        inbound.clear();
        while read < LINGER_LIMIT
            && let Some(count) = inbound.fill(&mut caller, LARGE).await
        {
            inbound.clear();
            read += count;
        }
    };
    let _ = tokio::time::timeout(LINGER_TIME, drain).await;
}

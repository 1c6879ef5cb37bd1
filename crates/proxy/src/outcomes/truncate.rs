//! The body breaks off after some bytes.
//!
//! An answer that is shorter than that breaks off before its last byte, or
//! before its proper end where no length was announced: the caller can always
//! tell. An empty body cannot be cut; the fault then takes no effect.

use murphy_model::Reply;

use super::end;
use crate::call_guard::CallGuard;
use crate::exchange::{Abort, Exchange, Failure, Head, Piece};

pub(super) async fn play<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    head: &Head,
    bytes: u64,
) -> Result<(), Failure> {
    let most = head
        .length
        .map_or(bytes, |length| bytes.min(length.saturating_sub(1)));
    let mut piece = exchange.next_piece().await?;
    exchange.start_answer().await?;
    if let Piece::End(trailers) = piece {
        return end(exchange, guard, head, trailers).await;
    }
    guard.landed();
    let mut left = most;
    while let Piece::Data(mut data) = piece {
        data.truncate(left.min(data.len() as u64) as usize);
        left -= data.len() as u64;
        exchange.send(data).await?;
        if left == 0 {
            break;
        }
        piece = exchange.next_piece().await?;
    }
    guard.replied(Reply::Broken);
    exchange.abort(Abort::Close).await;
    Ok(())
}

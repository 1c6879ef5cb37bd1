//! The body trickles.

use std::time::Duration;

use super::end;
use crate::call_guard::CallGuard;
use crate::exchange::{Exchange, Failure, Head, Piece};

/// How often some of the body is sent: smoothly enough for a caller that waits
/// for the next byte, rarely enough not to burn the processor.
const TICK: Duration = Duration::from_millis(50);

pub(super) async fn play<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    head: &Head,
    rate: u64,
) -> Result<(), Failure> {
    exchange.start_answer().await?;
    loop {
        match exchange.next_piece().await? {
            Piece::End(trailers) => return end(exchange, guard, head, trailers).await,
            Piece::Data(mut data) => {
                guard.landed();
                while !data.is_empty() {
                    let (share, time) = share(rate, data.len());
                    wait(exchange, time).await?;
                    exchange.send(data.split_to(share)).await?;
                }
            }
        }
    }
}

/// How much may be sent next, of what is there, and how long that takes.
fn share(rate: u64, there: usize) -> (usize, Duration) {
    let rate = rate.max(1);
    let per_tick = (rate as f64 * TICK.as_secs_f64()) as usize;
    let share = per_tick.clamp(1, there);
    (share, Duration::from_secs_f64(share as f64 / rate as f64))
}

async fn wait<E: Exchange>(exchange: &mut E, time: Duration) -> Result<(), Failure> {
    tokio::select! {
        () = exchange.gone() => Err(Failure::Gone),
        () = tokio::time::sleep(time) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_rate() {
        for rate in [1, 10, 1_000, 10_000_000] {
            let (mut left, mut time) = (10 * rate as usize, Duration::ZERO);
            while left > 0 {
                let (share, takes) = share(rate, left);
                left -= share;
                time += takes;
            }
            assert!((time.as_secs_f64() - 10.0).abs() < 0.01, "{rate}: {time:?}");
        }
    }
}

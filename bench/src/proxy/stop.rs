//! When somebody wants the bench to stop.

use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};

/// Waits for Ctrl-C, or for being told to end; the exit code that says so.
pub async fn requested() -> Result<u8> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut left = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = interrupted.recv() => 130,
        _ = terminated.recv() => 143,
        _ = left.recv() => 129,
    })
}

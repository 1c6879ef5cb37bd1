//! Two connections joined, after an upgrade or a CONNECT.
//!
//! Owns that nothing which was read before the switch is lost. What passes is
//! no HTTP any more, and nobody's business.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::buffer::Buffer;
use crate::stream::Stream;

/// What each direction of a tunnel takes: most of them are idle.
const COPIED_AT_ONCE: usize = 16 * 1024;

/// Passes bytes both ways until both sides are done, or one broke.
pub(super) async fn join(
    caller: (&mut Box<dyn Stream>, &mut Buffer),
    callee: (&mut Box<dyn Stream>, &mut Buffer),
) -> io::Result<()> {
    let mut caller = Side::new(caller);
    let mut callee = Side::new(callee);
    let size = COPIED_AT_ONCE;
    tokio::io::copy_bidirectional_with_sizes(&mut caller, &mut callee, size, size).await?;
    Ok(())
}

/// A connection of which something was read already.
struct Side<'a> {
    stream: &'a mut Box<dyn Stream>,
    read: &'a mut Buffer,
}

impl<'a> Side<'a> {
    fn new((stream, read): (&'a mut Box<dyn Stream>, &'a mut Buffer)) -> Self {
        Side { stream, read }
    }
}

impl AsyncRead for Side<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            return Pin::new(&mut *self.stream).poll_read(cx, buffer);
        }
        let count = self.read.len().min(buffer.remaining());
        buffer.put_slice(&self.read.held()[..count]);
        self.read.consume(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Side<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_shutdown(cx)
    }
}

//! The socket under a connection of `h2`.
//!
//! Owns two additions to a plain one: what was read before is read again
//! first, and what is written is told to the `outlet`.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::outlet::Outlet;
use crate::stream::Stream;

/// A socket whose progress is known.
pub(super) struct Socket {
    stream: Box<dyn Stream>,
    again: BytesMut,
    outlet: Arc<Outlet>,
}

impl Socket {
    /// A socket from which `again` is read before anything else.
    pub(super) fn new(stream: Box<dyn Stream>, again: BytesMut, outlet: Arc<Outlet>) -> Self {
        Socket {
            stream,
            again,
            outlet,
        }
    }

    fn tell(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => self.outlet.wrote(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.outlet.blocked(),
        }
        written
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.again.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buffer);
        }
        let length = this.again.len().min(buffer.remaining());
        buffer.put_slice(&this.again[..length]);
        this.again.advance(length);
        if this.again.is_empty() {
            // Connections live long; this was needed once.
            this.again = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.tell(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.tell(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

//! A stream inside TLS.
//!
//! Owns what a [`Stream`] is asked besides reading and writing, where the
//! socket at the bottom carries records and not the bytes themselves; and that
//! no record stays behind for want of a flush: the engines do not flush, since
//! a socket has nothing to be flushed.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

use crate::peer_socket;
use crate::stream::Stream;

/// Either end of a connection inside TLS.
pub(super) struct Secured(TlsStream<Box<dyn Stream>>);

impl Secured {
    pub(super) fn new(stream: impl Into<TlsStream<Box<dyn Stream>>>) -> Self {
        Secured(stream.into())
    }

    fn is_behind(&self) -> bool {
        self.0.get_ref().1.wants_write()
    }
}

impl Stream for Secured {
    fn socket(&self) -> Option<&TcpStream> {
        self.0.get_ref().0.socket()
    }

    fn is_tls(&self) -> bool {
        true
    }

    /// Services send session tickets that nobody asked for, so that bytes at
    /// the socket say nothing until TLS has taken them.
    fn is_silent(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let read = Pin::new(&mut self.0).poll_read(&mut cx, &mut ReadBuf::new(&mut [0]));
        read.is_pending() && self.socket().is_none_or(peer_socket::is_silent)
    }
}

impl AsyncRead for Secured {
    /// Whoever wrote something reads next, at this end: an answer, or the next
    /// request. What the socket had no room for goes out meanwhile.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_behind() {
            // If that fails there may be something to be read all the same.
            let _ = Pin::new(&mut self.0).poll_flush(cx);
        }
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Secured {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

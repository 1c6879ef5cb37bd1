//! A connection, of whatever is spoken below HTTP.
//!
//! Owns what the engines ask of a connection besides reading and writing: a
//! reset, and what the peer is doing. Both are matters of the socket at the
//! bottom; where there is none, a connection is simply closed, and known by
//! what it sends.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;

use crate::peer_socket;

/// A connection, of a caller or to a callee.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {
    /// The socket that carries it, if that is one of this machine.
    fn socket(&self) -> Option<&TcpStream>;

    /// Lets it end with a reset when it is dropped.
    fn reset(&self) {
        if let Some(socket) = self.socket() {
            let _ = socket.set_zero_linger();
        }
    }

    /// Whether it is inside TLS. Then the end of it is part of what is spoken,
    /// and not just the end of the connection.
    fn is_tls(&self) -> bool {
        false
    }

    /// Whether a peer that has said that it sends no more may still read an
    /// answer; false if that cannot be told.
    fn still_reads(&self) -> bool {
        self.socket().and_then(peer_socket::is_open) == Some(true)
    }

    /// Whether the peer has neither closed the connection nor sent anything
    /// unasked; one that has is of no more use.
    fn is_silent(&mut self) -> bool {
        if let Some(socket) = self.socket() {
            return peer_socket::is_silent(socket);
        }
        let mut cx = Context::from_waker(Waker::noop());
        let read = Pin::new(self).poll_read(&mut cx, &mut ReadBuf::new(&mut [0]));
        read.is_pending()
    }
}

impl Stream for TcpStream {
    fn socket(&self) -> Option<&TcpStream> {
        Some(self)
    }
}

/// In memory, for tests.
impl Stream for DuplexStream {
    fn socket(&self) -> Option<&TcpStream> {
        None
    }
}

/// A stream of which something was read already, which is read again first.
pub(crate) struct Rewound {
    read: BytesMut,
    stream: Box<dyn Stream>,
}

impl Rewound {
    pub(crate) fn new(stream: Box<dyn Stream>, read: BytesMut) -> Self {
        Rewound { read, stream }
    }
}

impl Stream for Rewound {
    fn socket(&self) -> Option<&TcpStream> {
        self.stream.socket()
    }

    fn is_tls(&self) -> bool {
        self.stream.is_tls()
    }

    fn is_silent(&mut self) -> bool {
        self.read.is_empty() && self.stream.is_silent()
    }
}

impl AsyncRead for Rewound {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let count = self.read.len().min(buffer.remaining());
        buffer.put_slice(&self.read.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Rewound {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

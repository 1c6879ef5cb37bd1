//! A connection, of whatever is spoken below HTTP.
//!
//! Owns what the engines ask of a connection besides reading and writing: a
//! reset, and what the peer is doing. Both are matters of the socket at the
//! bottom; where there is none, a connection is simply closed, and known by
//! what it sends.

use std::pin::Pin;
use std::task::{Context, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
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

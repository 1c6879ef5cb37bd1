//! A caller's connection, however it came here.
//!
//! Owns what sockets and connections within this process have in common for
//! whoever serves them.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::peer_socket;

/// The proxy's end of a caller's connection.
pub(crate) trait CallerStream: AsyncRead + AsyncWrite + Send + Sync + Unpin {
    /// Closes with a reset.
    fn reset(self: Box<Self>);

    /// Whether a caller that has said that it sends no more may still read an
    /// answer; false if that cannot be told.
    fn still_reads(&self) -> bool;

    /// The socket, if it is one.
    fn into_socket(self: Box<Self>) -> Option<TcpStream>;
}

impl CallerStream for TcpStream {
    fn reset(self: Box<Self>) {
        let _ = self.set_zero_linger();
    }

    fn still_reads(&self) -> bool {
        peer_socket::is_open(self) == Some(true)
    }

    fn into_socket(self: Box<Self>) -> Option<TcpStream> {
        Some(*self)
    }
}

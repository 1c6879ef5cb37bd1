//! A caller's connection, however it came here.
//!
//! Owns what sockets and connections within this process have in common for
//! whoever serves them.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// The proxy's end of a caller's connection.
pub(crate) trait CallerStream: AsyncRead + AsyncWrite + Send + Sync + Unpin {
    /// Closes with a reset.
    fn reset(self: Box<Self>);

    /// The socket, if it is one.
    fn into_socket(self: Box<Self>) -> Option<TcpStream>;
}

impl CallerStream for TcpStream {
    fn reset(self: Box<Self>) {
        let _ = self.set_zero_linger();
    }

    fn into_socket(self: Box<Self>) -> Option<TcpStream> {
        Some(*self)
    }
}

//! A connection, of whatever is spoken below HTTP.
//!
//! Owns what the engines ask of a connection besides reading and writing: a
//! reset, and whether the peer is still there. Both are matters of the socket
//! at the bottom; where there is none, a connection is simply closed.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::peer_socket;

/// A connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {
    /// The socket that carries it, if that is one of this machine.
    fn socket(&self) -> Option<&TcpStream>;

    /// Closes it with a reset.
    fn reset(self)
    where
        Self: Sized,
    {
        if let Some(socket) = self.socket() {
            let _ = socket.set_zero_linger();
        }
    }

    /// Whether a peer that has said that it sends no more may still read an
    /// answer; false if that cannot be told.
    fn still_reads(&self) -> bool {
        self.socket().and_then(peer_socket::is_open) == Some(true)
    }
}

impl Stream for TcpStream {
    fn socket(&self) -> Option<&TcpStream> {
        Some(self)
    }
}

/// A connection in memory.
#[cfg(test)]
impl Stream for tokio::io::DuplexStream {
    fn socket(&self) -> Option<&TcpStream> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::BytesMut;
    use murphy_registry::{Origin, Registry};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use crate::server::{Listener, context_of};
    use crate::{Settings, h1};

    #[tokio::test]
    async fn a_caller_may_be_connected_by_anything() {
        let service = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = service.local_addr().unwrap();
        let answering = async {
            let (mut stream, _) = service.accept().await.unwrap();
            let mut request = [0; 256];
            let length = stream.read(&mut request).await.unwrap();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            stream.write_all(answer).await.unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        };
        let origin = Origin::Service { caller: None };
        let listener = Listener::of("cart", address.to_string(), address, origin);
        let registry: Arc<Registry> = Arc::new(Registry::new(Default::default()));
        let context = context_of(&listener, &(registry as _), &Arc::new(Settings::default()));
        let (mut caller, ours) = tokio::io::duplex(1024);
        let asking = async {
            let request = b"GET /a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            caller.write_all(request).await.unwrap();
            let mut answer = String::new();
            caller.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let serving = h1::serve(context, ours, BytesMut::new());
        let ((), answer, request) = tokio::join!(serving, asking, answering);
        assert!(request.starts_with("GET /a HTTP/1.1\r\n"), "{request}");
        assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    }
}

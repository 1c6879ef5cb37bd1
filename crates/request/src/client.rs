//! HTTP/1.1 for our own requests: one at a time, on a connection that is kept.
//!
//! Owns the connection and the words for what is lost with it; HTTP itself is
//! hyper's business, and what is asked and what is right the scenario's. The
//! connection is driven by the request alone: who gives up closes it.

use std::error::Error as _;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use rustix::net::RecvFlags;
use tokio::net::TcpStream;

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, as they came.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// Why there is no complete answer; each reads well after "got no answer: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// Nothing listens.
    #[error("the connection was refused")]
    Refused,
    /// It cannot be reached.
    #[error("the host cannot be reached")]
    Unreachable,
    /// Closed or reset before the head of an answer came.
    #[error("the connection was closed")]
    Closed,
    /// Closed or reset half-way.
    #[error("the connection was closed in the middle of the answer")]
    Cut,
    /// Not HTTP.
    #[error("what came back is not HTTP/1.1")]
    NotHttp,
}

/// A connection to one address, made when needed and kept between requests.
pub struct Client {
    address: String,
    kept: Option<Open>,
}

/// An open connection.
struct Open {
    sender: SendRequest<Full<Bytes>>,
    connection: Pin<Box<Connection<TokioIo<TcpStream>, Full<Bytes>>>>,
    /// The socket once more, to ask the kernel about it.
    socket: OwnedFd,
}

impl Client {
    /// A client of `host:port`.
    pub fn new(address: impl Into<String>) -> Self {
        Client {
            address: address.into(),
            kept: None,
        }
    }

    /// Sends a request and reads the complete answer.
    pub async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Lost> {
        // Taken out, so that it is closed if this is cancelled or fails.
        let mut kept = self.kept.take();
        let is_ready = match &mut kept {
            Some(kept) => kept.is_ready().await,
            None => false,
        };
        let mut open = match kept.filter(|_| is_ready) {
            Some(kept) => kept,
            None => self.connect().await?,
        };
        let (answer, persists) = open.exchange(request).await?;
        self.kept = persists.then_some(open);
        Ok(answer)
    }

    async fn connect(&self) -> Result<Open, Lost> {
        let stream = TcpStream::connect(&self.address).await;
        let stream = stream.map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => Lost::Refused,
            _ => Lost::Unreachable,
        })?;
        // Requests are written whole; waiting for more only costs time.
        let _ = stream.set_nodelay(true);
        let socket = rustix::io::dup(&stream).map_err(|_| Lost::Unreachable)?;
        let made = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = made.map_err(|_| Lost::Closed)?;
        Ok(Open {
            sender,
            connection: Box::pin(connection),
            socket,
        })
    }
}

impl Open {
    /// Whether another request can be sent: the other side has neither closed
    /// it nor sent anything unasked. The kernel is asked, because the runtime
    /// may not have looked yet.
    async fn is_ready(&mut self) -> bool {
        let look = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let looked = rustix::net::recv(&self.socket, &mut [0u8; 1], look);
        let silent = looked.is_err_and(|error| error == rustix::io::Errno::WOULDBLOCK);
        silent
            && tokio::select! {
                ready = self.sender.ready() => ready.is_ok(),
                _ = &mut self.connection => false,
            }
    }

    /// The answer to a request, and whether another can follow.
    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<(Answer, bool), Lost> {
        let mut asking = pin!(ask(&mut self.sender, request));
        tokio::select! {
            biased;
            answer = &mut asking => Ok((answer?, true)),
            // What came before its end is still to be had.
            _ = &mut self.connection => Ok((asking.await?, false)),
        }
    }
}

async fn ask(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Answer, Lost> {
    let answer = sender.send_request(request).await;
    let (head, body) = answer.map_err(|it| lost(&it, Lost::Closed))?.into_parts();
    let body = body.collect().await.map_err(|it| lost(&it, Lost::Cut))?;
    let line = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.to_string(), value)
    };
    Ok(Answer {
        status: head.status.as_u16(),
        headers: head.headers.iter().map(line).collect(),
        body: body.to_bytes(),
    })
}

fn lost(error: &hyper::Error, otherwise: Lost) -> Lost {
    let cause = error.source().and_then(|it| it.downcast_ref::<io::Error>());
    let nonsense = [io::ErrorKind::InvalidInput, io::ErrorKind::InvalidData];
    match cause {
        _ if error.is_parse() => Lost::NotHttp,
        Some(cause) if nonsense.contains(&cause.kind()) => Lost::NotHttp,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Answers each connection's requests with these texts in turn, closing
    /// after each group.
    async fn serve(connections: Vec<Vec<&'static str>>) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::new(listener.local_addr().unwrap().to_string());
        tokio::spawn(async move {
            for answers in connections {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut buffer = [0; 1024];
                for answer in answers {
                    let _ = stream.read(&mut buffer).await.unwrap();
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
        client
    }

    async fn ask(client: &mut Client) -> Result<(u16, String), Lost> {
        let request = Request::get("/").header("host", "x");
        let answer = client.exchange(request.body(Full::default()).unwrap());
        let answer = answer.await?;
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        Ok((answer.status, body))
    }

    #[tokio::test]
    async fn every_framing_is_read_and_connections_are_kept() {
        let first = vec![
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 C\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nt: 1\r\n\r\n",
            "HTTP/1.1 204 No\r\n\r\n",
            "HTTP/1.1 503 Un\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        ];
        let mut client = serve(vec![first, vec!["HTTP/1.1 200 OK\r\n\r\nall of it"]]).await;
        let expected = [
            (200, "hi"),
            (201, "abc"),
            (204, ""),
            (503, ""),
            (200, "all of it"),
        ];
        for (status, body) in expected {
            assert_eq!(ask(&mut client).await, Ok((status, body.to_owned())));
        }
    }

    #[tokio::test]
    async fn broken_answers_are_distinguished() {
        let cases = [
            ("", Lost::Closed),
            ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi", Lost::Cut),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhi",
                Lost::Cut,
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
                Lost::NotHttp,
            ),
            ("HTTP/1.1 2", Lost::Closed),
            ("SSH-2.0-OpenSSH\r\n", Lost::NotHttp),
        ];
        for (text, lost) in cases {
            let mut client = serve(vec![vec![text]]).await;
            assert_eq!(ask(&mut client).await, Err(lost), "{text}");
        }
        let mut nobody = Client::new("127.0.0.1:1");
        assert_eq!(ask(&mut nobody).await, Err(Lost::Refused));
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_meanwhile_is_made_again() {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        let mut client = serve(vec![vec![answer], vec![answer]]).await;
        assert!(ask(&mut client).await.is_ok());
        // Unless that was seen with the answer already.
        while let Some(kept) = &mut client.kept
            && kept.is_ready().await
        {
            tokio::task::yield_now().await;
        }
        assert!(ask(&mut client).await.is_ok());
    }
}

//! A small HTTP/1.1 client: one request at a time on a connection that is kept.
//!
//! Written here because a declared request is sent thousands of times a
//! second and its cost is Murphy's own. Owns bytes of requests and answers;
//! what is asked and what is right is for the scenario. The connection is
//! driven by the request alone: who gives up closes it.

use std::io;

use bytes::{Buf, BytesMut};
use rustix::net::RecvFlags;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest head of an answer.
const HEAD_LIMIT: usize = 256 * 1024;

/// The most headers of an answer.
const HEADERS: usize = 128;

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Why there is no complete answer; each reads well after "got no answer: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Lost {
    /// Nothing listens.
    #[error("the connection was refused")]
    Refused,
    /// It cannot be reached.
    #[error("the host cannot be reached")]
    Unreachable,
    /// Closed or reset before anything came.
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
pub(super) struct Client {
    address: String,
    stream: Option<TcpStream>,
    read: BytesMut,
}

impl Client {
    /// A client of `host:port`.
    pub(super) fn new(address: impl Into<String>) -> Self {
        Client {
            address: address.into(),
            stream: None,
            read: BytesMut::new(),
        }
    }

    /// Sends a request, written out, and reads the complete answer; `to_head`:
    /// it is one of HEAD, whose answer has no body.
    pub(super) async fn exchange(&mut self, request: &[u8], to_head: bool) -> Result<Answer, Lost> {
        // Taken out, so that it is closed if this is cancelled or fails.
        let mut stream = match self.stream.take().filter(is_open) {
            Some(kept) => kept,
            None => self.connect().await?,
        };
        self.read.clear();
        stream.write_all(request).await.map_err(|_| Lost::Closed)?;
        let (answer, persists) = self.answer(&mut stream, to_head).await?;
        if persists && self.read.is_empty() {
            self.stream = Some(stream);
        }
        Ok(answer)
    }

    async fn connect(&self) -> Result<TcpStream, Lost> {
        let stream = TcpStream::connect(&self.address).await;
        let stream = stream.map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => Lost::Refused,
            _ => Lost::Unreachable,
        })?;
        // Requests are written whole; waiting for more only costs time.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    async fn answer(
        &mut self,
        stream: &mut TcpStream,
        to_head: bool,
    ) -> Result<(Answer, bool), Lost> {
        let mut head = self.head(stream).await?;
        while (100..200).contains(&head.status) && head.status != 101 {
            head = self.head(stream).await?;
        }
        let bodiless = to_head || matches!(head.status, 101 | 204 | 304);
        let body = match head.length() {
            _ if bodiless => Vec::new(),
            Length::Known(length) => self.exactly(stream, length).await?,
            Length::Chunked => self.chunks(stream).await?,
            Length::UntilClose => self.rest(stream).await?,
        };
        // After a switch of protocols nothing more can be asked.
        let persists = head.persists()
            && head.status != 101
            && (bodiless || head.length() != Length::UntilClose);
        let answer = Answer {
            status: head.status,
            headers: head.headers,
            body,
        };
        Ok((answer, persists))
    }

    async fn head(&mut self, stream: &mut TcpStream) -> Result<Head, Lost> {
        loop {
            if let Some((head, length)) = Head::parse(&self.read)? {
                self.read.advance(length);
                return Ok(head);
            }
            let nothing_yet = self.read.is_empty();
            if self.read.len() > HEAD_LIMIT {
                return Err(Lost::NotHttp);
            }
            self.more(stream).await.map_err(|cut| match nothing_yet {
                true => Lost::Closed,
                false => cut,
            })?;
        }
    }

    async fn exactly(&mut self, stream: &mut TcpStream, length: usize) -> Result<Vec<u8>, Lost> {
        while self.read.len() < length {
            self.more(stream).await?;
        }
        Ok(self.read.split_to(length).to_vec())
    }

    async fn rest(&mut self, stream: &mut TcpStream) -> Result<Vec<u8>, Lost> {
        loop {
            match stream.read_buf(&mut self.read).await {
                Ok(0) => return Ok(self.read.split().to_vec()),
                Ok(_) => {}
                Err(_) => return Err(Lost::Cut),
            }
        }
    }

    async fn chunks(&mut self, stream: &mut TcpStream) -> Result<Vec<u8>, Lost> {
        let mut body = Vec::new();
        loop {
            let line = self.line(stream).await?;
            let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
            let size = std::str::from_utf8(size.trim_ascii()).map_err(|_| Lost::NotHttp)?;
            let size = usize::from_str_radix(size, 16).map_err(|_| Lost::NotHttp)?;
            if size == 0 {
                // Trailers, then an empty line.
                while !self.line(stream).await?.is_empty() {}
                return Ok(body);
            }
            body.extend_from_slice(&self.exactly(stream, size).await?);
            self.exactly(stream, 2).await?;
        }
    }

    /// The next line, without its end.
    async fn line(&mut self, stream: &mut TcpStream) -> Result<Vec<u8>, Lost> {
        loop {
            if let Some(at) = self.read.iter().position(|byte| *byte == b'\n') {
                let line = self.read.split_to(at + 1);
                return Ok(line.trim_ascii_end().to_vec());
            }
            if self.read.len() > HEAD_LIMIT {
                return Err(Lost::NotHttp);
            }
            self.more(stream).await?;
        }
    }

    async fn more(&mut self, stream: &mut TcpStream) -> Result<(), Lost> {
        match stream.read_buf(&mut self.read).await {
            Ok(0) | Err(_) => Err(Lost::Cut),
            Ok(_) => Ok(()),
        }
    }
}

/// Whether the other side has neither closed it nor sent anything unasked.
/// Asked of the kernel, because the runtime may not have looked yet.
fn is_open(stream: &TcpStream) -> bool {
    let look = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    let looked = rustix::net::recv(stream, &mut [0u8; 1], look);
    looked.is_err_and(|error| error == rustix::io::Errno::WOULDBLOCK)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
    UntilClose,
}

struct Head {
    status: u16,
    minor: u8,
    headers: Vec<(String, String)>,
}

impl Head {
    /// The head at the beginning of `bytes` and its length, once it is whole.
    fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Lost> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Lost::NotHttp),
        };
        let line = |header: &httparse::Header<'_>| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        };
        let head = Head {
            status: parsed.code.unwrap_or(0),
            minor: parsed.version.unwrap_or(1),
            headers: parsed.headers.iter().map(line).collect(),
        };
        Ok(Some((head, length)))
    }

    fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let named = self.headers.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.as_str())
    }

    fn says(&self, name: &str, word: &str) -> bool {
        let words = self.all(name).flat_map(|value| value.split(','));
        words
            .into_iter()
            .any(|it| it.trim().eq_ignore_ascii_case(word))
    }

    fn length(&self) -> Length {
        if self.says("transfer-encoding", "chunked") {
            return Length::Chunked;
        }
        let length = self.all("content-length").next();
        match length.and_then(|length| length.trim().parse().ok()) {
            Some(length) => Length::Known(length),
            None => Length::UntilClose,
        }
    }

    fn persists(&self) -> bool {
        !self.says("connection", "close")
            && (self.minor >= 1 || self.says("connection", "keep-alive"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

    async fn ask(client: &mut Client) -> Result<(u16, String), Lost> {
        let answer = client.exchange(ASK, false).await?;
        Ok((answer.status, String::from_utf8(answer.body).unwrap()))
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
    async fn broken_answers_are_told_apart() {
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
            ("HTTP/1.1 2", Lost::Cut),
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
        let kept = client.stream.as_ref().unwrap();
        while is_open(kept) {
            tokio::task::yield_now().await;
        }
        assert!(ask(&mut client).await.is_ok());
    }
}

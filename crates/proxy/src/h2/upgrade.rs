//! Going on in HTTP/2 after a request of HTTP/1.1 asked for it.
//!
//! Owns the trick it takes: by the standard the request itself becomes stream
//! 1, which `h2` cannot be told. So its head is written into what is read from
//! the caller, as the frame that was never sent, and its body is handed over
//! beside the connection. Answering `101` is for `h1`.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderValue, Request, header};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::serve_with;
use crate::connect::connect;
use crate::listener_context::ListenerContext;

/// A request of HTTP/1.1 that asked to go on in HTTP/2.
pub(crate) struct Upgraded {
    pub(crate) method: String,
    /// The path with the query.
    pub(crate) target: String,
    pub(crate) host: String,
    /// Without those that are about the connection; it does no harm if some of
    /// them are among them.
    pub(crate) headers: Vec<(String, Bytes)>,
    /// All of it.
    pub(crate) body: Bytes,
}

/// What a connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The bytes before each frame.
const FRAME_HEAD: usize = 9;

/// The longest frame that may be sent before anything was agreed on.
const LONGEST: usize = 16 * 1024;

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// How long a service has to say that it speaks HTTP/2.
const PROBE_TIME: Duration = Duration::from_millis(500);

/// Goes on in HTTP/2 with a caller that has been sent `101`; `read` is what
/// was read from it after its request.
pub(crate) async fn upgrade(
    listener: Arc<ListenerContext>,
    mut caller: TcpStream,
    mut read: BytesMut,
    request: Upgraded,
) {
    let Some(opening) = opening(&mut caller, &mut read).await else {
        return;
    };
    let rest = read.split_off(opening);
    read.unsplit(stream_one(&request));
    read.unsplit(rest);
    serve_with(listener, caller, read, Some(request.body)).await;
}

/// Reads the preface and the first frame, which holds the caller's settings;
/// says how long they are.
async fn opening(caller: &mut TcpStream, read: &mut BytesMut) -> Option<usize> {
    let head = PREFACE.len() + FRAME_HEAD;
    fill(caller, read, head).await?;
    let length = frame_length(&read[PREFACE.len()..]);
    if !read.starts_with(PREFACE) || length > LONGEST {
        return None;
    }
    fill(caller, read, head + length).await?;
    Some(head + length)
}

async fn fill(caller: &mut TcpStream, read: &mut BytesMut, length: usize) -> Option<()> {
    while read.len() < length {
        match caller.read_buf(read).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
    Some(())
}

fn frame_length(head: &[u8]) -> usize {
    usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])
}

/// The head of the request as the frames that would have opened stream 1.
fn stream_one(request: &Upgraded) -> BytesMut {
    let mut block = BytesMut::new();
    literal(&mut block, b":method", request.method.as_bytes());
    literal(&mut block, b":scheme", b"http");
    if !request.host.is_empty() {
        literal(&mut block, b":authority", request.host.as_bytes());
    }
    literal(&mut block, b":path", request.target.as_bytes());
    for (name, value) in &request.headers {
        let name = name.to_ascii_lowercase();
        if !belongs_to_the_connection(&name, value) {
            literal(&mut block, name.as_bytes(), value);
        }
    }
    frames(&block)
}

/// Headers that end with the connection, or that `h2` must not see: the length
/// would contradict the missing body.
fn belongs_to_the_connection(name: &str, value: &[u8]) -> bool {
    match name {
        "connection" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade" => true,
        "content-length" | "host" | "http2-settings" => true,
        // HTTP/2 knows no other.
        "te" => value != b"trailers",
        _ => false,
    }
}

/// A header as HPACK has it when nothing is compressed (RFC 7541, 6.2.2).
fn literal(block: &mut BytesMut, name: &[u8], value: &[u8]) {
    block.put_u8(0);
    for text in [name, value] {
        length(block, text.len());
        block.put_slice(text);
    }
}

/// A length in seven bits, or in more of them (RFC 7541, 5.1).
fn length(block: &mut BytesMut, length: usize) {
    const SEVEN_BITS: usize = 0x7f;
    if length < SEVEN_BITS {
        return block.put_u8(length as u8);
    }
    block.put_u8(SEVEN_BITS as u8);
    let mut left = length - SEVEN_BITS;
    while left > SEVEN_BITS {
        block.put_u8(0x80 | (left & SEVEN_BITS) as u8);
        left >>= 7;
    }
    block.put_u8(left as u8);
}

/// A block of headers in frames, of which the first ends the stream.
fn frames(block: &[u8]) -> BytesMut {
    let mut frames = BytesMut::with_capacity(block.len() + 2 * FRAME_HEAD);
    let count = block.chunks(LONGEST).count();
    for (number, payload) in block.chunks(LONGEST).enumerate() {
        let (kind, flags) = match number {
            0 => (HEADERS, END_STREAM),
            _ => (CONTINUATION, 0),
        };
        let last = if number + 1 == count { END_HEADERS } else { 0 };
        frames.put_uint(payload.len() as u64, 3);
        frames.put_u8(kind);
        frames.put_u8(flags | last);
        frames.put_u32(1);
        frames.put_slice(payload);
    }
    frames
}

/// Says in the request how long its body is, now that `h2` has seen it.
pub(super) fn announce(request: &mut Request<()>, body: &Bytes) {
    if !body.is_empty() {
        let length = HeaderValue::from(body.len());
        request.headers_mut().insert(header::CONTENT_LENGTH, length);
    }
}

/// Whether the service speaks HTTP/2 with prior knowledge. Found out once; a
/// service that cannot be reached is asked again next time.
pub(crate) async fn upstream_speaks_it(listener: &ListenerContext) -> bool {
    if let Some(known) = listener.h2.speaks_it.get() {
        return *known;
    }
    let Ok(service) = connect(listener).await else {
        return false;
    };
    let speaks_it = tokio::time::timeout(PROBE_TIME, probe(service)).await;
    *listener
        .h2
        .speaks_it
        .get_or_init(|| speaks_it.unwrap_or(false))
}

/// Says hello in HTTP/2; only who speaks it answers with settings.
async fn probe(mut service: TcpStream) -> bool {
    let mut hello = BytesMut::from(PREFACE);
    hello.put_slice(&[0, 0, 0, SETTINGS, 0, 0, 0, 0, 0]);
    let mut head = [0; FRAME_HEAD];
    service.write_all(&hello).await.is_ok()
        && service.read_exact(&mut head).await.is_ok()
        && head[3..] == [SETTINGS, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: Vec<(String, Bytes)>) -> Upgraded {
        Upgraded {
            method: "GET".to_owned(),
            target: "/a?b=c".to_owned(),
            host: "shop.example".to_owned(),
            headers,
            body: Bytes::new(),
        }
    }

    /// What a server of `h2` makes of the frames.
    async fn understood(upgraded: &Upgraded) -> Request<h2::RecvStream> {
        let (mut caller, callee) = tokio::io::duplex(1024 * 1024);
        let mut opening = BytesMut::from(PREFACE);
        opening.put_slice(&[0, 0, 0, SETTINGS, 0, 0, 0, 0, 0]);
        opening.put_slice(&stream_one(upgraded));
        caller.write_all(&opening).await.unwrap();
        let mut connection = h2::server::handshake(callee).await.unwrap();
        let (request, respond) = connection.accept().await.unwrap().unwrap();
        assert_eq!(respond.stream_id().as_u32(), 1);
        assert!(request.body().is_end_stream());
        request
    }

    #[tokio::test]
    async fn the_head_is_understood() {
        let line = |name: &str, value: &'static str| (name.to_owned(), Bytes::from(value));
        let request = understood(&request(vec![
            line("X-Upper", "Kept"),
            line("Connection", "Upgrade, HTTP2-Settings"),
            line("content-length", "3"),
            line("te", "trailers"),
            line("TE", "gzip"),
            line("x-empty", ""),
        ]))
        .await;
        assert_eq!(request.method(), "GET");
        assert_eq!(request.uri(), "http://shop.example/a?b=c");
        let lines: Vec<_> = request.headers().iter().collect();
        let lines: Vec<_> = lines
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_bytes()))
            .collect();
        let kept: [(&str, &[u8]); 3] =
            [("x-upper", b"Kept"), ("te", b"trailers"), ("x-empty", b"")];
        assert_eq!(lines, kept);
    }

    #[tokio::test]
    async fn values_of_any_length_are_understood() {
        for length in [
            0, 1, 126, 127, 128, 254, 255, 16_000, 16_384, 40_000, 60_000,
        ] {
            let value = Bytes::from("v".repeat(length));
            let request = understood(&request(vec![("x".to_owned(), value.clone())])).await;
            assert_eq!(request.headers()["x"].as_bytes(), value, "{length}");
        }
    }
}

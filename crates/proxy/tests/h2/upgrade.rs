//! The upgrade from HTTP/1.1: the request that asks for it is answered on
//! stream 1, and the connection goes on from there.

use std::net::SocketAddr;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Front, Served, callee, pass_through, soon};

const OPENING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A frame that came.
#[derive(Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Bytes,
}

/// A caller that sees frames.
struct Wire {
    stream: TcpStream,
    read: bytes::BytesMut,
}

impl Wire {
    async fn connect(address: SocketAddr) -> Wire {
        let stream = TcpStream::connect(address).await.unwrap();
        let read = bytes::BytesMut::new();
        Wire { stream, read }
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    async fn fill(&mut self, length: usize) {
        while self.read.len() < length {
            let read = soon(self.stream.read_buf(&mut self.read)).await.unwrap();
            assert_ne!(read, 0, "closed after {:?}", self.read);
        }
    }

    /// Reads a head of HTTP/1.1.
    async fn head(&mut self) -> String {
        let mut length = 1;
        while !self.read.ends_with(b"\r\n\r\n") {
            self.fill(length).await;
            if let Some(at) = self.read.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = self.read.split_to(at + 4);
                return String::from_utf8(head.to_vec()).unwrap();
            }
            length = self.read.len() + 1;
        }
        String::from_utf8(self.read.split().to_vec()).unwrap()
    }

    async fn frame(&mut self) -> Frame {
        self.fill(9).await;
        let length = self.read.get_uint(3) as usize;
        let (kind, flags) = (self.read.get_u8(), self.read.get_u8());
        let stream = self.read.get_u32();
        self.fill(length).await;
        Frame {
            kind,
            flags,
            stream,
            payload: self.read.split_to(length).freeze(),
        }
    }

    /// The body of a stream, after a head that says 200.
    async fn answer(&mut self, stream: u32) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let frame = self.frame().await;
            match (frame.kind, frame.stream == stream) {
                // The last of the table's sizes, then `:status: 200`.
                (1, true) => assert!(frame.payload.contains(&0x88), "{frame:?}"),
                (0, true) => body.extend_from_slice(&frame.payload),
                (3 | 7, _) => panic!("{frame:?}"),
                _ => {}
            }
            if frame.stream == stream && frame.kind <= 1 && frame.flags & 1 == 1 {
                return body;
            }
        }
    }
}

/// A callee that answers with what it was asked.
async fn telling() -> Front {
    let callee = callee(|mut served: Served| async move {
        let body = crate::support::read(&mut served.body).await.unwrap();
        let head = &served.head;
        let mut names: Vec<_> = head.headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        let text = format!("{} {} {:?} {}", head.method, head.uri, names, body.len());
        served.start(false).send_data(text.into(), true).unwrap();
    })
    .await;
    pass_through(callee)
}

async fn upgraded(wire: &mut Wire, request: &str, body: &[u8]) {
    let head = format!(
        "{request}\r\nHost: shop.example\r\nX-Kept: 1\r\nConnection: Upgrade, HTTP2-Settings\r\n\
         Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n"
    );
    wire.write(&[head.as_bytes(), body].concat()).await;
    let answer = wire.head().await;
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    wire.write(OPENING).await;
}

#[tokio::test]
async fn the_request_becomes_stream_one_and_others_follow() {
    let front = telling().await;
    let mut wire = Wire::connect(front.address).await;
    upgraded(&mut wire, "GET /a?b=c HTTP/1.1", b"").await;
    let answer = String::from_utf8(wire.answer(1).await).unwrap();
    assert_eq!(answer, r#"GET http://shop.example/a?b=c ["x-kept"] 0"#);
    // Stream 3: `:method: GET`, `:scheme: http`, `:path: /`, an authority.
    wire.write(b"\0\0\x07\x01\x05\0\0\0\x03\x82\x86\x84\x01\x02ab")
        .await;
    let answer = String::from_utf8(wire.answer(3).await).unwrap();
    assert_eq!(answer, "GET http://ab/ [] 0");
}

#[tokio::test]
async fn with_a_body_longer_than_a_window() {
    const LENGTH: usize = 200_000;
    let front = telling().await;
    let mut wire = Wire::connect(front.address).await;
    let request = format!("POST /up HTTP/1.1\r\nContent-Length: {LENGTH}");
    upgraded(&mut wire, &request, &vec![b'x'; LENGTH]).await;
    let answer = String::from_utf8(wire.answer(1).await).unwrap();
    let told = r#"POST http://shop.example/up ["content-length", "x-kept"] 200000"#;
    assert_eq!(answer, told);
}

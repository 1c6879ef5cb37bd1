//! A client that shows answers as they are on the wire.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What each hop may make anew, and the one header that tells the time.
const OF_ONE_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-authenticate",
    "date",
];

pub fn is_of_one_hop(name: &str) -> bool {
    OF_ONE_HOP.contains(&name.to_ascii_lowercase().as_str())
}

/// One connection, used again and again.
pub struct RawClient(TcpStream);

impl RawClient {
    pub async fn connect(to: String) -> Self {
        RawClient(TcpStream::connect(to).await.unwrap())
    }

    /// Sends a request and hashes the answer: the status line, the headers in
    /// their order and spelling but for those of one hop, and the body.
    pub async fn hash(&mut self, request: &[u8]) -> blake3::Hash {
        self.0.write_all(request).await.unwrap();
        let (head, body) = self.answer(request.starts_with(b"HEAD ")).await;
        let mut hasher = blake3::Hasher::new();
        for line in head.lines() {
            let name = line.split(':').next().unwrap_or_default();
            if !is_of_one_hop(name) {
                hasher.update(line.as_bytes()).update(b"\n");
            }
        }
        hasher.update(&body).finalize()
    }

    async fn answer(&mut self, to_head: bool) -> (String, Vec<u8>) {
        let mut bytes = Vec::new();
        let end = loop {
            match bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.read_more(&mut bytes).await,
            }
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut body = bytes[end..].to_vec();
        let length = if to_head { 0 } else { content_length(&head) };
        while body.len() < length {
            self.read_more(&mut body).await;
        }
        assert_eq!(body.len(), length, "more than one answer to {head}");
        (head, body)
    }

    async fn read_more(&mut self, bytes: &mut Vec<u8>) {
        let read = self.0.read_buf(bytes).await.unwrap();
        assert_ne!(read, 0, "closed in the middle of an answer");
    }
}

fn content_length(head: &str) -> usize {
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let named = name.eq_ignore_ascii_case("content-length");
        named.then(|| value.trim().parse().unwrap())
    });
    length.unwrap_or_default()
}

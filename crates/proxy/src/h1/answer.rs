//! The head of a callee's answer.
//!
//! Owns what must be known of it to pass it on: where it ends, where its body
//! ends, and whether the connection can be used again. It is never changed,
//! so nothing else is kept.

use std::mem::MaybeUninit;

use bytes::Bytes;
use httparse::{Header, ParserConfig, Status};

use super::framing::{BadFraming, Fields, Framing, is_bodiless};
use super::head::LINES_LIMIT;
use crate::coding::Coding;

/// What came is no answer of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotHttp;

impl From<httparse::Error> for NotHttp {
    fn from(_: httparse::Error) -> Self {
        NotHttp
    }
}

impl From<BadFraming> for NotHttp {
    fn from(BadFraming: BadFraming) -> Self {
        NotHttp
    }
}

/// What is known of an answer from its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnswerHead {
    /// How long the head is.
    pub(super) len: usize,
    pub(super) status: u16,
    /// How the body is delimited.
    pub(super) framing: Framing,
    /// Whether the callee wants to go on after this answer.
    pub(super) persists: bool,
    /// Whether what follows is no HTTP any more.
    pub(super) switches: bool,
    /// The gRPC status, if it stands here.
    pub(super) grpc_status: Option<Bytes>,
    /// How the body is compressed.
    pub(super) content_coding: Coding,
    /// How gRPC messages in it are compressed that say that they are.
    pub(super) grpc_coding: Coding,
}

/// What the header lines of an answer say.
#[derive(Default)]
struct Lines {
    fields: Fields,
    grpc_status: Option<Bytes>,
    content_coding: Option<Coding>,
    grpc_coding: Coding,
}

impl Lines {
    /// Two lines make a list, of which nothing is decoded.
    fn content_coding(&mut self, value: &[u8]) {
        self.content_coding = Some(match self.content_coding {
            None => Coding::named(value),
            Some(_) => Coding::Plain,
        });
    }
}

impl AnswerHead {
    /// Reads the head at the front of `bytes`, an answer to `method`. `None`
    /// if more of it is to come.
    pub(super) fn read(bytes: &[u8], method: &str) -> Result<Option<AnswerHead>, NotHttp> {
        let mut headers = [const { MaybeUninit::uninit() }; LINES_LIMIT];
        let mut response = httparse::Response::new(&mut []);
        let parsed =
            parser().parse_response_with_uninit_headers(&mut response, bytes, &mut headers)?;
        let (Status::Complete(len), Some(status)) = (parsed, response.code) else {
            return Ok(None);
        };
        if status < 100 {
            return Err(NotHttp);
        }
        let lines = understand(response.headers);
        let switches = status == 101 || (method == "CONNECT" && (200..300).contains(&status));
        let framing = match switches || is_bodiless(status, method == "HEAD") {
            true => Framing::None,
            false => lines.fields.of_answer()?,
        };
        Ok(Some(AnswerHead {
            len,
            status,
            framing,
            persists: lines.fields.persists(response.version.unwrap_or(1)),
            switches,
            grpc_status: lines.grpc_status,
            content_coding: lines.content_coding.unwrap_or_default(),
            grpc_coding: lines.grpc_coding,
        }))
    }

    /// Whether another answer follows: 1xx, but for a switch of protocols.
    pub(super) fn is_interim(&self) -> bool {
        self.status < 200 && !self.switches
    }
}

/// As lenient as clients are: it is their business to complain, not ours.
fn parser() -> ParserConfig {
    let mut parser = ParserConfig::default();
    parser
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    parser
}

fn understand(headers: &[Header<'_>]) -> Lines {
    let mut lines = Lines::default();
    for header in headers {
        let named = |name: &str| header.name.eq_ignore_ascii_case(name);
        // Most lines are distinguished by their length.
        match header.name.len() {
            10 if named("connection") => lines.fields.connection(header.value),
            11 if named("grpc-status") => {
                lines.grpc_status = Some(Bytes::copy_from_slice(header.value));
            }
            13 if named("grpc-encoding") => lines.grpc_coding = Coding::named(header.value),
            14 if named("content-length") => lines.fields.content_length(header.value),
            16 if named("content-encoding") => lines.content_coding(header.value),
            17 if named("transfer-encoding") => lines.fields.transfer_encoding(header.value),
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(text: &str, method: &str) -> Framing {
        let read = AnswerHead::read(text.as_bytes(), method);
        read.unwrap().expect(text).framing
    }

    #[test]
    fn bodies_depend_on_method_and_status() {
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(framing(ok, "GET"), Framing::Length(5));
        assert_eq!(framing(ok, "HEAD"), Framing::None);
        assert_eq!(framing(ok, "CONNECT"), Framing::None);
        for status in [100, 101, 204, 304] {
            let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\n");
            assert_eq!(framing(&text, "GET"), Framing::None, "{status}");
        }
        assert_eq!(framing("HTTP/1.1 200\r\n\r\n", "GET"), Framing::UntilClose);
    }

    #[test]
    fn odd_answers_are_answers() {
        let odd = [
            "HTTP/1.1  200  OK\r\n\r\n",
            "HTTP/1.0 200\n\n",
            "HTTP/1.1 999 é\r\nA : b\r\n c\r\n\r\n",
        ];
        for text in odd {
            let read = AnswerHead::read(text.as_bytes(), "GET").unwrap();
            assert_eq!(read.expect(text).len, text.len());
        }
    }

    #[test]
    fn other_things_are_not() {
        let others: [&[u8]; 5] = [
            b"hello",
            b"HTTP/2 200\r\n\r\n",
            b"HTTP/1.1 20 OK\r\n\r\n",
            b"HTTP/1.1 099 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        ];
        for bytes in others {
            assert_eq!(AnswerHead::read(bytes, "GET"), Err(NotHttp), "{bytes:?}");
        }
    }
}

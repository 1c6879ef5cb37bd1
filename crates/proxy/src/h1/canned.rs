//! Answers that the proxy itself gives.
//!
//! Owns their form on the wire. What they say comes from elsewhere, but for
//! refusals of what is no request.

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};

use super::framing::is_bodiless;
use super::head::BadHead;
use crate::exchange::Canned;

/// What a caller gets that is to go on with its body.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Writes an answer out; `close`: the caller is told that nothing follows.
pub(super) fn render(answer: &Canned, to_head: bool, close: bool, into: &mut Vec<u8>) {
    let status = answer.status;
    let known = StatusCode::from_u16(status).ok();
    let reason = known.and_then(|known| known.canonical_reason());
    let reason = reason.unwrap_or_default();
    into.extend_from_slice(format!("HTTP/1.1 {status} {reason}\r\n").as_bytes());
    for (name, value) in &answer.headers {
        if *name != header::CONTENT_LENGTH && *name != header::TRANSFER_ENCODING {
            line(name.as_str(), value.as_bytes(), into);
        }
    }
    if !is_bodiless(status, false) {
        line(
            "content-length",
            answer.body.len().to_string().as_bytes(),
            into,
        );
    }
    if close {
        line("connection", b"close", into);
    }
    into.extend_from_slice(b"\r\n");
    if !is_bodiless(status, to_head) {
        into.extend_from_slice(&answer.body);
    }
}

/// Writes one header line, or trailer, out.
pub(super) fn line(name: &str, value: &[u8], into: &mut Vec<u8>) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        into.extend_from_slice(part);
    }
}

/// What a caller gets whose request is not served.
pub(super) fn refusal(bad: BadHead) -> Vec<u8> {
    let (status, text) = match bad {
        BadHead::TooLong => (431, "the head of the request is too long"),
        BadHead::Malformed => (400, "the request is malformed"),
        BadHead::UnknownHost => (421, "no service with this host is known here"),
    };
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    let answer = Canned {
        status,
        headers: vec![(header::CONTENT_TYPE, plain)],
        body: Bytes::from_static(text.as_bytes()),
    };
    let mut bytes = Vec::new();
    render(&answer, false, true, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(status: u16, to_head: bool, close: bool) -> String {
        let answer = Canned {
            status,
            headers: vec![(header::RETRY_AFTER, HeaderValue::from_static("1"))],
            body: Bytes::from_static(b"body"),
        };
        let mut bytes = Vec::new();
        render(&answer, to_head, close, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn answers_are_complete() {
        assert_eq!(
            text(503, false, false),
            "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 4\r\n\r\nbody"
        );
        assert_eq!(
            text(299, true, true),
            "HTTP/1.1 299 \r\nretry-after: 1\r\ncontent-length: 4\r\nconnection: close\r\n\r\n"
        );
        for status in [102, 204, 304] {
            assert!(text(status, false, false).ends_with("retry-after: 1\r\n\r\n"));
        }
    }
}

//! A body on its way: how much of it is still to come.
//!
//! Owns the counting for every framing, so that the rest of the engine asks
//! one question: how many of these bytes belong to the body?

use bytes::BytesMut;

use super::chunked::{Chunks, Malformed, Sink, Unseen};
use super::framing::Framing;

/// What is still to come of a body.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// This many bytes; with 0 it is over.
    Length(u64),
    /// Chunks.
    Chunked(Chunks),
    /// Whatever comes until the connection ends.
    UntilClose,
}

/// Content without framing.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    /// The content.
    pub(super) data: BytesMut,
    /// The lines of the trailer section.
    pub(super) trailers: Vec<u8>,
}

impl Sink for Decoded {
    fn data(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    fn trailer(&mut self, byte: u8) {
        self.trailers.push(byte);
    }
}

impl Body {
    /// A body of which nothing has come.
    pub(super) fn new(framing: Framing) -> Self {
        match framing {
            Framing::None => Body::Length(0),
            Framing::Length(length) => Body::Length(length),
            Framing::Chunked => Body::Chunked(Chunks::new()),
            Framing::UntilClose => Body::UntilClose,
        }
    }

    /// Whether nothing more comes.
    pub(super) fn ended(&self) -> bool {
        match self {
            Body::Length(left) => *left == 0,
            Body::Chunked(chunks) => chunks.ended(),
            Body::UntilClose => false,
        }
    }

    /// The connection ended: whether that is where the body ends, too.
    pub(super) fn ends_here(&mut self) -> bool {
        if matches!(self, Body::UntilClose) {
            *self = Body::Length(0);
        }
        self.ended()
    }

    /// Goes on with `bytes`; how many of them belong to the body.
    pub(super) fn scan(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        self.feed(bytes, &mut Unseen)
    }

    /// The same, with the content for `sink` to see.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<usize, Malformed> {
        let count = match self {
            Body::Chunked(chunks) => return chunks.feed(bytes, sink),
            Body::Length(left) => {
                let count =
                    usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= count as u64;
                count
            }
            Body::UntilClose => bytes.len(),
        };
        sink.data(&bytes[..count]);
        Ok(count)
    }

    /// Whether more than `count` bytes are certain to come.
    pub(super) fn is_longer_than(&self, count: usize) -> bool {
        matches!(self, Body::Length(left) if *left > count as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_counted_down() {
        let mut body = Body::new(Framing::Length(5));
        let mut decoded = Decoded::default();
        assert_eq!(body.feed(b"abc", &mut decoded), Ok(3));
        assert!(!body.ended());
        assert_eq!(body.feed(b"defg", &mut decoded), Ok(2));
        assert!(body.ended());
        assert_eq!(&decoded.data[..], b"abcde");
    }

    #[test]
    fn only_some_bodies_may_end_with_their_connection() {
        let cases = [
            (Framing::None, true),
            (Framing::UntilClose, true),
            (Framing::Length(1), false),
            (Framing::Chunked, false),
        ];
        for (framing, ends) in cases {
            assert_eq!(Body::new(framing).ends_here(), ends, "{framing:?}");
        }
    }
}

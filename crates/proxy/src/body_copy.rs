//! A copy of the beginning of an answer's body, made while it passes.
//!
//! Owns how much is copied and what of it is reported: nothing waits for it,
//! and a body of any length costs no more memory than the limit. Which answers
//! are copied is for the protocol engines to say, and what is made of them for
//! the control plane.

use bytes::Bytes;
use murphy_registry::AnswerBody;

use crate::coding::Coding;
use crate::grpc;

/// How much of a body is copied, and how much of it is reported once decoded.
/// Answers that differ at all mostly differ within their first kilobytes.
pub(crate) const LIMIT: usize = 64 * 1024;

/// The bit of a gRPC message's prefix that says that it is compressed.
const COMPRESSED: u8 = 1;

/// What was copied of a body so far.
#[derive(Debug)]
pub(crate) struct BodyCopy {
    bytes: Vec<u8>,
    /// How many bytes have passed.
    passed: u64,
    coding: Coding,
    grpc: bool,
}

impl BodyCopy {
    /// Of a body of which nothing has passed; `grpc`: it consists of gRPC
    /// messages.
    pub(crate) fn new(coding: Coding, grpc: bool) -> Self {
        BodyCopy {
            bytes: Vec::new(),
            passed: 0,
            coding,
            grpc,
        }
    }

    /// These bytes pass.
    pub(crate) fn push(&mut self, data: &[u8]) {
        self.passed += data.len() as u64;
        let limit = LIMIT + if self.grpc { grpc::PREFIX } else { 0 };
        let room = limit - self.bytes.len();
        self.bytes.extend_from_slice(&data[..data.len().min(room)]);
    }

    /// Whether a whole gRPC message has passed.
    pub(crate) fn has_message(&self) -> bool {
        let length = grpc::first_message(&self.bytes);
        length.is_some_and(|length| self.passed >= length as u64)
    }

    /// What is reported; `ended`: nothing comes after what has passed.
    pub(crate) fn finish(self, ended: bool) -> AnswerBody {
        match self.grpc {
            true => self.first_message(ended),
            false => self.whole_body(ended),
        }
    }

    fn whole_body(self, ended: bool) -> AnswerBody {
        let whole = ended && self.passed == self.bytes.len() as u64;
        report(self.coding, self.bytes, 0, whole)
    }

    /// The first message without its prefix; others only count as more.
    fn first_message(mut self, ended: bool) -> AnswerBody {
        let Some(length) = grpc::first_message(&self.bytes) else {
            let cut = !ended || !self.bytes.is_empty();
            return AnswerBody {
                bytes: self.bytes.into(),
                cut,
            };
        };
        let coding = match self.bytes[0] & COMPRESSED {
            0 => Coding::Plain,
            _ => self.coding,
        };
        let whole = self.bytes.len() >= length;
        self.bytes.truncate(length);
        let mut message = report(coding, self.bytes, grpc::PREFIX, whole);
        message.cut |= !ended || self.passed > length as u64;
        message
    }
}

/// What is in `bytes` after the first `skipped`: decoded, or as it came.
fn report(coding: Coding, bytes: Vec<u8>, skipped: usize, whole: bool) -> AnswerBody {
    match coding.decode(&bytes[skipped..], whole, LIMIT) {
        Some(decoded) => AnswerBody {
            bytes: decoded.bytes.into(),
            cut: decoded.cut,
        },
        None => AnswerBody {
            bytes: Bytes::from(bytes).slice(skipped..),
            cut: !whole,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(pieces: &[&[u8]], grpc: bool, ended: bool) -> (Vec<u8>, bool) {
        let mut copy = BodyCopy::new(Coding::Plain, grpc);
        pieces.iter().for_each(|piece| copy.push(piece));
        let body = copy.finish(ended);
        (body.bytes.to_vec(), body.cut)
    }

    #[test]
    fn a_body_is_cut_if_more_came_or_may_come() {
        assert_eq!(copied(&[], false, true), (vec![], false));
        assert_eq!(copied(&[b"a", b"b"], false, true), (b"ab".to_vec(), false));
        assert_eq!(copied(&[b"a"], false, false), (b"a".to_vec(), true));
        let full = [b'x'; LIMIT];
        assert_eq!(copied(&[&full], false, true), (full.to_vec(), false));
        assert_eq!(copied(&[&full, b"x"], false, true), (full.to_vec(), true));
    }

    #[test]
    fn of_messages_the_first_is_reported() {
        let two = [0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 1, 8];
        assert_eq!(
            copied(&[&two[..3], &two[3..6]], true, true),
            (vec![7], false)
        );
        assert_eq!(copied(&[&two], true, true), (vec![7], true));
        assert_eq!(copied(&[&two[..5]], true, true), (vec![], true));
        assert_eq!(copied(&[&two[..2]], true, true), (vec![0, 0], true));
        assert_eq!(copied(&[], true, true), (vec![], false));
    }

    #[test]
    fn a_message_as_long_as_the_limit_is_whole() {
        let length = u32::try_from(LIMIT).unwrap().to_be_bytes();
        let message = [&[0], &length[..], &[7; LIMIT]].concat();
        assert_eq!(copied(&[&message], true, true), (vec![7; LIMIT], false));
    }
}

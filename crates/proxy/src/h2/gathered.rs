//! Bytes that come in pieces and are wanted in one.
//!
//! Owns not copying them where there is only one piece, as there mostly is.

use bytes::{Bytes, BytesMut};

/// Pieces put together.
#[derive(Clone, Debug)]
pub(super) enum Gathered {
    One(Bytes),
    Many(BytesMut),
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered::One(Bytes::new())
    }
}

impl Gathered {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Gathered::One(piece) => piece,
            Gathered::Many(pieces) => pieces,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes().len()
    }

    pub(super) fn push(&mut self, piece: Bytes) {
        match self {
            Gathered::Many(pieces) => pieces.extend_from_slice(&piece),
            Gathered::One(first) if first.is_empty() => *first = piece,
            Gathered::One(_) if piece.is_empty() => {}
            Gathered::One(first) => {
                let mut pieces = BytesMut::with_capacity(2 * (first.len() + piece.len()));
                pieces.extend_from_slice(first);
                pieces.extend_from_slice(&piece);
                *self = Gathered::Many(pieces);
            }
        }
    }

    /// All of it.
    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Gathered::One(all) => all,
            Gathered::Many(pieces) => pieces.freeze(),
        }
    }

    /// All of it, to be shared from now on.
    pub(super) fn share(&mut self) -> Bytes {
        if let Gathered::Many(pieces) = self {
            *self = Gathered::One(std::mem::take(pieces).freeze());
        }
        match self {
            Gathered::One(all) => all.clone(),
            Gathered::Many(_) => unreachable!("made one above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_in_order() {
        let mut gathered = Gathered::default();
        for piece in ["", "a", "", "bc", "d"] {
            gathered.push(Bytes::from(piece));
        }
        assert_eq!(gathered.bytes(), b"abcd");
        assert_eq!(gathered.share(), "abcd");
        gathered.push(Bytes::from("e"));
        assert_eq!(gathered.share(), "abcde");
    }

    #[test]
    fn one_piece_is_not_copied() {
        let piece = Bytes::from(vec![1; 100]);
        let mut gathered = Gathered::default();
        gathered.push(piece.clone());
        assert_eq!(gathered.share().as_ptr(), piece.as_ptr());
    }
}

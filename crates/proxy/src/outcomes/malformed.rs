//! The body is not what its content type says.
//!
//! Every byte is replaced, none added or taken away, so that lengths hold and
//! a caller finds out when it reads the body. gRPC messages keep their prefix,
//! and what follows is no message of any type. An empty body cannot be
//! spoiled; the fault then takes no effect.

use bytes::{Bytes, BytesMut};

use super::end;
use crate::call_guard::CallGuard;
use crate::exchange::{Exchange, Failure, Head, Piece};
use crate::grpc::PREFIX;

/// What plain bodies are filled with: no JSON, no XML, no number.
const FILLER: &[u8] = b"Injected fault ";

/// What messages are filled with: the tag of a field that cannot be.
const NO_FIELD: u8 = 0xff;

pub(super) async fn play<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    head: &Head,
    grpc: bool,
) -> Result<(), Failure> {
    let mut spoiler = Spoiler::new(grpc);
    exchange.start_answer().await?;
    loop {
        match exchange.next_piece().await? {
            Piece::End(trailers) => return end(exchange, guard, head, trailers).await,
            Piece::Data(data) => {
                let spoiled = spoiler.spoil(data);
                if spoiler.spoiled {
                    guard.landed();
                }
                exchange.send(spoiled).await?;
            }
        }
    }
}

/// Replaces bytes, piece after piece of one body.
struct Spoiler {
    grpc: bool,
    /// How many bytes have passed.
    at: usize,
    /// The prefix of the message being passed, as far as it has been.
    prefix: Vec<u8>,
    /// How many bytes of the message are still to come.
    left: usize,
    /// Whether any byte was replaced.
    spoiled: bool,
}

impl Spoiler {
    fn new(grpc: bool) -> Self {
        Spoiler {
            grpc,
            at: 0,
            prefix: Vec::with_capacity(PREFIX),
            left: 0,
            spoiled: false,
        }
    }

    fn spoil(&mut self, data: Bytes) -> Bytes {
        let mut data = BytesMut::from(data);
        for byte in data.iter_mut() {
            *byte = self.replacement(*byte);
            self.at += 1;
        }
        data.freeze()
    }

    fn replacement(&mut self, byte: u8) -> u8 {
        if self.grpc && self.left == 0 {
            self.read_prefix(byte);
            return byte;
        }
        self.spoiled = true;
        if self.grpc {
            self.left -= 1;
            return NO_FIELD;
        }
        FILLER[self.at % FILLER.len()]
    }

    fn read_prefix(&mut self, byte: u8) {
        self.prefix.push(byte);
        if let [_, a, b, c, d] = self.prefix[..] {
            self.left = u32::from_be_bytes([a, b, c, d]) as usize;
            self.prefix.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_prefixes_however_they_are_cut() {
        let body = [0, 0, 0, 0, 2, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9];
        let spoiled = [0, 0, 0, 0, 2, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 255];
        for cut in 1..body.len() {
            let mut spoiler = Spoiler::new(true);
            let pieces = body.chunks(cut).map(Bytes::copy_from_slice);
            let all: Vec<u8> = pieces.flat_map(|piece| spoiler.spoil(piece)).collect();
            assert_eq!(all, spoiled, "in pieces of {cut}");
        }
    }

    #[test]
    fn an_empty_message_cannot_be_spoiled() {
        let mut spoiler = Spoiler::new(true);
        spoiler.spoil(Bytes::from_static(&[0, 0, 0, 0, 0]));
        assert!(!spoiler.spoiled);
    }
}

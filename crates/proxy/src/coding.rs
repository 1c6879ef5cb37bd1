//! How a body is compressed.
//!
//! Owns decoding what was copied of a body, with a bound on what comes out of
//! it, so that a few bytes that decode to gigabytes cost no more than others.

use std::io::{ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

/// How a body is compressed, as its head says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Not at all, or in a way that is not decoded here.
    #[default]
    Plain,
    Gzip,
    Deflate,
}

/// What came out of a compressed body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more than this.
    pub(crate) cut: bool,
}

impl Coding {
    /// The coding that a `content-encoding` or `grpc-encoding` names. A list
    /// of several counts as one that is not known here.
    pub(crate) fn named(value: &[u8]) -> Coding {
        let is = |name: &str| value.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if is("gzip") || is("x-gzip") => Coding::Gzip,
            () if is("deflate") => Coding::Deflate,
            () => Coding::Plain,
        }
    }

    /// Decodes at most `limit` bytes; `whole`: the body did not go on after
    /// these. `None` if there is nothing to decode, or it cannot be decoded.
    pub(crate) fn decode(self, body: &[u8], whole: bool, limit: usize) -> Option<Decoded> {
        match self {
            Coding::Plain => None,
            Coding::Gzip => gunzip(body, whole, limit),
            // The name stands for the zlib format, but some send it bare.
            Coding::Deflate => {
                inflate(true, body, whole, limit).or_else(|| inflate(false, body, whole, limit))
            }
        }
    }
}

fn gunzip(body: &[u8], whole: bool, limit: usize) -> Option<Decoded> {
    let mut bytes = Vec::new();
    let mut bounded = MultiGzDecoder::new(body).take(limit as u64 + 1);
    match bounded.read_to_end(&mut bytes) {
        Ok(_) => Some(bound(bytes, !whole, limit)),
        Err(error) if !whole && error.kind() == ErrorKind::UnexpectedEof => {
            Some(bound(bytes, true, limit))
        }
        Err(_) => None,
    }
}

fn inflate(zlib: bool, body: &[u8], whole: bool, limit: usize) -> Option<Decoded> {
    let mut state = Decompress::new(zlib);
    let mut bytes = Vec::with_capacity(limit + 1);
    loop {
        let (read, written) = (state.total_in(), bytes.len());
        let rest = body.get(read as usize..)?;
        let status = state
            .decompress_vec(rest, &mut bytes, FlushDecompress::None)
            .ok()?;
        let stuck = state.total_in() == read && bytes.len() == written;
        match status {
            Status::StreamEnd => return Some(bound(bytes, !whole, limit)),
            _ if bytes.len() > limit => return Some(bound(bytes, true, limit)),
            // All was decoded, but for what never came.
            _ if stuck => return (!whole).then(|| bound(bytes, true, limit)),
            _ => {}
        }
    }
}

fn bound(mut bytes: Vec<u8>, cut: bool, limit: usize) -> Decoded {
    let cut = cut || bytes.len() > limit;
    bytes.truncate(limit);
    bytes.shrink_to_fit();
    Decoded { bytes, cut }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const LIMIT: usize = 1000;

    /// The text in each form that is decoded.
    fn forms(text: &[u8]) -> [(Coding, Vec<u8>); 3] {
        let level = Compression::default();
        let mut gzip = GzEncoder::new(Vec::new(), level);
        let mut zlib = ZlibEncoder::new(Vec::new(), level);
        let mut bare = DeflateEncoder::new(Vec::new(), level);
        for writer in [&mut gzip as &mut dyn Write, &mut zlib, &mut bare] {
            writer.write_all(text).unwrap();
        }
        [
            (Coding::Gzip, gzip.finish().unwrap()),
            (Coding::Deflate, zlib.finish().unwrap()),
            (Coding::Deflate, bare.finish().unwrap()),
        ]
    }

    #[test]
    fn what_was_compressed_comes_out() {
        for text in [&b""[..], b"hello", &[b'x'; LIMIT]] {
            for (coding, body) in forms(text) {
                let decoded = coding.decode(&body, true, LIMIT).expect("it is sound");
                assert_eq!((&decoded.bytes[..], decoded.cut), (text, false));
            }
        }
    }

    #[test]
    fn no_more_comes_out_than_allowed() {
        let bomb = vec![0; 50_000_000];
        for (coding, body) in forms(&bomb) {
            let decoded = coding.decode(&body, true, LIMIT).expect("it is sound");
            assert_eq!((decoded.bytes.len(), decoded.cut), (LIMIT, true));
            assert!(decoded.bytes.capacity() <= 2 * LIMIT);
        }
    }

    #[test]
    fn the_beginning_of_a_body_is_decoded_as_far_as_it_goes() {
        let text: Vec<u8> = (0..700_u32).map(|n| (n * n % 251) as u8).collect();
        for (coding, body) in forms(&text) {
            let half = &body[..body.len() / 2];
            let decoded = coding
                .decode(half, false, LIMIT)
                .expect("so far it is sound");
            assert!(decoded.cut && text.starts_with(&decoded.bytes));
            assert_eq!(coding.decode(half, true, LIMIT), None, "it has no end");
        }
    }

    #[test]
    fn other_things_are_not_decoded() {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Plain] {
            for body in [&b""[..], b"{\"plain\": \"text\"}", b"hello", &[0xff; 100]] {
                assert_eq!(
                    coding.decode(body, true, LIMIT),
                    None,
                    "{coding:?} {body:?}"
                );
            }
        }
    }

    #[test]
    fn codings_by_their_names() {
        let cases = [
            ("gzip", Coding::Gzip),
            (" X-GZIP ", Coding::Gzip),
            ("Deflate", Coding::Deflate),
            ("gzip, gzip", Coding::Plain),
            ("br", Coding::Plain),
            ("identity", Coding::Plain),
            ("", Coding::Plain),
        ];
        for (value, coding) in cases {
            assert_eq!(Coding::named(value.as_bytes()), coding, "{value:?}");
        }
    }
}

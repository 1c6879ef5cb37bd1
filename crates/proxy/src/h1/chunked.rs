//! The chunked coding: where a body ends whose length nobody announced.
//!
//! Owns the way from one chunk to the next, however the bytes are cut up.
//! Nothing is copied to find the end; whoever wants the content without its
//! framing gets to see it as it passes.

/// The longest trailer section, and the longest extension of one chunk, that
/// is believed to be meant. Both are passed on unseen, but neither should
/// keep a connection busy for ever.
const LINES_LIMIT: usize = 64 * 1024;

/// A size has at most as many digits as a `u64`.
const DIGITS_LIMIT: u8 = 16;

/// Not the chunked coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Sees the content of a chunked body.
pub(super) trait Sink {
    /// The next bytes of content.
    fn data(&mut self, bytes: &[u8]);
    /// The next byte of the trailer section, line ends included.
    fn trailer(&mut self, byte: u8);
}

/// Looks at nothing: only the end is wanted.
pub(super) struct Unseen;

impl Sink for Unseen {
    fn data(&mut self, _: &[u8]) {}
    fn trailer(&mut self, _: u8) {}
}

/// How far a chunked body has been read.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    at: At,
    /// Bytes of the chunk that are still to come.
    left: u64,
    /// Bytes of the line or section being read.
    line: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A digit of a size, after this many.
    Size(u8),
    /// Blanks between a size and whatever follows.
    Blank,
    /// An extension.
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// The first byte of a trailer, or of the line that ends them.
    Line,
    /// More of a trailer.
    Trailer,
    TrailerLf,
    LastLf,
    End,
}

impl Chunks {
    /// At the beginning of a body.
    pub(super) fn new() -> Self {
        Chunks {
            at: At::Size(0),
            left: 0,
            line: 0,
        }
    }

    /// Whether the body is over.
    pub(super) fn ended(&self) -> bool {
        self.at == At::End
    }

    /// Goes on with `bytes`; how many of them belong to the body. That is all
    /// of them until it ends.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<usize, Malformed> {
        let mut used = 0;
        while used < bytes.len() && self.at != At::End {
            if self.at == At::Data {
                used += self.feed_data(&bytes[used..], sink);
            } else {
                self.step(bytes[used], sink)?;
                used += 1;
            }
        }
        Ok(used)
    }

    fn feed_data(&mut self, bytes: &[u8], sink: &mut impl Sink) -> usize {
        let count = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        sink.data(&bytes[..count]);
        self.left -= count as u64;
        if self.left == 0 {
            self.at = At::DataCr;
        }
        count
    }

    /// One byte of framing. Line ends are CR LF and nothing else: those who
    /// take less have been tricked into seeing other requests than their
    /// neighbours.
    fn step(&mut self, byte: u8, sink: &mut impl Sink) -> Result<(), Malformed> {
        let before = self.at;
        self.at = match (before, byte) {
            (At::Size(0), _) => self.digit(0, byte)?,
            (At::Size(_) | At::Blank, b' ' | b'\t') => self.longer(At::Blank)?,
            (At::Size(_) | At::Blank, b';') => At::Extension,
            (At::Size(_) | At::Blank | At::Extension, b'\r') => At::SizeLf,
            (At::Size(count), _) => self.digit(count, byte)?,
            (At::Extension, b'\t' | b' '..=b'~' | 0x80..) => self.longer(At::Extension)?,
            (At::SizeLf, b'\n') => self.after_size(),
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => At::Size(0),
            (At::Line, b'\r') => At::LastLf,
            (At::Line | At::Trailer, b'\t' | b' '..=b'~' | 0x80..) => self.longer(At::Trailer)?,
            (At::Trailer, b'\r') => At::TrailerLf,
            (At::TrailerLf, b'\n') => At::Line,
            (At::LastLf, b'\n') => At::End,
            _ => return Err(Malformed),
        };
        let in_trailer = matches!(before, At::Line | At::Trailer | At::TrailerLf);
        if in_trailer && self.at != At::LastLf {
            sink.trailer(byte);
        }
        Ok(())
    }

    fn digit(&mut self, count: u8, byte: u8) -> Result<At, Malformed> {
        let digit = char::from(byte).to_digit(16).ok_or(Malformed)?;
        if count == DIGITS_LIMIT {
            return Err(Malformed);
        }
        self.left = self.left << 4 | u64::from(digit);
        Ok(At::Size(count + 1))
    }

    fn after_size(&mut self) -> At {
        self.line = 0;
        match self.left {
            0 => At::Line,
            _ => At::Data,
        }
    }

    fn longer(&mut self, at: At) -> Result<At, Malformed> {
        self.line += 1;
        match self.line > LINES_LIMIT {
            true => Err(Malformed),
            false => Ok(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Default, Debug, PartialEq, Eq)]
    struct Seen {
        data: Vec<u8>,
        trailers: Vec<u8>,
    }

    impl Sink for Seen {
        fn data(&mut self, bytes: &[u8]) {
            self.data.extend_from_slice(bytes);
        }
        fn trailer(&mut self, byte: u8) {
            self.trailers.push(byte);
        }
    }

    /// What is seen of a body that comes in these pieces, how long it is and
    /// whether it ended.
    fn read<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(Seen, usize, bool), Malformed> {
        let (mut chunks, mut seen, mut used) = (Chunks::new(), Seen::default(), 0);
        for piece in pieces {
            used += chunks.feed(piece, &mut seen)?;
        }
        Ok((seen, used, chunks.ended()))
    }

    #[test]
    fn content_trailers_and_end() {
        let cases: [(&str, &str, &str, usize); 5] = [
            ("0\r\n\r\n", "", "", 5),
            ("5\r\nhello\r\n0\r\n\r\nGET /", "hello", "", 15),
            ("5;a=b;c\r\nhello\r\n000\r\n\r\n", "hello", "", 23),
            ("a \t\r\n0123456789\r\n0 ;x\r\n\r\n", "0123456789", "", 25),
            (
                "1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n",
                "x",
                "A: b\r\nC:\r\n",
                21,
            ),
        ];
        for (body, data, trailers, length) in cases {
            let (seen, used, ended) = read([body.as_bytes()]).expect(body);
            assert_eq!(String::from_utf8_lossy(&seen.data), data, "{body:?}");
            assert_eq!(
                String::from_utf8_lossy(&seen.trailers),
                trailers,
                "{body:?}"
            );
            assert_eq!((used, ended), (length, true), "{body:?}");
        }
    }

    #[test]
    fn anything_else_is_malformed() {
        let cases = [
            "\r\n",
            "g\r\n",
            ";\r\n",
            " 5\r\nhello\r\n",
            "-1\r\n",
            "+5\r\nhello\r\n",
            "0x5\r\nhello\r\n",
            "5\nhello\r\n",
            "5\r\nhelloX\r\n",
            "5\r\nhello\n0\r\n",
            "5\rhello",
            "5;a\nb\r\n",
            "5 5\r\n",
            "00000000000000001\r\n",
            "0\r\n\n",
            "0\r\nA: b\n\r\n",
            "0\r\nA: b\rC: d\r\n\r\n",
        ];
        for body in cases {
            assert_eq!(read([body.as_bytes()]), Err(Malformed), "{body:?}");
        }
    }

    #[test]
    fn sizes_that_no_memory_has_are_sizes() {
        let (_, used, ended) = read([&b"ffffffffffffffff\r\nabc"[..]]).unwrap();
        assert_eq!((used, ended), (21, false));
    }

    #[test]
    fn endless_lines_are_malformed() {
        let long = [&b"5;"[..], &vec![b'a'; LINES_LIMIT + 1]].concat();
        assert_eq!(read([&long[..]]), Err(Malformed));
        let lines = [&b"0\r\n"[..], &b"a: b\r\n".repeat(LINES_LIMIT)].concat();
        assert_eq!(read([&lines[..]]), Err(Malformed));
    }

    /// Bodies that are mostly right, so that all states are reached.
    fn bodies() -> impl Strategy<Value = Vec<u8>> {
        let chunk = (
            proptest::collection::vec(any::<u8>(), 1..40),
            "(;[a-z]{0,5})?",
        )
            .prop_map(|(data, extension)| {
                let size = format!("{:x}{extension}\r\n", data.len());
                [size.as_bytes(), &data, b"\r\n"].concat()
            });
        let chunks = proptest::collection::vec(chunk, 0..6);
        let trailers = "(X-[a-z]{1,5}: [a-z]{0,5}\r\n){0,3}";
        let after = proptest::collection::vec(any::<u8>(), 0..10);
        let spoiled = proptest::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>()));
        (chunks, trailers, after, spoiled).prop_map(|(chunks, trailers, after, spoiled)| {
            let mut body = chunks.concat();
            body.extend_from_slice(b"0\r\n");
            body.extend_from_slice(trailers.as_bytes());
            body.extend_from_slice(b"\r\n");
            body.extend_from_slice(&after);
            if let Some((at, byte)) = spoiled {
                let at = at.index(body.len());
                body[at] = byte;
            }
            body
        })
    }

    proptest! {
        /// What would pass without it: a scanner that forgets at the end of a
        /// read where in a line it was.
        #[test]
        fn it_does_not_matter_how_the_bytes_are_cut_up(
            body in bodies(),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]);
            let whole = read([&body[..]]);
            prop_assert_eq!(&read(pieces), &whole);
            prop_assert_eq!(&read(body.chunks(1)), &whole);
        }

        #[test]
        fn any_bytes_are_scanned_without_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read([&body[..]]);
        }
    }
}

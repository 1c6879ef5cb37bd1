//! Percent-encoding, which some stacks apply to what they hand on.
//!
//! Owns reading through it without a copy, and writing bytes that a header
//! cannot hold as they are.

use super::ids::digit;

/// The bytes that a text stands for. A `%` that begins no escape is itself.
pub(super) fn decoded(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (byte, after) = escape(rest).or_else(|| plain(rest))?;
        rest = after;
        Some(byte)
    })
}

fn plain(text: &[u8]) -> Option<(u8, &[u8])> {
    text.split_first().map(|(byte, rest)| (*byte, rest))
}

fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, rest @ ..] = text else {
        return None;
    };
    let byte = digit(*high)? << 4 | digit(*low)?;
    Some((byte, rest))
}

/// Writes a text as it is, but for bytes outside of plain ASCII: only those
/// are escaped.
pub(super) fn push_ascii(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        match byte {
            b'\t' | b' '..=b'~' => out.push(*byte),
            _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_everything_else_stays() {
        let cases: [(&[u8], &[u8]); 7] = [
            (b"a%2Db%2d", b"a-b-"),
            (b"%3a%25%41", b":%A"),
            (b"%", b"%"),
            (b"%4", b"%4"),
            (b"%%41", b"%A"),
            (b"%g1%1g", b"%g1%1g"),
            (b"", b""),
        ];
        for (text, expected) in cases {
            let read: Vec<u8> = decoded(text).collect();
            assert_eq!(read, expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn only_what_a_header_cannot_hold_is_escaped() {
        let mut out = Vec::new();
        push_ascii(&mut out, "a=é 100%;\u{7f}".as_bytes());
        assert_eq!(out, b"a=%C3%A9 100%;%7F");
    }
}

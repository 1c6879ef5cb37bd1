//! Ids on the wire: hexadecimal digits, and what stands for an id where there
//! is none.
//!
//! Owns the numbers. How they are laid out in a header is each carrier's own
//! business.

use murphy_registry::{SpanId, TraceKey};

/// The number of up to 128 bits written in these digits, whatever their case;
/// `None` if there is anything else, nothing, or too much.
pub(super) fn hex(digits: impl IntoIterator<Item = u8>) -> Option<u128> {
    let digits: String = digits.into_iter().map(char::from).collect();
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u128::from_str_radix(&digits, 16).ok().filter(|_| is_hex)
}

/// A trace id; zero is none.
pub(super) fn trace(digits: &[u8]) -> Option<TraceKey> {
    nonzero(hex(digits.iter().copied())?).map(TraceKey)
}

/// A span id; zero is none.
pub(super) fn span(digits: &[u8]) -> Option<SpanId> {
    span_of_number(hex(digits.iter().copied())?)
}

/// The span id that this number is; zero is none.
pub(super) fn span_of_number(number: u128) -> Option<SpanId> {
    let number = u64::try_from(nonzero(number)?).ok()?;
    Some(SpanId(number))
}

fn nonzero(number: u128) -> Option<u128> {
    (number != 0).then_some(number)
}

/// What stands for any other text that travels along: 128 bits of BLAKE3.
pub(super) fn digest(text: &[u8]) -> TraceKey {
    let hash = blake3::hash(text);
    let (front, _) = hash
        .as_bytes()
        .split_first_chunk::<16>()
        .expect("a hash has 32 bytes");
    TraceKey(u128::from_be_bytes(*front))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number_and_nothing_else_is() {
        let longest = "f".repeat(32);
        let too_long = "1".to_owned() + &"0".repeat(32);
        let padded = "0".repeat(40) + "1";
        let cases = [
            ("0", Some(0)),
            ("a3F", Some(0xa3f)),
            (longest.as_str(), Some(u128::MAX)),
            (padded.as_str(), Some(1)),
            (too_long.as_str(), None),
            ("", None),
            ("+1", None),
            ("1 ", None),
            ("g", None),
        ];
        for (digits, number) in cases {
            assert_eq!(hex(digits.bytes()), number, "{digits}");
        }
    }

    #[test]
    fn zero_is_no_id_and_a_span_has_64_bits() {
        assert_eq!(trace(b"0000"), None);
        assert_eq!(span(b"0000"), None);
        assert_eq!(span(b"ffffffffffffffff"), Some(SpanId(u64::MAX)));
        assert_eq!(span(b"10000000000000000"), None);
    }
}

//! Numbers as lower-case hexadecimal digits, eight digits at a time.
//!
//! Owns the arithmetic. Ids are read and written several times for every call
//! of an execution, and one digit after the other took a tenth of all the work
//! there is for it.

/// A one, or a fifteen, in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;

/// The number written in up to sixteen digits; `None` if there is anything
/// else, nothing, or too much.
#[inline]
pub fn parse(digits: &[u8]) -> Option<u64> {
    if let Ok(all) = <&[u8; 16]>::try_from(digits) {
        return sixteen(all);
    }
    match digits.len() {
        1..=8 => few(digits),
        9..=15 => {
            let (high, low) = digits.split_at(digits.len() - 8);
            Some(few(high)? << 32 | few(low)?)
        }
        _ => None,
    }
}

/// The number written in up to eight digits.
#[inline]
fn few(digits: &[u8]) -> Option<u64> {
    let zeros = ONES * u64::from(b'0');
    let text = digits
        .iter()
        .fold(zeros, |text, digit| text << 8 | u64::from(*digit));
    let values = values(text);
    is_text_of(text, values).then(|| packed(values))
}

fn sixteen(digits: &[u8; 16]) -> Option<u64> {
    let text = u128::from_be_bytes(*digits);
    let (high, low) = (values((text >> 64) as u64), values(text as u64));
    let valid = is_text_of((text >> 64) as u64, high) & is_text_of(text as u64, low);
    valid.then(|| packed(high) << 32 | packed(low))
}

/// The value of each digit, a byte each.
fn values(text: u64) -> u64 {
    let letters = text >> 6 & ONES;
    (text & LOW) + letters * 9
}

/// Whether these values are written so, and nothing else was taken for them.
fn is_text_of(text: u64, values: u64) -> bool {
    values & !LOW == 0 && texts(values) == text
}

/// The digit of each value, a byte each.
fn texts(values: u64) -> u64 {
    let letters = (values + ONES * (0x80 - 10)) >> 7 & ONES;
    values + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'0' - 10)
}

fn packed(values: u64) -> u64 {
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    (fours | fours >> 16) & 0xffff_ffff
}

fn unpacked(number: u64) -> u64 {
    let fours = (number | number << 16) & 0x0000_ffff_0000_ffff;
    let pairs = (fours | fours << 8) & 0x00ff_00ff_00ff_00ff;
    (pairs | pairs << 4) & LOW
}

/// All sixteen digits of a number.
pub fn digits(number: u64) -> [u8; 16] {
    let (high, low) = (unpacked(number >> 32), unpacked(number & 0xffff_ffff));
    let text = u128::from(texts(high)) << 64 | u128::from(texts(low));
    text.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_as_they_are_written() {
        for number in [0, 1, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, u64::MAX] {
            let text = format!("{number:016x}");
            assert_eq!(digits(number), text.as_bytes());
            assert_eq!(parse(text.as_bytes()), Some(number));
            assert_eq!(parse(format!("{number:x}").as_bytes()), Some(number));
        }
    }

    #[test]
    fn every_byte_is_a_digit_or_is_refused_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            let value = char::from(byte).to_digit(16).map(u64::from);
            let value = value.filter(|_| !byte.is_ascii_uppercase());
            assert_eq!(parse(&[byte]), value, "{byte:#x}");
            for place in 0..16 {
                let mut text = [b'0'; 16];
                text[place] = byte;
                let number = value.map(|value| value << (4 * (15 - place)));
                assert_eq!(parse(&text), number, "{byte:#x} at {place}");
            }
        }
        assert_eq!(parse(b""), None);
        assert_eq!(parse(&[b'0'; 17]), None);
    }
}

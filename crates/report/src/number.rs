//! Numbers as people read them.

use std::time::Duration;

/// Beyond this many digits the first ones say enough.
const MOST_DIGITS: usize = 15;

/// A whole number with its thousands set apart; a very large one in powers of
/// ten.
pub fn grouped(number: impl ToString) -> String {
    let digits = number.to_string();
    if digits.len() > MOST_DIGITS {
        let (first, next) = (&digits[..1], &digits[1..3]);
        return format!("{first}.{next}×10^{}", digits.len() - 1);
    }
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of things: `1 point`, `2,000 points`.
pub fn counted(number: impl ToString, one: &str) -> String {
    let number = grouped(number);
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {one}{plural}")
}

/// A time span in the unit that suits it.
pub fn span(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.1} ms", seconds * 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart_and_huge_numbers_shortened() {
        let cases = [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("12345678", "12,345,678"),
            ("999999999999999", "999,999,999,999,999"),
            ("59604644775390625", "5.96×10^16"),
        ];
        for (number, shown) in cases {
            assert_eq!(grouped(number), shown);
        }
        assert_eq!(counted(1, "point"), "1 point");
        assert_eq!(counted(2000, "point"), "2,000 points");
    }
}

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

/// A forecast of so many seconds, as exact as a forecast is.
pub fn rough_span(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s if s < 31_536_000.0 => format!("{:.0} days", s / 86_400.0),
        _ => "years".to_owned(),
    }
}

/// How fast executions are made: `12 executions a second`, and where one takes
/// longer than that, `2.5 s per execution`. `None` where none was made.
pub fn pace(executions: usize, took: Duration) -> Option<String> {
    let seconds = took.as_secs_f64();
    let rate = executions as f64 / seconds;
    match executions {
        0 => None,
        _ if seconds <= 0.0 => None,
        _ if rate >= 9.5 => Some(format!(
            "{} executions a second",
            grouped(rate.round() as u64)
        )),
        _ if rate > 1.0 => Some(format!("{rate:.1} executions a second")),
        _ => Some(format!("{:.1} s per execution", 1.0 / rate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_executions_are_told_in_seconds_each_and_never_as_none_a_second() {
        let cases = [
            (3_000, 1_000, Some("3,000 executions a second")),
            (24, 2_000, Some("12 executions a second")),
            (3, 2_000, Some("1.5 executions a second")),
            (2, 2_000, Some("1.0 s per execution")),
            (4, 10_000, Some("2.5 s per execution")),
            (1, 90_000, Some("90.0 s per execution")),
            (0, 2_000, None),
            (7, 0, None),
        ];
        for (executions, ms, shown) in cases {
            let told = pace(executions, Duration::from_millis(ms));
            assert_eq!(told.as_deref(), shown, "{executions} in {ms} ms");
        }
    }

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

//! Limits in texts: times that say how long something may take.
//!
//! Owns what is left of a complaint when its limits are taken out. A bug stays
//! the same bug when `within 60s` becomes `within 3s`, and keeps its name.

/// Units in which times are written.
const UNITS: [&str; 9] = ["ns", "µs", "us", "ms", "s", "m", "min", "h", "d"];

/// What stands in the place of a limit.
const LIMIT: &str = "…";

/// The text with every time, and every "N times", written alike.
pub(crate) fn without_limits(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    let mut words: Vec<&str> = words.collect();
    // `1m 30s` is one time, as `90s` is.
    words.dedup_by(|next, before| {
        let is_one = is_time(next) && is_time(before);
        // The last part stays, with the punctuation after it.
        if is_one {
            *before = *next;
        }
        is_one
    });
    let mut written = String::new();
    for (i, word) in words.iter().enumerate() {
        let next = words.get(i + 1).map_or("", |next| bare(next));
        let is_factor = next == "times" && bare(word).parse::<f64>().is_ok();
        match is_time(word) || is_factor {
            true => written.push_str(&word.replace(bare(word), LIMIT)),
            false => written.push_str(word),
        }
    }
    written
}

fn is_time(word: &str) -> bool {
    let word = bare(word);
    let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = &word[digits.len()..];
    digits.parse::<f64>().is_ok() && UNITS.contains(&unit)
}

/// A word without what surrounds it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_are_taken_out() {
        let cases = [
            ("no answer within 60s", "no answer within …"),
            (
                "no answer within 1m 30s, then none",
                "no answer within …, then none",
            ),
            ("took longer than 1.5s", "took longer than …"),
            (
                "took more than 3 times as long",
                "took more than … times as long",
            ),
            (
                "expected status 200, got 500",
                "expected status 200, got 500",
            ),
            (
                "`cart GET /v2/s` answered 503",
                "`cart GET /v2/s` answered 503",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(without_limits(text), expected);
        }
    }
}

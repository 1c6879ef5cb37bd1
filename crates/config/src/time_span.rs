//! How long a campaign may take.

use std::time::Duration;

use crate::usage::Usage;

/// Nobody types a longer one, and `humantime` overflows on absurd numbers.
const LONGEST_TEXT: usize = 40;
const MOST_DIGITS: usize = 9;

/// A time span such as `90s` or `1h 30m`.
pub fn time(text: &str) -> Result<Duration, Usage> {
    let refused = |why: &str| {
        Usage::new(format!("`{text}` is no time span: {why}"))
            .at("--max-time", text, text, "a number and a unit are expected")
            .hint("write for example `--max-time 90s`, `5m` or `1h30m`")
    };
    match read(text) {
        Err(why) => Err(refused(&why)),
        Ok(Duration::ZERO) => Err(refused("no time at all leaves nothing to do")),
        Ok(time) => Ok(time),
    }
}

/// Reads a time span; the error says why it is none.
pub fn read(text: &str) -> Result<Duration, String> {
    if is_absurd(text) {
        return Err("it is too long".to_owned());
    }
    humantime::parse_duration(text).map_err(|error| error.to_string())
}

fn is_absurd(text: &str) -> bool {
    let mut runs = text.split(|c: char| !c.is_ascii_digit());
    text.len() > LONGEST_TEXT || runs.any(|digits| digits.len() > MOST_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_nonsense_is_refused() {
        assert_eq!(time("90s").unwrap(), Duration::from_secs(90));
        assert_eq!(time("1h 30m").unwrap(), Duration::from_secs(5400));
        assert!(time("999999999years 999999999years").is_ok());
        let absurd = "18446744073709551615s 1000000000ns";
        for text in ["", "5", "soon", "-1s", "0s", absurd, &"1s ".repeat(50)] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}

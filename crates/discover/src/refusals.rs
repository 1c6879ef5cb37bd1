//! Which statuses are an honest refusal.
//!
//! Owns the usual ones, and why some never are: a service that answers 500 says
//! that it is broken itself, not that it cannot serve now.

use murphy_config::Usage;
use murphy_model::{GrpcCode, nearest};

/// Answers that say: not now, and not by my fault.
pub const USUAL: [&str; 5] = ["502", "503", "504", "UNAVAILABLE", "DEADLINE_EXCEEDED"];

/// What 500 is called, also in gRPC.
const NEVER: [&str; 3] = ["500", "INTERNAL", "UNKNOWN"];

/// What says that there are none.
const NONE: &str = "none";

/// The usual ones, as they are kept.
pub fn usual() -> Vec<String> {
    USUAL.map(str::to_owned).to_vec()
}

/// Reads a list such as `502, 503, UNAVAILABLE`; `none` for no such status.
pub fn read(text: &str) -> Result<Vec<String>, Usage> {
    let words = text.split([',', ' ']).filter(|it| !it.is_empty());
    let words: Vec<&str> = words.collect();
    match words[..] {
        [] => Ok(usual()),
        [NONE] => Ok(Vec::new()),
        _ => words.iter().map(|word| status(word, text)).collect(),
    }
}

fn status(word: &str, text: &str) -> Result<String, Usage> {
    let refused = |message: String, label: &str, hint: String| {
        Err(Usage::new(message)
            .at("--under-fault", text, word, label)
            .hint(hint))
    };
    let name = word.to_ascii_uppercase();
    if NEVER.contains(&name.as_str()) {
        return refused(
            format!("{word} is never an honest refusal: it says that the service itself is broken"),
            "what a bug answers",
            format!("leave it out; the usual ones are {}", USUAL.join(",")),
        );
    }
    if let Ok(number) = word.parse::<u16>() {
        return match (400..600).contains(&number) {
            true => Ok(number.to_string()),
            false => refused(
                format!("{number} refuses nothing"),
                "a status from 400 to 599 is expected",
                format!("write for example `--under-fault {}`", USUAL.join(",")),
            ),
        };
    }
    match GrpcCode::named(&name) {
        Some(code) => Ok(code.name().to_owned()),
        None => refused(
            format!("`{word}` is no status"),
            "a number of HTTP or a name of gRPC is expected",
            match nearest(&name, GrpcCode::all().map(GrpcCode::name)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!(
                    "write for example `--under-fault {}`, or `none`",
                    USUAL.join(",")
                ),
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_and_a_broken_service_is_none_of_them() {
        assert_eq!(
            read("502, 503,unavailable").unwrap(),
            ["502", "503", "UNAVAILABLE"]
        );
        assert_eq!(read("").unwrap(), USUAL);
        assert_eq!(read("none").unwrap(), [""; 0]);
        for (text, says) in [
            ("503,500", "500 is never an honest refusal"),
            ("INTERNAL", "never an honest refusal"),
            ("200", "200 refuses nothing"),
            ("UNAVAILABL", "did you mean `UNAVAILABLE`?"),
            ("503,none", "`none` is no status"),
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(refused.contains(says), "{refused}");
        }
    }
}

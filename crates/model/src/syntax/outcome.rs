//! The text form of outcomes, the part of a mode behind its phase.
//!
//! Owns their names and values: `503`, `grpc:UNAVAILABLE`, `delay:1m30s`.

use std::time::Duration;

use super::SyntaxError;
use super::lexer::{Cursor, Slice};
use super::mode_set::ModeSet;
use super::suggest::nearest;
use crate::{GrpcCode, Outcome, TlsFault};

/// What every word that is no mode gets to hear.
pub(super) const EXPECTED: &str = "expected a mode such as `503`, `reset` or `delay:2s`";

/// What is said to someone whose word is like no mode at all.
const ALL: &str = "modes are a status such as `503`, `grpc:UNAVAILABLE`, `reset`, `close`, `hang`, \
    `delay:2s`, `duplicate`, `truncate:100`, `slow:1000`, `malformed` and `tls:expired`; `after:` lets \
    the callee do its work first, as in `after:503`";

/// The words a mistyped mode is compared with.
const KNOWN: [&str; 25] = [
    "reset",
    "close",
    "hang",
    "delay:2s",
    "truncate:100",
    "slow:1000",
    "malformed",
    "duplicate",
    "grpc:UNAVAILABLE",
    "tls:handshake",
    "tls:expired",
    "tls:untrusted",
    "tls:name",
    "400",
    "401",
    "403",
    "404",
    "408",
    "409",
    "429",
    "500",
    "501",
    "502",
    "503",
    "504",
];

/// Reads an outcome that fills the whole of `word`.
pub(super) fn read(cursor: &Cursor<'_>, word: Slice<'_>) -> Result<Outcome, SyntaxError> {
    let (name, argument) = match word.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (word, None),
    };
    if argument.is_none() && is_number(word.text) {
        return status(cursor, word);
    }
    if let Some(outcome) = without_argument(name.text) {
        return match argument {
            None => Ok(outcome),
            Some(_) => Err(cursor
                .error(
                    word.range(),
                    format!("`{}` takes no value", name.text),
                    "has a value",
                )
                .with_hint(format!("write `{}`", name.text))),
        };
    }
    with_argument(cursor, word, name, argument)
}

fn without_argument(name: &str) -> Option<Outcome> {
    match name {
        "reset" => Some(Outcome::Reset),
        "close" => Some(Outcome::Close),
        "hang" => Some(Outcome::Hang),
        "malformed" => Some(Outcome::Malformed),
        "duplicate" => Some(Outcome::Duplicate),
        _ => None,
    }
}

fn with_argument(
    cursor: &Cursor<'_>,
    word: Slice<'_>,
    name: Slice<'_>,
    argument: Option<Slice<'_>>,
) -> Result<Outcome, SyntaxError> {
    let example = match name.text {
        "grpc" => "grpc:UNAVAILABLE",
        "delay" => "delay:2s",
        "truncate" => "truncate:100",
        "slow" => "slow:1000",
        "tls" => "tls:expired",
        _ => return Err(unknown(cursor, word)),
    };
    let Some(argument) = argument.filter(|argument| !argument.text.is_empty()) else {
        if name.text == ModeSet::TLS.name && argument.is_none() {
            return Err(unknown(cursor, word));
        }
        let message = format!("expected a value, as in `{example}`");
        return Err(cursor.error(word.range(), message, "its value is missing"));
    };
    match name.text {
        "grpc" => grpc_code(cursor, argument).map(Outcome::Grpc),
        "delay" => delay(cursor, argument).map(Outcome::Delay),
        "truncate" => bytes(cursor, argument).map(Outcome::Truncate),
        "tls" => tls(cursor, argument).map(Outcome::Tls),
        _ => bytes(cursor, argument).map(Outcome::Slow),
    }
}

fn unknown(cursor: &Cursor<'_>, word: Slice<'_>) -> SyntaxError {
    let error = cursor.error(word.range(), EXPECTED, "not a mode");
    if let Some(set) = ModeSet::named(word.text) {
        let (name, modes) = (set.name, set.modes);
        return error.with_hint(format!(
            "`{name}` stands for several modes of a list; write the modes one by one, such as `503`: {modes}"
        ));
    }
    let grpc = nearest(word.text, GrpcCode::all().map(GrpcCode::name));
    match (nearest(word.text, KNOWN), grpc) {
        (Some(mode), _) => error.with_hint(format!("did you mean `{mode}`?")),
        (None, Some(code)) => error.with_hint(format!("did you mean `grpc:{code}`?")),
        (None, None) => error.with_hint(ALL),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn status(cursor: &Cursor<'_>, word: Slice<'_>) -> Result<Outcome, SyntaxError> {
    let status = word.text.parse().ok().filter(|s| (100..600).contains(s));
    status
        .map(Outcome::Status)
        .ok_or_else(|| cursor.error(word.range(), "an HTTP status is 100 to 599", "not a status"))
}

fn bytes(cursor: &Cursor<'_>, argument: Slice<'_>) -> Result<u64, SyntaxError> {
    let number = argument
        .text
        .parse()
        .ok()
        .filter(|_| is_number(argument.text));
    number.ok_or_else(|| {
        cursor
            .error(
                argument.range(),
                "expected a number of bytes",
                "not a number of bytes",
            )
            .with_hint("write plain digits, as in `truncate:100` and `slow:1000`")
    })
}

fn grpc_code(cursor: &Cursor<'_>, name: Slice<'_>) -> Result<GrpcCode, SyntaxError> {
    let upper = name.text.to_ascii_uppercase();
    GrpcCode::named(&upper).ok_or_else(|| {
        let expected = "expected the name of a gRPC status, as in `grpc:UNAVAILABLE`";
        let error = cursor.error(name.range(), expected, "not the name of a failure");
        let numbered = name
            .text
            .parse()
            .ok()
            .and_then(GrpcCode::new)
            .map(GrpcCode::name);
        let meant = numbered.or_else(|| nearest(&upper, GrpcCode::all().map(GrpcCode::name)));
        match meant {
            _ if upper == "OK" => error.with_hint("OK is not a failure"),
            Some(code) => error.with_hint(format!("did you mean `grpc:{code}`?")),
            None => error,
        }
    })
}

fn tls(cursor: &Cursor<'_>, name: Slice<'_>) -> Result<TlsFault, SyntaxError> {
    TlsFault::named(name.text).ok_or_else(|| {
        let expected = "expected what goes wrong in the handshake, as in `tls:expired`";
        let error = cursor.error(name.range(), expected, "not a fault of TLS");
        match nearest(name.text, TlsFault::ALL.map(TlsFault::name)) {
            Some(meant) => error.with_hint(format!("did you mean `tls:{meant}`?")),
            None => error.with_hint(
                "these are `tls:handshake`, `tls:expired`, `tls:untrusted` and `tls:name`",
            ),
        }
    })
}

fn delay(cursor: &Cursor<'_>, text: Slice<'_>) -> Result<Duration, SyntaxError> {
    let parts = parts_of_duration(text.text);
    let sum = parts.into_iter().try_fold(Duration::ZERO, |sum, part| {
        sum.checked_add(humantime::parse_duration(part).ok()?)
    });
    sum.ok_or_else(|| {
        let error = cursor.error(
            text.range(),
            "expected a duration such as `2s`",
            "not a duration",
        );
        match is_number(text.text) {
            true => error.with_hint(format!(
                "add a unit: `delay:{0}s` or `delay:{0}ms`",
                text.text
            )),
            false => error.with_hint("durations are written as `300ms`, `2s` or `1m30s`"),
        }
    })
}

/// The numbers of a duration, each with its unit. They are read one by one,
/// because `humantime` panics on sums such as `18446744073709551615s1000ms`.
fn parts_of_duration(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let begins_part = |i: &usize| bytes[*i].is_ascii_digit() && bytes[*i - 1].is_ascii_alphabetic();
    let mut starts = vec![0];
    starts.extend((1..bytes.len()).filter(begins_part));
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &text[*start..end])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use crate::Mode;

    #[test]
    fn what_is_no_outcome_is_refused_with_its_place() {
        let cases = [
            ("rest", "rest", "did you mean `reset`?"),
            ("Hang", "Hang", "did you mean `hang`?"),
            ("after:rset", "rset", "did you mean `reset`?"),
            (
                "unavailable",
                "unavailable",
                "did you mean `grpc:UNAVAILABLE`?",
            ),
            ("explode", "explode", "modes are a status"),
            ("600", "600", "100 to 599"),
            ("99999999999", "99999999999", "100 to 599"),
            (
                "grpc:UNAVAILBLE",
                "UNAVAILBLE",
                "did you mean `grpc:UNAVAILABLE`?",
            ),
            ("grpc:14", "14", "did you mean `grpc:UNAVAILABLE`?"),
            ("grpc:OK", "OK", "OK is not a failure"),
            ("grpc:", "grpc:", "as in `grpc:UNAVAILABLE`"),
            ("delay", "delay", "as in `delay:2s`"),
            ("delay:2", "2", "add a unit: `delay:2s`"),
            ("delay:soon", "soon", "expected a duration"),
            (
                "delay:18446744073709551615s1000ms",
                "18446744073709551615s1000ms",
                "expected a duration",
            ),
            ("delay:2sé", "2sé", "expected a duration"),
            ("truncate:-1", "-1", "expected a number of bytes"),
            ("slow:+5", "+5", "plain digits"),
            ("reset:1", "reset:1", "takes no value"),
            ("tls:expird", "expird", "did you mean `tls:expired`?"),
            ("tls:rsa", "rsa", "`tls:untrusted` and `tls:name`"),
            ("tls:", "tls:", "as in `tls:expired`"),
            ("tls", "tls", "write the modes one by one"),
        ];
        for (text, at, says) in cases {
            assert_refused::<Mode>(text, at, says);
        }
    }
}

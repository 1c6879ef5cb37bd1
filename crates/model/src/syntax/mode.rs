//! The text form of modes, and of the replies they lead to.
//!
//! `503`, `after:hang`, `delay:1m30s`. The phase is written only where it is
//! `after`, the one phase an outcome does not imply; reading takes it wherever
//! it is true.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::SyntaxError;
use super::lexer::{Cursor, Next, Slice};
use super::mode_set::ModeSet;
use super::outcome;
use super::suggest::nearest;
use crate::{GrpcCode, Mode, Outcome, Phase, Reply, TlsFault};

impl fmt::Display for GrpcCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Status(status) => write!(f, "{status}"),
            Reply::Grpc(code) => write!(f, "grpc:{code}"),
            Reply::GrpcOk => f.write_str("grpc:OK"),
            Reply::Reset => f.write_str("reset"),
            Reply::Closed => f.write_str("closed"),
            Reply::TimedOut => f.write_str("timed out"),
            Reply::Broken => f.write_str("broken"),
            Reply::NoTls(fault) => write!(f, "tls:{}", fault.name()),
        }
    }
}

/// Takes exactly what is written above: replies come out of files of ours, not
/// off a command line.
impl FromStr for Reply {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let known = match text {
            "grpc:OK" => Some(Reply::GrpcOk),
            "reset" => Some(Reply::Reset),
            "closed" => Some(Reply::Closed),
            "timed out" => Some(Reply::TimedOut),
            "broken" => Some(Reply::Broken),
            _ => match text.split_once(':') {
                Some(("grpc", name)) => GrpcCode::named(name).map(Reply::Grpc),
                Some(("tls", name)) => TlsFault::named(name).map(Reply::NoTls),
                _ => plain_status(text).map(Reply::Status),
            },
        };
        known.ok_or_else(|| {
            let expected = "expected a reply such as `200`, `grpc:OK` or `timed out`";
            Cursor::new("reply", text).error(0..text.len(), expected, "not a reply")
        })
    }
}

fn plain_status(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.phase() == Phase::After {
            f.write_str("after:")?;
        }
        match self.outcome() {
            Outcome::Status(status) => write!(f, "{status}"),
            Outcome::Grpc(code) => write!(f, "grpc:{code}"),
            Outcome::Reset => f.write_str("reset"),
            Outcome::Close => f.write_str("close"),
            Outcome::Hang => f.write_str("hang"),
            Outcome::Delay(delay) => write!(f, "delay:{}", compact(delay)),
            Outcome::Truncate(bytes) => write!(f, "truncate:{bytes}"),
            Outcome::Slow(rate) => write!(f, "slow:{rate}"),
            Outcome::Malformed => f.write_str("malformed"),
            Outcome::Duplicate => f.write_str("duplicate"),
            Outcome::Tls(fault) => write!(f, "tls:{}", fault.name()),
        }
    }
}

fn compact(duration: Duration) -> String {
    humantime::format_duration(duration)
        .to_string()
        .replace(' ', "")
}

impl FromStr for Mode {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new("mode", text);
        let mode = read(&mut cursor)?;
        cursor.expect_no_more("expected one mode")?;
        Ok(mode)
    }
}

impl Mode {
    /// Reads a comma-separated list of at least one mode: `500, 503, reset`. A
    /// [`ModeSet`] may stand for its modes, as in `http, reset`.
    pub fn parse_list(text: &str) -> Result<Vec<Mode>, SyntaxError> {
        let mut cursor = Cursor::new("list of modes", text);
        let mut modes = read_one_or_set(&mut cursor)?;
        loop {
            match cursor.next() {
                Next::End => return Ok(modes),
                Next::Comma => cursor.eat(','),
                _ => {
                    let more = cursor.take_until(char::is_whitespace).range();
                    return Err(cursor
                        .error(more, "expected `,` between modes", "no `,` before this")
                        .with_hint("write the list as `500,503,reset`"));
                }
            };
            modes.extend(read_one_or_set(&mut cursor)?);
        }
    }
}

/// Reads what comes next in a list: a mode, or a word that stands for several.
fn read_one_or_set(cursor: &mut Cursor<'_>) -> Result<Vec<Mode>, SyntaxError> {
    cursor.skip_space();
    let mut ahead = cursor.clone();
    let word = ahead.take_until(ends_mode).text;
    if let Some(set) = ModeSet::named(word) {
        *cursor = ahead;
        return Mode::parse_list(set.modes);
    }
    let names = ModeSet::ALL.map(|set| set.name);
    let meant = nearest(word, names).filter(|_| !word.contains(':'));
    let mode = read(cursor).map_err(|error| match meant {
        Some(name) => error.with_hint(format!("did you mean `{name}`?")),
        None => error,
    })?;
    Ok(vec![mode])
}

/// White space or a comma ends a mode.
fn ends_mode(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// Reads the mode that comes next.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Mode, SyntaxError> {
    cursor.skip_space();
    let word = cursor.take_until(ends_mode);
    if word.text.is_empty() {
        return Err(cursor.error(word.range(), outcome::EXPECTED, "a mode is missing"));
    }
    let (phase, rest) = split_phase(word);
    let outcome = outcome::read(cursor, rest)?;
    let phase = phase.unwrap_or(usual_phase(outcome));
    Mode::new(phase, outcome).ok_or_else(|| clash(cursor, word, rest, outcome))
}

fn split_phase(word: Slice<'_>) -> (Option<Phase>, Slice<'_>) {
    match word.split_once(':') {
        Some((name, rest)) if name.text == "before" => (Some(Phase::Before), rest),
        Some((name, rest)) if name.text == "after" => (Some(Phase::After), rest),
        _ => (None, word),
    }
}

/// The phase of an outcome that is written without one.
fn usual_phase(outcome: Outcome) -> Phase {
    match outcome {
        Outcome::Delay(_) | Outcome::Duplicate => Phase::Delivery,
        Outcome::Truncate(_) | Outcome::Slow(_) | Outcome::Malformed => Phase::After,
        _ => Phase::Before,
    }
}

/// Says why the phase and the outcome exclude each other.
fn clash(cursor: &Cursor<'_>, word: Slice<'_>, rest: Slice<'_>, outcome: Outcome) -> SyntaxError {
    let (why, instead) = match usual_phase(outcome) {
        Phase::Delivery => (
            "a delay or duplicate changes how messages travel; it is neither before nor after",
            "",
        ),
        Phase::Before => (
            "the TLS handshake comes before the request, so the callee has done nothing",
            "",
        ),
        Phase::After => (
            "only an answer's body can be spoiled, so this comes after the callee's work",
            "after:",
        ),
    };
    cursor
        .error(word.range(), why, "these exclude each other")
        .with_hint(format!("write `{instead}{}`", rest.text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use super::*;

    #[test]
    fn modes_are_read_and_written_in_one_form() {
        let cases = [
            ("503", "503"),
            ("before:503", "503"),
            ("after:503", "after:503"),
            ("grpc:unavailable", "grpc:UNAVAILABLE"),
            ("after:grpc:DATA_LOSS", "after:grpc:DATA_LOSS"),
            (" reset ", "reset"),
            ("close", "close"),
            ("after:hang", "after:hang"),
            ("delay:90s", "delay:1m30s"),
            ("delay:1.5s", "delay:1s500ms"),
            ("delay:0s", "delay:0s"),
            (
                "delay:18446744073709551615s999999999ns",
                "delay:584542046090years7months15days17h5m3s999ms999us999ns",
            ),
            ("truncate:100", "after:truncate:100"),
            ("after:slow:1000", "after:slow:1000"),
            ("malformed", "after:malformed"),
            ("duplicate", "duplicate"),
            ("tls:handshake", "tls:handshake"),
            ("before:tls:expired", "tls:expired"),
            ("tls:untrusted", "tls:untrusted"),
            ("tls:name", "tls:name"),
        ];
        for (text, written) in cases {
            let mode: Mode = text.parse().unwrap();
            assert_eq!(mode.to_string(), written);
            assert_eq!(written.parse(), Ok(mode));
        }
    }

    #[test]
    fn what_is_no_mode_is_refused_with_its_place() {
        let cases = [
            ("5O3", "5O3", "did you mean `503`?"),
            ("", "", "a mode is missing"),
            ("after", "after", "modes are a status"),
            ("after:delay:2s", "after:delay:2s", "write `delay:2s`"),
            (
                "before:duplicate",
                "before:duplicate",
                "neither before nor after",
            ),
            (
                "before:truncate:9",
                "before:truncate:9",
                "write `after:truncate:9`",
            ),
            ("after:tls:name", "after:tls:name", "write `tls:name`"),
            ("503 reset", "reset", "expected one mode"),
            ("503,reset", ",reset", "expected one mode"),
        ];
        for (text, at, says) in cases {
            assert_refused::<Mode>(text, at, says);
        }
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let modes = Mode::parse_list("500, 503,reset").unwrap();
        assert_eq!(modes, [Mode::status(500), Mode::status(503), Mode::RESET]);
        for (text, at) in [("", ""), ("500,", ""), ("500 503", "503"), ("500,,503", "")] {
            let error = Mode::parse_list(text).unwrap_err();
            assert_eq!(&text[error.span()], at, "{error}");
        }
    }

    #[test]
    fn a_word_may_stand_for_several_modes_of_a_list() {
        let list = |text: &str| Mode::parse_list(text).unwrap();
        assert_eq!(list("http"), [500, 502, 503, 504].map(Mode::status));
        assert_eq!(list("grpc").len(), 4);
        assert_eq!(list("reset, http")[1..], list("http"));
        assert_eq!(list("tls").len(), 4);
        for (text, at, hint) in [
            ("htp", "htp", "did you mean `http`?"),
            ("503,grp", "grp", "did you mean `grpc`?"),
            ("after:http", "http", "write the modes one by one"),
        ] {
            let error = Mode::parse_list(text).unwrap_err();
            assert_eq!(&text[error.span()], at, "{error}");
            assert!(error.to_string().contains(hint), "{error}");
        }
        // One fault has one mode.
        assert_refused::<Mode>("http", "http", "such as `503`");
    }

    #[test]
    fn replies_are_read_and_written_in_words() {
        let unavailable = GrpcCode::named("UNAVAILABLE").unwrap();
        let cases = [
            (Reply::Status(200), "200"),
            (Reply::Grpc(unavailable), "grpc:UNAVAILABLE"),
            (Reply::GrpcOk, "grpc:OK"),
            (Reply::Reset, "reset"),
            (Reply::Closed, "closed"),
            (Reply::TimedOut, "timed out"),
            (Reply::Broken, "broken"),
            (Reply::NoTls(TlsFault::Expired), "tls:expired"),
        ];
        for (reply, text) in cases {
            assert_eq!(reply.to_string(), text);
            assert_eq!(text.parse(), Ok(reply));
        }
        for code in GrpcCode::all() {
            let reply = Reply::Grpc(code);
            assert_eq!(reply.to_string().parse(), Ok(reply));
        }
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for text in [
            "", "grpc:", "grpc:ok", "tls:", "tls:Name", "+200", "99999", "hang", "200 ",
        ] {
            assert_refused::<Reply>(text, text, "not a reply");
        }
    }
}

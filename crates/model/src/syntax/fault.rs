//! The text form of targets, faults and faultloads:
//! `cart GET /cart = 503, ** > pay #* = reset`.
//!
//! Owns what stands between targets and modes. A comma separates faults only
//! behind a mode, so that paths may hold commas.

use std::fmt;
use std::str::FromStr;

use super::SyntaxError;
use super::frame::{Chain, arrow_hint, expect_end, read_chain};
use super::lexer::{Cursor, Next, Slice};
use super::{mode, pattern, point};
use crate::{Attempts, Conflict, Fault, Faultload, Mode, Target};

/// How the empty faultload is written.
const NONE: &str = "none";

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Call(point) => point.fmt(f),
            Target::Every(point) => point::write_point(f, point, Attempts::Any),
            Target::Matching(pattern) => pattern::write_target(f, pattern),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.target, self.mode)
    }
}

impl fmt::Display for Faultload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str(NONE);
        }
        for (i, (target, mode)) in self.iter().enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            write!(f, "{separator}{target} = {mode}")?;
        }
        Ok(())
    }
}

impl FromStr for Target {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new("target", text);
        let chain = read_chain(&mut cursor)?;
        expect_end(&mut cursor)?;
        pattern::target(&cursor, &chain)
    }
}

impl FromStr for Fault {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new("fault", text);
        let fault = read_fault(&mut cursor)?;
        cursor.expect_no_more("expected one fault")?;
        Ok(fault)
    }
}

impl FromStr for Faultload {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        if matches!(text.trim(), "" | NONE) {
            return Ok(Faultload::none());
        }
        let mut cursor = Cursor::new("faultload", text);
        let mut load = Faultload::none();
        loop {
            cursor.skip_space();
            let start = cursor.at();
            let fault = read_fault(&mut cursor)?;
            load.insert(fault)
                .map_err(|conflict| twice(&cursor, start, &conflict))?;
            if !read_comma(&mut cursor)? {
                return Ok(load);
            }
        }
    }
}

fn twice(cursor: &Cursor<'_>, start: usize, Conflict { fault, already }: &Conflict) -> SyntaxError {
    let message = "two faults for one target: it cannot fail both ways in one execution";
    let label = format!("fails already, with `{already}`");
    let error = cursor.error(start..cursor.at(), message, label);
    match fault.mode == *already {
        true => error.with_hint("leave the second one out"),
        false => error.with_hint("a second attempt is a target of its own: add `#2`"),
    }
}

/// Whether a comma comes, and with it a further fault.
fn read_comma(cursor: &mut Cursor<'_>) -> Result<bool, SyntaxError> {
    match cursor.next() {
        Next::End => Ok(false),
        Next::Comma => Ok(cursor.eat(',')),
        _ => {
            let found = cursor.take_until(char::is_whitespace);
            let message = "expected `,` and a further fault, or the end";
            Err(cursor.error(found.range(), message, "does not belong here"))
        }
    }
}

fn read_fault(cursor: &mut Cursor<'_>) -> Result<Fault, SyntaxError> {
    let chain = read_chain(cursor)?;
    if cursor.next() != Next::Equals {
        return Err(missing_equals(cursor, &chain));
    }
    let target = pattern::target(cursor, &chain)
        .map_err(|error| stuck_equals(cursor, &chain).unwrap_or(error))?;
    cursor.eat('=');
    let mode = mode::read(cursor)?;
    Ok(Fault { target, mode })
}

const EXPECTED_EQUALS: &str = "expected ` = ` and a mode after the target";

/// Finds out what became of the `=` that should have come next.
fn missing_equals(cursor: &Cursor<'_>, chain: &Chain<'_>) -> SyntaxError {
    let found = cursor.clone().take_until(char::is_whitespace);
    if let Some(error) = stuck_equals(cursor, chain).or_else(|| stuck(cursor, found)) {
        return error;
    }
    let label = match found.text {
        "" => "the mode is missing",
        _ => "no ` = ` before this",
    };
    let last = chain
        .frames
        .last()
        .map_or("", |frame| frame.last_word().raw.text);
    cursor
        .error(found.range(), EXPECTED_EQUALS, label)
        .with_hint(hint_without_equals(found, last))
}

/// What there is to say about an `=` inside a word of the last frame.
fn stuck_equals(cursor: &Cursor<'_>, chain: &Chain<'_>) -> Option<SyntaxError> {
    let frame = chain.frames.last()?;
    let mut words = std::iter::once(&frame.destination).chain(&frame.interface);
    words.find_map(|word| stuck(cursor, word.raw))
}

/// What there is to say about a word, if it is an `=` stuck to its neighbours.
fn stuck(cursor: &Cursor<'_>, word: Slice<'_>) -> Option<SyntaxError> {
    let (front, back) = word.text.rsplit_once('=')?;
    // A quoted line break would tear the hint apart.
    if word.text.contains(char::is_control) {
        return None;
    }
    let mode = back.split(',').next().unwrap_or_default();
    let instead = match (front, mode) {
        ("", _) => format!("= {mode}"),
        (_, "") => format!("{front} = MODE"),
        _ if is_mode(mode) => format!("{front} = {mode}"),
        _ => return None,
    };
    let label = "`=` needs white space on both sides";
    let error = cursor.error(word.range(), EXPECTED_EQUALS, label);
    Some(error.with_hint(format!("write `{instead}`")))
}

fn hint_without_equals(found: Slice<'_>, last: &str) -> String {
    let mode = found.text.split(',').next().unwrap_or_default();
    if let Some(hint) = arrow_hint(found) {
        hint
    } else if is_mode(mode) {
        format!("write `= {mode}`")
    } else if is_mode(last) {
        format!("write `= {last}`")
    } else if last.ends_with(',') {
        "each fault has its own mode: `cart GET /cart = 503, pay POST /pay = 503`".to_owned()
    } else {
        "a fault is a call and how it fails: `cart GET /cart = 503`".to_owned()
    }
}

fn is_mode(text: &str) -> bool {
    text.parse::<Mode>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use super::*;

    #[test]
    fn targets_are_as_plain_as_they_can_be() {
        let kind = |text: &str| match text.parse().unwrap() {
            Target::Call(_) => "call",
            Target::Every(_) => "every",
            Target::Matching(_) => "matching",
        };
        let cases = [
            ("cart GET /cart #2", "call"),
            ("a b/c > cart GET /cart #*", "every"),
            ("a b/c #* > cart GET /cart #*", "matching"),
            ("cart GET /cart #..2", "matching"),
            ("cart", "matching"),
            ("** > cart GET /cart", "matching"),
            (r#"cart GET "/*""#, "call"),
        ];
        for (text, expected) in cases {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn a_target_that_names_one_call_is_its_first_attempt_and_a_pattern_is_every_attempt() {
        let cases = [
            ("a GET / > b GET /b", [true, false]),
            ("a GET / > b GET /b #*", [true, true]),
            ("a GET / > b GET /b #2", [false, true]),
            ("a GET / > b GET /*", [true, true]),
            ("a GET / > b GET /* #1", [true, false]),
            ("** > b GET /b", [true, true]),
        ];
        for (text, expected) in cases {
            let target: Target = text.parse().unwrap();
            let attempt = |n| format!("a GET / > b GET /b #{n}").parse().unwrap();
            assert_eq!(
                [1, 2].map(|n| target.matches(&attempt(n))),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn faultloads_are_read_and_written_in_one_form() {
        let cases = [
            ("", "none"),
            (" none\n", "none"),
            ("none GET / = 503", "none GET / = 503"),
            ("none = 503", "** > none * = 503"),
            ("^ none = 503", "^ none * = 503"),
            ("^ none GET / = 503", "none GET / = 503"),
            (
                "b GET /x,y = 503,a GET /,=reset = hang",
                "a GET /,=reset = hang, b GET /x,y = 503",
            ),
            (
                "cart GET /cart #* = delay:90s",
                "cart GET /cart #* = delay:1m30s",
            ),
            (
                "a b/c = 500 , a b/c #2 = 500,\n a b/c #* = 503",
                "a b/c = 500, a b/c #2 = 500, a b/c #* = 503",
            ),
            ("** > cart * #* = 503", "** > cart * = 503"),
            ("** > cart * #1 = 503", "** > cart * #1 = 503"),
            ("a b/c #* > d e/f #..2 = 503", "a b/c #* > d e/f #..2 = 503"),
            (
                r#"cart GET /c #* {site="x"} = reset"#,
                r#"cart GET /c #* {site="x"} = reset"#,
            ),
        ];
        for (text, written) in cases {
            let load: Faultload = text.parse().unwrap();
            assert_eq!(load.to_string(), written);
            assert_eq!(written.parse(), Ok(load));
        }
    }

    #[test]
    fn what_is_no_faultload_is_refused_with_its_place() {
        let cases = [
            ("cart GET /cart = 5O3", "5O3", "did you mean `503`?"),
            ("cart GET /cart =", "", "a mode is missing"),
            ("cart GET /cart = , b c/d = 503", "", "a mode is missing"),
            ("cart GET /cart", "", "the mode is missing"),
            ("cart GET /cart=503", "/cart=503", "write `/cart = 503`"),
            ("cart=503, b = 503", "cart=503,", "write `cart = 503`"),
            ("cart GET /cart =503", "=503", "write `= 503`"),
            ("cart GET /cart= 503", "/cart=", "write `/cart = MODE`"),
            ("cart GET /cart 503", "503", "write `= 503`"),
            ("cart GET 503", "", "write `= 503`"),
            ("a GET /x, b GET /y = 503", "b", "its own mode"),
            ("a GET /x >b GET /y = 503", ">b", "white space around `>`"),
            (
                "a GET /x = 503, a GET /x = 500",
                "a GET /x = 500",
                "fails already, with `503`",
            ),
            (
                "a b/c = 503, a b/c #1 = 503",
                "a b/c #1 = 503",
                "leave the second one out",
            ),
            ("a b/c = 503 reset", "reset", "expected `,`"),
            ("a b/c = 503,", "", "nothing follows"),
            ("a b/c = 503,, d e/f = 503", ",", "not a name"),
            ("a /c = 503", "/c", "as in `GET /c`"),
            (
                "cart=503, b GET /x = 503",
                "cart=503,",
                "write `cart = 503`",
            ),
        ];
        for (text, at, says) in cases {
            assert_refused::<Faultload>(text, at, says);
        }
        assert_refused::<Fault>(
            "a b/c = 503, d e/f = 503",
            ", d e/f = 503",
            "expected one fault",
        );
        assert_refused::<Target>("a b/c = 503", "=", "a mode is not wanted");
    }

    #[test]
    fn the_error_shows_the_place() {
        let error = "cart GET /cart = 5O3".parse::<Faultload>().unwrap_err();
        let expected = "\
cannot read this faultload: expected a mode such as `503`, `reset` or `delay:2s`
  | cart GET /cart = 5O3
  |                  ^^^ not a mode
hint: did you mean `503`?";
        assert_eq!(error.to_string(), expected);
    }
}

//! The text form of patterns: `** > cart GET /users/* #..3 {body=3fa9}`.
//!
//! Owns the generous reading of a chain, in which things may be left open, and
//! what a missing `#` means: every attempt in a pattern, the first in a target
//! that names one call. A single frame is a call by anyone, unless `^` says that
//! it is an entry call or a target spells it out.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::SyntaxError;
use super::frame::{Chain, RawFrame, expect_end, read_chain};
use super::interface::{check_grpc_name, looks_like_path};
use super::lexer::{Cursor, Word};
use super::options;
use super::point::write_count;
use super::text::{IN_FRAME, IN_PATH, write_text, write_text_quoted};
use crate::{Attempts, FramePattern, InterfacePattern, Pattern, PayloadHash, Target, Text};

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_pattern(f, self, Attempts::Any, true)
    }
}

/// Writes the pattern as the target of a fault, which a pattern that names one
/// call is read as.
pub(super) fn write_target(f: &mut impl Write, pattern: &Pattern) -> fmt::Result {
    let unsaid = unsaid_in_target(pattern);
    write_pattern(f, pattern, unsaid, !pattern.is_spelled_out())
}

/// The attempts that a missing `#` stands for in a target.
fn unsaid_in_target(pattern: &Pattern) -> Attempts {
    match pattern.is_spelled_out() {
        true => Attempts::Exactly(1),
        false => Attempts::Any,
    }
}

fn write_pattern(
    f: &mut impl Write,
    pattern: &Pattern,
    unsaid: Attempts,
    marks_entry: bool,
) -> fmt::Result {
    if pattern.anywhere {
        f.write_str("** > ")?;
    } else if marks_entry && pattern.frames.len() == 1 {
        f.write_str("^ ")?;
    }
    for (i, frame) in pattern.frames.iter().enumerate() {
        if i > 0 {
            f.write_str(" > ")?;
        }
        write_frame(f, frame, unsaid)?;
    }
    Ok(())
}

fn write_frame(f: &mut impl Write, frame: &FramePattern, unsaid: Attempts) -> fmt::Result {
    write_text(f, &frame.destination, IN_FRAME)?;
    f.write_char(' ')?;
    write_interface(f, &frame.interface)?;
    write_count(f, frame.count, unsaid)?;
    let (body, after) = (frame.payload.as_deref(), frame.predecessors.as_ref());
    options::write(f, body, after, frame.site.as_ref())
}

fn write_interface(f: &mut impl Write, interface: &InterfacePattern) -> fmt::Result {
    match interface {
        InterfacePattern::Any => f.write_char('*'),
        InterfacePattern::Http { method, path } => {
            write_text(f, method, IN_FRAME)?;
            f.write_char(' ')?;
            write_text(f, path, IN_PATH)
        }
        InterfacePattern::Grpc(name) if needs_quotes(name) => write_text_quoted(f, name, IN_FRAME),
        InterfacePattern::Grpc(name) => write_text(f, name, IN_FRAME),
    }
}

/// Whether a gRPC name would be taken for something else: for any interface,
/// or for half of an HTTP interface.
fn needs_quotes(name: &Text) -> bool {
    match name.literal() {
        Some(name) => looks_like_path(name) || !name.contains('/'),
        None => *name == Text::any() || looks_like_path(&name.pieces()[0]),
    }
}

impl FromStr for Pattern {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new("pattern", text);
        let chain = read_chain(&mut cursor)?;
        expect_end(&mut cursor)?;
        let mut pattern = from_chain(&cursor, &chain)?;
        pattern.anywhere |= is_by_anyone(&chain);
        Ok(pattern)
    }
}

/// The target of a fault: a pattern, or one call, of which a missing `#` means
/// the first attempt, as it is printed.
pub(super) fn target(cursor: &Cursor<'_>, chain: &Chain<'_>) -> Result<Target, SyntaxError> {
    let mut pattern = from_chain(cursor, chain)?;
    pattern.anywhere |= is_by_anyone(chain) && !pattern.is_spelled_out();
    let unsaid = unsaid_in_target(&pattern);
    for (frame, raw) in pattern.frames.iter_mut().zip(&chain.frames) {
        if raw.count.is_none() {
            frame.count = unsaid;
        }
    }
    Ok(Target::from_pattern(pattern))
}

/// Whether it is one call of which nothing says who makes it.
fn is_by_anyone(chain: &Chain<'_>) -> bool {
    chain.frames.len() == 1 && !chain.from_entry
}

fn from_chain(cursor: &Cursor<'_>, chain: &Chain<'_>) -> Result<Pattern, SyntaxError> {
    let frames: Result<Vec<_>, _> = chain.frames.iter().map(|raw| frame(cursor, raw)).collect();
    Ok(Pattern {
        anywhere: chain.anywhere.is_some(),
        frames: frames?,
    })
}

fn frame(cursor: &Cursor<'_>, raw: &RawFrame<'_>) -> Result<FramePattern, SyntaxError> {
    let (interface, query) = interface(cursor, &raw.interface)?;
    let of_query = query.and_then(|query| PayloadHash::of(&query, b"", &[]));
    let of_query = of_query.map(|hash| hash.to_string().into());
    let payload = raw.options.body.map(|digits| digits.0.text.into());
    Ok(FramePattern {
        destination: raw.destination.to_text(),
        interface,
        payload: payload.or(of_query),
        predecessors: raw.options.after.clone(),
        site: raw.options.site.as_ref().map(Word::to_text),
        count: match &raw.count {
            Some(count) => count.attempts,
            None => Attempts::Any,
        },
    })
}

/// What is asked for, and the query behind its path, if there is one.
fn interface(
    cursor: &Cursor<'_>,
    words: &[Word<'_>],
) -> Result<(InterfacePattern, Option<String>), SyntaxError> {
    let interface = match words {
        [method, path, ..] => {
            let (path, query) = without_query(cursor, path)?;
            let method = method.to_text();
            return Ok((InterfacePattern::Http { method, path }, query));
        }
        [only] if only.raw.text.bytes().all(|b| b == b'*') => InterfacePattern::Any,
        [name] => {
            check_grpc_name(cursor, name)?;
            InterfacePattern::Grpc(name.to_text())
        }
        [] => InterfacePattern::Any,
    };
    Ok((interface, None))
}

/// A path and the query behind it: `/price?sku=1`. A query is what a call
/// without a body sends, so it stands for the hash of that. In quotes, `?` is a
/// part of the path.
fn without_query(
    cursor: &Cursor<'_>,
    word: &Word<'_>,
) -> Result<(Text, Option<String>), SyntaxError> {
    let raw = word.raw;
    let Some(mark) = raw.text.find('?').filter(|_| !raw.text.contains('"')) else {
        return Ok((word.to_text(), None));
    };
    let (last, before) = word.pieces.split_last().expect("a word has a piece");
    let Some((path, query)) = last.split_once('?') else {
        return Err(cursor
            .error(
                raw.start + mark..raw.start + raw.text.len(),
                "a query has no wildcards",
                "`*` stands for no part of it",
            )
            .with_hint("leave the query out to mean every query"));
    };
    let pieces = before.iter().map(String::as_str).chain([path]);
    let path = Text::from_pieces(pieces);
    Ok((path, Some(query.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use super::*;

    #[test]
    fn a_query_stands_for_what_a_call_without_a_body_sends() {
        let point = |query: &str| {
            let hash = PayloadHash::of(query, b"", &[]).unwrap();
            let text = format!("shop GET / > cart GET /price {{body={hash}}}");
            text.parse::<crate::Point>().unwrap()
        };
        let pattern: Pattern = "cart GET /pri*?sku=1&at=2".parse().unwrap();
        assert!(pattern.matches(&point("at=2&sku=1")));
        assert!(!pattern.matches(&point("sku=2")));
        let target: Target = "shop GET / > cart GET /price?sku=1".parse().unwrap();
        assert_eq!(target, Target::Call(point("sku=1")));
        let quoted: Pattern = r#"cart GET "/price?sku=1""#.parse().unwrap();
        assert!(!quoted.matches(&point("sku=1")));
        let error = "cart GET /price?sku=*".parse::<Pattern>().unwrap_err();
        assert!(
            error.to_string().contains("a query has no wildcards"),
            "{error}"
        );
    }

    #[test]
    fn patterns_are_read_and_written_in_one_form() {
        let cases = [
            ("cart", "** > cart *"),
            ("^ cart", "^ cart *"),
            ("^cart *", "^ cart *"),
            ("cart **", "** > cart *"),
            ("* * *", "** > * * *"),
            ("^ shop > cart", "shop * > cart *"),
            (r#""^cart" *"#, r#"** > "^cart" *"#),
            ("** > cart GET /cart #*", "** > cart GET /cart"),
            ("** > cart GET /cart #1", "** > cart GET /cart #1"),
            ("** > * #..3", "** > * * #..3"),
            ("^ cart GET /users/** #2", "^ cart GET /users/* #2"),
            (r#"^ cart GET "/a*b"*"#, r#"^ cart GET "/a*b"*"#),
            (r#"^ cart ""*"#, r#"^ cart ""*"#),
            (r#"^ cart "GetCart""#, r#"^ cart "GetCart""#),
            (r#"^ cart "/"*"#, r#"^ cart "/"*"#),
            ("^ cart */Get*", "^ cart */Get*"),
            (r#"^ *""* *"#, r#"^ *""* *"#),
            (
                "^ cart {site=app.py:*, body=3fa9}",
                "^ cart * {body=3fa9, site=app.py:*}",
            ),
            (r#"^ cart {site="a*,b"}"#, r#"^ cart * {site="a*,b"}"#),
            (r#"^ cart {site=a","*"}"}"#, r#"^ cart * {site="a,"*"}"}"#),
        ];
        for (text, written) in cases {
            let pattern: Pattern = text.parse().unwrap();
            assert_eq!(pattern.to_string(), written, "{text}");
            assert_eq!(written.parse(), Ok(pattern));
        }
    }

    #[test]
    fn patterns_match_every_attempt_unless_one_is_named() {
        let cases = [
            ("** > cart *", [true, true, true]),
            ("shop GET / > cart GET /cart", [true, true, true]),
            ("** > cart * #*", [true, true, true]),
            ("** > cart * #1", [true, false, false]),
            ("** > cart * #2", [false, true, false]),
            ("** > cart * #..2", [true, true, false]),
        ];
        for (text, expected) in cases {
            let pattern: Pattern = text.parse().unwrap();
            let attempt = |n| format!("shop GET / > cart GET /cart #{n}").parse().unwrap();
            let matches = [1, 2, 3].map(|n| pattern.matches(&attempt(n)));
            assert_eq!(matches, expected, "{text}");
        }
    }

    #[test]
    fn a_star_in_quotes_is_no_wildcard() {
        let reads = |text: &str, point: &str| {
            text.parse::<Pattern>()
                .unwrap()
                .matches(&point.parse().unwrap())
        };
        assert!(reads(r#"cart GET "/a*""#, r#"cart GET "/a*""#));
        assert!(!reads(r#"cart GET "/a*""#, "cart GET /ab"));
        assert!(reads("cart GET /a*", "cart GET /ab"));
        assert!(reads(r#"cart GET "/a*"*"#, r#"cart GET "/a*b""#));
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_its_place() {
        let cases = [
            ("cart GET", "GET", "as in `GET /cart`"),
            ("cart /cart/*", "/cart/*", "as in `GET /cart/*`"),
            ("**", "**", "a call after `**`"),
            ("** >", "", "nothing follows"),
            ("cart #..0", "#..0", "counts begin at 1"),
            ("cart #..", "#..", "for the first three"),
            ("cart {body=}", "body", "its value is missing"),
            ("cart {body=3F}", "3F", "lower-case"),
            ("cart {body=3*}", "3*", "hexadecimal"),
            (r"cart GET /\*", "\\", "only in quotes"),
        ];
        for (text, at, says) in cases {
            assert_refused::<Pattern>(text, at, says);
        }
    }
}

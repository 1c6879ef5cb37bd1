//! The completed siblings of a call, the text inside `after="…"`.
//!
//! `cart GET /cart:2; pay shop.Pay/Charge:1 {body=…}`: siblings separated by
//! `;`, each a destination and an interface, the count stuck to the last word
//! and the payload behind it. A bare word ends at `;`, so one that holds a `;`
//! is quoted; the count is what follows the last `:` and always written, so
//! that paths may hold colons. The whole is then quoted once more.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::SyntaxError;
use super::interface::{interface, write_interface};
use super::lexer::{Cursor, Next, Word};
use super::options;
use super::point::literal;
use super::text::{IN_SIBLINGS, write_literal};
use crate::{Predecessors, Sibling};

const EXPECTED: &str = "expected completed calls such as `cart GET /cart:1; pay POST /pay:2`";

impl fmt::Display for Sibling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_call(f, self)?;
        write_payload(f, self)
    }
}

fn write_call(f: &mut impl fmt::Write, sibling: &Sibling) -> fmt::Result {
    write_literal(f, &sibling.destination, IN_SIBLINGS)?;
    f.write_char(' ')?;
    write_interface(f, &sibling.interface, IN_SIBLINGS)
}

fn write_payload(f: &mut impl fmt::Write, sibling: &Sibling) -> fmt::Result {
    let payload = sibling.payload.map(|hash| hash.to_string());
    options::write(f, payload.as_deref(), None, None)
}

fn write_all(f: &mut impl fmt::Write, siblings: &Predecessors) -> fmt::Result {
    for (i, (sibling, count)) in siblings.0.iter().enumerate() {
        if i > 0 {
            f.write_str("; ")?;
        }
        write_call(f, sibling)?;
        write!(f, ":{count}")?;
        write_payload(f, sibling)?;
    }
    Ok(())
}

/// The list as text, not yet in quotes.
pub(super) fn to_text(siblings: &Predecessors) -> String {
    let mut text = String::new();
    write_all(&mut text, siblings).expect("a string takes whatever is written to it");
    text
}

/// Reads the list that the value of `after=` holds.
pub(super) fn from_word(outer: &Cursor<'_>, value: &Word<'_>) -> Result<Predecessors, SyntaxError> {
    let whole = value.raw.range();
    let Some(text) = value.literal() else {
        return Err(outer
            .error(
                whole,
                "the completed calls have no wildcards",
                "holds a wildcard",
            )
            .with_hint("leave `after` out if any will do"));
    };
    read_all(text).map_err(|error| {
        // Escapes shift the places inside; without them they are exact.
        let exact = value
            .raw
            .text
            .strip_prefix('"')
            .is_some_and(|rest| rest.starts_with(text));
        let span = error.span();
        let start = whole.start + 1;
        match exact {
            true => outer.adopt(error, start + span.start..start + span.end),
            false => outer.adopt(error, whole),
        }
    })
}

fn read_all(text: &str) -> Result<Predecessors, SyntaxError> {
    let mut cursor = Cursor::new("list of calls", text);
    let mut siblings = BTreeMap::new();
    if cursor.next() == Next::End {
        return Ok(Predecessors::default());
    }
    loop {
        cursor.skip_space();
        let start = cursor.at();
        let (sibling, count) = read_sibling(&mut cursor)?;
        let span = start..cursor.at();
        if siblings.insert(sibling, count).is_some() {
            return Err(cursor.error(span, "a completed call is listed twice", "the second time"));
        }
        cursor.skip_space();
        if cursor.rest().is_empty() {
            return Ok(Predecessors(Arc::new(siblings)));
        }
        if !cursor.eat(';') {
            let found = cursor.take_until(char::is_whitespace);
            return Err(cursor.error(found.range(), EXPECTED, "does not belong here"));
        }
    }
}

fn read_sibling(cursor: &mut Cursor<'_>) -> Result<(Sibling, u32), SyntaxError> {
    let mut words = Vec::new();
    while words.len() < 3 && cursor.next() == Next::Word && cursor.peek() != Some(';') {
        words.push(cursor.word(IN_SIBLINGS)?);
    }
    let Some(count) = words.last_mut().and_then(split_count) else {
        let at = words
            .last()
            .map_or(cursor.at()..cursor.at(), |word| word.raw.range());
        return Err(cursor
            .error(at, EXPECTED, "a count is missing")
            .with_hint("the highest count of a completed call follows it, from 1: `GET /cart:1`"));
    };
    let (destination, rest) = (&words[0], &words[1..]);
    let sibling = Sibling {
        destination: literal(cursor, destination)?.into(),
        interface: interface(cursor, destination, rest)?,
        payload: read_payload(cursor)?,
    };
    Ok((sibling, count))
}

/// Takes the `:n` off a word that ends so outside of quotes.
fn split_count(word: &mut Word<'_>) -> Option<u32> {
    let (_, digits) = word.raw.text.rsplit_once(':')?;
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let count = digits.parse().ok().filter(|count| *count > 0)?;
    let piece = word.pieces.last_mut()?;
    piece.truncate(piece.len().checked_sub(digits.len() + 1)?);
    Some(count)
}

fn read_payload(cursor: &mut Cursor<'_>) -> Result<Option<crate::PayloadHash>, SyntaxError> {
    if cursor.next() != Next::Options {
        return Ok(None);
    }
    let options = options::read(cursor)?;
    if let Some(name) = options.names.iter().find(|name| name.text != "body") {
        return Err(cursor.error(
            name.range(),
            "a completed call is distinguished by its payload only",
            "only `body` is possible here",
        ));
    }
    options.body.map(|digits| digits.hash(cursor)).transpose()
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use crate::Point;

    #[test]
    fn what_is_no_list_of_calls_is_refused_with_its_place() {
        let cases = [
            (
                r#"cart GET /x {after="a GET /b"}"#,
                "/b",
                "a count is missing",
            ),
            (r#"cart GET /x {after="a GET /b:0"}"#, "/b:0", "from 1"),
            (
                r#"cart GET /x {after="a GET /b:1;"}"#,
                "",
                "a count is missing",
            ),
            (
                r#"cart GET /x {after="a:1"}"#,
                "",
                "the interface is missing",
            ),
            (
                r#"cart GET /x {after="a b/c:1; a b/c:2"}"#,
                "a b/c:2",
                "listed twice",
            ),
            (
                r#"cart GET /x {after="a b/c:1 > d e/f:1"}"#,
                ">",
                "does not belong here",
            ),
            (
                r#"cart GET /x {after="a b/c:1 {site=x}"}"#,
                "site",
                "only `body`",
            ),
            (
                r#"cart GET /x {after="a b\u{41}:1"}"#,
                r#""a b\u{41}:1""#,
                "not an interface",
            ),
            (
                r#"cart GET /x {after="*"*}"#,
                r#""*"*"#,
                "leave `after` out",
            ),
        ];
        for (text, at, says) in cases {
            assert_refused::<Point>(text, at, says);
        }
    }
}

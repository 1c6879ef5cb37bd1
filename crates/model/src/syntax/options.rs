//! The options of a frame: `{body=3fa9, after="cart GET /cart:1", site="app.py:41"}`.
//!
//! Read in any order, written in that one. An option that is left out matches
//! anything in a pattern and is unknown in a point.

use std::fmt::{self, Write};

use super::SyntaxError;
use super::lexer::{Cursor, Slice, Word};
use super::siblings;
use super::suggest::nearest;
use super::text::{IN_OPTIONS, write_quoted, write_text};
use crate::{PayloadHash, Predecessors, Text};

const NAMES: [&str; 3] = ["body", "after", "site"];
const EXPECTED: &str = "expected an option: `body=`, `after=` or `site=`";

/// Hexadecimal digits of a whole payload hash.
const ALL_DIGITS: usize = 2 * size_of::<PayloadHash>();

/// Options as written.
#[derive(Default)]
pub(super) struct Options<'a> {
    pub(super) body: Option<Digits<'a>>,
    pub(super) after: Option<Predecessors>,
    pub(super) site: Option<Word<'a>>,
    /// The name of each option given, to find it given twice.
    pub(super) names: Vec<Slice<'a>>,
}

/// The leading digits of a payload hash: lower-case hexadecimal, 1 to 32.
#[derive(Clone, Copy)]
pub(super) struct Digits<'a>(pub(super) Slice<'a>);

impl Digits<'_> {
    /// The hash, if all of its digits are there.
    pub(super) fn hash(&self, cursor: &Cursor<'_>) -> Result<PayloadHash, SyntaxError> {
        self.0.text.parse().map_err(|_| {
            let message = format!("expected all {ALL_DIGITS} digits of the hash");
            cursor
                .error(self.0.range(), message, "only a part of it")
                .with_hint("only the targets of faults and other patterns may cut it short")
        })
    }
}

/// Reads the options in braces that come next.
pub(super) fn read<'a>(cursor: &mut Cursor<'a>) -> Result<Options<'a>, SyntaxError> {
    let open = cursor.at()..cursor.at() + 1;
    cursor.eat('{');
    let mut options = Options::default();
    loop {
        read_option(cursor, &mut options)?;
        cursor.skip_space();
        match cursor.bump() {
            Some(',') => {}
            Some('}') => return Ok(options),
            None => return Err(cursor.error(open, "expected a closing `}`", "never closed")),
            Some(c) => {
                let at = cursor.at() - c.len_utf8()..cursor.at();
                return Err(cursor
                    .error(
                        at,
                        "expected `,` or `}` after an option",
                        "does not belong here",
                    )
                    .with_hint("put values that hold white space, `,` or `}` in quotes"));
            }
        }
    }
}

fn read_option<'a>(cursor: &mut Cursor<'a>, options: &mut Options<'a>) -> Result<(), SyntaxError> {
    cursor.skip_space();
    let name = cursor.take_until(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    if !NAMES.contains(&name.text) {
        return Err(unknown(cursor, name));
    }
    if options.names.iter().any(|known| known.text == name.text) {
        let message = format!("`{}` is given twice", name.text);
        return Err(cursor.error(name.range(), message, "the second time"));
    }
    options.names.push(name);
    cursor.skip_space();
    if !cursor.eat('=') {
        let message = format!("expected `=` and a value after `{}`", name.text);
        return Err(cursor.error(name.range(), message, "its value is missing"));
    }
    cursor.skip_space();
    let value = cursor.word(IN_OPTIONS)?;
    if value.raw.text.is_empty() {
        let message = format!("expected a value after `{}=`", name.text);
        return Err(cursor.error(name.range(), message, "its value is missing"));
    }
    match name.text {
        "body" => options.body = Some(digits(cursor, &value)?),
        "after" => options.after = Some(siblings::from_word(cursor, &value)?),
        _ => options.site = Some(value),
    }
    Ok(())
}

fn unknown(cursor: &Cursor<'_>, name: Slice<'_>) -> SyntaxError {
    if name.text.is_empty() {
        let end = cursor.at() + cursor.peek().map_or(0, char::len_utf8);
        return cursor
            .error(name.start..end, EXPECTED, "not an option")
            .with_hint("put a path that begins with `{` in quotes");
    }
    let error = cursor.error(name.range(), EXPECTED, "not an option");
    match nearest(name.text, NAMES) {
        Some(meant) => error.with_hint(format!("did you mean `{meant}`?")),
        None => error.with_hint(
            "`body` is the hash of what is sent, `after` the calls completed before, `site` the \
             place in the caller's code",
        ),
    }
}

fn digits<'a>(cursor: &Cursor<'_>, value: &Word<'a>) -> Result<Digits<'a>, SyntaxError> {
    let text = value.raw.text;
    let hex = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if hex && text.len() <= ALL_DIGITS {
        return Ok(Digits(value.raw));
    }
    let message = format!("expected 1 to {ALL_DIGITS} lower-case hexadecimal digits");
    Err(cursor.error(value.raw.range(), message, "not the beginning of a hash"))
}

/// Writes the options that are given, with a space before them.
pub(super) fn write(
    f: &mut impl Write,
    body: Option<&str>,
    after: Option<&Predecessors>,
    site: Option<&Text>,
) -> fmt::Result {
    let mut lead = " {";
    if let Some(digits) = body {
        write!(f, "{lead}body={digits}")?;
        lead = ", ";
    }
    if let Some(after) = after {
        write!(f, "{lead}after=")?;
        write_quoted(f, &siblings::to_text(after))?;
        lead = ", ";
    }
    if let Some(site) = site {
        write!(f, "{lead}site=")?;
        write_site(f, site)?;
        lead = ", ";
    }
    if lead == ", " {
        f.write_char('}')
    } else {
        Ok(())
    }
}

/// In quotes where nothing in it is a wildcard, as call sites are full of
/// punctuation and read better so.
fn write_site(f: &mut impl Write, site: &Text) -> fmt::Result {
    match site.literal() {
        Some(literal) => write_quoted(f, literal),
        None => write_text(f, site, IN_OPTIONS),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use crate::Point;

    #[test]
    fn what_is_no_option_is_refused_with_its_place() {
        let cases = [
            ("cart GET {}/x", "}", "begins with `{`"),
            ("cart GET /x {bdy=3f}", "bdy", "did you mean `body`?"),
            ("cart GET /x {colour=red}", "colour", "`body` is the hash"),
            ("cart GET /x {site}", "site", "its value is missing"),
            ("cart GET /x {site=}", "site", "its value is missing"),
            ("cart GET /x {site=a, site=b}", "site", "given twice"),
            ("cart GET /x {site=a b}", "b", "in quotes"),
            ("cart GET /x {site=a", "{", "never closed"),
            ("cart GET /x {site=a*}", "a*", "without wildcards"),
            ("cart GET /x {body=3fa9}", "3fa9", "all 32 digits"),
            ("cart GET /x {body=XY}", "XY", "hexadecimal"),
        ];
        for (text, at, says) in cases {
            assert_refused::<Point>(text, at, says);
        }
    }
}

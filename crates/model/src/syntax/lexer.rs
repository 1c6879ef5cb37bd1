//! Reading words: white space, quotes, escapes and wildcards.
//!
//! Owns where a word begins and ends. What words mean, and in which order they
//! may come, is decided by the other modules of this folder.

use std::ops::Range;

use super::SyntaxError;
use crate::Text;

/// A part of the input that remembers where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl<'a> Slice<'a> {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// What stands before and after the first `mark`.
    pub(super) fn split_once(&self, mark: char) -> Option<(Slice<'a>, Slice<'a>)> {
        let at = self.text.find(mark)?;
        Some((
            self.cut(0..at),
            self.cut(at + mark.len_utf8()..self.text.len()),
        ))
    }

    fn cut(&self, range: Range<usize>) -> Slice<'a> {
        Slice {
            start: self.start + range.start,
            text: &self.text[range],
        }
    }
}

/// One word: its source, and the literal pieces between its wildcards.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    pub(super) raw: Slice<'a>,
    pub(super) pieces: Vec<String>,
}

impl Word<'_> {
    /// The text of the word, if there is no wildcard in it.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    pub(super) fn to_text(&self) -> Text {
        Text::from_pieces(self.pieces.iter().map(String::as_str))
    }

    pub(super) fn begins_quoted(&self) -> bool {
        self.raw.text.starts_with('"')
    }
}

/// What the next word will be, told from its first characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    End,
    Arrow,
    Equals,
    Comma,
    Count,
    Options,
    Word,
}

/// A place in the input, moving forward.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    /// What is being read, as the error calls it.
    subject: &'static str,
    input: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(subject: &'static str, input: &'a str) -> Self {
        Cursor {
            subject,
            input,
            at: 0,
        }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.input[self.at..]
    }

    pub(super) fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> SyntaxError {
        SyntaxError::new(self.subject, self.input, span, message, label)
    }

    /// An error found in a text that stands at `span` of this input.
    pub(super) fn adopt(&self, error: SyntaxError, span: Range<usize>) -> SyntaxError {
        error.within(self.subject, self.input, span)
    }

    pub(super) fn skip_space(&mut self) {
        self.at = self.input.len() - self.rest().trim_start().len();
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Moves past `c` if it comes next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let comes = self.peek() == Some(c);
        if comes {
            self.at += c.len_utf8();
        }
        comes
    }

    /// Moves up to the first character that `ends` the slice.
    pub(super) fn take_until(&mut self, ends: impl Fn(char) -> bool) -> Slice<'a> {
        let rest = self.rest();
        let len = rest.find(ends).unwrap_or(rest.len());
        let slice = Slice {
            text: &rest[..len],
            start: self.at,
        };
        self.at += len;
        slice
    }

    /// Skips white space and tells what stands behind it.
    pub(super) fn next(&mut self) -> Next {
        self.skip_space();
        let mut chars = self.rest().chars();
        let first = chars.next();
        let alone = chars.next().is_none_or(char::is_whitespace);
        match first {
            None => Next::End,
            Some('>') if alone => Next::Arrow,
            Some('=') if alone => Next::Equals,
            Some(',') => Next::Comma,
            Some('#') => Next::Count,
            Some('{') => Next::Options,
            Some(_) => Next::Word,
        }
    }

    /// Refuses whatever still comes.
    pub(super) fn expect_no_more(&mut self, expected: &str) -> Result<(), SyntaxError> {
        match self.next() {
            Next::End => Ok(()),
            _ => {
                let more = self.at..self.input.trim_end().len();
                Err(self.error(more, expected, "more follows"))
            }
        }
    }

    /// The word that begins here. White space ends it, and outside of quotes
    /// every character of `stops` does.
    pub(super) fn word(&mut self, stops: &[char]) -> Result<Word<'a>, SyntaxError> {
        let (start, rest) = (self.at, self.rest());
        let (mut pieces, mut piece) = (Vec::new(), String::new());
        let mut after_star = false;
        while let Some(c) = self.peek() {
            match c {
                '"' => self.quoted(&mut piece)?,
                // Several wildcards in a row mean no more than one.
                '*' if after_star => self.at += 1,
                '*' => {
                    pieces.push(std::mem::take(&mut piece));
                    self.at += 1;
                }
                '\\' => return Err(self.bare_backslash()),
                c if c.is_whitespace() || stops.contains(&c) => break,
                c => {
                    piece.push(c);
                    self.at += c.len_utf8();
                }
            }
            after_star = c == '*';
        }
        pieces.push(piece);
        let text = &rest[..self.at - start];
        let raw = Slice { text, start };
        Ok(Word { raw, pieces })
    }

    /// Refused, because whoever writes `\*` means something by it.
    fn bare_backslash(&self) -> SyntaxError {
        self.error(
            self.at..self.at + 1,
            "a backslash means something only in quotes",
            "outside of quotes",
        )
        .with_hint(r#"put the text in quotes: `"*"` is a plain `*`, `"\\"` a plain backslash"#)
    }

    fn quoted(&mut self, piece: &mut String) -> Result<(), SyntaxError> {
        let open = self.at;
        self.at += 1;
        while let Some(c) = self.bump() {
            match c {
                '"' => return Ok(()),
                '\\' => piece.push(self.escape()?),
                c => piece.push(c),
            }
        }
        Err(self.error(open..open + 1, "expected a closing `\"`", "never closed"))
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let start = self.at - 1;
        let meant = match self.bump() {
            Some(c @ ('"' | '\\')) => Some(c),
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('u') => self.unicode_escape(),
            _ => None,
        };
        let expected = r#"expected an escape: `\"`, `\\`, `\n`, `\t`, `\r` or `\u{..}`"#;
        meant.ok_or_else(|| self.error(start..self.at, expected, "not an escape"))
    }

    fn unicode_escape(&mut self) -> Option<char> {
        let (digits, _) = self.rest().strip_prefix('{')?.split_once('}')?;
        let is_number =
            (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let meant = char::from_u32(u32::from_str_radix(digits, 16).ok()?).filter(|_| is_number)?;
        self.at += digits.len() + 2;
        Some(meant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(text: &'a str, stops: &[char]) -> Result<(Vec<String>, &'a str), SyntaxError> {
        let mut cursor = Cursor::new("word", text);
        let word = cursor.word(stops)?;
        Ok((word.pieces, cursor.rest()))
    }

    #[test]
    fn words_are_read_piece_by_piece() {
        let cases = [
            ("abc def", &["abc"][..], " def"),
            ("/users/{}/x,y=1", &["/users/{}/x,y=1"], ""),
            ("a*b", &["a", "b"], ""),
            ("**", &["", ""], ""),
            (r#"*""*"#, &["", "", ""], ""),
            (r#""a*b"*c"#, &["a*b", "c"], ""),
            (r#""a b"c"d e""#, &["a bcd e"], ""),
            (r#""\"\\\n\t\r\u{e9}\u{1F600}""#, &["\"\\\n\t\ré😀"], ""),
            (r#""""#, &[""], ""),
        ];
        for (text, pieces, rest) in cases {
            assert_eq!(
                read(text, &[]).unwrap(),
                (pieces.iter().map(|p| p.to_string()).collect(), rest)
            );
        }
    }

    #[test]
    fn a_stop_ends_a_word_outside_of_quotes_only() {
        assert_eq!(
            read(r#"a";b";c"#, &[';']).unwrap(),
            (vec!["a;b".to_owned()], ";c")
        );
    }

    #[test]
    fn what_cannot_be_a_word_is_refused_with_its_place() {
        let cases = [
            (r#"ab"cd"#, "\"", "closing"),
            (r#"a\*b"#, "\\", "only in quotes"),
            (r#""a\qb""#, r"\q", "escape"),
            (r#""a\"#, r"\", "escape"),
            (r#""\u{d800}""#, r"\u", "escape"),
            (r#""\u{}""#, r"\u", "escape"),
            (r#""\u{+41}""#, r"\u", "escape"),
            (r#""\u41""#, r"\u", "escape"),
        ];
        for (text, at, says) in cases {
            let error = read(text, &[]).unwrap_err();
            assert_eq!(&text[error.span()], at, "{text}");
            assert!(error.message().contains(says), "{error}");
        }
    }
}

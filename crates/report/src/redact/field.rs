//! Values of fields and headers whose names tell that they are secret.
//!
//! Owns the names, and how a name and its value look in JSON (also inside a
//! string), in printed objects of scripting languages, in queries and forms,
//! in settings files, in header lines, and in the options of a command. A name
//! that is part of a sentence is none: behind an unquoted name, a colon counts
//! only where a field or a line begins, or where it cannot but be a header's.

use std::ops::Range;

use super::{MARK, begins_word, is_name, run};

/// Names are secret that end so, whatever their case, `_` and `-`.
const SECRET: [&str; 18] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authorization",
    "cookie",
    "session",
    "sessionid",
    "sessid",
    "sessionkey",
    "sessiontoken",
    "credential",
    "credentials",
];

/// Names are secret whose last word is one of these, as in `DB_PASS` and
/// `userPwd`; as the end of a longer word they mean something else (`compass`).
const SECRET_WORDS: [&str; 5] = ["pass", "pwd", "sid", "jwt", "auth"];

/// Values of these run to the end of their line.
const HEADERS: [&str; 5] = [
    "authorization",
    "proxyauthorization",
    "cookie",
    "setcookie",
    "xapikey",
];

/// Words that begin the value of an authorization header, wherever it stands.
const SCHEMES: [&str; 6] = ["basic", "bearer", "digest", "negotiate", "token", "apikey"];

/// Names are not longer; what is need not be looked at.
const LONGEST_NAME: usize = 64;

/// The secret value of the field whose name begins at this place, if one does.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !is_name(bytes[at]) || !begins_word(bytes, at) {
        return None;
    }
    let end = at + run(bytes, at, is_name);
    let name = plain_name(&bytes[at..end])?;
    if !is_secret(&bytes[at..end], &name) {
        return None;
    }
    let name = Named {
        bytes,
        at,
        end,
        name,
    };
    name.quoted()
        .or_else(|| name.header())
        .or_else(|| name.bare())
        .or_else(|| name.option())
}

/// Whether a name tells that its value is secret.
pub(super) fn is_telling_name(name: &str) -> bool {
    plain_name(name.as_bytes()).is_some_and(|plain| is_secret(name.as_bytes(), &plain))
}

fn is_secret(name: &[u8], plain: &str) -> bool {
    // The directory that a shell is in.
    let is_directory = name == b"PWD";
    SECRET.iter().any(|secret| plain.ends_with(secret))
        || SECRET_WORDS.contains(&&*last_word(name)) && !is_directory
}

/// The last word of a name, in lower case.
fn last_word(name: &[u8]) -> String {
    let begins = |at: &usize| {
        let (before, here) = (name[at - 1], name[*at]);
        matches!(before, b'_' | b'-') || before.is_ascii_lowercase() && here.is_ascii_uppercase()
    };
    let start = (1..name.len()).rev().find(begins).unwrap_or(0);
    let word = name[start..].iter();
    word.map(|b| b.to_ascii_lowercase() as char).collect()
}

/// The name in lower case without `_` and `-`.
fn plain_name(name: &[u8]) -> Option<String> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let letters = name.iter().filter(|b| !matches!(b, b'_' | b'-'));
    Some(letters.map(|b| b.to_ascii_lowercase() as char).collect())
}

/// A telling name in its place.
struct Named<'b> {
    bytes: &'b [u8],
    at: usize,
    end: usize,
    name: String,
}

impl Named<'_> {
    fn get(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// `"password": …`, `'password': …`, `\"password\":…`
    fn quoted(&self) -> Option<Range<usize>> {
        let quote = Quote::at(self.bytes, self.end)?;
        let colon = quote.end + self.blanks(quote.end);
        if self.get(colon) != Some(b':') {
            return None;
        }
        let value = colon + 1 + self.blanks(colon + 1);
        self.string(value)
            .or_else(|| self.list(value))
            .or_else(|| self.word(value))
    }

    /// `Authorization: …` up to the end of the line, or of the string it is in.
    fn header(&self) -> Option<Range<usize>> {
        let is_header = HEADERS.contains(&&*self.name);
        if !is_header || self.get(self.end) != Some(b':') {
            return None;
        }
        let value = self.end + 1 + self.blanks(self.end + 1);
        let quote = self.quote_before();
        if quote.is_none() && !self.begins_line() && !self.is_telling(value) {
            return None;
        }
        let within = |b: u8| !matches!(b, b'\n' | b'\r') && Some(b) != quote;
        let mut length = run(self.bytes, value, within);
        let line = &self.bytes[value..value + length];
        // Line ends that are spelled out, as in the source form of a string.
        let spelled = line.windows(2).position(|w| w == b"\\r" || w == b"\\n");
        length = spelled.unwrap_or(length);
        Some(value..value + length)
    }

    /// `password=…`, `password = …`, `password: …` and with quotes around the
    /// value.
    fn bare(&self) -> Option<Range<usize>> {
        // `user[password]=…`
        let end = self.end + usize::from(self.get(self.end) == Some(b']'));
        if self.get(end) == Some(b'=') && self.get(end + 1) != Some(b'=') {
            return self.string(end + 1).or_else(|| self.word(end + 1));
        }
        let sign = self.end + self.blanks(self.end);
        let is_sign = matches!(self.get(sign), Some(b':' | b'='));
        if !is_sign || self.get(sign + 1) == Some(b'=') || !self.begins_field() {
            return None;
        }
        // `PASS: test_checkout`, as tests are told of.
        if &self.bytes[self.at..self.end] == b"PASS" {
            return None;
        }
        let value = sign + 1 + self.blanks(sign + 1);
        let string = self.string(value);
        string.or_else(|| self.lonely_word(value))
    }

    /// `--password …`, the value a word of its own, unless a sentence about the
    /// option goes on.
    fn option(&self) -> Option<Range<usize>> {
        let value = self.end + 1;
        if !self.bytes[self.at..].starts_with(b"--") || self.get(self.end) != Some(b' ') {
            return None;
        }
        let word = self.string(value).or_else(|| self.word(value))?;
        let is_option = self.get(value) == Some(b'-');
        (!is_option && !goes_on(&self.bytes[word.clone()])).then_some(word)
    }

    /// A quoted value, without its quotes; to the end of the line where the
    /// closing one is missing.
    fn string(&self, at: usize) -> Option<Range<usize>> {
        let quote = Quote::at(self.bytes, at)?;
        let end = quote.closing(self.bytes);
        let line = || quote.end + run(self.bytes, quote.end, |b| b != b'\n');
        Some(quote.end..end.unwrap_or_else(line))
    }

    /// A list, with all that is in it.
    fn list(&self, at: usize) -> Option<Range<usize>> {
        if self.get(at) != Some(b'[') {
            return None;
        }
        let mut depth = 0_usize;
        for (i, byte) in self.bytes[at..].iter().enumerate() {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at..at + i + 1);
            }
        }
        Some(at..self.bytes.len())
    }

    /// A value without quotes, unless it says that there is none.
    fn word(&self, at: usize) -> Option<Range<usize>> {
        if self.bytes[at..].starts_with(MARK.as_bytes()) {
            return Some(at..at + MARK.len());
        }
        let part = |b: u8| !b.is_ascii_whitespace() && !b"&\"'<>;,)}{\\`".contains(&b);
        let length = run(self.bytes, at, part);
        let word = &self.bytes[at..at + length];
        let nothing = ["null", "none", "nil", "true", "false", "undefined"];
        let is_nothing = nothing
            .iter()
            .any(|n| word.eq_ignore_ascii_case(n.as_bytes()));
        // How many tests pass is no secret.
        let is_count = self.name == "pass" && word.iter().all(u8::is_ascii_digit);
        (length > 0 && !is_nothing && !is_count).then_some(at..at + length)
    }

    /// A word that is all of the value, and no remark such as `expired`.
    fn lonely_word(&self, at: usize) -> Option<Range<usize>> {
        let word = self.word(at)?;
        let next = word.end + self.blanks(word.end);
        let alone = matches!(
            self.get(next),
            None | Some(b'\n' | b'\r' | b',' | b'}' | b')')
        );
        let letters = self.bytes[word.clone()]
            .iter()
            .all(|b| b.is_ascii_alphabetic() || *b == b'.');
        let remark = letters && (!self.name.contains("pass") || self.name == "pass");
        (alone && !remark).then_some(word)
    }

    fn blanks(&self, at: usize) -> usize {
        run(self.bytes, at, |b| matches!(b, b' ' | b'\t'))
    }

    /// What stands before the name, blanks left out.
    fn before(&self) -> &[u8] {
        without_blanks(&self.bytes[..self.at])
    }

    /// Whether the name begins a line, but for blanks and the `<` and `>` that
    /// curl puts there.
    fn begins_line(&self) -> bool {
        let before = self.before();
        let before = match before.last() {
            Some(b'<' | b'>') => without_blanks(&before[..before.len() - 1]),
            _ => before,
        };
        before.is_empty()
            || before.ends_with(b"\n")
            || before.ends_with(b"\r")
            || before.ends_with(b"\\n")
    }

    /// Whether the name begins a field of an object, or a line.
    fn begins_field(&self) -> bool {
        let opened = matches!(self.before().last(), Some(b'{' | b',' | b'(' | b';'));
        opened || self.begins_line()
    }

    fn quote_before(&self) -> Option<u8> {
        let last = self.at.checked_sub(1)?;
        self.get(last).filter(|b| matches!(b, b'"' | b'\''))
    }

    /// Whether this is a header in the middle of a line: one whose name is no
    /// word of a sentence, or one with a value that is none.
    fn is_telling(&self, value: usize) -> bool {
        let word = run(self.bytes, value, |b| !b.is_ascii_whitespace());
        let word = &self.bytes[value..value + word];
        match &*self.name {
            "authorization" => {
                self.is_scheme(value) || word.len() >= 8 && word.iter().any(u8::is_ascii_digit)
            }
            "cookie" => word.contains(&b'='),
            _ => true,
        }
    }

    /// Whether the value begins with the name of a scheme and goes on.
    fn is_scheme(&self, value: usize) -> bool {
        let length = run(self.bytes, value, is_name);
        let word = plain_name(&self.bytes[value..value + length]);
        let goes_on = self.get(value + length) == Some(b' ');
        goes_on && word.is_some_and(|word| SCHEMES.contains(&&*word))
    }
}

/// Words that follow the name of an option in a sentence about it.
const SENTENCE: [&str; 30] = [
    "and", "are", "argument", "by", "can", "cannot", "does", "flag", "for", "given", "has", "in",
    "is", "may", "missing", "must", "needs", "not", "option", "or", "required", "requires", "set",
    "should", "to", "value", "was", "were", "will", "with",
];

/// Whether a word goes on with a sentence, or names what is to be put there.
fn goes_on(word: &[u8]) -> bool {
    let end = word.iter().rposition(|b| !b"].:!?".contains(b));
    let word = &word[..end.map_or(0, |end| end + 1)];
    let is_placeholder = word.iter().all(|b| b.is_ascii_uppercase() || *b == b'_');
    let is_word = |known: &&str| word.eq_ignore_ascii_case(known.as_bytes());
    is_placeholder || SENTENCE.iter().any(is_word)
}

/// The bytes without the blanks at their end.
fn without_blanks(bytes: &[u8]) -> &[u8] {
    let blank = |b: &&u8| matches!(b, b' ' | b'\t');
    &bytes[..bytes.len() - bytes.iter().rev().take_while(blank).count()]
}

/// A quotation mark, with the backslashes it has inside another string.
struct Quote {
    mark: u8,
    backslashes: usize,
    end: usize,
}

impl Quote {
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let backslashes = run(bytes, at, |b| b == b'\\');
        let mark = *bytes.get(at + backslashes)?;
        matches!(mark, b'"' | b'\'').then_some(Quote {
            mark,
            backslashes,
            end: at + backslashes + 1,
        })
    }

    /// Where the string that it opens ends.
    fn closing(&self, bytes: &[u8]) -> Option<usize> {
        let mut at = self.end;
        loop {
            at += run(bytes, at, |b| b != b'\\' && b != self.mark);
            let backslashes = run(bytes, at, |b| b == b'\\');
            let mark = *bytes.get(at + backslashes)?;
            let closes = match self.backslashes {
                0 => backslashes.is_multiple_of(2),
                outer => backslashes <= outer,
            };
            if mark == self.mark && closes {
                // Without outer backslashes, those before belong to the text.
                return Some(match self.backslashes {
                    0 => at + backslashes,
                    _ => at,
                });
            }
            at += backslashes + 1;
        }
    }
}

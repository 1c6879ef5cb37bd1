//! Texts that look like credentials wherever they stand: tokens behind
//! `Bearer`, JSON web tokens, AWS key ids, tokens of services that mark theirs,
//! private keys, and user and password in a URL.

use std::ops::Range;

use super::{begins_word, is_name, run, stands};

/// The secret that is recognised at this place, if one is.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    match bytes[at] {
        b'-' => private_key(bytes, at),
        b':' => userinfo(bytes, at),
        b'b' | b'B' => bearer(bytes, at),
        b'e' => web_token(bytes, at),
        b'A' => aws_key(bytes, at),
        b'g' | b'r' | b's' | b'x' => marked(bytes, at),
        _ => None,
    }
}

/// Shorter words behind `Bearer` are words.
const SHORTEST_TOKEN: usize = 8;
/// Longer ones are no English any more, even without a digit.
const LONGEST_WORD: usize = 20;

fn bearer(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !begins_word(bytes, at) || !stands(bytes, at, b"bearer ") {
        return None;
    }
    let start = at + b"bearer ".len();
    let token = |b: u8| b.is_ascii_alphanumeric() || b"._~+/=-".contains(&b);
    let length = run(bytes, start, token);
    let digits = bytes[start..start + length].iter().any(u8::is_ascii_digit);
    let secret = length >= SHORTEST_TOKEN && digits || length > LONGEST_WORD;
    secret.then_some(start..start + length)
}

/// `eyJ` is `{"` in base64: the beginning of every JSON web token.
fn web_token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !begins_word(bytes, at) || !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let header = at + run(bytes, at, is_name);
    let claims = next_segment(bytes, header)?;
    let signature = next_segment(bytes, claims)?;
    (claims > header + 1).then_some(at..signature)
}

/// The end of the segment behind the dot at `at`.
fn next_segment(bytes: &[u8], at: usize) -> Option<usize> {
    let dot = bytes.get(at) == Some(&b'.');
    dot.then(|| at + 1 + run(bytes, at + 1, is_name))
}

/// What GitHub's, Slack's and Stripe's tokens begin with.
const MARKS: [&[u8]; 13] = [
    b"ghp_",
    b"gho_",
    b"ghu_",
    b"ghs_",
    b"ghr_",
    b"github_pat_",
    b"xoxb-",
    b"xoxp-",
    b"xoxa-",
    b"xoxr-",
    b"xoxs-",
    b"sk_live_",
    b"rk_live_",
];

fn marked(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let mark = MARKS.iter().find(|mark| bytes[at..].starts_with(mark))?;
    let length = run(bytes, at, is_name);
    let is_long = length >= mark.len() + SHORTEST_TOKEN;
    (is_long && begins_word(bytes, at)).then_some(at..at + length)
}

fn aws_key(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let known = bytes[at..].starts_with(b"AKIA") || bytes[at..].starts_with(b"ASIA");
    if !known || !begins_word(bytes, at) {
        return None;
    }
    let length = run(bytes, at, is_name);
    let shaped = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    (length == 20 && bytes[at..at + length].iter().all(shaped)).then_some(at..at + length)
}

/// From its first line to its last; to the end where the last is missing.
fn private_key(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let label = at + BEGIN.len();
    if !bytes[at..].starts_with(BEGIN) {
        return None;
    }
    let length = run(bytes, label, |b| b.is_ascii_uppercase() || b == b' ');
    if !bytes[label..label + length].ends_with(b"PRIVATE KEY") {
        return None;
    }
    let body = label + length;
    let end = find(bytes, body, b"PRIVATE KEY-----");
    Some(at..end.map_or(bytes.len(), |end| end + b"PRIVATE KEY-----".len()))
}

fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    let mut windows = bytes[from..].windows(wanted.len());
    windows
        .position(|window| window == wanted)
        .map(|i| from + i)
}

/// `user:password` between `://` and `@`.
fn userinfo(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"://") {
        return None;
    }
    let start = at + 3;
    let part = |b: u8| !b.is_ascii_whitespace() && !b"/?#\"'<>\\`".contains(&b);
    let authority = &bytes[start..start + run(bytes, start, part)];
    let length = authority.iter().rposition(|b| *b == b'@')?;
    authority[..length]
        .contains(&b':')
        .then_some(start..start + length)
}

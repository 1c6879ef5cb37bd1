//! Secrets taken out of what a system under test says.
//!
//! Owns what counts as a secret: values of telling fields and headers
//! (`field`), texts that look like credentials by themselves (`shape`), and
//! the values of variables whose names tell (`known`). What is printed by someone's services and tests ends up in
//! stores, job summaries and bug reports; it passes through here first. Doing
//! it twice changes nothing more. It errs on the side of leaving ordinary
//! sentences readable.

mod command;
mod field;
mod known;
mod shape;

use std::borrow::Cow;
use std::ops::Range;

pub use command::{command, spoken};
pub use known::hide_values_of;

/// What stands in place of a secret.
pub const MARK: &str = "[redacted]";

/// Taking out one secret may uncover another that it ran into. That takes two
/// rounds, seldom three.
const MOST_ROUNDS: usize = 8;

/// The text with its secrets replaced by [`MARK`]. Colours could hide one, so
/// where that is the case they go too.
pub fn text(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    for _ in 0..MOST_ROUNDS {
        match cleaner(&clean) {
            Some(cleaner) => clean = Cow::Owned(cleaner),
            None => break,
        }
    }
    clean
}

/// The text without the secrets seen at once; `None` if there are none.
fn cleaner(text: &str) -> Option<String> {
    if text.contains(ESCAPE) {
        let plain = plain(text);
        let hidden = secrets(&plain);
        if !hidden.is_empty() {
            return Some(without(&plain, hidden));
        }
    }
    let secrets = secrets(text);
    (!secrets.is_empty()).then(|| without(text, secrets))
}

const ESCAPE: char = '\u{1b}';

/// The text without colours and other orders to a terminal (`ESC [ … letter`).
/// Nothing but whole orders goes, so that a stray one cannot hide the rest.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut plain = first.to_owned();
    for part in parts {
        plain.push_str(
            part.strip_prefix('[')
                .and_then(behind_order)
                .unwrap_or(part),
        );
    }
    Cow::Owned(plain)
}

/// What comes behind the digits, signs and the letter of an order.
fn behind_order(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c| matches!(c, ' '..='?'));
    let letter = rest.chars().next()?;
    matches!(letter, '@'..='~').then(|| &rest[1..])
}

fn without(text: &str, secrets: Vec<Range<usize>>) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut kept = 0;
    for secret in secrets {
        clean.push_str(&text[kept..secret.start]);
        clean.push_str(MARK);
        kept = secret.end;
    }
    clean.push_str(&text[kept..]);
    clean
}

/// The same, as a string of its own.
pub fn owned(secretive: &str) -> String {
    text(secretive).into_owned()
}

/// Where the secrets are, from left to right. Every place begins and ends next
/// to an ASCII character or the text's own end, so it can be cut there.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let known = known::values();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let secret = known::at(&known, bytes, at)
            .or_else(|| shape::at(bytes, at))
            .or_else(|| field::at(bytes, at));
        match secret.filter(|secret| !secret.is_empty()) {
            Some(secret) => {
                at = secret.end;
                if bytes[secret.clone()] != *MARK.as_bytes() {
                    found.push(secret);
                }
            }
            None => at += 1,
        }
    }
    found
}

/// Whether the byte can be part of a name: of a field, a header, a parameter.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a word may begin here: nothing of a word stands before, but perhaps
/// a line end that is spelled out.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let spelled = |end: &[u8]| bytes[..at].ends_with(end);
    at == 0 || !is_name(bytes[at - 1]) || spelled(b"\\n") || spelled(b"\\r") || spelled(b"\\t")
}

/// How many bytes from `at` on are as asked.
fn run(bytes: &[u8], at: usize, wanted: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().take_while(|b| wanted(**b)).count()
}

/// Whether this stands at `at`, whatever the case.
fn stands(bytes: &[u8], at: usize, wanted: &[u8]) -> bool {
    let there = bytes.get(at..at + wanted.len());
    there.is_some_and(|there| there.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str =
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----";
    const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K27";

    #[test]
    fn secrets_are_taken_out_and_the_rest_stays() {
        let cases = [
            // Headers.
            (
                "Authorization: Basic dXNlcjpwYXNz\nHost: a",
                "Authorization: [redacted]\nHost: a",
            ),
            (
                "< Set-Cookie: id=1; HttpOnly\r\n< Age: 1",
                "< Set-Cookie: [redacted]\r\n< Age: 1",
            ),
            ("> cookie: a=b", "> cookie: [redacted]"),
            ("  X-API-Key:k1\n", "  X-API-Key:[redacted]\n"),
            (
                "curl -H 'Proxy-Authorization: Basic abc' http://a",
                "curl -H 'Proxy-Authorization: [redacted]' http://a",
            ),
            (
                "sent authorization: Basic abc to b",
                "sent authorization: [redacted]",
            ),
            (
                r#"b'GET / HTTP/1.1\r\nCookie: a=b\r\nHost: c'"#,
                r#"b'GET / HTTP/1.1\r\nCookie: [redacted]\r\nHost: c'"#,
            ),
            (
                "got Set-Cookie: id=1; HttpOnly\nb",
                "got Set-Cookie: [redacted]\nb",
            ),
            (
                "12:01 INFO X-API-Key: k1",
                "12:01 INFO X-API-Key: [redacted]",
            ),
            ("with cookie: a=b; c=d", "with cookie: [redacted]"),
            (
                "with authorization: 8d1f2a7c",
                "with authorization: [redacted]",
            ),
            // JSON, also in a string, and printed objects.
            (
                r#"{"password":"a\"b","user":"jim"}"#,
                r#"{"password":"[redacted]","user":"jim"}"#,
            ),
            (
                r#"{"access_token": 42, "a": 1}"#,
                r#"{"access_token": [redacted], "a": 1}"#,
            ),
            (
                r#"{"secret":["a",["b"]],"c":1}"#,
                r#"{"secret":[redacted],"c":1}"#,
            ),
            (
                r#"{"session":{"apiKey":"x","n":1}}"#,
                r#"{"session":{"apiKey":"[redacted]","n":1}}"#,
            ),
            (
                r#""{\"clientSecret\":\"x\",\"n\":1}""#,
                r#""{\"clientSecret\":\"[redacted]\",\"n\":1}""#,
            ),
            (
                "{'sessionId': 'x', 'n': 1}",
                "{'sessionId': '[redacted]', 'n': 1}",
            ),
            ("{ token: 'x', n: 1 }", "{ token: '[redacted]', n: 1 }"),
            (
                "login(user='jim', password='x')",
                "login(user='jim', password='[redacted]')",
            ),
            (r#"{"password":"never closed"#, r#"{"password":"[redacted]"#),
            // Queries, forms, settings.
            (
                "GET /a?token=x1&b=2 HTTP/1.1",
                "GET /a?token=[redacted]&b=2 HTTP/1.1",
            ),
            ("user[password]=x&n=1", "user[password]=[redacted]&n=1"),
            ("API_KEY=abc npm test", "API_KEY=[redacted] npm test"),
            ("db_passwd = hunter2\n", "db_passwd = [redacted]\n"),
            ("  password: hunter\n", "  password: [redacted]\n"),
            (
                "DB_PASS=hunter2 dbPwd=x1 connect.sid=s%3A1",
                "DB_PASS=[redacted] dbPwd=[redacted] connect.sid=[redacted]",
            ),
            (
                r#"{"pwd":"x","auth":"y","jwt":"z","credentials":"c"}"#,
                r#"{"pwd":"[redacted]","auth":"[redacted]","jwt":"[redacted]","credentials":"[redacted]"}"#,
            ),
            ("  pass: hunter2\n", "  pass: [redacted]\n"),
            // Options.
            (
                "`fill --token s3cret --api-key 'k 1' --dry-run`",
                "`fill --token [redacted] --api-key '[redacted]' --dry-run`",
            ),
            (
                "ran login --password hunter and left",
                "ran login --password [redacted] and left",
            ),
            (
                "curl --cookie=a1 --auth x9",
                "curl --cookie=[redacted] --auth [redacted]",
            ),
            // By their looks.
            (
                "ghp_16C7e42F292c6912E7 github_pat_11ABCDEFG0x",
                "[redacted] [redacted]",
            ),
            ("(xoxb-2048-abcdef12)", "([redacted])"),
            ("key sk_live_4eC39HqLyjWD used", "key [redacted] used"),
            (
                "got Bearer abc.def-123, then",
                "got Bearer [redacted], then",
            ),
            (&format!("jwt {JWT}!"), "jwt [redacted]!"),
            (
                "postgres://me:p@ss@db:5432/x",
                "postgres://[redacted]@db:5432/x",
            ),
            ("key AKIAIOSFODNN7EXAMPLE used", "key [redacted] used"),
            (&format!("a\n{KEY}\nb"), "a\n[redacted]\nb"),
            ("-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]"),
            // Colours.
            (
                "\u{1b}[33mtoken\u{1b}[0m=\u{1b}[31mx1\u{1b}[0m",
                "token=[redacted]",
            ),
            (
                "\u{1b}]\n{\"password\": \"x\"}",
                "]\n{\"password\": \"[redacted]\"}",
            ),
            // One that runs into another.
            (
                "AKIAIOSFODNN7EXAMPLE-----BEGIN PRIVATE KEY-----",
                "[redacted][redacted]",
            ),
            // Neighbours that are not ASCII.
            ("é password='ß→' é", "é password='[redacted]' é"),
        ];
        for (secretive, clean) in cases {
            assert_eq!(text(secretive), clean);
            assert_eq!(text(clean), clean, "twice");
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let cases = [
            "",
            "expected 200, got 503 from cart GET /cart = 503",
            "SyntaxError: Unexpected token: '<' in JSON at position 0",
            "Unexpected token < in JSON",
            "the session: it was closed",
            "session: expired\n",
            "token: invalid\n",
            "password: This field is required",
            "Bearer authentication failed",
            "author=jim compass=north passed=3 surpass: 4 bypass=yes",
            "PASS: test_checkout\npass: 5\npass=12 fail=0 pass: ok\n",
            r#"{"pass": 3, "fail": 0, "author": "jim"}"#,
            "PWD=/srv/shop ghp_short auth: failed\n",
            "the authorization: header is missing",
            "the bearer of bad news",
            "max_tokens=5&token_type=jwt&n=1",
            r#"{"token": null, "session": false, "tokens": [1, 2]}"#,
            "token=null session=None",
            "assert token == 'x'",
            "http://localhost:8080/a@b:c",
            "see http://[::1]:80/ and mail a@b.c",
            "AKIA is short, AKIAIOSFODNN7EXAMPLEX is long",
            "eyJ.x and eyJhbGci. are no tokens",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "KeyError: 'password'",
            "--token is required, --password must be set, --session --verbose",
            "usage: login [--token TOKEN] --auth\n",
            "cookies: none; the cookie: a small text",
            "https://user@host/",
            "\u{1b}[31mred\u{1b}[0m",
        ];
        for ordinary in cases {
            assert!(
                matches!(text(ordinary), Cow::Borrowed(_)),
                "{}",
                text(ordinary)
            );
        }
    }

    /// Texts that come close: pieces of secrets in any order.
    fn nearly() -> impl Strategy<Value = String> {
        let pieces = [
            "password",
            "token",
            "Cookie",
            "Set-",
            "DB_PASS",
            "pass",
            "--",
            "authorization",
            "\"",
            "\\\"",
            "'",
            "\\",
            ":",
            "=",
            " ",
            "\n",
            "[",
            "]",
            "{",
            "}",
            ",",
            "&",
            "://",
            "@",
            "a:b",
            "Bearer ",
            "abc123def",
            "eyJ",
            ".",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_16C7e42F292c",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "é",
            "→",
            MARK,
            "\\r\\n",
            "<",
            "\u{1b}[31m",
            "\u{1b}",
        ];
        let piece = proptest::sample::select(pieces.to_vec());
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_text_can_be_read(any in any::<String>()) {
            text(&any);
        }

        #[test]
        fn twice_is_once(nearly in nearly()) {
            let once = owned(&nearly);
            prop_assert_eq!(owned(&once), once);
        }

        #[test]
        fn a_password_never_gets_through(word in "[a-z0-9]{12}", before in nearly()) {
            let secretive = format!("{before}\n{{\"password\": \"{word}\"}}");
            let clean = owned(&secretive);
            prop_assert!(!clean.contains(&word), "{}", clean);
        }
    }
}

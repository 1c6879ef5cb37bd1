//! Characters that cannot be seen but change what is seen around them.
//!
//! Owns which they are: those that turn the direction of a text, join or split
//! what stands beside them, or break lines for some readers only. A service
//! that prints them could make a report say something else than it holds. They
//! are written as JSON escapes them, so that one form is right in every format.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every such character as `\\u202e`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_unseen(c) {
            false => escaped.push(c),
            true => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(escaped, "\\u{unit:04x}").expect("strings take all");
                }
            }
        }
    }
    Cow::Owned(escaped)
}

/// Unicode's format characters (`Cf`), with the separators of lines and
/// paragraphs.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}'
    )
}

/// Writes what `text` writes, escaped.
pub(crate) fn write_escaped(
    out: &mut dyn std::io::Write,
    text: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut written = Vec::new();
    text(&mut written)?;
    out.write_all(escaped(&String::from_utf8_lossy(&written)).as_bytes())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{Faultload, Verdict};

    use super::*;
    use crate::{Case, Summary, json, junit, markdown, summary, terminal};

    #[test]
    fn what_turns_or_hides_text_is_written_out() {
        let cases = [
            ("plain é → 漢", "plain é → 漢"),
            ("\u{202e}cod.exe", "\\u202ecod.exe"),
            ("a\u{2066}b\u{2069}", "a\\u2066b\\u2069"),
            ("zero\u{200b}width\u{feff}", "zero\\u200bwidth\\ufeff"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ];
        for (text, expected) in cases {
            assert_eq!(escaped(text), expected);
            assert_eq!(escaped(expected), expected, "twice");
        }
    }

    type Writer = fn(&Summary, &mut dyn std::io::Write) -> std::io::Result<()>;

    /// Every format, with such characters in all that others may have written.
    #[test]
    fn no_format_lets_them_through() {
        let evil = "ok\u{202e}live\u{2066}\u{200b}";
        let case = Case {
            number: 1,
            faultload: Faultload::none(),
            verdict: Verdict::Failed {
                why: evil.to_owned(),
            },
            took: Duration::ZERO,
            findings: Vec::new(),
            output: Some(evil.to_owned()),
        };
        let summary = Summary {
            scenario: evil.to_owned(),
            about: evil.to_owned(),
            modes: vec![evil.to_owned()],
            masked: vec![evil.to_owned()],
            cases: vec![case],
            failed_executions: 1,
            ..summary::empty()
        };
        let formats: [(&str, Writer); 4] = [
            ("terminal", terminal::write),
            ("json", json::write),
            ("junit", junit::write),
            ("markdown", markdown::write),
        ];
        for (name, write) in formats {
            let mut out = Vec::new();
            write(&summary, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(!text.chars().any(is_unseen), "{name}: {text}");
            assert!(text.contains("u202elive"), "{name}: {text}");
        }
    }

    #[test]
    fn json_means_the_same_escaped() {
        let text = serde_json::to_string("a\u{202e}b\u{e0041}").unwrap();
        let read: String = serde_json::from_str(&escaped(&text)).unwrap();
        assert_eq!(read, "a\u{202e}b\u{e0041}");
    }
}

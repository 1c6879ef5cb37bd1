//! Patterns for the values of headers.

use serde::Deserialize;

/// A text in which `*` stands for any text, whatever the case of letters:
/// percent-encoded values are written in either.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Glob(String);

impl From<String> for Glob {
    fn from(pattern: String) -> Self {
        Glob(pattern)
    }
}

impl Glob {
    /// Whether all of `text` is as the pattern says.
    pub(crate) fn matches(&self, text: &str) -> bool {
        matches(self.0.as_bytes(), text.as_bytes())
    }
}

/// Only the last `*` is ever tried again: what an earlier one takes less, it
/// can take more of.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(byte) if byte.eq_ignore_ascii_case(&text[t]) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, from)) = retry else {
                    return false;
                };
                retry = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("DynamoDB_*", "DynamoDB_20120810.GetItem", true),
            ("DynamoDB_*", "dynamodb_", true),
            ("DynamoDB_*", "AmazonSQS.SendMessage", false),
            ("*json*", "application/x-amz-json-1.0", true),
            ("*json", "application/x-amz-json-1.0", false),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1c2b", false),
            ("type%3d*", "type%3Dmaster%26ver%3D1.0", true),
        ] {
            let glob = Glob::from(pattern.to_owned());
            assert_eq!(glob.matches(text), expected, "{pattern} {text}");
        }
    }
}

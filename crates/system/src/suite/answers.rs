//! When two answers to the same request say the same.
//!
//! Owns what is left out of the comparison: ids of requests and times of
//! answers, which differ every time and mean nothing. What a service made up
//! for the work it did (the id of a message, of an upload) does count: where
//! that differs, the work was done twice.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

/// Fields that name the request or the moment, in lower case.
const VOLATILE: [&str; 9] = [
    "requestid",
    "request_id",
    "x-amzn-requestid",
    "hostid",
    "responsemetadata",
    "httpheaders",
    "date",
    "timestamp",
    "servertime",
];

/// What tells the body of an answer from others.
pub(super) fn hash(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    match serde_json::from_slice::<Value>(body) {
        Ok(value) if value.is_object() || value.is_array() => feed(&value, &mut hasher),
        _ => match std::str::from_utf8(body) {
            Ok(text) if text.trim_start().starts_with('<') => without_ids(text).hash(&mut hasher),
            _ => body.hash(&mut hasher),
        },
    }
    hasher.finish()
}

fn feed(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if !is_volatile(name) {
                    name.hash(hasher);
                    feed(value, hasher);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| feed(item, hasher)),
        other => other.to_string().hash(hasher),
    }
}

fn is_volatile(name: &str) -> bool {
    VOLATILE.contains(&name.to_ascii_lowercase().as_str())
}

/// XML without the contents of volatile elements.
fn without_ids(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let Some(length) = rest[start..].find('>') else {
            break;
        };
        let end = start + length + 1;
        kept.push_str(&rest[..end]);
        let name = rest[start + 1..end - 1].split_whitespace().next();
        rest = &rest[end..];
        if name.is_some_and(is_volatile) {
            let next = rest.find('<').unwrap_or(rest.len());
            rest = &rest[next..];
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_alike_but_for_ids_of_requests_and_times() {
        let cases = [
            (
                r#"{"MessageId":"a","RequestId":"1"}"#,
                r#"{"MessageId":"a","RequestId":"2"}"#,
                true,
            ),
            (r#"{"MessageId":"a"}"#, r#"{"MessageId":"b"}"#, false),
            (
                r#"{"a":{"requestId":1,"b":2}}"#,
                r#"{"a":{"requestId":3,"b":2}}"#,
                true,
            ),
            (
                "<R><RequestId>1</RequestId><Key>k</Key></R>",
                "<R><RequestId>2</RequestId><Key>k</Key></R>",
                true,
            ),
            (
                "<R><UploadId>1</UploadId></R>",
                "<R><UploadId>2</UploadId></R>",
                false,
            ),
            ("plain", "plain", true),
            ("plain", "other", false),
            ("<broken", "<broken", true),
            ("", "", true),
        ];
        for (one, other, alike) in cases {
            assert_eq!(
                hash(one.as_bytes()) == hash(other.as_bytes()),
                alike,
                "{one}"
            );
        }
    }
}

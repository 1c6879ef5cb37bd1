//! The payload component of a call's identity: a hash of what was sent.
//!
//! Two bodies that mean the same JSON hash alike, whatever their key order or
//! white space; a query hashes alike whatever the order of its parameters.
//! Numbers are compared as JSON readers see them: fractions beyond the digits
//! of a double are alike.
//! Which fields to leave out is decided by [`crate::identity::Identity`].

use std::fmt;

use serde_json::Value;

/// 128 bits of BLAKE3 over the canonical query and body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PayloadHash(pub [u8; 16]);

impl PayloadHash {
    /// The hash of a query and body; `None` when both are empty, because a
    /// call without arguments is distinguished well enough by its interface.
    ///
    /// Fields named in `masked` are left out wherever they occur in the query
    /// or in JSON objects of the body.
    pub fn of(query: &str, body: &[u8], masked: &[String]) -> Option<Self> {
        match query.is_empty() && body.is_empty() {
            true => None,
            false => Some(Self::of_parts(query, body, masked)),
        }
    }

    /// The hash of an answer's body, masked in the same way. An empty body has
    /// one too: it differs from any other.
    pub fn of_answer(body: &[u8], masked: &[String]) -> Self {
        Self::of_parts("", body, masked)
    }

    /// The hash of an idempotency key: enough to tell whether two are the same,
    /// without keeping what may be a secret.
    pub fn of_key(key: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        field(&mut hasher, b'k', key);
        Self::cut(&hasher)
    }

    /// The same of a key in a JSON body: the first field, at any depth, with one
    /// of these names and a text or number in it.
    pub fn of_key_field(body: &[u8], names: &[String]) -> Option<Self> {
        let json = as_json(body).filter(|_| !names.is_empty())?;
        names
            .iter()
            .find_map(|name| key_field(&json, name))
            .map(|key| Self::of_key(key.as_bytes()))
    }

    fn of_parts(query: &str, body: &[u8], masked: &[String]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for parameter in canonical_query(query, masked) {
            field(&mut hasher, b'q', parameter.as_bytes());
        }
        match as_json(body) {
            Some(json) => field(&mut hasher, b'j', canonical_json(json, masked).as_bytes()),
            None => field(&mut hasher, b'b', body),
        }
        Self::cut(&hasher)
    }

    fn cut(hasher: &blake3::Hasher) -> Self {
        let mut cut = [0; 16];
        cut.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        PayloadHash(cut)
    }
}

/// Kind and length go before each part, so that no two different payloads can
/// run together into the same bytes.
fn field(hasher: &mut blake3::Hasher, kind: u8, bytes: &[u8]) {
    hasher.update(&[kind]);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn as_json(body: &[u8]) -> Option<Value> {
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    match body.iter().find(|byte| !is_space(byte))? {
        // All that JSON can begin with. Making an error of anything else takes
        // longer than the hash.
        b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            serde_json::from_slice(body).ok()
        }
        _ => None,
    }
}

fn key_field(json: &Value, name: &str) -> Option<String> {
    match json {
        Value::Object(fields) => match fields.get(name) {
            Some(Value::String(key)) => Some(key.clone()),
            Some(Value::Number(key)) => Some(key.to_string()),
            _ => fields.values().find_map(|value| key_field(value, name)),
        },
        Value::Array(items) => items.iter().find_map(|item| key_field(item, name)),
        _ => None,
    }
}

fn canonical_query<'q>(query: &'q str, masked: &[String]) -> Vec<&'q str> {
    let kept = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default();
        !parameter.is_empty() && !masked.iter().any(|m| m == name)
    };
    let mut parameters: Vec<&str> = query.split('&').filter(kept).collect();
    parameters.sort_unstable();
    parameters
}

fn canonical_json(mut json: Value, masked: &[String]) -> String {
    mask(&mut json, masked);
    json.sort_all_objects();
    json.to_string()
}

fn mask(json: &mut Value, masked: &[String]) {
    match json {
        Value::Object(fields) => {
            fields.retain(|name, _| !masked.contains(name));
            fields.values_mut().for_each(|value| mask(value, masked));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, masked)),
        _ => {}
    }
}

impl fmt::Display for PayloadHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// A text that is no hash: 32 hexadecimal digits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no hash of 32 hexadecimal digits")]
pub struct NoPayloadHash;

impl std::str::FromStr for PayloadHash {
    type Err = NoPayloadHash;

    fn from_str(digits: &str) -> Result<Self, NoPayloadHash> {
        let is_hash = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u128::from_str_radix(digits, 16).ok().filter(|_| is_hash);
        let number = number.ok_or(NoPayloadHash)?;
        Ok(PayloadHash(number.to_be_bytes()))
    }
}

impl fmt::Debug for PayloadHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PayloadHash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(query: &str, body: &str) -> Option<PayloadHash> {
        PayloadHash::of(query, body.as_bytes(), &["time".to_owned()])
    }

    #[test]
    fn equal_meaning_gives_equal_hashes() {
        let cases = [
            (("", r#"{"a":1,"b":[2]}"#), ("", r#"{ "b":[2], "a":1 }"#)),
            (("a=1&b=2", ""), ("b=2&a=1", "")),
            (("", r#"{"time":1,"a":{"time":2}}"#), ("", r#"{"a":{}}"#)),
            (("time=1&a=2", ""), ("a=2&time=99", "")),
        ];
        for (left, right) in cases {
            assert_eq!(
                hash(left.0, left.1),
                hash(right.0, right.1),
                "{left:?} {right:?}"
            );
        }
    }

    #[test]
    fn different_payloads_never_run_together() {
        let payloads = [
            ("", "ab"),
            ("ab", ""),
            ("a", "b"),
            ("a&b", ""),
            ("", "[1,2]"),
            ("", "[2,1]"),
        ];
        for (i, left) in payloads.iter().enumerate() {
            for right in &payloads[i + 1..] {
                assert_ne!(
                    hash(left.0, left.1),
                    hash(right.0, right.1),
                    "{left:?} {right:?}"
                );
            }
        }
    }

    #[test]
    fn a_key_is_found_in_a_field_of_json_at_any_depth() {
        let key = |body: &str| PayloadHash::of_key_field(body.as_bytes(), &["key".to_owned()]);
        let expected = Some(PayloadHash::of_key(b"7"));
        let with_key = [
            r#"{"key":"7"}"#,
            r#"{"key":7,"at":1}"#,
            r#"{"orders":[{"key":"7"}]}"#,
        ];
        for body in with_key {
            assert_eq!(key(body), expected, "{body}");
        }
        for body in ["", "key=7", r#"{"key":null}"#, r#"{"other":"7"}"#] {
            assert_eq!(key(body), None, "{body}");
        }
    }

    #[test]
    fn nothing_sent_has_no_payload() {
        assert_eq!(hash("", ""), None);
    }
}

//! Comma-separated lists in headers, as `tracestate` and `baggage` are.
//!
//! Owns where a member begins and ends. A list may be spread over several
//! lines, which mean the same as one line with commas between them.

use murphy_registry::{CallKey, CallName};

use crate::headers::Headers;

/// The key of our member, in every list. Lower case, because `tracestate`
/// knows nothing else.
pub(super) const KEY: &str = "murphy";

/// Our member of a list.
#[derive(Clone, Debug)]
pub(super) struct Member {
    text: [u8; Member::LONGEST],
    length: usize,
}

impl Member {
    const LONGEST: usize = KEY.len() + 1 + CallName::LONGEST;

    /// The member that names this call.
    pub(super) fn new(key: CallKey) -> Self {
        let (mut text, name) = ([b'='; Member::LONGEST], key.name());
        let name = name.as_bytes();
        let length = KEY.len() + 1 + name.len();
        text[..KEY.len()].copy_from_slice(KEY.as_bytes());
        text[KEY.len() + 1..length].copy_from_slice(name);
        Member { text, length }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }
}

/// Shows every member of a list, in order, without the white space around it.
/// Empty members are none.
pub(super) fn each_member<'a>(headers: &'a dyn Headers, name: &str, see: &mut dyn FnMut(&'a [u8])) {
    headers.each(name, &mut |line: &'a [u8]| {
        // Mostly there is one, and ours at that.
        if !line.contains(&b',') && !line.trim_ascii().is_empty() {
            return see(line.trim_ascii());
        }
        line.split(|byte| *byte == b',')
            .map(<[u8]>::trim_ascii)
            .filter(|member| !member.is_empty())
            .for_each(&mut *see);
    });
}

/// The first member of which `find` makes something.
pub(super) fn find_member<T: Copy>(
    headers: &dyn Headers,
    name: &str,
    find: impl Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    let mut found = None;
    each_member(headers, name, &mut |member| {
        found = found.or_else(|| find(member));
    });
    found
}

/// A member in two, at the first `=`.
pub(super) fn key_and_value(member: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = member.iter().position(|byte| *byte == b'=')?;
    Some((&member[..at], &member[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::headers;
    use super::*;

    #[test]
    fn members_are_found_over_lines_and_white_space() {
        let headers = headers(&[("l", " a=1 ,\tb"), ("other", "x"), ("l", ",, ,c=2;p , ")]);
        let mut members = Vec::new();
        each_member(&headers, "l", &mut |member| members.push(member));
        assert_eq!(members, [b"a=1".as_slice(), b"b", b"c=2;p"]);
    }
}

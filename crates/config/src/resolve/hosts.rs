//! `hosts` of services: the names by which callers reach them through the
//! forward proxy.

use murphy_proxy::is_host;

use super::checker::Checker;
use crate::raw::{Text, Words};

/// The patterns that make sense.
pub(super) fn hosts(checker: &mut Checker<'_>, words: Option<Words>) -> Vec<Text> {
    let words = words.map(|words| words.items()).unwrap_or_default();
    if words.is_empty() {
        return Vec::new();
    }
    let fits = |checker: &mut Checker<'_>, text: &Text| {
        let hint = match bare(&text.value) {
            _ if is_pattern(&text.value) => return true,
            Some(bare) => format!("write \"{bare}\""),
            None => "write for example \"*.s3.amazonaws.com\"".to_owned(),
        };
        let message = format!("`{}` is no host", text.value);
        let label = "a name, or `*.` and a domain, is expected";
        checker.refuse(&text.span, message, label, hint);
        false
    };
    let mut hosts: Vec<Text> = words.into_iter().collect();
    hosts.retain(|text| fits(checker, text));
    hosts
}

/// Whether a host could be meant by both.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    let example = |pattern: &str| pattern.replacen('*', "x", 1);
    one.eq_ignore_ascii_case(other)
        || is_host(one, &example(other))
        || is_host(other, &example(one))
}

fn is_pattern(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_label = |label: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        !label.is_empty() && label.chars().all(fits)
    };
    name.split('.').all(is_label)
}

/// The host in an address or a URL.
fn bare(text: &str) -> Option<&str> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split('/').next().unwrap_or(rest);
    let host = rest.split(':').next().unwrap_or(rest);
    is_pattern(host).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_overlap_where_a_host_fits_both() {
        for (one, other, both) in [
            ("a.test", "A.test", true),
            ("*.test", "a.test", true),
            ("*.a.test", "*.test", true),
            ("*.test", "test", false),
            ("*.a.test", "*.b.test", false),
        ] {
            assert_eq!(overlap(one, other), both, "{one} {other}");
            assert_eq!(overlap(other, one), both, "{other} {one}");
        }
    }

    #[test]
    fn a_url_is_no_host_and_tells_which_is() {
        assert!(is_pattern("*.s3.amazonaws.com") && is_pattern("localhost"));
        for (text, host) in [
            ("https://api.example.com/v1", Some("api.example.com")),
            ("api.example.com:443", Some("api.example.com")),
            ("*", None),
            ("", None),
            ("a b", None),
        ] {
            assert!(!is_pattern(text), "{text}");
            assert_eq!(bare(text), host, "{text}");
        }
    }
}

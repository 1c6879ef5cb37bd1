//! `tracestate`: our own member in the list of W3C Trace Context.
//!
//! The carrier to rely on: of all that was tried it is what stacks hand on
//! byte by byte. Owns the list's rules. One broken member, one key too often
//! or one character too much makes some stacks drop the whole list, ours with
//! it; so what is sent on keeps to the rules, even where what came did not.

use murphy_registry::{CallKey, ContextHint};

use super::list::{KEY, each_member, find_member, key_and_value};
use super::{Context, Stamp, traceparent};
use crate::headers::Headers;

pub(super) const HEADER: &str = "tracestate";

/// The most members of a list that must be handed on.
const MEMBERS: usize = 32;

/// The most characters of a list that must be handed on.
const LENGTH: usize = 512;

/// Where a list is too long, members longer than this are the first to go.
const LONG_MEMBER: usize = 128;

/// The longest value, and the longest key.
const LONGEST: usize = 256;

pub(super) fn read(headers: &dyn Headers, found: &mut Context) {
    let (mut lines, mut alone) = (0, None);
    headers.each(HEADER, &mut |line| {
        lines += 1;
        alone = ours(line);
    });
    found.alone = lines == 1 && alone.is_some();
    let ours = match found.alone || lines == 0 {
        true => alone,
        false => find_member(headers, HEADER, ours),
    };
    found.hints.extend(ours.map(ContextHint::Stamp));
}

pub(super) fn stamp(headers: &mut dyn Headers, stamp: &Stamp, found: &mut Context) {
    traceparent::ensure(headers, stamp, found);
    let alone = found.alone;
    let ours = found.member(stamp);
    if alone {
        return headers.replace(HEADER, ours);
    }
    let list = with_others(ours, headers);
    headers.set(HEADER, list.as_deref().unwrap_or(ours));
}

fn ours(member: &[u8]) -> Option<CallKey> {
    let value = member.strip_prefix(KEY.as_bytes())?.strip_prefix(b"=")?;
    CallKey::parse(value)
}

fn is_ours(member: &[u8]) -> bool {
    let rest = member.strip_prefix(KEY.as_bytes());
    rest.is_some_and(|rest| rest.first() == Some(&b'='))
}

/// The list with our member first and as much of the others as may be; `None`
/// if there are no others.
fn with_others(ours: &[u8], headers: &dyn Headers) -> Option<Vec<u8>> {
    let mut others = others(headers);
    if others.is_empty() {
        return None;
    }
    shorten(&mut others, LENGTH - ours.len());
    let mut list = ours.to_owned();
    for other in others {
        list.push(b',');
        list.extend_from_slice(other.as_bytes());
    }
    Some(list)
}

/// The valid members of others, each key once, not too many.
fn others(headers: &dyn Headers) -> Vec<&str> {
    let mut kept: Vec<(&str, &str)> = Vec::new();
    each_member(headers, HEADER, &mut |member| {
        if !is_ours(member)
            && let Some((key, member)) = valid(member)
            && kept.len() < MEMBERS - 1
            && kept.iter().all(|(known, _)| *known != key)
        {
            kept.push((key, member));
        }
    });
    kept.into_iter().map(|(_, member)| member).collect()
}

/// A member, with its key, that every stack takes for one.
fn valid(member: &[u8]) -> Option<(&str, &str)> {
    let (key, value) = key_and_value(member)?;
    let valid = is_key(key) && is_value(value);
    let text = std::str::from_utf8(member).ok().filter(|_| valid)?;
    Some((&text[..key.len()], text))
}

/// `vendor`, or `tenant@vendor`.
fn is_key(key: &[u8]) -> bool {
    let in_key = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/');
    let name = |name: &[u8], longest: usize, digit_first: bool| {
        let begins_well = match name.first() {
            Some(b'a'..=b'z') => true,
            Some(b'0'..=b'9') => digit_first,
            _ => false,
        };
        begins_well && name.len() <= longest && name.iter().all(in_key)
    };
    match key.iter().position(|byte| *byte == b'@') {
        None => name(key, LONGEST, false),
        Some(at) => name(&key[..at], 241, true) && name(&key[at + 1..], 14, false),
    }
}

fn is_value(value: &[u8]) -> bool {
    let in_value = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'=';
    (1..=LONGEST).contains(&value.len()) && value.iter().all(in_value)
}

/// Drops members, each of which costs a comma too, until they fit: first long
/// ones, then any, from the end.
fn shorten(members: &mut Vec<&str>, room: usize) {
    let cost = |members: &[&str]| members.iter().map(|member| member.len() + 1).sum::<usize>();
    while cost(members) > room {
        let long = members
            .iter()
            .rposition(|member| member.len() > LONG_MEMBER);
        members.remove(long.unwrap_or(members.len() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Carrier::TraceState;
    use super::super::testing::{ENTRY, HOP, KEY, KEY_TEXT, List, OTHER_TEXT, only, stamped};
    use super::*;

    const LIST: List = List {
        carrier: TraceState,
        header: HEADER,
        members: 32,
        length: 512,
    };

    const PARENT: (&str, &str) = (
        "traceparent",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    );

    #[test]
    fn our_member_is_found_wherever_it_is() {
        let ours = format!("murphy={KEY_TEXT}");
        let cases = [
            vec![ours.clone()],
            vec![format!("dd=s:1;o:rum,{ours}")],
            vec![format!("a=1 ,\t{ours} , b=2")],
            vec!["a=1".into(), "b=2".into(), ours.clone()],
            vec![format!(",,{ours},")],
            vec![format!("murphy=broken,{ours}")],
            vec![format!("MURPHY=x,=,é,{ours}")],
        ];
        for lines in cases {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            assert_eq!(LIST.ours_in(&lines), [ContextHint::Stamp(KEY)], "{lines:?}");
        }
    }

    #[test]
    fn what_only_looks_like_ours_is_not() {
        for line in [
            "",
            "murphy",
            "murphy=",
            "murphy=1",
            "xmurphy=00000000000000ab-2",
            "murphy2=00000000000000ab-2",
            "Murphy=00000000000000ab-2",
            "a=murphy=00000000000000ab-2",
            "murphy=00000000000000AB-2",
            "murphy=00000000000000ab-2;p=1",
        ] {
            assert_eq!(LIST.ours_in(&[line]), [], "{line}");
        }
    }

    #[test]
    fn the_latest_of_two_stamps_comes_first_and_is_the_one() {
        let line = format!("murphy={KEY_TEXT},murphy={OTHER_TEXT}");
        assert_eq!(LIST.ours_in(&[&line]), [ContextHint::Stamp(KEY)]);
    }

    #[test]
    fn the_members_of_others_stay_as_they_are_and_in_order() {
        let cases: [(&[&str], &str); 8] = [
            (&[], ""),
            (
                &["congo=t61rcWkgMzE,rojo=00f0"],
                "congo=t61rcWkgMzE,rojo=00f0",
            ),
            (&["fi=x , b=y", "a=1"], "fi=x,b=y,a=1"),
            (&[",a=1,, ,b=2,"], "a=1,b=2"),
            (
                &["33@nr=0-0-1,dd=s:2;o:rum;t.dm:-4"],
                "33@nr=0-0-1,dd=s:2;o:rum;t.dm:-4",
            ),
            (&["a= x y"], "a= x y"),
            (
                &["b=1", "a=2", "murphy=00000000000000ab-7", "c=3"],
                "b=1,a=2,c=3",
            ),
            (&["murphy=x,murphy=y,a=1"], "a=1"),
        ];
        for (lines, others) in cases {
            assert_eq!(LIST.others_of(lines), others, "{lines:?}");
        }
    }

    /// Each of these makes OpenTelemetry for Python drop the whole list.
    #[test]
    fn what_would_take_ours_down_with_it_is_dropped() {
        let long = format!("long={},a=1", "x".repeat(257));
        let cases = [
            ("no-equals,a=1", "a=1"),
            ("Upper=1,a=1", "a=1"),
            ("a=1,b=2,a=3", "a=1,b=2"),
            ("empty=,a=1", "a=1"),
            ("two=1=2,a=1", "a=1"),
            ("é=1,b=é,a=1", "a=1"),
            ("1a=1,@b=1,a@=1,a@1=1,a@b@c=1,a=1", "a=1"),
            (long.as_str(), "a=1"),
        ];
        for (line, others) in cases {
            assert_eq!(LIST.others_of(&[line]), others, "{line}");
        }
    }

    #[test]
    fn values_and_keys_may_be_as_long_as_the_standard_says() {
        let value = format!("a={}", "x".repeat(256));
        assert_eq!(LIST.others_of(&[&value]), value);
        let key = format!("{}=1", "k".repeat(256));
        assert_eq!(LIST.others_of(&[&key]), key);
        assert_eq!(LIST.others_of(&[&format!("k{key}")]), "");
        let tenant = format!("{}@{}=1", "1".repeat(241), "v".repeat(14));
        assert_eq!(LIST.others_of(&[&tenant]), tenant);
        assert_eq!(LIST.others_of(&[&format!("1{tenant}")]), "");
    }

    #[test]
    fn of_too_many_members_the_last_are_dropped() {
        LIST.assert_drops_the_last_members();
    }

    #[test]
    fn of_too_long_a_list_long_members_go_first_and_then_the_last() {
        let member = |key: &str, length: usize| format!("{key}={}", "x".repeat(length - 2));
        let (a, b, c) = (member("a", 250), member("b", 250), member("c", 100));
        // 18 characters of ours and `murphy=`, three commas.
        let list = [a.clone(), b.clone(), c.clone()].join(",");
        assert_eq!(LIST.others_of(&[&list]), [a.clone(), c.clone()].join(","));
        let short: Vec<String> = (b'a'..b'g')
            .map(|key| member(&char::from(key).to_string(), 128))
            .collect();
        assert_eq!(LIST.others_of(&[&short.join(",")]), short[..3].join(","));
        let exact = member("a", 512 - 25 - 1 - 240 - 1);
        let list = format!("{exact},{}", member("b", 240));
        assert_eq!(LIST.others_of(&[&list]), list);
        assert_eq!(LIST.others_of(&[&format!("{list}x")]), exact);
    }

    #[test]
    fn a_traceparent_is_made_wherever_there_is_no_valid_one() {
        for stamp in [ENTRY, HOP] {
            for line in [None, Some(("traceparent", "invalid"))] {
                let headers = stamped(&TraceState, line.as_slice(), &stamp);
                assert_eq!(only(&headers, "traceparent").len(), 55);
            }
            let headers = stamped(&TraceState, &[PARENT], &stamp);
            assert_eq!(only(&headers, "traceparent"), PARENT.1);
        }
    }
}

//! `baggage`: our own member in the list of W3C Baggage.
//!
//! Owns the list's rules. Stacks encode its values anew, cut its properties
//! or drop it altogether, so ours is written in characters nobody escapes and
//! read as if somebody had. It travels without a `traceparent`.

use murphy_registry::{CallKey, ContextHint};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode, percent_encode};

use super::list::{KEY, each_member, find_member, key_and_value};
use super::{Context, Stamp};
use crate::headers::Headers;

pub(super) const HEADER: &str = "baggage";

/// The most members stacks take; the standard promises only 64.
const MEMBERS: usize = 180;

/// The most bytes stacks take, and the standard promises.
const LENGTH: usize = 8192;

/// The longest text of a call's name.
const LONGEST_NAME: usize = "0123456789abcdef-12345678".len();

/// What a header cannot hold as it is, besides all that is not ASCII.
const UNFIT: &AsciiSet = &CONTROLS.remove(b'\t');

pub(super) fn read(headers: &dyn Headers, found: &mut Context) {
    let ours = find_member(headers, HEADER, ours);
    found.hints.extend(ours.map(ContextHint::Stamp));
}

pub(super) fn stamp(headers: &mut dyn Headers, stamp: &Stamp, found: &mut Context) {
    let ours = found.member(stamp);
    let list = with_others(ours, headers);
    headers.set(HEADER, list.as_deref().unwrap_or(ours));
}

fn ours(member: &[u8]) -> Option<CallKey> {
    let (_, value) = key_and_value(member).filter(|_| is_ours(member))?;
    let ends = |byte: &u8| *byte == b';' || byte.is_ascii_whitespace();
    let (mut text, mut length) = ([0; LONGEST_NAME], 0);
    for byte in percent_decode(value.trim_ascii()).take_while(|byte| !ends(byte)) {
        *text.get_mut(length)? = byte;
        length += 1;
    }
    CallKey::parse(&text[..length])
}

fn is_ours(member: &[u8]) -> bool {
    let end = member.iter().position(|byte| matches!(byte, b'=' | b';'));
    let key = &member[..end.unwrap_or(member.len())];
    key.trim_ascii() == KEY.as_bytes()
}

/// The list with our member first and as many of the others as may be; `None`
/// if there are no others.
fn with_others(ours: &[u8], headers: &dyn Headers) -> Option<Vec<u8>> {
    let (mut list, mut members) = (Vec::new(), 1);
    let mut full = false;
    each_member(headers, HEADER, &mut |member| {
        if full || is_ours(member) {
            return;
        }
        if list.is_empty() {
            list.extend_from_slice(ours);
        }
        let before = list.len();
        list.push(b',');
        for part in percent_encode(member, UNFIT) {
            list.extend_from_slice(part.as_bytes());
        }
        members += 1;
        // From the first that is too much on, all are dropped.
        full = list.len() > LENGTH || members > MEMBERS;
        if full {
            list.truncate(before);
        }
    });
    (!list.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::super::Carrier::Baggage;
    use super::super::testing::{KEY, KEY_TEXT, List};
    use super::*;

    const LIST: List = List {
        carrier: Baggage,
        header: HEADER,
        members: 180,
        length: 8192,
    };

    #[test]
    fn our_member_is_read_however_it_was_encoded_and_wherever_it_is() {
        let cases: [&[&str]; 10] = [
            &["murphy=00000000000000ab-2"],
            &["murphy=00000000000000ab%2D2"],
            &["murphy=00000000000000ab%2d2"],
            &["murphy=%30000000000000%30ab-2"],
            &["user=alice;p=1,murphy=00000000000000ab-2;p=1"],
            &["murphy=00000000000000ab-2%3Bp%3D1"],
            &["murphy = 00000000000000ab-2 ; p = 1"],
            &["a=1", "b=2, murphy=00000000000000ab-2 ,c=3"],
            &["murphy=x,murphy=00000000000000ab-2"],
            &["murphy;p=1,=,murphy=00000000000000ab-2"],
        ];
        for lines in cases {
            assert_eq!(LIST.ours_in(lines), [ContextHint::Stamp(KEY)], "{lines:?}");
        }
    }

    #[test]
    fn what_only_looks_like_ours_is_not() {
        for line in [
            "",
            "murphy",
            "murphy=",
            "murphy=%",
            "murphy=é",
            "a=1;murphy=00000000000000ab-2",
            "Murphy=00000000000000ab-2",
            "murphy=00000000000000ab-123456789",
            "murphy=00000000000000ab-00000000000000000000000000000000002",
        ] {
            assert_eq!(LIST.ours_in(&[line]), [], "{line}");
        }
    }

    #[test]
    fn the_members_of_others_stay_as_they_are_and_in_order() {
        let cases: [(&[&str], &str); 6] = [
            (&[], ""),
            (
                &["user=alice;p=1,sentry-trace_id=a%20b"],
                "user=alice;p=1,sentry-trace_id=a%20b",
            ),
            (&["a = 1 ; p , b=2", "c=3"], "a = 1 ; p,b=2,c=3"),
            (
                &["b=1,murphy=x;p=1", "a=2,murphy ;q, murphy=y", "a=3"],
                "b=1,a=2,a=3",
            ),
            (&["flag,empty=", ",,x"], "flag,empty=,x"),
            // No header map could hold it otherwise.
            (&["name=é\t100%"], "name=%C3%A9\t100%"),
        ];
        for (lines, others) in cases {
            assert_eq!(LIST.others_of(lines), others, "{lines:?}");
        }
    }

    #[test]
    fn of_too_many_members_the_last_are_dropped() {
        LIST.assert_drops_the_last_members();
    }

    #[test]
    fn of_too_long_a_list_the_end_is_dropped() {
        let ours = format!("murphy={KEY_TEXT}").len();
        let member = |length: usize| format!("k={}", "x".repeat(length - 2));
        let exact = member(8192 - ours - 1);
        assert_eq!(LIST.others_of(&[&exact]), exact);
        assert_eq!(LIST.others_of(&[&format!("{exact}x"), "a=1"]), "");
        let list = ["a=1".to_owned(), member(5000), member(5000), "b=2".into()].join(",");
        assert_eq!(LIST.others_of(&[&list]), format!("a=1,{}", member(5000)));
    }
}

//! B3, of Zipkin: the trace id alone, with the span above it where it is sent.
//!
//! Owns both forms, the single header `b3` and the several `X-B3-*`. On entry
//! they are made where there are no ids; a sampling decision that came without
//! ids is kept. On other hops nothing is touched.

use murphy_registry::{SpanId, Spans, TraceKey};

use super::{Ids, Stamp, ids};
use crate::headers::Headers;

pub(super) const SINGLE: &str = "b3";
const TRACE: &str = "x-b3-traceid";
const SPAN: &str = "x-b3-spanid";
const PARENT: &str = "x-b3-parentspanid";
const SAMPLED: &str = "x-b3-sampled";
const FLAGS: &str = "x-b3-flags";

/// What the headers say; the single one is the one to believe.
pub(super) fn ids(headers: &dyn Headers) -> Option<Ids> {
    let single = headers.first(SINGLE).and_then(parse_single);
    single.or_else(|| parse_multi(headers))
}

/// `trace-span`, `trace-span-sampled` or `trace-span-sampled-parent`.
fn parse_single(value: &[u8]) -> Option<Ids> {
    let mut fields = value.trim_ascii().split(|byte| *byte == b'-');
    let (trace, own) = (fields.next()?, fields.next()?);
    let _sampled = fields.next();
    parse(trace, own, fields.next())
}

fn parse_multi(headers: &dyn Headers) -> Option<Ids> {
    let field = |name| headers.first(name).map(<[u8]>::trim_ascii);
    parse(field(TRACE)?, field(SPAN)?, field(PARENT))
}

fn parse(trace: &[u8], own: &[u8], parent: Option<&[u8]>) -> Option<Ids> {
    let spans = Spans {
        own: Some(span_id(own)?),
        parent: parent.and_then(span_id),
    };
    Some((trace_id(trace)?, spans))
}

/// 128 bits, or the lower 64 of them.
fn trace_id(digits: &[u8]) -> Option<TraceKey> {
    match digits.len() {
        16 | 32 => ids::trace(digits),
        _ => None,
    }
}

fn span_id(digits: &[u8]) -> Option<SpanId> {
    match digits.len() {
        16 => ids::span(digits),
        _ => None,
    }
}

pub(super) fn make(headers: &mut dyn Headers, stamp: &Stamp) {
    let trace = format!("{:032x}", stamp.trace.0);
    let span = format!("{:016x}", stamp.key.span().0);
    if let Some(decision) = sampling(headers) {
        let single = format!("{trace}-{span}-{decision}");
        headers.set(SINGLE, single.as_bytes());
        return;
    }
    headers.remove(SINGLE);
    headers.set(TRACE, trace.as_bytes());
    headers.set(SPAN, span.as_bytes());
    headers.remove(PARENT);
    if headers.first(SAMPLED).is_none() && headers.first(FLAGS).is_none() {
        headers.set(SAMPLED, b"1");
    }
}

/// The decision of a single header that says nothing else.
fn sampling(headers: &dyn Headers) -> Option<&'static str> {
    let value = headers.first(SINGLE)?.trim_ascii();
    let decisions = ["0", "1", "d"];
    decisions.into_iter().find(|text| text.as_bytes() == value)
}

#[cfg(test)]
mod tests {
    use super::super::Carrier::B3;
    use super::super::testing::{ENTRY, HOP, TRACE_TEXT, headers, only, read, stamped, trace};
    use super::*;

    const LONG: u128 = 0x80f1_9887_9ff3_9da6_e457_902e_4bf9_2f35;
    const LONG_TEXT: &str = "80f198879ff39da6e457902e4bf92f35";
    const OWN: u64 = 0xe457_b5a2_e4d8_6bd1;
    const UP: u64 = 0x05e3_ac9a_4f6e_3b90;

    #[test]
    fn the_single_header_is_read_in_all_its_forms() {
        let span = "e457b5a2e4d86bd1";
        let cases = [
            (
                format!("{LONG_TEXT}-{span}-1-05e3ac9a4f6e3b90"),
                trace(LONG, OWN, UP),
            ),
            (
                format!("{LONG_TEXT}-{span}-d-05e3ac9a4f6e3b90"),
                trace(LONG, OWN, UP),
            ),
            (format!(" {LONG_TEXT}-{span}-0 "), trace(LONG, OWN, 0)),
            (format!("{LONG_TEXT}-{span}"), trace(LONG, OWN, 0)),
            (
                format!("e457902e4bf92f35-{span}-1"),
                trace(0xe457_902e_4bf9_2f35, OWN, 0),
            ),
            (
                format!("{LONG_TEXT}-{span}-1-0000000000000000"),
                trace(LONG, OWN, 0),
            ),
        ];
        for (value, hint) in cases {
            assert_eq!(read(&B3, &[(SINGLE, &value)]), [hint], "{value}");
        }
    }

    #[test]
    fn the_several_headers_are_read() {
        let ids = [(TRACE, LONG_TEXT), (SPAN, "e457b5a2e4d86bd1")];
        assert_eq!(read(&B3, &ids), [trace(LONG, OWN, 0)]);
        let with_parent = [ids[0], ids[1], (PARENT, "05e3ac9a4f6e3b90"), (SAMPLED, "0")];
        assert_eq!(read(&B3, &with_parent), [trace(LONG, OWN, UP)]);
        let short = [(TRACE, "00000000000000ff"), ids[1]];
        assert_eq!(read(&B3, &short), [trace(0xff, OWN, 0)]);
    }

    #[test]
    fn the_single_header_is_believed_if_both_are_there() {
        let lines = [
            (SINGLE, "00000000000000aa-00000000000000bb-1"),
            (TRACE, LONG_TEXT),
            (SPAN, "e457b5a2e4d86bd1"),
        ];
        assert_eq!(read(&B3, &lines), [trace(0xaa, 0xbb, 0)]);
    }

    #[test]
    fn forms_without_ids_say_nothing() {
        for value in [
            "",
            "0",
            "1",
            "d",
            "-",
            "80f198879ff39da6e457902e4bf92f35",
            "80f198879ff39da6e457902e4bf92f35-",
            "80f198879ff39da6e457902e4bf92f35-1",
            "00000000000000000000000000000000-e457b5a2e4d86bd1",
            "80f198879ff39da6e457902e4bf92f35-0000000000000000-1",
            "80f198879ff39da6e457902e4bf92f3-e457b5a2e4d86bd1-1",
            "80f198879ff39da6e457902e4bf92fxx-e457b5a2e4d86bd1-1",
        ] {
            assert_eq!(read(&B3, &[(SINGLE, value)]), [], "{value}");
        }
        assert_eq!(read(&B3, &[(TRACE, LONG_TEXT)]), []);
        assert_eq!(read(&B3, &[(SAMPLED, "1")]), []);
    }

    #[test]
    fn on_entry_ids_are_made_where_there_are_none() {
        let made = stamped(&B3, &[], &ENTRY);
        assert_eq!(only(&made, TRACE), TRACE_TEXT);
        assert_eq!(only(&made, SPAN).len(), 16);
        assert_eq!(only(&made, SAMPLED), "1");
        assert_eq!(only(&made, PARENT), "-");
        assert_eq!(only(&made, SINGLE), "-");
        let broken = [
            (SINGLE, "broken"),
            (TRACE, "x"),
            (PARENT, "05e3ac9a4f6e3b90"),
        ];
        assert_eq!(stamped(&B3, &broken, &ENTRY), made);
    }

    #[test]
    fn on_entry_a_sampling_decision_is_kept() {
        let made = stamped(&B3, &[(SINGLE, "0")], &ENTRY);
        let value = only(&made, SINGLE);
        assert!(value.starts_with(TRACE_TEXT) && value.ends_with("-0"));
        assert_eq!(only(&made, TRACE), "-");
        let made = stamped(&B3, &[(SAMPLED, "0")], &ENTRY);
        assert_eq!(
            (only(&made, TRACE), only(&made, SAMPLED)),
            (TRACE_TEXT, "0")
        );
        let made = stamped(&B3, &[(FLAGS, "1")], &ENTRY);
        assert_eq!(
            (only(&made, TRACE), only(&made, SAMPLED)),
            (TRACE_TEXT, "-")
        );
    }

    #[test]
    fn what_has_ids_and_what_a_service_sends_is_left_alone() {
        let single = [(SINGLE, "00000000000000aa-00000000000000bb-1")];
        assert_eq!(stamped(&B3, &single, &ENTRY), headers(&single));
        let multi = [(TRACE, LONG_TEXT), (SPAN, "e457b5a2e4d86bd1")];
        assert_eq!(stamped(&B3, &multi, &ENTRY), headers(&multi));
        for lines in [&[][..], &[(SINGLE, "0")], &multi] {
            assert_eq!(stamped(&B3, lines, &HOP), headers(lines));
        }
    }
}

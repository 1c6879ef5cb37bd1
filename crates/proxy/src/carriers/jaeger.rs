//! `uber-trace-id`, of Jaeger: the trace id alone, with the span above it in
//! old clients.
//!
//! Owns the header's form: `trace:span:parent:flags`, in hexadecimal digits
//! without padding, by some clients percent-encoded. On entry it is made where
//! it is missing; on other hops nothing is touched.

use murphy_registry::{Spans, TraceKey};
use percent_encoding::percent_decode;

use super::{Ids, Stamp, ids};
use crate::headers::Headers;

pub(super) const HEADER: &str = "uber-trace-id";

pub(super) fn make(headers: &mut dyn Headers, stamp: &Stamp) {
    let (trace, span) = (stamp.trace.0, stamp.key.span().0);
    headers.set(HEADER, format!("{trace:x}:{span:x}:0:1").as_bytes());
}

pub(super) fn ids(headers: &dyn Headers) -> Option<Ids> {
    let mut bytes = percent_decode(headers.first(HEADER)?.trim_ascii());
    let mut field = || ids::hex(bytes.by_ref().take_while(|byte| *byte != b':'));
    let (trace, own, parent, _flags) = (field()?, field()?, field()?, field()?);
    let spans = Spans {
        own: Some(ids::span_of_number(own)?),
        parent: ids::span_of_number(parent),
    };
    (trace != 0 && bytes.next().is_none()).then_some((TraceKey(trace), spans))
}

#[cfg(test)]
mod tests {
    use super::super::Carrier::Jaeger;
    use super::super::testing::{ENTRY, HOP, TRACE_TEXT, headers, only, read, stamped, trace};
    use super::*;

    #[test]
    fn ids_are_read_with_and_without_padding_and_encoding() {
        let cases = [
            ("2a:b:0:1", trace(0x2a, 0xb, 0)),
            ("2a:b:c:1", trace(0x2a, 0xb, 0xc)),
            ("2a%3Ab%3ac%3A1", trace(0x2a, 0xb, 0xc)),
            (
                " 0000000000000000000000000000002a:000000000000000b:0000000000000000:03 ",
                trace(0x2a, 0xb, 0),
            ),
            (
                "4BF92F3577B34DA6A3CE929D0E0E4736:00f067aa0ba902b7:0:1",
                trace(
                    0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
                    0x00f0_67aa_0ba9_02b7,
                    0,
                ),
            ),
        ];
        for (value, hint) in cases {
            assert_eq!(read(&Jaeger, &[(HEADER, value)]), [hint], "{value}");
        }
    }

    const BROKEN: [&str; 10] = [
        "",
        "2a",
        "2a:b:0",
        "2a:b:0:",
        "2a:b:0:1:1",
        "0:b:0:1",
        "2a:0:0:1",
        "2a:10000000000000000:0:1",
        "1ffffffffffffffffffffffffffffffff:b:0:1",
        "2a:b:x:1",
    ];

    #[test]
    fn nothing_is_read_in_broken_forms() {
        for value in BROKEN {
            assert_eq!(read(&Jaeger, &[(HEADER, value)]), [], "{value}");
        }
    }

    #[test]
    fn on_entry_one_is_made_where_there_is_none() {
        let made = stamped(&Jaeger, &[], &ENTRY);
        let value = only(&made, HEADER);
        assert!(value.starts_with(TRACE_TEXT) && value.ends_with(":0:1"));
        for broken in BROKEN {
            assert_eq!(stamped(&Jaeger, &[(HEADER, broken)], &ENTRY), made);
        }
    }

    #[test]
    fn what_has_ids_and_what_a_service_sends_is_left_alone() {
        let lines = [(HEADER, "2a:b:0:0")];
        assert_eq!(stamped(&Jaeger, &lines, &ENTRY), headers(&lines));
        assert_eq!(stamped(&Jaeger, &lines, &HOP), headers(&lines));
        assert_eq!(stamped(&Jaeger, &[], &HOP), headers(&[]));
    }
}

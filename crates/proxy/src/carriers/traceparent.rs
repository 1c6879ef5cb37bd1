//! `traceparent`: the trace id alone, of W3C Trace Context.
//!
//! Owns the header's form. The span in it is read, but says little: some
//! stacks hand it on as it came. Since every stack drops `tracestate` where
//! there is no valid `traceparent`, one is made where it is missing.

use murphy_registry::{SpanId, Spans, TraceKey, hex};

use super::{Context, Ids, Stamp};
use crate::headers::Headers;

pub(super) const HEADER: &str = "traceparent";

/// `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`
const LENGTH: usize = 55;

pub(super) fn read(headers: &dyn Headers, found: &mut Context) {
    let ids = first_valid(headers);
    found.traceparent |= ids.is_some();
    found.trace(ids);
}

/// Makes a `traceparent`, unless there is a valid one.
pub(super) fn ensure(headers: &mut dyn Headers, stamp: &Stamp, found: &mut Context) {
    if found.traceparent {
        return;
    }
    found.traceparent = true;
    if first_valid(headers).is_none() {
        let (trace, span) = (stamp.trace.0, stamp.key.span().0);
        let made = format!("00-{trace:032x}-{span:016x}-01");
        headers.set(HEADER, made.as_bytes());
    }
}

fn first_valid(headers: &dyn Headers) -> Option<Ids> {
    let mut valid = None;
    headers.each(HEADER, &mut |value| {
        valid = valid.or_else(|| parse(value.trim_ascii()));
    });
    valid
}

/// The ids in a value: of version 00 exactly, of a later one as far as it
/// must begin alike.
fn parse(value: &[u8]) -> Option<Ids> {
    let (known, rest) = value.split_first_chunk::<LENGTH>()?;
    let dashes = known[2] == b'-' && known[35] == b'-' && known[52] == b'-';
    let digits = [known[0], known[1], known[53], known[54]];
    let complete = match &known[..2] {
        b"ff" => false,
        b"00" => rest.is_empty(),
        _ => matches!(rest, [] | [b'-', ..]),
    };
    if !(dashes && complete && digits.iter().all(is_digit)) {
        return None;
    }
    let (high, low) = (hex::parse(&known[3..19])?, hex::parse(&known[19..35])?);
    let trace = u128::from(high) << 64 | u128::from(low);
    let span = hex::parse(&known[36..52])?;
    let spans = Spans {
        own: Some(SpanId(span)),
        parent: None,
    };
    (trace != 0 && span != 0).then_some((TraceKey(trace), spans))
}

fn is_digit(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::super::Carrier::TraceParent;
    use super::super::testing::{ENTRY, HOP, TRACE_TEXT, headers, only, read, stamped, trace};
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    const INVALID: [&str; 14] = [
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01extra",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-é",
    ];

    #[test]
    fn ids_are_read_in_every_valid_form() {
        let hint = trace(
            0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            0x00f0_67aa_0ba9_02b7,
            0,
        );
        let forms = [
            VALID,
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00\t",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-Extra",
        ];
        for form in forms {
            assert_eq!(read(&TraceParent, &[(HEADER, form)]), [hint], "{form}");
        }
    }

    #[test]
    fn nothing_is_read_in_invalid_forms() {
        for form in INVALID {
            assert_eq!(read(&TraceParent, &[(HEADER, form)]), [], "{form}");
        }
    }

    #[test]
    fn one_is_made_where_there_is_none_or_none_that_is_valid() {
        let made = stamped(&TraceParent, &[], &HOP);
        let value = only(&made, HEADER);
        assert!(
            value.starts_with(&format!("00-{TRACE_TEXT}-")) && value.ends_with("-01"),
            "{value}"
        );
        assert!(parse(value.as_bytes()).is_some(), "{value}");
        for form in INVALID {
            let replaced = stamped(&TraceParent, &[(HEADER, form), (HEADER, "x")], &ENTRY);
            assert_eq!(only(&replaced, HEADER), value, "{form}");
        }
    }

    #[test]
    fn a_valid_one_is_never_altered() {
        for lines in [
            &[(HEADER, VALID)][..],
            &[(HEADER, "x"), (HEADER, VALID)],
            &[(
                HEADER,
                "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
            )],
        ] {
            assert_eq!(stamped(&TraceParent, lines, &ENTRY), headers(lines));
        }
    }
}

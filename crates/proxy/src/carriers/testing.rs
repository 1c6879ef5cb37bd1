//! What the tests of carriers share.

use http::{HeaderMap, HeaderName, HeaderValue};
use murphy_model::CallId;
use murphy_registry::{CallKey, ContextHint, ExecutionId, SpanId, Spans, TraceKey};

use super::{Carrier, Context, Stamp};
use crate::headers::Headers;

/// `KEY`, as it is written.
pub(super) const KEY_TEXT: &str = "00000000000000ab-2";

pub(super) const KEY: CallKey = CallKey {
    execution: ExecutionId(0xab),
    call: Some(CallId(2)),
};

/// Another call of the same execution, as it is written.
pub(super) const OTHER_TEXT: &str = "00000000000000ab-7";

pub(super) const TRACE: TraceKey = TraceKey(0x1111_2222_3333_4444_5555_6666_7777_8888);

pub(super) const TRACE_TEXT: &str = "11112222333344445555666677778888";

/// What the scenario itself sends is stamped so.
pub(super) const ENTRY: Stamp = Stamp {
    key: KEY,
    trace: TRACE,
    entry: true,
};

/// What a service sends is stamped so.
pub(super) const HOP: Stamp = Stamp {
    entry: false,
    ..ENTRY
};

pub(super) fn trace(trace: u128, own: u64, parent: u64) -> ContextHint {
    let span = |span: u64| (span != 0).then_some(SpanId(span));
    let spans = Spans {
        own: span(own),
        parent: span(parent),
    };
    ContextHint::Trace(TraceKey(trace), spans)
}

pub(super) fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let line = |(name, value): &(&'static str, &str)| {
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("a header's value");
        (HeaderName::from_static(name), value)
    };
    let mut map = HeaderMap::new();
    for (name, value) in lines.iter().map(line) {
        map.append(name, value);
    }
    map
}

/// What a carrier reads in these lines.
pub(super) fn read(carrier: &Carrier, lines: &[(&'static str, &str)]) -> Vec<ContextHint> {
    read_from(carrier, &headers(lines))
}

/// What a carrier reads in these headers.
pub(super) fn read_from(carrier: &Carrier, headers: &HeaderMap) -> Vec<ContextHint> {
    let mut found = Context::default();
    carrier.read(headers, &mut found);
    found.hints
}

/// These lines after a carrier has stamped them.
pub(super) fn stamped(
    carrier: &Carrier,
    lines: &[(&'static str, &str)],
    stamp: &Stamp,
) -> HeaderMap {
    let mut headers = headers(lines);
    let mut found = Context::default();
    carrier.read(&headers, &mut found);
    carrier.stamp(&mut headers, stamp, &mut found);
    headers
}

/// The only value of a header, "-" if there is none.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    assert!(headers.get_all(name).iter().count() <= 1, "{headers:?}");
    headers.text(name).unwrap_or("-")
}

/// A list that our member is put into, and what it may be at most.
pub(super) struct List {
    pub(super) carrier: Carrier,
    pub(super) header: &'static str,
    pub(super) members: usize,
    pub(super) length: usize,
}

impl List {
    fn lines<'t>(&self, lines: &[&'t str]) -> Vec<(&'static str, &'t str)> {
        lines.iter().map(|line| (self.header, *line)).collect()
    }

    /// Whose call these lines say it is.
    pub(super) fn ours_in(&self, lines: &[&str]) -> Vec<ContextHint> {
        read(&self.carrier, &self.lines(lines))
    }

    /// What of these lines is left beside our member.
    pub(super) fn others_of(&self, lines: &[&str]) -> String {
        let headers = stamped(&self.carrier, &self.lines(lines), &HOP);
        let list = only(&headers, self.header);
        assert!(list.len() <= self.length, "{list}");
        assert!(list.split(',').count() <= self.members, "{list}");
        let others = list.strip_prefix(&format!("murphy={KEY_TEXT}")).unwrap();
        others.strip_prefix(',').unwrap_or(others).to_owned()
    }

    pub(super) fn assert_drops_the_last_members(&self) {
        let members = |n| Vec::from_iter((0..n).map(|i| format!("k{i}=v"))).join(",");
        let most = members(self.members - 1);
        assert_eq!(self.others_of(&[&most]), most);
        assert_eq!(self.others_of(&[&members(self.members + 100)]), most);
    }
}

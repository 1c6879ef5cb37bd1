//! The headers of a request, as carriers look through them and change them.
//!
//! Owns two savings. Carriers mostly ask for headers that are not there, which
//! is known from a glance at the names. And what they write differs from call
//! to call, so it is marked to be left out of HPACK's table, where it would
//! drive out what does not differ.

use std::sync::OnceLock;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::headers::Headers;

/// The headers of a request.
pub(super) struct Fields {
    map: HeaderMap,
    /// A bit for every name there is; several names share one. Looked at only
    /// if anyone asks, since nobody does while no execution is live.
    names: OnceLock<u64>,
}

impl Fields {
    pub(super) fn new(map: HeaderMap) -> Self {
        Fields {
            map,
            names: OnceLock::new(),
        }
    }

    pub(super) fn map(&self) -> &HeaderMap {
        &self.map
    }

    fn may_have(&self, name: &str) -> bool {
        let names = self.names.get_or_init(|| {
            let names = self.map.keys().map(HeaderName::as_str);
            names.fold(0, |bits, name| bits | bit(name))
        });
        names & bit(name) != 0
    }
}

/// Which bit stands for a name: its length and its last letter tell the usual
/// ones apart.
fn bit(name: &str) -> u64 {
    let last = name.bytes().next_back().unwrap_or_default();
    1 << ((name.len() * 5 + usize::from(last)) % 64)
}

impl Headers for Fields {
    fn each<'a>(&'a self, name: &str, see: &mut dyn FnMut(&'a [u8])) {
        if self.may_have(name) {
            self.map.each(name, see);
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        let bits = bit(name);
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        if let (Ok(name), Ok(mut value)) = (name, value) {
            value.set_sensitive(true);
            self.map.insert(name, value);
            if let Some(names) = self.names.get_mut() {
                *names |= bits;
            }
        }
    }

    fn remove(&mut self, name: &str) {
        if self.may_have(name) {
            self.map.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[(&'static str, &'static str)]) -> Fields {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, HeaderValue::from_static(value));
        }
        Fields::new(map)
    }

    fn all<'a>(fields: &'a Fields, name: &str) -> Vec<&'a [u8]> {
        let mut all = Vec::new();
        fields.each(name, &mut |value| all.push(value));
        all
    }

    #[test]
    fn what_is_there_is_found_and_nothing_else() {
        let fields = fields(&[("tracestate", "a=1"), ("b3", "0"), ("tracestate", "b=2")]);
        assert_eq!(all(&fields, "tracestate"), [b"a=1", b"b=2"]);
        assert_eq!(fields.first("b3"), Some(&b"0"[..]));
        assert_eq!(fields.first("baggage"), None);
        assert_eq!(fields.text("b3"), Some("0"));
    }

    #[test]
    fn what_is_set_is_found_and_what_is_removed_is_not() {
        let mut fields = fields(&[("x-old", "1"), ("x-old", "2")]);
        assert_eq!(fields.first("traceparent"), None);
        fields.set("traceparent", "new");
        fields.set("x-old", "3");
        assert_eq!(all(&fields, "x-old"), [b"3"]);
        assert_eq!(fields.first("traceparent"), Some(&b"new"[..]));
        fields.remove("x-old");
        fields.remove("not-there");
        assert_eq!(all(&fields, "x-old"), [b""; 0]);
    }
}

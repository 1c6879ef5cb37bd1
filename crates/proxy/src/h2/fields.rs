//! The headers of a request, as carriers look through them and change them.
//!
//! Owns what makes them cheap. Carriers mostly ask for headers that are not
//! there, which is known from a glance at the names. And what they write
//! differs from call to call, so it is marked to be left out of HPACK's table,
//! where it would drive out what does not differ.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::headers::{Headers, Names};

/// The headers of a request.
pub(super) struct Fields {
    map: HeaderMap,
    /// The names, as [`Names`] keeps them. Looked at only if anyone asks, since
    /// nobody does while no execution is live; until then, as with no header
    /// at all, it is none.
    names: AtomicU64,
    /// The value that was set last: carriers mostly write the same one twice.
    written: Option<HeaderValue>,
}

impl Fields {
    pub(super) fn new(map: HeaderMap) -> Self {
        Fields {
            map,
            names: AtomicU64::new(0),
            written: None,
        }
    }

    pub(super) fn map(&self) -> &HeaderMap {
        &self.map
    }

    /// Lets what was written into HPACK's table, so that later requests on the
    /// same connection can refer to its names.
    pub(super) fn let_into_table(&self, map: &mut HeaderMap) {
        if let Some(written) = &self.written {
            let ours = map.values_mut().filter(|value| *value == written);
            ours.for_each(|value| value.set_sensitive(false));
        }
    }

    /// Whether anything was written.
    pub(super) fn are_changed(&self) -> bool {
        self.written.is_some()
    }

    /// Inlined, since most callers know the name when they are compiled.
    #[inline]
    fn may_have(&self, name: &str) -> bool {
        let known = Names::from_bits(self.names.load(Relaxed));
        let known = if known.bits() == 0 {
            self.glance()
        } else {
            known
        };
        known.may_have(name)
    }

    #[cold]
    fn glance(&self) -> Names {
        let known = names(&self.map);
        self.names.store(known.bits(), Relaxed);
        known
    }

    fn show<'a>(&'a self, name: &str, see: &mut dyn FnMut(&'a [u8])) {
        let named = self.map.iter().filter(|(known, _)| known.as_str() == name);
        named.for_each(|(_, value)| see(value.as_bytes()));
    }

    fn written(&mut self, text: &[u8]) -> Option<HeaderValue> {
        if let Some(written) = &self.written
            && written == text
        {
            return Some(written.clone());
        }
        let mut value = HeaderValue::from_bytes(text).ok()?;
        value.set_sensitive(true);
        self.written = Some(value.clone());
        Some(value)
    }
}

fn names(map: &HeaderMap) -> Names {
    let mut names = Names::default();
    map.keys()
        .for_each(|name| names.add(name.as_str().as_bytes()));
    names
}

/// The names that carriers write by default, made once and not for every call.
static USUAL: [HeaderName; 3] = [
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("baggage"),
    HeaderName::from_static("traceparent"),
];

fn header_name(name: &str) -> Option<HeaderName> {
    match USUAL.iter().find(|usual| usual.as_str() == name) {
        Some(usual) => Some(usual.clone()),
        None => HeaderName::from_bytes(name.as_bytes()).ok(),
    }
}

impl Headers for Fields {
    /// Goes through all of them: they are few, and to look for one in the map
    /// its name would have to be checked and hashed first.
    #[inline]
    fn each<'a>(&'a self, name: &str, see: &mut dyn FnMut(&'a [u8])) {
        if self.may_have(name) {
            self.show(name, see);
        }
    }

    fn set(&mut self, name: &str, value: &[u8]) {
        let Some(value) = self.written(value) else {
            return;
        };
        if let Some(header) = header_name(name) {
            self.map.insert(header, value);
            let mut known = Names::from_bits(*self.names.get_mut());
            if known.bits() != 0 {
                known.add(name.as_bytes());
                *self.names.get_mut() = known.bits();
            }
        }
    }

    fn replace(&mut self, name: &str, value: &[u8]) {
        let Some(value) = self.written(value) else {
            return;
        };
        let mut all = self.map.iter_mut();
        if let Some((_, only)) = all.find(|(known, _)| known.as_str() == name) {
            *only = value;
        }
    }

    #[inline]
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
        fields.set("traceparent", b"new");
        fields.set("x-old", b"3");
        assert_eq!(all(&fields, "x-old"), [b"3"]);
        assert_eq!(fields.first("traceparent"), Some(&b"new"[..]));
        fields.remove("x-old");
        fields.remove("not-there");
        assert_eq!(all(&fields, "x-old"), [b""; 0]);
    }

    #[test]
    fn the_only_one_is_replaced_where_it_stands() {
        let mut fields = fields(&[("a", "1"), ("tracestate", "b=2"), ("c", "3")]);
        fields.replace("tracestate", b"b=4");
        let now: Vec<_> = fields.map().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(now, ["a", "tracestate", "c"]);
        assert_eq!(all(&fields, "tracestate"), [b"b=4"]);
    }

    #[test]
    fn only_what_was_written_here_is_let_into_the_table() {
        let mut secret = HeaderValue::from_static("s");
        secret.set_sensitive(true);
        let mut fields = Fields::new(HeaderMap::from_iter([(USUAL[2].clone(), secret)]));
        assert!(!fields.are_changed());
        fields.set("tracestate", b"a=1");
        fields.set("baggage", b"a=1");
        assert!(fields.are_changed());
        let mut map = fields.map().clone();
        assert!(map.values().all(HeaderValue::is_sensitive));
        fields.let_into_table(&mut map);
        let sensitive = |name: &str| map[name].is_sensitive();
        let kept = ["traceparent", "tracestate", "baggage"].map(sensitive);
        assert_eq!(kept, [true, false, false]);
    }
}

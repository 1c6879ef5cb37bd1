//! Any header the user names: one the application hands on by itself.
//!
//! Owns both ways in which it can help. Where it is empty it carries our own
//! mark; where the application puts a correlation id of its own into it, that
//! is left alone and remembered instead. A prefix such as `uberctx-*` means
//! that every header that begins so is handed on, so one of ours is added.

use std::fmt;
use std::str::FromStr;

use http::HeaderName;
use murphy_registry::{CallKey, ContextHint, Spans};

use super::list::KEY;
use super::{Context, Stamp, ids};
use crate::headers::Headers;

/// Headers that the protocol itself, or another carrier, gives a meaning to.
const TAKEN: [&str; 16] = [
    "b3",
    "baggage",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "traceparent",
    "tracestate",
    "transfer-encoding",
    "uber-trace-id",
    "upgrade",
];

/// A carrier `header:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    header: HeaderName,
    /// Whether the header is ours alone, under a prefix of the user's.
    prefixed: bool,
}

/// Why a name cannot be a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It can be no header at all.
    #[error("it must be the name of a header, or the beginning of one and `*`")]
    NoHeader,
    /// It is spoken for.
    #[error("this header has a meaning of its own already")]
    Taken,
}

impl FromStr for Named {
    type Err = BadName;

    /// Reads `NAME`, or `PREFIX*`.
    fn from_str(text: &str) -> Result<Self, BadName> {
        let (name, prefixed) = match text.strip_suffix('*') {
            Some("") => return Err(BadName::NoHeader),
            Some(prefix) => (format!("{prefix}{KEY}"), true),
            None => (text.to_owned(), false),
        };
        // A star is allowed in names of headers, but means something here.
        if name.contains('*') {
            return Err(BadName::NoHeader);
        }
        let header = HeaderName::try_from(name).map_err(|_| BadName::NoHeader)?;
        match TAKEN.contains(&header.as_str()) {
            true => Err(BadName::Taken),
            false => Ok(Named { header, prefixed }),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.header.as_str();
        match name.strip_suffix(KEY).filter(|_| self.prefixed) {
            Some(prefix) => write!(f, "header:{prefix}*"),
            None => write!(f, "header:{name}"),
        }
    }
}

impl Named {
    pub(super) fn read(&self, headers: &dyn Headers, found: &mut Context) {
        let Some(value) = self.value(headers) else {
            return;
        };
        let key = CallKey::parse(value);
        found.hints.extend(key.map(ContextHint::Stamp));
        // Sixteen digits may name an execution, or be an id of the
        // application's own. Which it is, the registry knows.
        let certain = key.is_some_and(|key| key.call.is_some());
        if !self.prefixed && !certain {
            found
                .hints
                .push(ContextHint::Trace(ids::digest(value), Spans::default()));
        }
    }

    pub(super) fn stamp(&self, headers: &mut dyn Headers, stamp: &Stamp) {
        let ours =
            |value| CallKey::parse(value).is_some_and(|key| key.execution == stamp.key.execution);
        if self.prefixed || self.value(headers).is_none_or(ours) {
            headers.set(self.header.as_str(), stamp.key.name().as_bytes());
        }
    }

    fn value<'h>(&self, headers: &'h dyn Headers) -> Option<&'h [u8]> {
        let value = headers.first(self.header.as_str())?.trim_ascii();
        (!value.is_empty()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Carrier;
    use super::super::testing::{
        ENTRY, HOP, KEY, KEY_TEXT, OTHER_TEXT, headers, only, read, stamped,
    };
    use super::*;
    use murphy_registry::ExecutionId;

    const HEADER: &str = "x-correlation-id";
    const PREFIXED: &str = "uberctx-murphy";

    fn plain() -> Carrier {
        "header:X-Correlation-ID".parse().unwrap()
    }

    fn prefixed() -> Carrier {
        "header:uberctx-*".parse().unwrap()
    }

    fn digest(text: &str) -> ContextHint {
        ContextHint::Trace(ids::digest(text.as_bytes()), Spans::default())
    }

    #[test]
    fn a_name_is_written_as_it_is_read() {
        for (text, written) in [
            ("X-Correlation-ID", "header:x-correlation-id"),
            ("uberctx-*", "header:uberctx-*"),
            ("uberctx-murphy", "header:uberctx-murphy"),
            ("x-request-id", "header:x-request-id"),
        ] {
            let named: Named = text.parse().unwrap();
            assert_eq!(named.to_string(), written);
            assert_eq!(written["header:".len()..].parse(), Ok(named));
        }
    }

    #[test]
    fn what_can_be_no_carrier_is_refused() {
        for text in ["", "*", "a*b", "**", "a b", "é", "x:y"] {
            assert_eq!(text.parse::<Named>(), Err(BadName::NoHeader), "{text}");
        }
        for text in ["Host", "content-length", "traceparent"] {
            assert_eq!(text.parse::<Named>(), Err(BadName::Taken), "{text}");
        }
    }

    #[test]
    fn our_mark_is_set_where_there_is_nothing_and_moved_on_where_it_is() {
        for (carrier, name) in [(plain(), HEADER), (prefixed(), PREFIXED)] {
            for stamp in [ENTRY, HOP] {
                for lines in [
                    &[][..],
                    &[(name, OTHER_TEXT)],
                    &[(name, "")],
                    &[(name, "00000000000000ab")],
                ] {
                    let headers = stamped(&carrier, lines, &stamp);
                    assert_eq!(only(&headers, name), KEY_TEXT, "{lines:?}");
                }
            }
            let lines = [(name, KEY_TEXT)];
            assert_eq!(read(&carrier, &lines), [ContextHint::Stamp(KEY)]);
        }
    }

    #[test]
    fn an_id_of_the_application_is_remembered_and_never_overwritten() {
        for id in ["order 17", "é", "00000000000000cd", "00000000000000cd-1"] {
            let lines = [(HEADER, id)];
            assert_eq!(stamped(&plain(), &lines, &ENTRY), headers(&lines), "{id}");
        }
        assert_eq!(read(&plain(), &[(HEADER, " a ")]), [digest("a")]);
        assert_eq!(read(&plain(), &[(HEADER, " ")]), []);
    }

    #[test]
    fn sixteen_digits_may_be_an_execution_or_an_id_of_the_application() {
        let id = "00000000000000cd";
        let execution = CallKey {
            execution: ExecutionId(0xcd),
            call: None,
        };
        let hints = [ContextHint::Stamp(execution), digest(id)];
        assert_eq!(read(&plain(), &[(HEADER, id)]), hints);
    }

    #[test]
    fn under_a_prefix_the_header_is_ours_whatever_it_says() {
        let lines = [(PREFIXED, "00000000000000cd-1")];
        let stamped = stamped(&prefixed(), &lines, &HOP);
        assert_eq!(only(&stamped, PREFIXED), KEY_TEXT);
        assert_eq!(read(&prefixed(), &[(PREFIXED, "x")]), []);
    }
}

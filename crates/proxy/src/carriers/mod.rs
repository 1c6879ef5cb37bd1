//! Carriers: how a call is known to belong to an execution.
//!
//! Owns reading hints from headers and stamping our own mark on them, one
//! module per carrier. Which hint is worth anything is for the registry. A
//! system that hands nothing on needs no carrier but a solo execution.

mod b3;
mod baggage;
mod header;
mod ids;
mod jaeger;
mod list;
mod request_id;
#[cfg(test)]
mod testing;
mod traceparent;
mod tracestate;

use std::fmt;
use std::str::FromStr;

use murphy_model::nearest;
use murphy_registry::{CallKey, ContextHint, Spans, TraceKey};

use crate::headers::Headers;
use list::Member;

pub use header::BadName;
use header::Named;

/// What is stamped on a request on its way into a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The call it is.
    pub key: CallKey,
    /// The trace id of its execution, for requests that have none; never zero.
    pub trace: TraceKey,
    /// Whether the scenario itself sent it: nothing was propagated to it yet,
    /// so what is missing is made.
    pub entry: bool,
}

/// What carriers found in the headers of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The hints, the most trusted first.
    pub(crate) hints: Vec<ContextHint>,
    /// Whether there is a valid `traceparent`, as far as anyone has looked:
    /// two carriers need to know, and looking is most of their work.
    traceparent: bool,
    /// Whether our member is all there is in `tracestate`, as it mostly is.
    alone: bool,
    /// Our member of a list, once it is written.
    member: Option<Member>,
}

impl Context {
    /// Our member of a list, `murphy=` and the call's name; the same for all.
    fn member(&mut self, stamp: &Stamp) -> &[u8] {
        let new = || Member::new(stamp.key);
        self.member.get_or_insert_with(new).as_bytes()
    }

    fn trace(&mut self, ids: Option<Ids>) {
        let hint = |(trace, spans)| ContextHint::Trace(trace, spans);
        self.hints.extend(ids.map(hint));
    }
}

/// What carriers that know no more than a trace find in headers.
type Ids = (TraceKey, Spans);

/// One way in which services hand on whose call they serve.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Carrier {
    TraceState,
    Baggage,
    TraceParent,
    B3,
    Jaeger,
    RequestId,
    Named(Named),
}

impl Carrier {
    /// Those that are called always the same, with their names in settings.
    const FIXED: [(&'static str, Carrier); 6] = [
        (tracestate::HEADER, Carrier::TraceState),
        (baggage::HEADER, Carrier::Baggage),
        (traceparent::HEADER, Carrier::TraceParent),
        (b3::SINGLE, Carrier::B3),
        (jaeger::HEADER, Carrier::Jaeger),
        (request_id::HEADER, Carrier::RequestId),
    ];

    /// Adds what the headers of a request say. Asked of every request while
    /// any execution is live.
    fn read(&self, headers: &dyn Headers, found: &mut Context) {
        match self {
            Carrier::TraceState => tracestate::read(headers, found),
            Carrier::Baggage => baggage::read(headers, found),
            Carrier::TraceParent => traceparent::read(headers, found),
            Carrier::B3 => found.trace(b3::ids(headers)),
            Carrier::Jaeger => found.trace(jaeger::ids(headers)),
            Carrier::RequestId => found.trace(request_id::ids(headers)),
            Carrier::Named(named) => named.read(headers, found),
        }
    }

    /// Makes the headers say whose request it is, for the callee to hand on;
    /// `found` is what was read in them. Ids of others' making are never
    /// touched, and made only on entry.
    fn stamp(&self, headers: &mut dyn Headers, stamp: &Stamp, found: &mut Context) {
        match self {
            Carrier::TraceState => tracestate::stamp(headers, stamp, found),
            Carrier::Baggage => baggage::stamp(headers, stamp, found),
            Carrier::TraceParent => traceparent::ensure(headers, stamp, found),
            Carrier::Named(named) => named.stamp(headers, stamp),
            _ if !stamp.entry => {}
            Carrier::B3 if b3::ids(headers).is_none() => b3::make(headers, stamp),
            Carrier::Jaeger if jaeger::ids(headers).is_none() => jaeger::make(headers, stamp),
            Carrier::RequestId if request_id::ids(headers).is_none() => {
                request_id::make(headers, stamp);
            }
            Carrier::B3 | Carrier::Jaeger | Carrier::RequestId => {}
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fixed = Carrier::FIXED.iter().find(|(_, carrier)| carrier == self);
        match (self, fixed) {
            (Carrier::Named(named), _) => named.fmt(f),
            (_, fixed) => f.write_str(fixed.map_or("", |(name, _)| name)),
        }
    }
}

/// Reads a name.
impl FromStr for Carrier {
    type Err = CarriersError;

    fn from_str(word: &str) -> Result<Self, CarriersError> {
        if let Some(name) = word.strip_prefix("header:") {
            let bad = |why| CarriersError::BadHeader {
                word: word.to_owned(),
                why,
            };
            return Ok(Carrier::Named(name.parse().map_err(bad)?));
        }
        let mut fixed = Carrier::FIXED.into_iter();
        let found = fixed.find(|(name, _)| *name == word);
        found
            .map(|(_, carrier)| carrier)
            .ok_or_else(|| CarriersError::Unknown {
                word: word.to_owned(),
            })
    }
}

/// The carriers in use, in the order in which they are believed.
///
/// ```
/// use murphy_proxy::carriers::Carriers;
///
/// let carriers: Carriers = "tracestate, header:x-correlation-id".parse().unwrap();
/// assert_eq!(carriers.to_string(), "tracestate,header:x-correlation-id");
/// ```
pub struct Carriers(Vec<Carrier>);

impl Carriers {
    /// What carriers can be called; `NAME` is any header, or a prefix and `*`.
    pub const NAMES: [&'static str; 7] = [
        "tracestate",
        "baggage",
        "traceparent",
        "b3",
        "uber-trace-id",
        "x-request-id",
        "header:NAME",
    ];

    /// All hints in the headers of a request, the most trusted first.
    pub fn read(&self, headers: &dyn Headers) -> Vec<ContextHint> {
        self.find(headers).hints
    }

    /// All that is in the headers of a request, to be stamped then.
    pub(crate) fn find(&self, headers: &dyn Headers) -> Context {
        let mut found = Context::default();
        for carrier in &self.0 {
            carrier.read(headers, &mut found);
        }
        found
    }

    /// Makes the headers say whose request it is, in every way in use.
    pub fn stamp(&self, headers: &mut dyn Headers, stamp: &Stamp) {
        self.stamp_found(headers, stamp, &mut Context::default());
    }

    /// The same for headers in which this was found.
    pub(crate) fn stamp_found(
        &self,
        headers: &mut dyn Headers,
        stamp: &Stamp,
        found: &mut Context,
    ) {
        for carrier in &self.0 {
            carrier.stamp(headers, stamp, found);
        }
    }
}

/// What the stacks of today hand on: our mark in two places, and the trace id
/// where both are lost.
impl Default for Carriers {
    fn default() -> Self {
        Carriers(vec![
            Carrier::TraceState,
            Carrier::Baggage,
            Carrier::TraceParent,
        ])
    }
}

/// What no carrier at all is called.
const NONE: &str = "none";

impl fmt::Display for Carriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(NONE);
        }
        for (i, carrier) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{carrier}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Carriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Carriers({self})")
    }
}

/// A text that names no carriers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarriersError {
    /// There is no such carrier.
    #[error("no carrier is called `{word}`{}; there are {all}", hint(.word), all = Carriers::NAMES.join(", "))]
    Unknown {
        /// The word.
        word: String,
    },
    /// The header cannot be a carrier.
    #[error("`{word}` cannot be a carrier: {why}")]
    BadHeader {
        /// The word.
        word: String,
        /// Why not.
        why: BadName,
    },
    /// Trusting one twice means nothing.
    #[error("`{word}` is there twice")]
    Twice {
        /// The word.
        word: String,
    },
}

fn hint(word: &str) -> String {
    match nearest(word, Carriers::NAMES) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None if word.contains(':') => String::new(),
        None => format!("; a header of that name is `header:{word}`"),
    }
}

/// Reads names separated by commas, or `none`.
impl FromStr for Carriers {
    type Err = CarriersError;

    fn from_str(text: &str) -> Result<Self, CarriersError> {
        let mut carriers: Vec<Carrier> = Vec::new();
        if text.trim() == NONE {
            return Ok(Carriers(carriers));
        }
        for word in text.split(',').map(str::trim) {
            let carrier: Carrier = word.parse()?;
            if carriers.contains(&carrier) {
                let word = carrier.to_string();
                return Err(CarriersError::Twice { word });
            }
            carriers.push(carrier);
        }
        Ok(Carriers(carriers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_are_written_as_they_are_read() {
        let all = "tracestate,baggage,traceparent,b3,uber-trace-id,x-request-id,header:uberctx-*";
        for text in [all, "b3", "none", "x-request-id,tracestate"] {
            assert_eq!(text.parse::<Carriers>().unwrap().to_string(), text);
        }
        let spaced: Carriers = " b3 ,\theader:X-My-Id ".parse().unwrap();
        assert_eq!(format!("{spaced:?}"), "Carriers(b3,header:x-my-id)");
        assert_eq!(
            Carriers::default().to_string(),
            "tracestate,baggage,traceparent"
        );
    }

    #[test]
    fn what_names_no_carriers_is_refused_and_the_way_out_is_shown() {
        let there_are = "there are tracestate, baggage, traceparent, b3, uber-trace-id, x-request-id, header:NAME";
        let cases = [
            (
                "tracestat",
                "no carrier is called `tracestat`; did you mean `tracestate`?",
            ),
            ("b3,", "no carrier is called ``"),
            ("", there_are),
            (
                "x-correlation-id",
                "a header of that name is `header:x-correlation-id`",
            ),
            (
                "b3,header:a b",
                "`header:a b` cannot be a carrier: it must be the name of a header",
            ),
            ("header:Host", "has a meaning of its own"),
            ("b3,baggage,b3", "`b3` is there twice"),
            ("header:A,header:a", "`header:a` is there twice"),
            ("b3,none", "no carrier is called `none`"),
        ];
        for (text, says) in cases {
            let error = text.parse::<Carriers>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}

//! Carriers: how a call is known to belong to an execution.
//!
//! Owns reading clues from headers and stamping our own mark on them, one
//! module per carrier. Which clue is worth anything is for the registry. A
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
use murphy_registry::{CallKey, Clue, TraceKey};

use crate::headers::Headers;
use list::Member;

pub use b3::B3;
pub use baggage::Baggage;
pub use header::{BadName, Named};
pub use jaeger::Jaeger;
pub use request_id::RequestId;
pub use traceparent::TraceParent;
pub use tracestate::TraceState;

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
pub struct Found {
    /// The clues, the most trusted first.
    pub clues: Vec<Clue>,
    /// Whether there is a valid `traceparent`, as far as anyone has looked:
    /// two carriers need to know, and looking is most of their work.
    traceparent: bool,
    /// Whether our member is all there is in `tracestate`, as it mostly is.
    alone: bool,
    /// Our member of a list, once it is written.
    member: Option<Member>,
}

impl Found {
    /// Our member of a list, `murphy=` and the call's name; the same for all.
    fn member(&mut self, stamp: &Stamp) -> &[u8] {
        let new = || Member::new(stamp.key);
        self.member.get_or_insert_with(new).as_bytes()
    }
}

/// One way in which services hand on whose call they serve. Written as it is
/// called in settings.
pub trait Carrier: fmt::Display + Send + Sync {
    /// Adds what the headers of a request say. Asked of every request while
    /// any execution is live.
    fn read(&self, headers: &dyn Headers, found: &mut Found);

    /// Makes the headers say whose request it is, for the callee to hand on;
    /// `found` is what was read in them.
    fn stamp(&self, headers: &mut dyn Headers, stamp: &Stamp, found: &mut Found);
}

/// The carriers in use, in the order in which they are believed.
///
/// ```
/// use murphy_proxy::carriers::Carriers;
///
/// let carriers: Carriers = "tracestate, header:x-correlation-id".parse().unwrap();
/// assert_eq!(carriers.to_string(), "tracestate,header:x-correlation-id");
/// ```
pub struct Carriers(Vec<Box<dyn Carrier>>);

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

    /// These carriers, the most trusted first.
    pub fn new(carriers: Vec<Box<dyn Carrier>>) -> Self {
        Carriers(carriers)
    }

    /// All clues in the headers of a request, the most trusted first.
    pub fn read(&self, headers: &dyn Headers) -> Vec<Clue> {
        self.find(headers).clues
    }

    /// All that is in the headers of a request, to be stamped then.
    pub(crate) fn find(&self, headers: &dyn Headers) -> Found {
        let mut found = Found::default();
        for carrier in &self.0 {
            carrier.read(headers, &mut found);
        }
        found
    }

    /// Makes the headers say whose request it is, in every way in use.
    pub fn stamp(&self, headers: &mut dyn Headers, stamp: &Stamp) {
        self.stamp_found(headers, stamp, &mut Found::default());
    }

    /// The same for headers in which this was found.
    pub(crate) fn stamp_found(&self, headers: &mut dyn Headers, stamp: &Stamp, found: &mut Found) {
        for carrier in &self.0 {
            carrier.stamp(headers, stamp, found);
        }
    }
}

/// What the stacks of today hand on: our mark in two places, and the trace id
/// where both are lost.
impl Default for Carriers {
    fn default() -> Self {
        Carriers::new(vec![
            Box::new(TraceState),
            Box::new(Baggage),
            Box::new(TraceParent),
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
        let mut carriers: Vec<Box<dyn Carrier>> = Vec::new();
        if text.trim() == NONE {
            return Ok(Carriers(carriers));
        }
        for word in text.split(',').map(str::trim) {
            let carrier = named(word)?;
            let name = carrier.to_string();
            if carriers.iter().any(|known| known.to_string() == name) {
                return Err(CarriersError::Twice { word: name });
            }
            carriers.push(carrier);
        }
        Ok(Carriers(carriers))
    }
}

fn named(word: &str) -> Result<Box<dyn Carrier>, CarriersError> {
    if let Some(name) = word.strip_prefix("header:") {
        let bad = |why| CarriersError::BadHeader {
            word: word.to_owned(),
            why,
        };
        return Ok(Box::new(name.parse::<Named>().map_err(bad)?));
    }
    Ok(match word {
        "tracestate" => Box::new(TraceState),
        "baggage" => Box::new(Baggage),
        "traceparent" => Box::new(TraceParent),
        "b3" => Box::new(B3),
        "uber-trace-id" => Box::new(Jaeger),
        "x-request-id" => Box::new(RequestId),
        _ => {
            return Err(CarriersError::Unknown {
                word: word.to_owned(),
            });
        }
    })
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

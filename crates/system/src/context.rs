//! What tells that something belongs to an execution, for what a test sends.
//!
//! Owns the headers and variables; how they are read again is the carriers'
//! job, which also write them.

use http::HeaderMap;
use murphy_proxy::Headers;
use murphy_proxy::carriers::{Carriers, Stamp};
use murphy_registry::{CallKey, ExecutionId};

/// The headers of an execution's own requests, lines ending included.
pub(super) fn head_lines(carriers: &Carriers, id: ExecutionId) -> Vec<(String, String)> {
    let headers = stamped(carriers, id);
    let line = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let value = value.to_str().expect("carriers write plain text");
        (name.as_str().to_owned(), value.to_owned())
    };
    headers.iter().map(line).collect()
}

/// The variables for tests that can send headers: the three of W3C, whatever
/// the services hand on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variables {
    pub(super) traceparent: String,
    pub(super) tracestate: String,
    pub(super) baggage: String,
}

impl Variables {
    pub(super) fn of(id: ExecutionId) -> Self {
        let headers = stamped(&Carriers::default(), id);
        let value = |name| headers.text(name).unwrap_or_default().to_owned();
        Variables {
            traceparent: value("traceparent"),
            tracestate: value("tracestate"),
            baggage: value("baggage"),
        }
    }
}

fn stamped(carriers: &Carriers, id: ExecutionId) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let stamp = Stamp {
        key: CallKey {
            execution: id,
            call: None,
        },
        trace: id.trace(),
        entry: true,
    };
    carriers.stamp(&mut headers, &stamp);
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use murphy_registry::ContextHint;

    #[test]
    fn what_is_written_is_read_as_an_entry_call() {
        let id = ExecutionId(0xabc);
        let variables = Variables::of(id);
        assert_eq!(variables.tracestate, "murphy=0000000000000abc");
        assert_eq!(variables.baggage, "murphy=0000000000000abc");
        assert!(
            variables
                .traceparent
                .starts_with("00-00000000000000000000000000000abc-")
        );
        let carriers = Carriers::default();
        let hints = carriers.read(&stamped(&carriers, id));
        let key = CallKey {
            execution: id,
            call: None,
        };
        assert_eq!(hints[0], ContextHint::Stamp(key));
        assert_eq!(head_lines(&carriers, id).len(), 3);
    }
}

//! What a service hands on from the request it serves to the calls it makes.
//!
//! Owns the behaviour of the common tracing libraries, as seen on the wire:
//! which headers they read, which they write, and where span ids come from.
//! Nothing here knows of Murphy; whether its marks survive is for the proxies
//! to see to.

use std::fmt;

use ::http::{HeaderMap, HeaderName, HeaderValue};

/// How the services of a system hand trace context on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// As OpenTelemetry does: `traceparent` with a new span id at every hop,
    /// `tracestate` and `baggage` as they came.
    #[default]
    W3c,
    /// `traceparent` and `baggage`, but no `tracestate`.
    NoTracestate,
    /// `traceparent` with a new span id, and nothing else.
    TraceIdOnly,
    /// As Zipkin's libraries do: `X-B3-*`, the span of a call shared by both
    /// sides of it, and its parent sent along.
    B3,
    /// The same, sent in the one header `b3`; both forms are understood.
    B3Single,
    /// Nothing at all.
    Nothing,
}

impl fmt::Display for Propagation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Propagation::W3c => "tracestate",
            Propagation::NoTracestate => "baggage",
            Propagation::TraceIdOnly => "traceparent",
            Propagation::B3 => "b3",
            Propagation::B3Single => "b3 single",
            Propagation::Nothing => "nothing",
        })
    }
}

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
const BAGGAGE: HeaderName = HeaderName::from_static("baggage");
const B3: HeaderName = HeaderName::from_static("b3");
const B3_TRACE: HeaderName = HeaderName::from_static("x-b3-traceid");
const B3_SPAN: HeaderName = HeaderName::from_static("x-b3-spanid");
const B3_PARENT: HeaderName = HeaderName::from_static("x-b3-parentspanid");
const B3_SAMPLED: HeaderName = HeaderName::from_static("x-b3-sampled");
const B3_FLAGS: HeaderName = HeaderName::from_static("x-b3-flags");

impl Propagation {
    /// The headers of a call made while a request with these headers is
    /// served. A request without context starts a trace of its own, as it
    /// does in instrumented services.
    pub(super) fn onward(self, incoming: &HeaderMap) -> HeaderMap {
        let mut onward = HeaderMap::new();
        match self {
            Propagation::W3c => {
                // Without a valid parent, the state is nobody's and dropped.
                if w3c(incoming, &mut onward) {
                    copy(&TRACESTATE, incoming, &mut onward);
                }
                copy(&BAGGAGE, incoming, &mut onward);
            }
            Propagation::NoTracestate => {
                w3c(incoming, &mut onward);
                copy(&BAGGAGE, incoming, &mut onward);
            }
            Propagation::TraceIdOnly => {
                w3c(incoming, &mut onward);
            }
            Propagation::B3 => b3(incoming, &mut onward),
            Propagation::B3Single => b3_single(incoming, &mut onward),
            Propagation::Nothing => {}
        }
        onward
    }
}

/// Continues the trace of a `traceparent`; false if a new one was started.
fn w3c(incoming: &HeaderMap, onward: &mut HeaderMap) -> bool {
    let parent = text(incoming, &TRACEPARENT).and_then(parse_traceparent);
    let (trace, flags) = match parent {
        Some((trace, flags)) => (trace.to_owned(), flags),
        None => (new_trace(), "01"),
    };
    set(
        onward,
        TRACEPARENT,
        format!("00-{trace}-{}-{flags}", new_span()),
    );
    parent.is_some()
}

/// The trace id and the flags.
fn parse_traceparent(value: &str) -> Option<(&str, &str)> {
    let mut fields = value.split('-');
    let (version, trace) = (fields.next()?, fields.next()?);
    let (span, flags) = (fields.next()?, fields.next()?);
    let whole = version != "00" || fields.next().is_none();
    let valid = whole
        && is_hex(version, 2)
        && version != "ff"
        && is_id(trace, 32)
        && is_id(span, 16)
        && is_hex(flags, 2);
    valid.then_some((trace, flags))
}

/// The server shares the caller's span; calls it makes are children of that.
fn b3(incoming: &HeaderMap, onward: &mut HeaderMap) {
    match (text(incoming, &B3_TRACE), text(incoming, &B3_SPAN)) {
        (Some(trace), Some(span)) => {
            set(onward, B3_TRACE, trace.to_owned());
            set(onward, B3_PARENT, span.to_owned());
            copy(&B3_SAMPLED, incoming, onward);
            copy(&B3_FLAGS, incoming, onward);
        }
        _ => {
            set(onward, B3_TRACE, new_trace());
            set(onward, B3_SAMPLED, "1".to_owned());
        }
    }
    set(onward, B3_SPAN, new_span());
}

fn b3_single(incoming: &HeaderMap, onward: &mut HeaderMap) {
    let fields: Vec<&str> = match text(incoming, &B3) {
        Some(value) => value.split('-').collect(),
        None => [B3_TRACE, B3_SPAN, B3_SAMPLED]
            .iter()
            .filter_map(|name| text(incoming, name))
            .collect(),
    };
    let own = new_span();
    let value = match fields[..] {
        [trace, span] => format!("{trace}-{own}-1-{span}"),
        [trace, span, sampled, ..] => format!("{trace}-{own}-{sampled}-{span}"),
        _ => format!("{}-{own}-1", new_trace()),
    };
    set(onward, B3, value);
}

/// Every line with this name, byte for byte.
fn copy(name: &HeaderName, incoming: &HeaderMap, onward: &mut HeaderMap) {
    for value in incoming.get_all(name) {
        onward.append(name, value.clone());
    }
}

fn set(onward: &mut HeaderMap, name: HeaderName, value: String) {
    let value = HeaderValue::try_from(value).expect("ids are plain text");
    onward.insert(name, value);
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn is_hex(text: &str, digits: usize) -> bool {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == digits && text.bytes().all(hex)
}

fn is_id(text: &str, digits: usize) -> bool {
    is_hex(text, digits) && text.bytes().any(|b| b != b'0')
}

fn new_trace() -> String {
    format!("{:032x}", fastrand::u128(1..))
}

fn new_span() -> String {
    format!("{:016x}", fastrand::u64(1..))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines.iter().map(line) {
            headers.append(name, value);
        }
        headers
    }

    fn w3c_request() -> HeaderMap {
        let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
        headers(&[
            ("traceparent", &parent),
            ("tracestate", "congo=t61rcWkgMzE , murphy=1"),
            ("tracestate", "rojo=00f067aa0ba902b7"),
            ("baggage", "user=alice;p=1"),
        ])
    }

    fn lines(headers: &HeaderMap, name: &str) -> Vec<String> {
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        headers.get_all(name).iter().map(text).collect()
    }

    #[test]
    fn w3c_keeps_everything_but_the_span() {
        let onward = Propagation::W3c.onward(&w3c_request());
        assert_eq!(
            lines(&onward, "tracestate"),
            ["congo=t61rcWkgMzE , murphy=1", "rojo=00f067aa0ba902b7"]
        );
        assert_eq!(lines(&onward, "baggage"), ["user=alice;p=1"]);
        let parent = &lines(&onward, "traceparent")[0];
        assert!(parent.starts_with(&format!("00-{TRACE}-")));
        assert!(!parent.contains("00f067aa0ba902b7"));
    }

    #[test]
    fn less_is_handed_on_where_less_is_spoken() {
        let request = w3c_request();
        let names = |propagation: Propagation| -> Vec<String> {
            let onward = propagation.onward(&request);
            onward.keys().map(ToString::to_string).collect()
        };
        assert_eq!(names(Propagation::NoTracestate), ["traceparent", "baggage"]);
        assert_eq!(names(Propagation::TraceIdOnly), ["traceparent"]);
        assert!(names(Propagation::Nothing).is_empty());
    }

    #[test]
    fn an_invalid_parent_starts_a_trace_and_loses_the_state() {
        for parent in [
            "",
            "00-0-00f067aa0ba902b7-01",
            "ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more",
        ] {
            let request = headers(&[("traceparent", parent), ("tracestate", "a=1")]);
            let onward = Propagation::W3c.onward(&request);
            assert!(lines(&onward, "tracestate").is_empty(), "{parent}");
            let own = &lines(&onward, "traceparent")[0];
            assert!(parse_traceparent(own).is_some(), "{own}");
            assert!(!own.contains(TRACE), "{parent}");
        }
    }

    #[test]
    fn b3_names_the_span_served_as_the_parent() {
        let request = headers(&[
            ("x-b3-traceid", TRACE),
            ("x-b3-spanid", "00f067aa0ba902b7"),
            ("x-b3-sampled", "0"),
        ]);
        let onward = Propagation::B3.onward(&request);
        assert_eq!(lines(&onward, "x-b3-traceid"), [TRACE]);
        assert_eq!(lines(&onward, "x-b3-parentspanid"), ["00f067aa0ba902b7"]);
        assert_eq!(lines(&onward, "x-b3-sampled"), ["0"]);
        assert_ne!(lines(&onward, "x-b3-spanid"), ["00f067aa0ba902b7"]);
    }

    #[test]
    fn b3_in_one_header_names_the_span_served_as_the_parent() {
        for request in ["TRACE-SPAN", "TRACE-SPAN-1", "TRACE-SPAN-1-ABOVE"] {
            let onward = Propagation::B3Single.onward(&headers(&[("b3", request)]));
            let value = &lines(&onward, "b3")[0];
            let fields: Vec<&str> = value.split('-').collect();
            assert!(
                matches!(fields[..], ["TRACE", own, "1", "SPAN"] if own != "SPAN"),
                "{value}"
            );
        }
        let several = headers(&[("x-b3-traceid", "TRACE"), ("x-b3-spanid", "SPAN")]);
        let onward = Propagation::B3Single.onward(&several);
        assert!(lines(&onward, "b3")[0].ends_with("-1-SPAN"));
        let started = Propagation::B3Single.onward(&HeaderMap::new());
        assert_eq!(lines(&started, "b3").len(), 1);
    }
}

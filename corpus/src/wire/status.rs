//! HTTP statuses and gRPC codes in each other's words.
//!
//! Owns two tables. One is this corpus' own convention: a handler's status
//! goes out as a code, and comes back as the same status wherever one of the
//! listed statuses is used. The other is the gRPC specification's, for answers
//! of a plain HTTP server or proxy in between; it loses more.

use murphy_model::GrpcCode;

/// Codes and the statuses that handlers know them by. Statuses are listed
/// once, so going there and back changes nothing.
const BOTH_WAYS: [(&str, u16); 12] = [
    ("CANCELLED", 499),
    ("UNKNOWN", 502),
    ("INVALID_ARGUMENT", 400),
    ("DEADLINE_EXCEEDED", 504),
    ("NOT_FOUND", 404),
    ("PERMISSION_DENIED", 403),
    ("RESOURCE_EXHAUSTED", 429),
    ("ABORTED", 409),
    ("UNIMPLEMENTED", 501),
    ("INTERNAL", 500),
    ("UNAVAILABLE", 503),
    ("UNAUTHENTICATED", 401),
];

/// Codes that no handler sends, but a fault may.
const ONE_WAY: [(&str, u16); 4] = [
    ("ALREADY_EXISTS", 409),
    ("FAILED_PRECONDITION", 412),
    ("OUT_OF_RANGE", 416),
    ("DATA_LOSS", 500),
];

/// The code that a handler's error status goes out as; UNKNOWN where it is
/// none of those listed.
pub(crate) fn code_of_status(status: u16) -> GrpcCode {
    let known = BOTH_WAYS.iter().find(|(_, listed)| *listed == status);
    named(known.map_or("UNKNOWN", |(name, _)| name))
}

/// The status that a handler sees of a code.
pub(crate) fn status_of_code(code: GrpcCode) -> u16 {
    let mut all = BOTH_WAYS.iter().chain(&ONE_WAY);
    let known = all.find(|(name, _)| *name == code.name());
    known.map_or(502, |(_, status)| *status)
}

/// The code that a gRPC client reports when an answer has an HTTP status and
/// no gRPC status: the specification's "HTTP to gRPC Status Code Mapping".
pub(crate) fn code_of_http(status: u16) -> GrpcCode {
    named(match status {
        400 => "INTERNAL",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "UNIMPLEMENTED",
        429 | 502 | 503 | 504 => "UNAVAILABLE",
        _ => "UNKNOWN",
    })
}

fn named(name: &str) -> GrpcCode {
    GrpcCode::named(name).expect("a gRPC code")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn listed_statuses_come_back_as_they_went() {
        for (name, status) in BOTH_WAYS {
            assert_eq!(code_of_status(status), named(name));
            assert_eq!(status_of_code(named(name)), status);
        }
    }

    #[test]
    fn every_code_has_an_error_status() {
        for code in GrpcCode::all() {
            assert!(status_of_code(code) >= 400, "{}", code.name());
        }
        let listed = BOTH_WAYS.iter().chain(&ONE_WAY).map(|(name, _)| *name);
        assert_eq!(listed.collect::<BTreeSet<_>>().len(), 16);
    }

    #[test]
    fn a_status_nobody_listed_becomes_unknown() {
        assert_eq!(code_of_status(418).name(), "UNKNOWN");
        assert_eq!(code_of_http(418).name(), "UNKNOWN");
    }
}

//! `x-request-id`: any text that a request's descendants carry too.
//!
//! Owns what such a text stands for. Ours is the execution's trace id, and 32
//! digits are taken for the number they are, so that it is known when it comes
//! back; of any other text a digest is remembered.

use murphy_registry::{Spans, TraceKey, hex};

use super::{Ids, Stamp, ids};
use crate::headers::Headers;

pub(super) const HEADER: &str = "x-request-id";

pub(super) fn make(headers: &mut dyn Headers, stamp: &Stamp) {
    headers.set(HEADER, format!("{:032x}", stamp.trace.0).as_bytes());
}

pub(super) fn ids(headers: &dyn Headers) -> Option<Ids> {
    let id = headers.first(HEADER)?.trim_ascii();
    (!id.is_empty()).then(|| (trace(id), Spans::default()))
}

fn trace(id: &[u8]) -> TraceKey {
    let number = (id.len() == 32 && hex::parse(&id[..16]).and(hex::parse(&id[16..])).is_some())
        .then(|| ids::trace(id));
    number.flatten().unwrap_or_else(|| ids::digest(id))
}

#[cfg(test)]
mod tests {
    use super::super::Carrier::RequestId;
    use super::super::testing::{
        ENTRY, HOP, TRACE as EXECUTION, TRACE_TEXT, headers, only, read, read_from, stamped,
    };
    use super::*;
    use murphy_registry::ContextHint;

    fn of(id: &str) -> Vec<ContextHint> {
        read(&RequestId, &[(HEADER, id)])
    }

    #[test]
    fn the_same_text_is_the_same_id_and_another_is_another() {
        let uuid = "7b5e1c1e-7c3d-4f4e-9a55-0c7a6f6b9d11";
        assert_eq!(of(uuid).len(), 1);
        assert_eq!(of(uuid), of(&format!(" {uuid} ")));
        let others = [
            "7b5e1c1e-7c3d-4f4e-9a55-0c7a6f6b9d12",
            "é",
            "1",
            TRACE_TEXT,
            "1111222233334444555566667777888A",
            "00000000000000000000000000000000",
        ];
        for other in others {
            assert_eq!(of(other).len(), 1, "{other}");
            assert_ne!(of(other), of(uuid), "{other}");
        }
    }

    #[test]
    fn nothing_is_no_id() {
        assert_eq!(of(""), []);
        assert_eq!(of(" \t"), []);
        assert_eq!(read(&RequestId, &[]), []);
    }

    #[test]
    fn what_is_made_on_entry_is_known_when_it_comes_back() {
        for lines in [&[][..], &[(HEADER, "")]] {
            let made = stamped(&RequestId, lines, &ENTRY);
            assert_eq!(only(&made, HEADER), TRACE_TEXT);
            let hint = ContextHint::Trace(EXECUTION, Spans::default());
            assert_eq!(read_from(&RequestId, &made), [hint]);
        }
    }

    #[test]
    fn what_is_there_and_what_a_service_sends_is_left_alone() {
        let lines = [(HEADER, "abc"), (HEADER, "def")];
        assert_eq!(stamped(&RequestId, &lines, &ENTRY), headers(&lines));
        assert_eq!(stamped(&RequestId, &[], &HOP), headers(&[]));
    }
}

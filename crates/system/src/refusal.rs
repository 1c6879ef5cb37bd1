//! Honest refusals: a test that fails because a request under a fault was
//! answered as the scenario declares right.
//!
//! Owns when a failure is explained that way. A declared request is judged by
//! its own answer; a command is a black box, so the answers that the proxies
//! saw at its entries decide.

use std::time::Duration;

use bytes::Bytes;
use murphy_model::{CallId, Reply, Trace};
use murphy_registry::Recorded;

use murphy_request::{Seen, UnderFault, is_right_under_fault};

/// Whether a failure is explained by honest refusals: at least one request
/// above a fault was answered as declared, and no request was answered by a
/// failure that is not.
pub(super) fn is_refused(declared: &UnderFault, recorded: &Recorded) -> bool {
    if declared.is_empty() {
        return false;
    }
    let trace = &recorded.trace;
    let is_own = |id: &CallId| trace.call(*id).injected.is_none();
    let entries: Vec<CallId> = trace.entries().filter(is_own).collect();
    let is_honest =
        |id: &CallId| has_fault_below(recorded, *id) && is_declared(declared, recorded, *id);
    let is_fine = |id: &CallId| {
        let reply = trace.call(*id).reply;
        is_honest(id) || reply.is_some_and(|reply| !is_their_failure(reply))
    };
    entries.iter().any(is_honest) && entries.iter().all(is_fine)
}

fn has_fault_below(recorded: &Recorded, entry: CallId) -> bool {
    let trace: &Trace = &recorded.trace;
    let landed = |id: &CallId| recorded.detail(*id).landed == Some(true);
    let mut faults = trace.ids().filter(landed);
    faults.any(|id| trace.ancestors(id).any(|above| above == entry))
}

fn is_declared(declared: &UnderFault, recorded: &Recorded, entry: CallId) -> bool {
    let (status, usual) = match recorded.trace.call(entry).reply {
        Some(Reply::Status(status)) => (status.to_string(), "2xx"),
        Some(Reply::Grpc(code)) => (code.name().to_owned(), "OK"),
        Some(Reply::GrpcOk) => ("OK".to_owned(), "OK"),
        Some(Reply::Reset | Reply::Closed | Reply::TimedOut | Reply::Broken | Reply::NoTls(_))
        | None => return false,
    };
    let body = recorded.answers.get(entry.0 as usize);
    let body: Option<&Bytes> = body.and_then(Option::as_ref);
    let seen = Seen {
        status: &status,
        headers: &[],
        body: body.map(AsRef::as_ref).unwrap_or_default(),
        took: Duration::ZERO,
    };
    is_right_under_fault(declared, true, usual, &seen)
}

/// A failure of the server, not a mistake of its client.
fn is_their_failure(reply: Reply) -> bool {
    match reply {
        Reply::Status(status) => status >= 500,
        Reply::GrpcOk => false,
        _ => true,
    }
}

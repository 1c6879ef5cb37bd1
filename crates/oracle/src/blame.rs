//! Blame: which call's failure was not handled.
//!
//! Owns the walk from a fault up to the scenario. A service that answers 500
//! or breaks off because a call of its failed did not handle that failure; one
//! that answers with another error chose to, and whoever gets that answer is
//! next, as is whoever gave up waiting for it; one that answers well has
//! hidden the failure from there on.

use std::collections::BTreeSet;

use murphy_model::{CallId, GrpcCode, Reply, Trace};

/// The call whose failure was not handled; `None` if no fault was injected.
pub(crate) fn unhandled(trace: &Trace) -> Option<CallId> {
    last_injected(trace).map(|injected| blamed(trace, injected, goes_on))
}

/// The calls whose failures came together: for each fault the highest call that
/// only handed on that something below is unavailable. Two depths of one failure
/// are one, what a service makes of it by itself is another.
pub fn failing_calls(trace: &Trace) -> BTreeSet<CallId> {
    let injected = trace.ids().filter(|id| trace.call(*id).injected.is_some());
    injected.map(|id| blamed(trace, id, refuses)).collect()
}

/// From a fault up to the first caller whose answer does not go on.
fn blamed(trace: &Trace, injected: CallId, goes_on: fn(Reply) -> bool) -> CallId {
    let mut failing = injected;
    while let Some(caller) = trace.call(failing).parent {
        match trace.call(caller).reply {
            Some(reply) if goes_on(reply) => failing = caller,
            _ => return failing,
        }
    }
    // Everyone chose an answer and the scenario fails: what
    // is left to blame is that the fault had no fallback.
    injected
}

/// Whether an answer says no more than that something is unavailable.
fn refuses(reply: Reply) -> bool {
    match reply {
        Reply::Status(status) => [502, 503, 504].contains(&status),
        Reply::Grpc(code) => ["UNAVAILABLE", "DEADLINE_EXCEEDED"].contains(&code.name()),
        Reply::TimedOut => true,
        Reply::GrpcOk | Reply::Reset | Reply::Closed | Reply::Broken | Reply::NoTls(_) => false,
    }
}

/// The injected call that ended last: the one that tipped the scales.
fn last_injected(trace: &Trace) -> Option<CallId> {
    let injected = trace.ids().filter(|id| trace.call(*id).injected.is_some());
    injected.max_by_key(|id| trace.call(*id).finished.unwrap_or(u32::MAX))
}

/// Whether the failure is now for the next one up to handle: someone decided
/// to send this error, or was not waited for.
fn goes_on(reply: Reply) -> bool {
    let nobodys = |code: GrpcCode| ["UNKNOWN", "INTERNAL"].contains(&code.name());
    match reply {
        Reply::Status(status) => !(200..300).contains(&status) && status != 500,
        Reply::Grpc(code) => !nobodys(code),
        Reply::TimedOut => true,
        Reply::GrpcOk | Reply::Reset | Reply::Closed | Reply::Broken | Reply::NoTls(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Story, call};

    #[test]
    fn the_first_caller_that_did_not_choose_its_answer_is_to_blame() {
        let chain = |a: &str, b: &str| {
            Story::new(vec![
                call("a GET /").answers(a),
                call("a GET / > b GET /").answers(b),
                call("a GET / > b GET / > c GET /").injected("502"),
            ])
        };
        let cases = [
            // b crashed.
            (chain("503", "500"), "c"),
            // b chose 503, a crashed over it.
            (chain("500", "503"), "b"),
            // b hid it and was wrong.
            (chain("200", "200"), "c"),
            // a gave up on b.
            (chain("200", "timeout"), "b"),
            // Everyone chose.
            (chain("503", "404"), "c"),
        ];
        for (story, expected) in cases {
            let observed = story.observed();
            let trace = &observed.execution.trace;
            let blamed = trace.call(unhandled(trace).unwrap());
            assert_eq!(&*blamed.point.frame().destination, expected);
        }
        // Two depths of one failure, unless somebody made something else of it.
        for (b, expected) in [("502", "b"), ("404", "c"), ("500", "c"), ("200", "c")] {
            let observed = chain("201", b).observed();
            let trace = &observed.execution.trace;
            let failing = failing_calls(trace).into_iter();
            let failing: Vec<_> = failing.map(|id| trace.call(id).point.clone()).collect();
            assert_eq!(failing.len(), 1);
            assert_eq!(&*failing[0].frame().destination, expected, "{b}");
        }
        let fault_free = Story::new(vec![call("a GET /").answers("500")]).observed();
        assert_eq!(unhandled(&fault_free.execution.trace), None);
    }
}

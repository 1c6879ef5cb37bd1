//! Failure without cause: something failed although no fault was injected it.
//!
//! Owns what counts as a failure then: the scenario's complaint, or an answer
//! of 5xx (or none) to any call that the reference runs never got, and which
//! no fault at the call or below it explains. In an execution without faults
//! either the test is flaky, or an earlier execution left something behind. In
//! one with faults elsewhere, handling them broke something else, or what is
//! stored is not what it should be; there only failures that nobody chose to
//! answer count, as an open circuit breaker is a good reason for a 503, and
//! only where the scenario passes: it judges otherwise, and
//! [`consequence`] tells the class of what it says.

use murphy_model::{BugClass, CallId, GrpcCode, Place, Reply, Trace, Verdict};

use crate::case::{Case, failed, is_their_failure};
use crate::complaint::Complaint;
use crate::scenario;

pub(crate) fn judge(case: &Case<'_>) -> Option<Complaint> {
    let any_fault = case.any_fault();
    if let Verdict::Failed { why } = &case.observed.execution.verdict {
        let class = scenario::class(case.trace().final_reply());
        return (!any_fault).then(|| Complaint::new(why, class, None));
    }
    match any_fault {
        true => judge_under_faults(case),
        false => judge_fault_free(case),
    }
}

fn judge_fault_free(case: &Case<'_>) -> Option<Complaint> {
    let id = first_failure(case, is_their_failure)?;
    let (name, reply) = (case.name(id), case.trace().call(id).reply?);
    Some(Complaint::new(
        format!("{name} answered {reply} although no fault was injected"),
        BugClass::Unclassified,
        Some(id),
    ))
}

fn judge_under_faults(case: &Case<'_>) -> Option<Complaint> {
    let id = first_failure(case, nobody_chose)?;
    let (name, reply) = (case.name(id), case.trace().call(id).reply?);
    let summary =
        format!("{name} answered {reply} although no fault was injected there or below it");
    let complaint = Complaint::new(summary, class(case, id), Some(id));
    let is_known = case
        .reference
        .asked(&Place::of(&case.trace().call(id).point));
    match is_known && !failed_before(case, id) {
        true => Some(complaint),
        false => Some(complaint.unsure()),
    }
}

/// What a failure without a fault of its own makes of the bug: the class that
/// it tells, if there is such a failure.
pub(crate) fn consequence(case: &Case<'_>) -> Option<BugClass> {
    let id = first_failure(case, nobody_chose)?;
    Some(class(case, id)).filter(|class| *class != BugClass::Unclassified)
}

/// The first call that failed like this, unlike in the reference runs, and
/// because of no fault and no other such call.
fn first_failure(case: &Case<'_>, counts: fn(Reply) -> bool) -> Option<CallId> {
    if case.reference.is_empty() {
        return None;
    }
    let trace = case.trace();
    let is_own = |id: CallId| {
        let call = trace.call(id);
        let is_usual = |reply| case.reference.answers(&Place::of(&call.point), reply);
        // A service may stop waiting for whatever it likes.
        let waits = call.parent.is_none() || call.reply != Some(Reply::TimedOut);
        waits && call.reply.is_some_and(|r| counts(r) && !is_usual(r)) && !has_cause(case, id)
    };
    let mut ids = trace.ids();
    ids.find(|id| is_own(*id) && !trace.children(Some(*id)).any(is_own))
}

/// Whether a fault was injected into the call or one made to serve it, with
/// effect or not.
fn has_cause(case: &Case<'_>, id: CallId) -> bool {
    let trace = case.trace();
    let mut injected = trace
        .ids()
        .filter(|other| trace.call(*other).injected.is_some());
    injected.any(|fault| fault == id || trace.ancestors(fault).any(|above| above == id))
}

/// Whether the answer is what comes of a crash rather than of a decision.
fn nobody_chose(reply: Reply) -> bool {
    let nobodys = |code: GrpcCode| ["UNKNOWN", "INTERNAL", "DATA_LOSS"].contains(&code.name());
    match reply {
        Reply::Status(status) => status == 500,
        Reply::Grpc(code) => nobodys(code),
        Reply::Reset | Reply::Closed | Reply::Broken | Reply::NoTls(_) => true,
        Reply::TimedOut | Reply::GrpcOk => false,
    }
}

/// The class by where the call was made: for the same request of the scenario
/// as a call that was injected, or for a later one.
fn class(case: &Case<'_>, id: CallId) -> BugClass {
    let trace = case.trace();
    let injected = || trace.ids().filter(|other| case.landed(*other));
    let may_matter = |fault: CallId| !trace.finished_before(id, fault);
    let is_beside = |fault: CallId| entry(trace, fault) == entry(trace, id);
    let is_before = |fault: CallId| trace.finished_before(entry(trace, fault), entry(trace, id));
    if injected().any(|fault| may_matter(fault) && is_beside(fault)) {
        BugClass::UnrelatedException
    } else if injected().any(is_before) {
        BugClass::StateDivergence
    } else {
        BugClass::Unclassified
    }
}

/// The scenario's request that a call was made for.
fn entry(trace: &Trace, id: CallId) -> CallId {
    trace.ancestors(id).last().unwrap_or(id)
}

/// Whether the same service failed before because of a fault: it may not have
/// recovered yet, as one with an open circuit breaker.
fn failed_before(case: &Case<'_>, id: CallId) -> bool {
    let trace = case.trace();
    let service = |id: CallId| &trace.call(id).point.frame().destination;
    let mut before = trace
        .ids()
        .filter(|other| trace.finished_before(*other, id));
    before.any(|other| {
        service(other) == service(id) && failed(trace.call(other).reply) && has_cause(case, other)
    })
}

#[cfg(test)]
mod tests {
    use murphy_model::Severity;

    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn failures_count_only_where_nothing_caused_them() {
        let answers = |reply| Story::new(vec![call("a GET /").answers(reply)]);
        let injected = Story::new(vec![
            call("a GET /").answers("500"),
            call("a GET / > b GET /").injected("500"),
        ]);
        let below = |reply| {
            Story::new(vec![
                call("a GET /"),
                call("a GET / > b GET /").answers(reply),
            ])
        };
        let cases = [
            ("all is well", "200", answers("200"), 0),
            ("a complaint", "200", answers("200").fails("flaky"), 1),
            ("an error that is new", "200", answers("503"), 1),
            ("no answer", "200", answers("timeout"), 1),
            ("an error as always", "500", answers("500"), 0),
            ("the caller's own mistake", "200", answers("404"), 0),
            ("a fault was injected", "200", injected.fails("no page"), 0),
            ("a call below", "200", below("500"), 1),
            ("a call below that was given up", "200", below("timeout"), 0),
        ];
        for (name, reference, story, expected) in cases {
            let reference = [answers(reference)];
            let said = judged(judge, &Settings::default(), &reference, &story);
            assert_eq!(said.len(), expected, "{name}: {said:?}");
        }
    }

    /// Two requests; the first leads to `b` and `c`.
    fn two_requests(b: &str, c: &str, second: &str) -> Story {
        let b_call = call("a POST / > b GET /");
        Story::new(vec![
            call("a POST /"),
            match b {
                "200" => b_call,
                mode => b_call.injected(mode),
            },
            call("a POST / > c POST /").answers(c),
            call("a GET /").answers(second),
        ])
    }

    #[test]
    fn failures_beside_faults_count_where_nobody_chose_them() {
        let usual = [two_requests("200", "200", "200")];
        let said = |story: &Story| judged(judge, &Settings::default(), &usual, story);
        let cases = [
            ("500", "500", "200", Some(BugClass::UnrelatedException)),
            ("500", "reset", "200", Some(BugClass::UnrelatedException)),
            ("500", "200", "500", Some(BugClass::StateDivergence)),
            ("500", "503", "200", None),
            ("500", "200", "404", None),
            ("500", "200", "200", None),
        ];
        for (b, c, second, expected) in cases {
            let found = said(&two_requests(b, c, second));
            let class = found.first().map(|complaint| complaint.class);
            assert_eq!(class, expected, "{b}, {c}, {second}");
        }
        let complaint = &said(&two_requests("500", "500", "200"))[0];
        assert_eq!(complaint.severity, Severity::Fail);
        assert_eq!(
            complaint.summary,
            "`c POST /` answered 500 although no fault was injected there or below it"
        );
        let failing = two_requests("500", "500", "200").fails("no order");
        assert_eq!(said(&failing), [], "this is for the scenario to say");
    }

    #[test]
    fn one_that_may_have_a_reason_is_a_warning() {
        let again = Story::new(vec![
            call("a POST /"),
            call("a POST / > b GET /").answers("500"),
            call("a POST / > b GET / > c GET /").injected("500"),
            call("a POST / > b GET / #2").answers("500"),
        ]);
        let fallback = Story::new(vec![
            call("a POST /"),
            call("a POST / > b GET /").injected("500"),
            call("a POST / > spare GET /").answers("500"),
        ]);
        let usual = [Story::new(vec![
            call("a POST /"),
            call("a POST / > b GET /"),
            call("a POST / > b GET / > c GET /"),
        ])];
        for story in [again, fallback] {
            let said = judged(judge, &Settings::default(), &usual, &story);
            assert_eq!(said[0].severity, Severity::Warn, "{said:?}");
        }
    }

    #[test]
    fn without_a_reference_only_the_scenario_can_tell() {
        let story = Story::new(vec![call("a GET /").answers("500")]);
        assert_eq!(judged(judge, &Settings::default(), &[], &story), []);
    }
}

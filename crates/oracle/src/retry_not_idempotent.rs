//! Retry of a call that must not be made twice.
//!
//! Owns which calls those are, and when the work was done: POST and PATCH and
//! every gRPC method that is not declared idempotent; after a fault that lets
//! the callee work and loses its answer, or delays it until the caller gives
//! up; and after the callee ran and failed by itself because a call of its own
//! did. In that last case the work was surely done if the second attempt is
//! refused, as what is there already or is gone; otherwise it may have been.
//! What the scenario repeats itself is its own business then. Attempts that
//! carry the same idempotency key are one piece of work; where the key is not
//! in a header or a field that Murphy knows, the calls are to be declared.

use murphy_model::{BugClass, CallId, Interface, Phase, Place, Reply};

use crate::attempts::extra_repeats;
use crate::case::{Case, failed, is_their_failure};
use crate::complaint::Complaint;

/// What became of the work of an attempt that was followed by another.
enum Work {
    /// It was done and its answer lost.
    Lost,
    /// It was done although it failed: the next attempt is refused.
    Refused(Reply),
    /// The callee ran and failed; how much it had done is not known.
    Unknown,
}

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let groups = extra_repeats(case.trace(), case.reference);
    let retried = groups.filter_map(|group| made_again(case, &group));
    retried
        .map(|(id, work)| complaint(case, id, work))
        .collect()
}

/// The call of a group that did its work and was made once more; one that did
/// so for certain, if there is any.
fn made_again(case: &Case<'_>, group: &[CallId]) -> Option<(CallId, Work)> {
    if may_be_repeated(case, group[0]) {
        return None;
    }
    let pairs = group
        .windows(2)
        .filter(|pair| !have_same_key(case, pair[0], pair[1]));
    let mut worked = pairs.filter_map(|pair| Some((pair[0], work(case, pair[0], pair[1])?)));
    let first = worked.next()?;
    if !matches!(first.1, Work::Unknown) {
        return Some(first);
    }
    let certain = worked.find(|(_, work)| !matches!(work, Work::Unknown));
    Some(certain.unwrap_or(first))
}

/// Whether two attempts say themselves that they are the same.
fn have_same_key(case: &Case<'_>, id: CallId, next: CallId) -> bool {
    let key = |id: CallId| case.observed.detail(id)?.idempotency_key;
    key(id).is_some() && key(id) == key(next)
}

/// What became of the work of an attempt, as far as the next one tells;
/// `None` if there is nothing to say that any was done.
fn work(case: &Case<'_>, id: CallId, next: CallId) -> Option<Work> {
    if lost_its_answer(case, id) {
        return Some(Work::Lost);
    }
    let is_reached = case.trace().call(next).injected.is_none();
    if !is_reached || !failed_by_itself(case, id) || !case.trace().finished_before(id, next) {
        return None;
    }
    Some(own_refusal(case, next).map_or(Work::Unknown, Work::Refused))
}

/// The answer of a call that refuses what it does not refuse without faults.
fn own_refusal(case: &Case<'_>, id: CallId) -> Option<Reply> {
    let call = case.trace().call(id);
    let reply = call.reply.filter(is_refusal)?;
    let is_usual = case.reference.answers(&Place::of(&call.point), reply);
    let has_cause = case.faults_below(id).next().is_some();
    (!is_usual && !has_cause).then_some(reply)
}

fn lost_its_answer(case: &Case<'_>, id: CallId) -> bool {
    let Some(mode) = case.trace().call(id).mode() else {
        return false;
    };
    let lost = match mode.phase() {
        Phase::Before => false,
        Phase::After => true,
        // A second attempt after a late answer has nothing to do with it.
        Phase::Delivery => failed(case.trace().call(id).reply),
    };
    lost && case.landed(id)
}

/// Whether the callee of another service ran and failed because a call of its
/// own was injected.
fn failed_by_itself(case: &Case<'_>, id: CallId) -> bool {
    let call = case.trace().call(id);
    // 429 says that it did nothing, which is not true of whoever ran.
    let fails = |reply: Reply| is_their_failure(reply) || reply == Reply::Status(429);
    call.parent.is_some()
        && call.injected.is_none()
        && call.reply.is_some_and(fails)
        && case.faults_below(id).next().is_some()
}

/// Whether an answer says that what was asked for is there already, is gone,
/// or cannot be done in the state that things are in.
fn is_refusal(reply: &Reply) -> bool {
    const REFUSALS: [&str; 4] = [
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "FAILED_PRECONDITION",
        "ABORTED",
    ];
    match reply {
        Reply::Status(status) => [404, 409, 410, 412, 422].contains(status),
        Reply::Grpc(code) => REFUSALS.contains(&code.name()),
        _ => false,
    }
}

fn may_be_repeated(case: &Case<'_>, id: CallId) -> bool {
    let point = &case.trace().call(id).point;
    let by_method = match &point.frame().interface {
        Interface::Http { method, .. } => !["POST", "PATCH"].contains(&&**method),
        Interface::Grpc { .. } => false,
    };
    by_method || case.settings.is_idempotent(point)
}

fn complaint(case: &Case<'_>, id: CallId, work: Work) -> Complaint {
    let call = format!(
        "{} makes the call to {} again",
        case.caller(id),
        case.name(id)
    );
    let summary = match work {
        Work::Lost => format!("{call} after its answer was lost: the work is done twice"),
        Work::Refused(reply) => format!(
            "{call} after that ran and failed: it answers {reply} then, so the work was done \
             the first time"
        ),
        Work::Unknown => {
            format!("{call} after that ran and failed: the work may be done twice")
        }
    };
    let complaint = Complaint::new(summary, BugClass::Retry, Some(id));
    match work {
        Work::Unknown => complaint.unsure(),
        Work::Lost | Work::Refused(_) => complaint,
    }
}

#[cfg(test)]
mod tests {
    use murphy_model::Severity;

    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    fn retried(interface: &str, mode: &str) -> Story {
        Story::new(vec![
            call("a GET /"),
            call(&format!("a GET / > b {interface}")).injected(mode),
            call(&format!("a GET / > b {interface} #2")),
        ])
    }

    fn once(interface: &str) -> Story {
        Story::new(vec![
            call("a GET /"),
            call(&format!("a GET / > b {interface}")),
        ])
    }

    #[test]
    fn only_lost_answers_to_work_that_counts_are_held_against_a_retry() {
        let cases = [
            ("POST /pay", "after:503", 1),
            ("PATCH /pay", "after:hang", 1),
            ("POST /pay", "after:truncate:3", 1),
            ("shop.Pay/Charge", "after:reset", 1),
            ("shop.Pay/GetBalance", "after:reset", 0),
            ("GET /pay", "after:503", 0),
            ("PUT /pay", "after:503", 0),
            ("POST /pay", "503", 0),
            ("POST /pay", "delay:2s", 0),
        ];
        for (interface, mode, expected) in cases {
            let story = retried(interface, mode);
            let said = judged(judge, &Settings::default(), &[once(interface)], &story);
            assert_eq!(said.len(), expected, "{interface} = {mode}");
        }
    }

    /// `b` fails because of `c`, and `a` asks it again.
    fn forwarded(interface: &str, first: &str, second: &str) -> Story {
        Story::new(vec![
            call("a GET /"),
            call(&format!("a GET / > b {interface}")).answers(first),
            call(&format!("a GET / > b {interface} > c GET /")).injected("503"),
            call(&format!("a GET / > b {interface} #2")).answers(second),
        ])
    }

    #[test]
    fn a_callee_that_ran_and_failed_by_itself_may_have_done_its_work() {
        let cases = [
            ("POST /pay", "503", "409", Some(Severity::Fail)),
            ("POST /pay", "500", "404", Some(Severity::Fail)),
            (
                "shop.Pay/Charge",
                "UNAVAILABLE",
                "ALREADY_EXISTS",
                Some(Severity::Fail),
            ),
            ("POST /pay", "503", "200", Some(Severity::Warn)),
            ("POST /pay", "503", "503", Some(Severity::Warn)),
            ("POST /pay", "400", "409", None),
            ("GET /pay", "503", "404", None),
            ("shop.Pay/GetBalance", "UNAVAILABLE", "NOT_FOUND", None),
        ];
        for (interface, first, second, expected) in cases {
            let story = forwarded(interface, first, second);
            let said = judged(judge, &Settings::default(), &[once(interface)], &story);
            let severity = said.first().map(|complaint| complaint.severity);
            assert_eq!(severity, expected, "{interface}: {first}, {second}");
        }
        let story = forwarded("POST /pay", "503", "409");
        let said = judged(judge, &Settings::default(), &[once("POST /pay")], &story);
        assert_eq!(
            said[0].summary,
            "`a` makes the call to `b POST /pay` again after that ran and failed: it answers \
             409 then, so the work was done the first time"
        );
    }

    #[test]
    fn an_attempt_that_reached_nobody_did_nothing_twice() {
        let story = Story::new(vec![
            call("a GET /"),
            call("a GET / > b POST /pay").answers("503"),
            call("a GET / > b POST /pay > c GET /").injected("503"),
            call("a GET / > b POST /pay #2").injected("500"),
        ]);
        let said = judged(judge, &Settings::default(), &[once("POST /pay")], &story);
        assert_eq!(said, []);
    }

    #[test]
    fn a_refusal_that_is_usual_tells_nothing() {
        let refused = Story::new(vec![
            call("a GET /"),
            call("a GET / > b POST /pay").answers("409"),
        ]);
        let story = forwarded("POST /pay", "503", "409");
        let said = judged(judge, &Settings::default(), &[refused], &story);
        assert_eq!(said[0].severity, Severity::Warn);
    }

    #[test]
    fn what_the_scenario_repeats_is_its_own_business() {
        let story = Story::new(vec![
            call("a POST /").answers("503"),
            call("a POST / > b GET /").injected("503"),
            call("a POST / #2").answers("409"),
        ]);
        let usual = Story::new(vec![call("a POST /"), call("a POST / > b GET /")]);
        assert_eq!(judged(judge, &Settings::default(), &[usual], &story), []);
    }

    #[test]
    fn an_answer_that_came_too_late_counts_as_lost() {
        let story = Story::new(vec![
            call("a GET /").during(1, 9),
            call("a GET / > b POST /pay")
                .answers("timeout")
                .injected("delay:2s")
                .during(2, 4),
            call("a GET / > b POST /pay #2").during(5, 6),
        ]);
        let said = judged(judge, &Settings::default(), &[once("POST /pay")], &story);
        assert_eq!(said.len(), 1);
    }

    #[test]
    fn attempts_with_the_same_key_are_one_piece_of_work() {
        let keyed = |first: &str, second: &str| {
            Story::new(vec![
                call("a GET /"),
                call("a GET / > b POST /pay")
                    .injected("after:503")
                    .keyed(first),
                call("a GET / > b POST /pay #2").keyed(second),
            ])
            .detailed()
        };
        let usual = [once("POST /pay")];
        let said = |story: Story| judged(judge, &Settings::default(), &usual, &story).len();
        assert_eq!(said(keyed("1f", "1f")), 0);
        assert_eq!(said(keyed("1f", "2e")), 1, "a new key is new work");
        assert_eq!(
            said(retried("POST /pay", "after:503").detailed()),
            1,
            "no key"
        );
    }

    #[test]
    fn a_loop_that_goes_on_is_no_retry() {
        let twice = Story::new(vec![
            call("a GET /"),
            call("a GET / > b POST /pay"),
            call("a GET / > b POST /pay #2"),
        ]);
        let story = retried("POST /pay", "after:503");
        assert_eq!(judged(judge, &Settings::default(), &[twice], &story), []);
    }

    #[test]
    fn calls_can_be_declared_to_be_idempotent() {
        let mut settings = Settings::default();
        settings
            .idempotent
            .push("** > b POST /pay".parse().unwrap());
        let story = retried("POST /pay", "after:503");
        assert_eq!(judged(judge, &settings, &[once("POST /pay")], &story), []);
    }
}

//! Timeout inversion: a caller with less patience than its callee.
//!
//! Owns the definition. A call is inverted if
//! - its caller gave up on it, and is a service: how long a test waits says
//!   nothing about the system;
//! - it was not itself made to hang, delayed or slowed down: giving up then is
//!   what timeouts are for;
//! - a fault took effect on a call made to serve it, directly or further down,
//!   so the callee was busy with someone else's failure;
//! - no one further up had given up before, for then the caller may merely
//!   have passed that on;
//! - no call alike, made at the same time, had brought the answer already (the
//!   loser of a hedge is cancelled), and callers do not give up there anyway.
//!
//! What the callee does about the failure, its fallback or its error, then
//! never reaches anyone. Where the fault below took time this is certain: the
//! callee had the longer timeout, or none. Where the faults below were quick
//! (an error, a reset), the callee's retries or pauses outlasted the caller,
//! or the machine was slow; that is a warning at most.

use murphy_model::{BugClass, CallId};

use crate::attempts::repeats;
use crate::case::{Case, gave_up, takes_time, was_abandoned};
use crate::complaint::Complaint;

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let ids = case.trace().ids();
    let inverted = ids.filter(|id| is_inverted(case, *id));
    inverted.filter_map(|id| complaint(case, id)).collect()
}

fn is_inverted(case: &Case<'_>, id: CallId) -> bool {
    let call = case.trace().call(id);
    call.parent.is_some()
        && gave_up(case.observed, id)
        && !call.mode().is_some_and(takes_time)
        && !was_abandoned(case.observed, id)
        && !lost_a_race(case, id)
        && !case.reference.gives_up(&case.trace().edge(id))
}

/// Whether another call alike had brought the answer already.
fn lost_a_race(case: &Case<'_>, id: CallId) -> bool {
    let trace = case.trace();
    let won = |other: &CallId| {
        let call = trace.call(*other);
        trace.overlap(id, *other)
            && call.reply.is_some_and(|reply| reply.is_ok())
            && call.finished < trace.call(id).finished
    };
    let mut groups = repeats(trace).into_iter();
    let alike = groups.find(|group| group.contains(&id));
    alike.is_some_and(|group| group.iter().any(won))
}

fn complaint(case: &Case<'_>, id: CallId) -> Option<Complaint> {
    let below: Vec<_> = case.faults_below(id).collect();
    let (caller, callee) = (case.caller(id), case.name(id));
    let of = |what: &str| {
        let summary = format!("{caller} gives up on {callee} before that has dealt with {what}");
        Complaint::new(summary, BugClass::Timeout, Some(id))
    };
    match below.iter().any(|mode| takes_time(*mode)) {
        true => Some(of(
            "a slow call of its own: the caller's timeout should be the longer one",
        )),
        false if below.is_empty() => None,
        false => Some(
            of("a failed call of its own: its retries or pauses take longer than the caller waits")
                .unsure(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use murphy_model::Severity;

    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    const GATEWAY: &str = "a GET / > b GET /";
    const PROFILE: &str = "a GET / > b GET / > c GET /";
    const TELEMETRY: &str = "a GET / > b GET / > c GET / > d POST /";

    /// a asks b, b asks c, c asks d, which is injected.
    fn story(b_ends: u32, c_ends: u32, d_ends: u32, mode: &str) -> Story {
        Story::new(vec![
            call("a GET /").answers("503").during(1, 20),
            call(GATEWAY).answers("503").during(2, b_ends),
            call(PROFILE).answers("timeout").during(3, c_ends),
            call(TELEMETRY).injected(mode).during(4, d_ends),
        ])
    }

    #[test]
    fn the_caller_that_gives_up_first_is_named() {
        let said = judged(
            judge,
            &Settings::default(),
            &[],
            &story(6, 5, 7, "delay:2s"),
        );
        assert_eq!(
            said[0].summary,
            "`b` gives up on `c GET /` before that has dealt with a slow call of its own: \
             the caller's timeout should be the longer one"
        );
        assert_eq!(said[0].edge, Some(CallId(2)));
        assert_eq!(said[0].severity, Severity::Fail);
        let answered_first = story(4, 5, 7, "delay:2s");
        let again = judged(judge, &Settings::default(), &[], &answered_first);
        assert_eq!(
            again, said,
            "b's answer may be noticed before its going away"
        );
        let quick = judged(judge, &Settings::default(), &[], &story(6, 5, 7, "500"));
        assert_eq!(quick[0].severity, Severity::Warn);
    }

    #[test]
    fn giving_up_is_no_inversion_where_there_is_another_reason() {
        let hang_here = Story::new(vec![
            call("a GET /").answers("503").during(1, 8),
            call(GATEWAY).injected("hang").during(2, 5),
        ]);
        let entry_gives_up = Story::new(vec![
            call("a GET /").answers("timeout").during(1, 5),
            call(GATEWAY).injected("hang").during(2, 6),
        ]);
        let body_left_unread = Story::new(vec![
            call("a GET /").during(1, 8),
            call(GATEWAY).left_unread(5).during(2, 6),
            call(PROFILE).injected("delay:2s").during(3, 5),
        ]);
        let slow_by_itself = Story::new(vec![
            call("a GET /").answers("503").during(1, 8),
            call(GATEWAY).answers("timeout").during(2, 5),
            call(PROFILE).during(3, 6),
        ]);
        let fault_elsewhere = Story::new(vec![
            call("a GET /").answers("503").during(1, 12),
            call(GATEWAY).answers("timeout").during(2, 5),
            call("a GET / > e GET /").injected("delay:2s").during(6, 9),
        ]);
        let hedged = Story::new(vec![
            call("a GET /").during(1, 12),
            call(GATEWAY).answers("timeout").during(2, 8),
            call(PROFILE).injected("delay:2s").during(3, 9),
            call("a GET / > b GET / #2").during(5, 7),
        ]);
        let passed_on = Story::new(vec![
            call("a GET /").answers("timeout").during(1, 5),
            call(GATEWAY).answers("timeout").during(2, 6),
            call(PROFILE).injected("delay:2s").during(3, 7),
        ]);
        let cases = [
            ("the call itself was made to hang", hang_here),
            ("the test gave up", entry_gives_up),
            ("the body was left unread", body_left_unread.detailed()),
            ("slow without any fault", slow_by_itself),
            ("the fault is elsewhere", fault_elsewhere),
            ("the loser of a hedge", hedged),
            ("whoever asked the caller gave up before", passed_on),
        ];
        for (name, story) in cases {
            let said = judged(judge, &Settings::default(), &[], &story);
            assert_eq!(said, [], "{name}");
        }
    }

    #[test]
    fn what_happens_without_faults_too_is_no_inversion() {
        let reference = Story::new(vec![
            call("a GET /").during(1, 9),
            call(GATEWAY).during(2, 8),
            call(PROFILE).answers("timeout").during(3, 5),
        ]);
        let said = judged(
            judge,
            &Settings::default(),
            &[reference],
            &story(6, 5, 7, "delay:2s"),
        );
        assert_eq!(said, []);
    }
}

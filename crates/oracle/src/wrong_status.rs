//! Wrong status: a callee's 503, 504 or 429 handed on as one's own answer.
//!
//! Owns what "handed on" means: a service that was reached and ran answers its
//! caller with the very status that was injected into a call of its own,
//! whatever its caller makes of that. Each of these statuses says that the one
//! who answers is unavailable, slow or overloaded, which is not true of it;
//! clients and load balancers act on that, and try again what was done. An
//! error that was turned into one of them is a decision and no complaint.
//!
//! Only the first to hand a status on is named: whether the next one up does
//! so too shows where the status is injected one level higher.

use murphy_model::{BugClass, CallId, Reply, Verdict};

use crate::case::Case;
use crate::complaint::Complaint;

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let sources = case.trace().ids().filter(|id| is_handed_on(case, *id));
    sources.map(|source| complaint(case, source)).collect()
}

/// Whether the caller answers with the status that was injected here.
fn is_handed_on(case: &Case<'_>, source: CallId) -> bool {
    let call = case.trace().call(source);
    let Some(caller) = call.parent.map(|parent| case.trace().call(parent)) else {
        return false;
    };
    case.landed(source)
        && call.reply.as_ref().is_some_and(is_about_oneself)
        && caller.injected.is_none()
        && caller.reply == call.reply
        && !is_refused(case)
}

/// Whether what the scenario got is declared right: the status may then come
/// from as far below as it likes.
fn is_refused(case: &Case<'_>) -> bool {
    matches!(case.observed.execution.verdict, Verdict::Refused { .. })
}

/// One text whichever status it is: each is the same mistake.
fn complaint(case: &Case<'_>, source: CallId) -> Complaint {
    let (caller, callee) = (case.caller(source), case.name(source));
    Complaint::new(
        format!("{caller} ran and answers with the status of {callee} as if it were its own"),
        BugClass::NoHandling,
        Some(source),
    )
}

/// Whether the status says something about whoever sends it.
fn is_about_oneself(reply: &Reply) -> bool {
    match reply {
        Reply::Status(status) => [429, 503, 504].contains(status),
        Reply::Grpc(code) => {
            ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"].contains(&code.name())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn only_a_status_that_came_from_below_is_handed_on() {
        let story = |a: &str, b: &str, mode: &str| {
            Story::new(vec![
                call("a GET /").answers(a),
                call("a GET / > b GET /").answers(b),
                call("a GET / > b GET / > c GET /").injected(mode),
            ])
        };
        let cases = [
            ("handed on twice", story("503", "503", "503"), 1),
            ("overload", story("429", "429", "429"), 1),
            (
                "over gRPC",
                story("UNAVAILABLE", "UNAVAILABLE", "grpc:UNAVAILABLE"),
                1,
            ),
            ("turned into 503 below", story("503", "503", "500"), 0),
            (
                "then turned into another error",
                story("502", "503", "503"),
                1,
            ),
            ("then a fallback", story("200", "503", "503"), 1),
            ("turned into another error", story("502", "502", "503"), 0),
            ("fallback", story("200", "200", "503"), 0),
            ("a status about the work", story("500", "500", "500"), 0),
        ];
        for (name, story, expected) in cases {
            let said = judged(judge, &Settings::default(), &[], &story);
            assert_eq!(said.len(), expected, "{name}: {said:?}");
        }
        let said = judged(
            judge,
            &Settings::default(),
            &[],
            &story("503", "503", "503"),
        );
        assert_eq!(
            said[0].summary,
            "`b` ran and answers with the status of `c GET /` as if it were its own"
        );
    }

    #[test]
    fn an_honest_refusal_may_come_from_far_below() {
        let story = Story::new(vec![
            call("a GET /").answers("503"),
            call("a GET / > b GET /").answers("503"),
            call("a GET / > b GET / > c GET /").injected("503"),
        ]);
        let (reference, settings) = (Reference::default(), Settings::default());
        let mut observed = story.observed();
        for (verdict, expected) in [
            (Verdict::Passed, 1),
            (
                Verdict::Refused {
                    why: "got 503".to_owned(),
                },
                0,
            ),
        ] {
            observed.execution.verdict = verdict;
            let case = Case {
                observed: &observed,
                reference: &reference,
                settings: &settings,
            };
            assert_eq!(judge(&case).len(), expected);
        }
    }
}

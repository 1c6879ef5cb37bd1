//! Failure without cause: something failed although no fault struck.
//!
//! Owns what counts as a failure then: the scenario's complaint, or an answer
//! of 5xx (or none) that the reference executions never got. Either the test
//! is flaky, or an earlier execution left something behind.

use murphy_model::{BugClass, CallId, Place, Verdict};

use crate::case::{Case, is_their_failure};
use crate::complaint::Complaint;
use crate::scenario;

pub(crate) fn judge(case: &Case<'_>) -> Option<Complaint> {
    if case.any_fault() {
        return None;
    }
    if let Verdict::Failed { why } = &case.observed.execution.verdict {
        let class = scenario::class(case.trace().final_reply());
        return Some(Complaint::new(why, class, None));
    }
    let entry = case.trace().entries().find(|id| is_unusual(case, *id))?;
    let (name, reply) = (case.name(entry), case.trace().call(entry).reply?);
    Some(Complaint::new(
        format!("{name} answered {reply} although no fault struck"),
        BugClass::Unclassified,
        Some(entry),
    ))
}

fn is_unusual(case: &Case<'_>, entry: CallId) -> bool {
    let call = case.trace().call(entry);
    let usual = |reply| case.reference.answers(&Place::of(&call.point), reply);
    !case.reference.is_empty() && call.reply.is_some_and(|r| is_their_failure(r) && !usual(r))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn failures_count_only_where_nothing_caused_them() {
        let answers = |reply| Story::new(vec![call("a GET /").answers(reply)]);
        let struck = Story::new(vec![
            call("a GET /").answers("500"),
            call("a GET / > b GET /").struck("500"),
        ]);
        let cases = [
            ("all is well", "200", answers("200"), 0),
            ("a complaint", "200", answers("200").fails("flaky"), 1),
            ("an error that is new", "200", answers("503"), 1),
            ("no answer", "200", answers("timeout"), 1),
            ("an error as always", "500", answers("500"), 0),
            ("the caller's own mistake", "200", answers("404"), 0),
            ("a fault struck", "200", struck.fails("no page"), 0),
        ];
        for (name, reference, story, expected) in cases {
            let reference = [answers(reference)];
            let said = judged(judge, &Settings::default(), &reference, &story);
            assert_eq!(said.len(), expected, "{name}: {said:?}");
        }
    }

    #[test]
    fn without_a_reference_only_the_scenario_can_tell() {
        let story = Story::new(vec![call("a GET /").answers("500")]);
        assert_eq!(judged(judge, &Settings::default(), &[], &story), []);
    }
}

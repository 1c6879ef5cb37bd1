//! The scenario's own verdict: the test that was given is the first oracle.
//!
//! Owns how its complaint is classified. Nothing is inferred: what the
//! scenario is content with is not held against the system. Where no fault
//! struck, [`crate::no_cause`] has the word, unless it is switched off.

use murphy_model::{BugClass, Reply, Verdict};

use crate::blame::unhandled;
use crate::case::Case;
use crate::complaint::Complaint;
use crate::oracle::Oracle;
use crate::settings::Level;

pub(crate) fn judge(case: &Case<'_>) -> Option<Complaint> {
    let elsewhere = case.settings.level(Oracle::NoCause) != Level::Off && !case.any_fault();
    match &case.observed.execution.verdict {
        Verdict::Failed { why } if !elsewhere => {
            let class = class(case.trace().final_reply());
            Some(Complaint::new(why, class, unhandled(case.trace())))
        }
        _ => None,
    }
}

/// The class by what the scenario got as its last answer.
pub(crate) fn class(reply: Option<Reply>) -> BugClass {
    match reply {
        None | Some(Reply::Reset | Reply::Closed | Reply::TimedOut) => BugClass::NoHandling,
        Some(Reply::Status(500..)) => BugClass::NoHandling,
        Some(reply) if reply.is_ok() => BugClass::SilentViolation,
        Some(_) => BugClass::Unclassified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn the_last_answer_tells_the_class() {
        let cases = [
            (None, BugClass::NoHandling),
            (Some(Reply::TimedOut), BugClass::NoHandling),
            (Some(Reply::Status(500)), BugClass::NoHandling),
            (Some(Reply::Status(503)), BugClass::NoHandling),
            (Some(Reply::Status(200)), BugClass::SilentViolation),
            (Some(Reply::GrpcOk), BugClass::SilentViolation),
            (Some(Reply::Status(404)), BugClass::Unclassified),
            (Some(Reply::Broken), BugClass::Unclassified),
        ];
        for (reply, expected) in cases {
            assert_eq!(class(reply), expected, "{reply:?}");
        }
    }

    #[test]
    fn only_a_scenario_that_complains_is_quoted() {
        let under_fault = || {
            Story::new(vec![
                call("a GET /").answers("500"),
                call("a GET / > b GET /").struck("503"),
            ])
        };
        let said = |story: &Story| judged(judge, &Settings::default(), &[], story);
        assert_eq!(said(&under_fault()), []);
        let complaints = said(&under_fault().fails("no page"));
        assert_eq!(complaints[0].summary, "no page");
        assert_eq!(complaints[0].edge, Some(murphy_model::CallId(1)));
        let fault_free = Story::new(vec![call("a GET /")]).fails("flaky");
        assert_eq!(said(&fault_free), [], "this is for `no-cause` to say");
        let mut settings = Settings::default();
        settings.set("no-cause", "off").unwrap();
        assert_eq!(judged(judge, &settings, &[], &fault_free).len(), 1);
    }
}

//! The scenario's own verdict: the test that was given is the first oracle.
//!
//! Owns how its complaint is classified. Nothing is inferred: what the
//! scenario accepts is not a finding. Where no fault was
//! injected, [`crate::no_cause`] judges, unless it is switched off.

use std::collections::BTreeSet;

use murphy_model::{BugClass, CallId, Place, Reply, Trace, Verdict};

use crate::blame::unhandled;
use crate::case::{Case, failed};
use crate::complaint::Complaint;
use crate::no_cause;
use crate::oracle::Oracle;
use crate::settings::Level;

pub(crate) fn judge(case: &Case<'_>) -> Option<Complaint> {
    let elsewhere = case.settings.level(Oracle::NoCause) != Level::Off && !case.any_fault();
    match &case.observed.execution.verdict {
        Verdict::Failed { why } if !elsewhere => {
            let class = class_under_faults(case);
            Some(Complaint::new(why, class, unhandled(case.trace())))
        }
        _ => None,
    }
}

/// The class of a complaint: by what else broke, if anything did; else by the
/// answer above the fault. Where that looked fine and a later answer is not as
/// without faults, what is stored in between differs.
fn class_under_faults(case: &Case<'_>) -> BugClass {
    if let Some(class) = no_cause::consequence(case) {
        return class;
    }
    match class(answer_above_faults(case.trace())) {
        BugClass::SilentViolation if differs_later(case) => BugClass::StateDivergence,
        class => class,
    }
}

/// Whether a request of the scenario that no fault concerns, and that was made
/// after one that a fault does, was answered otherwise than without faults.
fn differs_later(case: &Case<'_>) -> bool {
    let trace = case.trace();
    let (under_fault, free): (Vec<CallId>, Vec<CallId>) = trace.entries().partition(|id| {
        trace.call(*id).injected.is_some() || case.faults_below(*id).next().is_some()
    });
    let is_later = |id: &CallId| under_fault.iter().any(|it| trace.finished_before(*it, *id));
    let mut later = free.into_iter().filter(is_later);
    later.any(|id| {
        let (call, place) = (trace.call(id), Place::of(&trace.call(id).point));
        let is_usual = |reply| case.reference.answers(&place, reply);
        case.reference.asked(&place)
            && (call.reply.is_some_and(|reply| !is_usual(reply))
                || case.reference.is_other_body(&place, call.body))
    })
}

/// The answer to the request of the scenario below which a fault was injected;
/// of several, the last that failed, else the last. The last answer of all
/// where there is none: then it is not known which request the fault belongs to.
pub fn answer_above_faults(trace: &Trace) -> Option<Reply> {
    let injected = trace.ids().filter(|id| trace.call(*id).injected.is_some());
    let above = injected.filter_map(|id| trace.ancestors(id).last());
    let above: BTreeSet<CallId> = above.collect();
    let replies = || above.iter().rev().map(|id| trace.call(*id).reply);
    let failing = replies().find(|reply| reply.is_none() || failed(*reply));
    let last = failing.or_else(|| replies().next());
    last.unwrap_or_else(|| trace.final_reply())
}

/// The class by what the scenario got as its answer.
pub(crate) fn class(reply: Option<Reply>) -> BugClass {
    match reply {
        None | Some(Reply::Reset | Reply::Closed | Reply::TimedOut | Reply::NoTls(_)) => {
            BugClass::NoHandling
        }
        Some(Reply::Status(500..)) => BugClass::NoHandling,
        Some(reply) if reply.is_ok() => BugClass::SilentViolation,
        Some(_) => BugClass::Unclassified,
    }
}

#[cfg(test)]
mod tests {
    use murphy_model::TlsFault;

    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn the_last_answer_tells_the_class() {
        let cases = [
            (None, BugClass::NoHandling),
            (Some(Reply::TimedOut), BugClass::NoHandling),
            (Some(Reply::NoTls(TlsFault::Name)), BugClass::NoHandling),
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

    /// An order with a fault below it, and a request after it.
    fn order(answer: &str) -> Story {
        Story::new(vec![
            call("a GET /login"),
            call("a POST /order").answers(answer),
            call("a POST /order > b GET /").injected("503"),
            call("a GET /logout"),
        ])
    }

    #[test]
    fn a_finding_is_classed_by_the_answer_above_the_fault() {
        let two_orders = |first: &str, second: &str| {
            Story::new(vec![
                call("a POST /one").answers(first),
                call("a POST /one > b GET /").injected("503"),
                call("a POST /two").answers(second),
                call("a POST /two > b GET /").injected("503"),
            ])
        };
        // A call whose caller is not known stands beside the scenario's own.
        let orphan = Story::new(vec![
            call("b GET /").injected("503"),
            call("a POST /order").answers("200"),
        ]);
        let cases = [
            ("an honest 503", order("503"), BugClass::NoHandling),
            ("a wrong 200", order("200"), BugClass::SilentViolation),
            (
                "the one of two that failed",
                two_orders("503", "200"),
                BugClass::NoHandling,
            ),
            ("nobody above", orphan, BugClass::SilentViolation),
        ];
        for (name, story, expected) in cases {
            let said = judged(judge, &Settings::default(), &[], &story.fails("no order"));
            assert_eq!(said[0].class, expected, "{name}");
        }
    }

    #[test]
    fn what_else_broke_tells_the_class() {
        let shop = |mail: &str, shown: &str| {
            Story::new(vec![
                call("a POST /order"),
                call("a POST /order > b GET /").injected("503"),
                call("a POST /order > mail POST /").answers(mail),
                call("a GET /order").answers(shown),
            ])
        };
        let usual = [Story::new(vec![
            call("a POST /order"),
            call("a POST /order > b GET /"),
            call("a POST /order > mail POST /"),
            call("a GET /order"),
        ])];
        let cases = [
            (shop("500", "200"), BugClass::UnrelatedException),
            (shop("200", "500"), BugClass::StateDivergence),
            (shop("200", "404"), BugClass::StateDivergence),
            (shop("200", "200"), BugClass::SilentViolation),
        ];
        for (story, expected) in cases {
            let said = judged(
                judge,
                &Settings::default(),
                &usual,
                &story.fails("no order"),
            );
            assert_eq!(said[0].class, expected);
        }
    }

    #[test]
    fn only_a_scenario_that_complains_is_quoted() {
        let under_fault = || {
            Story::new(vec![
                call("a GET /").answers("500"),
                call("a GET / > b GET /").injected("503"),
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

//! Retry of a call that must not be made twice.
//!
//! Owns which calls those are, and when the work was done: POST and PATCH and
//! every gRPC method that is not declared idempotent; after a fault that lets
//! the callee work and loses its answer, or delays it until the caller gives
//! up. An idempotency key in a header cannot be seen here; calls that carry
//! one are to be declared.

use murphy_model::{BugClass, CallId, Interface, Phase};

use crate::attempts::extra_repeats;
use crate::case::{Case, failed};
use crate::complaint::Complaint;

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let groups = extra_repeats(case.trace(), case.reference);
    let retried = groups.filter_map(|group| made_again(case, &group));
    retried.map(|id| complaint(case, id)).collect()
}

/// The call of a group that did its work and was made once more.
fn made_again(case: &Case<'_>, group: &[CallId]) -> Option<CallId> {
    let followed = group.split_last().map(|(_, before)| before)?;
    let mut followed = followed.iter().copied();
    followed.find(|id| did_its_work(case, *id) && !may_be_repeated(case, *id))
}

fn did_its_work(case: &Case<'_>, id: CallId) -> bool {
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

fn may_be_repeated(case: &Case<'_>, id: CallId) -> bool {
    let point = &case.trace().call(id).point;
    let by_method = match &point.frame().interface {
        Interface::Http { method, .. } => !["POST", "PATCH"].contains(&&**method),
        Interface::Grpc { .. } => false,
    };
    by_method || case.settings.is_idempotent(point)
}

fn complaint(case: &Case<'_>, id: CallId) -> Complaint {
    let (caller, callee) = (case.caller(id), case.name(id));
    let summary = format!(
        "{caller} makes the call to {callee} again after its answer was lost: the work is done twice"
    );
    Complaint::new(summary, BugClass::Retry, Some(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    fn retried(interface: &str, mode: &str) -> Story {
        Story::new(vec![
            call("a GET /"),
            call(&format!("a GET / > b {interface}")).struck(mode),
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

    #[test]
    fn an_answer_that_came_too_late_counts_as_lost() {
        let story = Story::new(vec![
            call("a GET /").during(1, 9),
            call("a GET / > b POST /pay")
                .answers("timeout")
                .struck("delay:2s")
                .during(2, 4),
            call("a GET / > b POST /pay #2").during(5, 6),
        ]);
        let said = judged(judge, &Settings::default(), &[once("POST /pay")], &story);
        assert_eq!(said.len(), 1);
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

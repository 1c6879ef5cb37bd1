//! Equal calls that count as one.
//!
//! Where a user says that the number of equal calls does not matter
//! (`count = "off"`), a caller that polls twice and one that polls three times
//! do the same. Owns what a search learns of them: of equal calls side by side
//! the last, which ended the polling. Oracles and reports see all of them.

use murphy_model::{CallId, Execution, Trace};

use crate::settings::{IdentityChoice, Settings};

/// What is said of it in a certificate.
pub(crate) const ASSUMPTION: &str =
    "equal calls count as one, however often they are made (`count = \"off\"`)";

/// Whether equal calls count as one. Who gives the whole identity wants to see
/// what comes of it.
pub(crate) fn count_as_one(settings: &Settings) -> bool {
    matches!(&settings.identity, IdentityChoice::Auto(start, _) if !start.count)
}

/// The execution as a search is to learn it.
pub(crate) fn learnable(execution: Execution, settings: &Settings) -> Execution {
    match count_as_one(settings) {
        true => Execution {
            trace: without_repeated(&execution.trace),
            ..execution
        },
        false => execution,
    }
}

/// The trace with only the last of equal calls of one caller, and what was
/// called for it.
fn without_repeated(trace: &Trace) -> Trace {
    let is_repeated = |CallId(at): CallId| {
        let (to, after) = trace.calls().split_at(at as usize + 1);
        let call = to.last().expect("the call itself");
        let mut equal = after.iter().filter(|it| it.parent == call.parent);
        equal.any(|it| it.point == call.point)
    };
    trace.without(is_repeated).0
}

#[cfg(test)]
mod tests {
    use murphy_model::Call;

    use super::*;

    #[test]
    fn of_equal_calls_the_last_is_learnt_with_what_it_led_to() {
        let call = |point: &str, parent: Option<u32>, at: u32| Call {
            point: point.parse().unwrap(),
            parent: parent.map(CallId),
            arrived: at,
            finished: Some(at + 1),
            reply: None,
            injected: None,
            body: None,
        };
        let (shop, jobs) = ("shop GET /", "shop GET / > jobs GET /");
        let below = "shop GET / > jobs GET / > db GET /";
        let trace = Trace::new(vec![
            call(shop, None, 0),
            call(jobs, Some(0), 1),
            call(below, Some(1), 2),
            call(jobs, Some(0), 3),
            call(below, Some(3), 4),
            call("shop GET / > mail GET /", Some(0), 5),
        ]);
        let learnt = without_repeated(&trace);
        let seen: Vec<(u32, Option<u32>)> = learnt
            .calls()
            .iter()
            .map(|call| (call.arrived, call.parent.map(|CallId(parent)| parent)))
            .collect();
        assert_eq!(seen, [(0, None), (3, Some(0)), (4, Some(1)), (5, Some(0))]);
    }
}

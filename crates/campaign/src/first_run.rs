//! Calls that a system makes only in the first run after a start: a token or a
//! cache that is filled when it is first needed.
//!
//! The trials before the references warm the system up, so such a call would
//! be in no list, plan or run. Owns finding it, by comparing the trials with the
//! reference; what becomes of it is the campaign's business.

use murphy_model::{Call, Interface, Observed, Point};

use crate::settings::Settings;
use crate::stable::template;

/// The calls below the scenario's own that a trial made and the reference did
/// not, among those that could be made to fail.
pub(crate) fn calls(trials: &[Observed], reference: &Observed, settings: &Settings) -> Vec<Point> {
    let options = &settings.options;
    let count = settings.identity.start().count;
    let mut found: Vec<Point> = Vec::new();
    for trial in trials
        .iter()
        .filter(|it| !it.execution.verdict.is_failure())
    {
        for point in missing(trial, reference, count) {
            let can_fail = options.filter.allows(&point) && !options.modes.of(&point).is_empty();
            if can_fail && !found.contains(&point) {
                found.push(point);
            }
        }
    }
    found
}

/// Calls of a trial that have no counterpart in the reference, wherever that is
/// made from: a trial may not know all callers. Unless calls are counted, one
/// counterpart does for all that are equal.
fn missing(trial: &Observed, reference: &Observed, count: bool) -> Vec<Point> {
    let mut open: Vec<&Call> = reference.execution.trace.calls().iter().collect();
    let mut unmatched: Vec<&Call> = trial.execution.trace.calls().iter().collect();
    for same in [equal, alike] {
        unmatched.retain(|call| {
            let at = open.iter().position(|other| same(call, other));
            if let (true, Some(at)) = (count, at) {
                open.remove(at);
            }
            at.is_none()
        });
    }
    let below = unmatched.into_iter().filter(|call| call.parent.is_some());
    below.map(|call| call.point.clone()).collect()
}

fn equal(one: &Call, other: &Call) -> bool {
    let (one, other) = (one.point.frame(), other.point.frame());
    one.destination == other.destination && one.interface == other.interface
}

/// To the same service, and the same but for parts of the path that may vary.
fn alike(one: &Call, other: &Call) -> bool {
    let (one, other) = (one.point.frame(), other.point.frame());
    let same_interface = match (&one.interface, &other.interface) {
        (Interface::Http { method, path }, Interface::Http { method: m, path: p }) => {
            method == m && template(path, p).is_some()
        }
        (one, other) => one == other,
    };
    one.destination == other.destination && same_interface
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{CallId, Execution, Faultload, Trace, Verdict};

    use super::*;

    fn seen(below: &[&str]) -> Observed {
        let call = |point: String, parent: Option<CallId>| Call {
            point: point.parse().unwrap(),
            parent,
            arrived: 0,
            finished: Some(1),
            reply: None,
            injected: None,
            body: None,
        };
        let mut calls = vec![call("shop GET /".to_owned(), None)];
        let below = below.iter().map(|it| format!("shop GET / > {it}"));
        calls.extend(below.map(|point| call(point, Some(CallId(0)))));
        let execution = Execution {
            faultload: Faultload::none(),
            trace: Trace::new(calls),
            verdict: Verdict::Passed,
        };
        Observed::bare(execution, Duration::ZERO)
    }

    #[test]
    fn only_what_no_later_run_makes_is_a_first_run_call() {
        let found = |trial: &[&str]| {
            let warm = seen(&["cart GET /items/sku-1", "cart GET /items/sku-1 #2"]);
            let found = missing(&seen(trial), &warm, true);
            found.iter().map(Point::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            found(&["auth POST /token"]),
            ["shop GET / > auth POST /token"]
        );
        assert!(found(&["cart GET /items/sku-2"]).is_empty());
        let thrice = [
            "cart GET /items/sku-1",
            "cart GET /items/sku-1 #2",
            "cart GET /items/sku-1 #3",
        ];
        assert_eq!(found(&thrice).len(), 1);
    }
}

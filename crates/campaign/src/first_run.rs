//! Calls that a system makes only in the first run after a start: a token or a
//! cache that is filled when it is first needed.
//!
//! The trials before the references warm the system up, so such a call would
//! be in no list, plan or run. Owns finding it, by comparing the trials with the
//! reference; what becomes of it is the campaign's business.

use murphy_model::{Call, Identity, Interface, Observed, Point};

use crate::infer_identity::template;
use crate::settings::Settings;
use crate::world::World;

/// What was seen without faults before the references.
pub(crate) struct Trials {
    /// The runs.
    pub(crate) runs: Vec<Observed>,
    /// Calls that belong to none of them, without who made them.
    lost: Vec<Point>,
}

impl Trials {
    /// Those that a world made.
    pub(crate) fn of(world: &dyn World) -> Self {
        Trials {
            runs: world.trials(),
            lost: world.lost_in_trials(),
        }
    }

    /// The calls below the scenario's own that were made before the reference
    /// and not in it, among those that can fail.
    pub(crate) fn first_run_calls(
        &self,
        reference: &Observed,
        identity: &Identity,
        settings: &Settings,
    ) -> Vec<Point> {
        let options = &settings.options;
        let count = settings.identity.start().count;
        let passed = self.runs.iter();
        let passed = passed.filter(|it| !it.execution.verdict.is_failure());
        let made = passed.flat_map(|trial| missing(trial, reference, count));
        let mut found: Vec<Point> = Vec::new();
        for point in made.chain(self.lost_for_good(reference)) {
            let can_fail = options.filter.allows(&point) && !options.modes.of(&point).is_empty();
            let is_background = identity.background.iter().any(|it| it.is_above(&point));
            let is_out = is_background || identity.leaves_out(&point);
            if can_fail && !is_out && !found.contains(&point) {
                found.push(point);
            }
        }
        found
    }

    /// Calls that belonged to no trial and have no counterpart in the reference.
    fn lost_for_good(&self, reference: &Observed) -> Vec<Point> {
        let calls = reference.execution.trace.calls();
        let is_made = |lost: &&Point| {
            let mut made = calls.iter().map(|call| &call.point);
            made.any(|point| equal(lost, point) || alike(lost, point))
        };
        self.lost
            .iter()
            .filter(|it| !is_made(it))
            .cloned()
            .collect()
    }
}

/// Calls of a trial that have no counterpart in the reference, wherever that is
/// made from: a trial may not know all callers. Unless calls are counted, one
/// counterpart does for all that are equal.
fn missing(trial: &Observed, reference: &Observed, count: bool) -> Vec<Point> {
    let mut open: Vec<&Call> = reference.execution.trace.calls().iter().collect();
    let mut unmatched: Vec<&Call> = trial.execution.trace.calls().iter().collect();
    for same in [equal, alike] {
        unmatched.retain(|call| {
            let at = open
                .iter()
                .position(|other| same(&call.point, &other.point));
            if let (true, Some(at)) = (count, at) {
                open.remove(at);
            }
            at.is_none()
        });
    }
    let below = unmatched.into_iter().filter(|call| call.parent.is_some());
    below.map(|call| call.point.clone()).collect()
}

fn equal(one: &Point, other: &Point) -> bool {
    let (one, other) = (one.frame(), other.frame());
    one.destination == other.destination && one.interface == other.interface
}

/// To the same service, and the same but for parts of the path that may vary.
fn alike(one: &Point, other: &Point) -> bool {
    let (one, other) = (one.frame(), other.frame());
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
    fn a_call_that_no_trial_is_known_to_have_made_is_named_unless_the_reference_makes_it() {
        let lost = ["auth POST /token", "cart GET /items/sku-2", "ads GET /"];
        let trials = Trials {
            runs: Vec::new(),
            lost: lost.iter().map(|it| it.parse().unwrap()).collect(),
        };
        let named = trials.lost_for_good(&seen(&["cart GET /items/sku-1", "ads GET /"]));
        assert_eq!(named, [lost[0].parse().unwrap()]);
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

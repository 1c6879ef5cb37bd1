//! How calls are known to belong to an execution, tried out on the system.
//!
//! Owns the decision between context that services hand on and watching one
//! execution at a time, and how long an execution is waited for after its
//! scenario has ended. Both are found by running the scenario without faults;
//! whether it passes then is somebody else's question, and so is whether it can
//! run beside itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{Call, Faultload, Identity, Observed, Point};

use super::beside::{Clash, has_passed};
use super::grace::Grace;
use super::spec::{ScenarioSpec, SystemSpec};
use super::{How, Keep, LiveOptions, LiveWorld};
use crate::BrokenWorld;

/// How long calls may come after a scenario has ended while that is tried
/// out: longer than anything that is merely scheduled.
const TRYING: Duration = Duration::from_millis(100);

/// What was found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Correlation {
    /// Whether executions run one at a time, because calls cannot be told
    /// apart otherwise.
    pub solo: bool,
    /// The calls that arrived without any context of ours; why it is so.
    pub lost: Vec<Point>,
    /// How long after the scenario's end the last call arrived, if any did.
    pub late: Option<Duration>,
    /// How the scenario gets in its own way, if it does: executions then run one
    /// at a time, though they could be told apart.
    pub clash: Option<Clash>,
}

impl Correlation {
    /// How many executions can run at once, of so many that are asked for.
    pub fn at_once(&self, wanted: u32) -> u32 {
        match self.solo || self.clash.is_some() {
            true => 1,
            false => wanted,
        }
    }
}

/// What is left to be found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether executions run one at a time; `None`: if need be.
    pub solo: Option<bool>,
    /// How long to wait for late calls; `None`: as it turns out.
    pub grace: Option<Duration>,
    /// How many executions are to run at once. Several are tried out.
    pub at_once: u32,
}

impl LiveWorld {
    /// Starts a system and finds out how its calls are told apart.
    pub async fn start_correlated(
        system: SystemSpec,
        scenario: ScenarioSpec,
        options: LiveOptions,
        wanted: Wanted,
    ) -> Result<(LiveWorld, Correlation), BrokenWorld> {
        let one_at_a_time = |solo: bool| LiveOptions {
            workers: if solo { 1 } else { options.least_workers },
            solo,
            ..options.clone()
        };
        let first = match wanted.solo {
            Some(true) => one_at_a_time(true),
            _ => LiveOptions {
                solo: false,
                ..options.clone()
            },
        };
        let is_settled = wanted.solo.is_some();
        let fixed = fixed(&system, first.workers);
        let mut world = LiveWorld::start(system.clone(), scenario.clone(), first).await?;
        let alone = world.look(world.options.solo).await?;
        let mut found = world.try_out(&alone, is_settled, &fixed).await?;
        found.solo = wanted.solo.unwrap_or(!found.lost.is_empty());
        let several = wanted.at_once > 1 && !found.solo && system.reset.is_empty();
        if several && has_passed(&alone) {
            let beside = world.run_beside_itself(wanted.at_once, &alone).await?;
            found.clash = beside.clash;
            found.late = found.late.max(beside.late);
        }
        if found.clash.is_some() || (found.solo && !is_settled) {
            let cleaned_up = std::mem::take(&mut world.cleaned_up);
            world.stop().await?;
            world = LiveWorld::start(system, scenario, one_at_a_time(found.solo)).await?;
            world.cleaned_up.splice(0..0, cleaned_up);
        }
        match wanted.grace {
            Some(grace) => world.grace = Grace::set(grace),
            None => world.grace.settle(found.late),
        }
        Ok((world, found))
    }

    async fn try_out(
        &self,
        as_started: &Observed,
        is_settled: bool,
        fixed: &BTreeSet<String>,
    ) -> Result<Correlation, BrokenWorld> {
        let mut found = Correlation {
            late: late(as_started),
            ..Correlation::default()
        };
        if !is_settled && self.registry.live() == 0 {
            let everything = self.look(true).await?;
            found.late = found.late.max(late(&everything));
            found.lost = lost(as_started, &everything);
            if !found.lost.is_empty() && !self.is_always(&everything).await? {
                found.lost.clear();
            }
            found.lost.extend(mistaken(as_started, fixed));
        }
        Ok(found)
    }

    /// Whether the scenario makes these calls another time: one that does not
    /// proves nothing about context, and is refused later.
    async fn is_always(&self, seen: &Observed) -> Result<bool, BrokenWorld> {
        let again = self.look(true).await?;
        Ok(lost(seen, &again).is_empty() && lost(&again, seen).is_empty())
    }

    /// The scenario without faults, by itself.
    pub(super) async fn look(&self, solo: bool) -> Result<Observed, BrokenWorld> {
        let (none, keep, how) = (Faultload::none(), Keep::Calls, self.looking(solo));
        let looked = self.execute(0, &none, &by_interface(), keep, how).await;
        let (observed, _) = looked?;
        self.options.trials.add(solo, &observed);
        Ok(observed)
    }

    /// How an execution is watched of which is to be learnt how it goes.
    pub(super) fn looking(&self, solo: bool) -> How {
        let grace = self.options.grace.max(TRYING);
        How { solo, grace }
    }
}

/// Names for calls whose payload is of no interest.
pub(super) fn by_interface() -> Arc<Identity> {
    Arc::new(Identity {
        payload: false,
        ..Identity::default()
    })
}

/// How long after the scenario had ended the last call arrived.
pub(super) fn late(observed: &Observed) -> Option<Duration> {
    let last = observed.details.iter().map(|detail| detail.arrived).max()?;
    last.checked_sub(observed.took)
        .filter(|late| !late.is_zero())
}

/// Calls of `all` that are not in `seen`, by service and interface.
fn lost(seen: &Observed, all: &Observed) -> Vec<Point> {
    missing(seen, all, place)
}

/// Calls of `all` that are not in `seen`, told apart by that.
pub(super) fn missing<K: Ord>(
    seen: &Observed,
    all: &Observed,
    by: impl Fn(&Point) -> K,
) -> Vec<Point> {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    for call in seen.execution.trace.calls() {
        *counts.entry(by(&call.point)).or_default() += 1;
    }
    let calls = all.execution.trace.calls().iter();
    let unseen = calls.filter(|call| match counts.get_mut(&by(&call.point)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    unseen.map(|call| call.point.clone()).collect()
}

/// The services whose common listener may be an entry of the only worker.
fn fixed(system: &SystemSpec, workers: u32) -> BTreeSet<String> {
    let services = system.services.iter();
    let fixed = services.filter(|service| workers == 1 && service.listen.is_some());
    fixed.map(|service| service.name.clone()).collect()
}

/// Calls to these services that were taken for the test's own, but were made
/// while another call was under way, and by nobody who is known to make them:
/// rather a service's, without context.
fn mistaken(seen: &Observed, fixed: &BTreeSet<String>) -> Vec<Point> {
    let calls = seen.execution.trace.calls();
    let made = calls.iter().filter(|call| call.parent.is_some());
    let made: BTreeSet<_> = made.map(|call| place(&call.point)).collect();
    let is_under_way = |other: &Call, at: u32| {
        other.arrived < at && other.finished.is_none_or(|finished| finished > at)
    };
    let mistaken = calls.iter().filter(|call| {
        let mut others = calls.iter();
        call.parent.is_none()
            && fixed.contains(&*call.point.frame().destination)
            && !made.contains(&place(&call.point))
            && others.any(|other| is_under_way(other, call.arrived))
    });
    mistaken.map(|call| call.point.clone()).collect()
}

fn place(point: &Point) -> (String, String) {
    let frame = point.frame();
    (frame.destination.to_string(), frame.interface.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use murphy_model::{CallId, Execution, Trace, Verdict};

    fn seen(calls: &[(&str, Option<u32>, u32, Option<u32>)]) -> Observed {
        let call =
            |&(point, parent, arrived, finished): &(&str, Option<u32>, u32, Option<u32>)| Call {
                point: point.parse().unwrap(),
                parent: parent.map(CallId),
                arrived,
                finished,
                reply: None,
                injected: None,
            };
        let execution = Execution {
            faultload: Faultload::none(),
            trace: Trace::new(calls.iter().map(call).collect()),
            verdict: Verdict::Passed,
        };
        Observed::bare(execution, Duration::ZERO)
    }

    #[test]
    fn what_comes_to_a_fixed_address_during_another_call_is_not_the_tests() {
        let (shop, cart) = (
            ("shop GET /", None, 0, Some(3)),
            ("cart GET /", None, 1, Some(2)),
        );
        let later = ("cart GET /", None, 4, Some(5));
        let known = ("shop GET / > cart GET /", Some(0), 1, Some(2));
        let stuck = ("shop GET /", None, 0, None);
        let cases = [
            (vec![shop, cart], "cart", 1),
            (vec![stuck, later], "cart", 1),
            (vec![shop, cart], "other", 0),
            (vec![shop, later], "cart", 0),
            (vec![shop, known], "cart", 0),
            (vec![stuck, known, later], "cart", 0),
        ];
        for (number, (calls, fixed, expected)) in cases.iter().enumerate() {
            let fixed = BTreeSet::from([(*fixed).to_owned()]);
            assert_eq!(mistaken(&seen(calls), &fixed).len(), *expected, "{number}");
        }
    }
}

//! How calls are known to belong to an execution, tried out on the system.
//!
//! Owns the decision between context that services hand on and watching one
//! execution at a time, and how long an execution is waited for after its
//! scenario has ended. Both are found by running the scenario without faults;
//! whether it passes then is somebody else's question, and so is whether it can
//! run beside itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use murphy_model::{Call, CallId, Faultload, Identity, Observed, Point, polling};

use super::grace::{self, Grace};
use super::parallel_check::{Interference, has_passed};
use super::spec::{ScenarioSpec, ServiceSpec, Source, SystemSpec};
use super::{How, LiveOptions, LiveWorld, RunningSystem};
use murphy_campaign::{Job, Keep, SetupError};

/// How long calls may come after a scenario has ended while that is tried
/// out: longer than anything that is merely scheduled, and than a worker takes
/// that looks for work a few times a second.
const TRYING: Duration = Duration::from_millis(250);

/// How long clients that wait before they connect again are given: the first
/// few of their waits, not the longest.
const RECONNECTING: Duration = Duration::from_secs(10);

/// The time between two looks meanwhile.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// What was found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Correlation {
    /// Whether executions run one at a time, because calls cannot be
    /// identified otherwise.
    pub solo: bool,
    /// The calls that arrived without any context of ours; why it is so.
    pub lost: Vec<Point>,
    /// How long after the scenario's end the last call arrived, if any did.
    pub late: Option<Duration>,
    /// How long each execution is waited for, because calls arrive late.
    pub grace: Option<Duration>,
    /// How the scenario gets in its own way, if it does: executions then run one
    /// at a time, though they could be distinguished.
    pub clash: Option<Interference>,
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

impl Wanted {
    /// What a system must be started with.
    pub fn options(&self, options: LiveOptions) -> LiveOptions {
        match self.solo {
            Some(true) => LiveOptions {
                solo: true,
                workers: 1,
                ..options
            },
            _ => LiveOptions {
                solo: false,
                ..options
            },
        }
    }
}

impl LiveWorld {
    /// Starts a system for this scenario alone, and finds out how its calls are
    /// identified.
    pub async fn start_correlated(
        system: SystemSpec,
        scenario: ScenarioSpec,
        options: LiveOptions,
        wanted: Wanted,
    ) -> Result<(LiveWorld, Correlation), SetupError> {
        let options = wanted.options(options);
        let started = RunningSystem::start(system, std::slice::from_ref(&scenario), options);
        LiveWorld::correlated_in(started.await?, scenario, wanted).await
    }

    /// The same in a system that was started with [`Wanted::options`].
    pub async fn correlated_in(
        system: Arc<RunningSystem>,
        scenario: ScenarioSpec,
        wanted: Wanted,
    ) -> Result<(LiveWorld, Correlation), SetupError> {
        let spec = &system.spec;
        let fixed = fixed(spec, system.options.workers);
        let reconnects = is_called_by_running(spec);
        let several = wanted.at_once > 1 && spec.reset.is_empty();
        let mut world = LiveWorld::in_system(system, scenario).await?;
        let alone = match reconnects {
            true => world.look_until_connected().await?,
            false => world.look(world.options.solo).await?,
        };
        let mut found = Correlation {
            late: late(&alone),
            ..Correlation::default()
        };
        match wanted.solo {
            Some(solo) => found.solo = solo,
            None => world.try_out(&alone, &fixed, &mut found).await?,
        }
        if several && !found.solo && has_passed(&alone) {
            let beside = world.run_beside_itself(wanted.at_once, &alone).await?;
            found.clash = beside.clash;
            found.late = found.late.max(beside.late);
        }
        if found.clash.is_some() || found.solo != world.options.solo {
            world.run_one_at_a_time(found.solo);
        }
        match wanted.grace {
            Some(grace) => world.grace = Grace::set(grace),
            None => world.settle_grace(&mut found).await?,
        }
        world.settle_warmth().await?;
        world.forget_trials(found.solo);
        Ok((world, found))
    }

    /// The first look while services that run already find their way back: to
    /// where the proxies listen now nobody listened before, and clients wait
    /// longer and longer before they try again.
    async fn look_until_connected(&self) -> Result<Observed, SetupError> {
        let give_up = Instant::now() + RECONNECTING;
        let mut is_told = false;
        loop {
            let seen = self.look(self.options.solo).await?;
            if has_passed(&seen) || Instant::now() >= give_up {
                return Ok(seen);
            }
            if !std::mem::replace(&mut is_told, true) {
                self.say(&format!(
                    "the test fails without faults; services that run already may still be reconnecting to the proxies: trying again for up to {RECONNECTING:?}"
                ));
            }
            self.system.registry.take_unattributed();
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Whether every call brings context: none came that belongs to nobody, and
    /// none that was taken for the test's own. Looked at twice, because what
    /// works in the background does not show every time.
    async fn try_out(
        &self,
        alone: &Observed,
        fixed: &BTreeSet<String>,
        found: &mut Correlation,
    ) -> Result<(), SetupError> {
        found.lost = self.without_context(alone, fixed);
        if found.lost.is_empty() {
            let again = self.look(false).await?;
            found.late = found.late.max(late(&again));
            found.lost = self.without_context(&again, fixed);
        }
        found.solo = !found.lost.is_empty();
        Ok(())
    }

    fn without_context(&self, seen: &Observed, fixed: &BTreeSet<String>) -> Vec<Point> {
        let missed = self.system.registry.unattributed().into_iter();
        let missed = missed.map(|it| it.at);
        missed.chain(mistaken(seen, fixed)).collect()
    }

    /// From now on executions run one at a time. All listeners stay as they
    /// are, so that nobody loses a connection.
    fn run_one_at_a_time(&mut self, solo: bool) {
        self.options.solo = solo;
        self.options.workers = match solo {
            true => 1,
            false => self.options.least_workers,
        };
    }

    /// Finds out how long executions are to be waited for. Where some calls came
    /// after their execution was over, or say nothing of whose they are, they
    /// are waited for as long as that may ever take.
    async fn settle_grace(&mut self, found: &mut Correlation) -> Result<(), SetupError> {
        if found.solo || self.system.registry.late() > 0 {
            let how = How {
                solo: found.solo,
                grace: grace::MOST,
            };
            found.late = found.late.max(late(&self.fault_free(how).await?));
        }
        self.grace.settle(found.late);
        found.grace = self.grace.for_late_calls();
        Ok(())
    }

    /// What was seen while it was tried out counts no more, but for calls that
    /// will go on to belong to nobody.
    fn forget_trials(&mut self, solo: bool) {
        self.late_before = self.system.registry.late();
        if solo {
            let lost = self.system.registry.take_unattributed().into_iter();
            self.options.trials.add_lost(lost.map(|it| it.at));
        }
    }

    fn say(&self, text: &str) {
        if let Some(say) = &self.options.say {
            say(text);
        }
    }

    /// The scenario without faults, by itself.
    pub(super) async fn look(&self, solo: bool) -> Result<Observed, SetupError> {
        let observed = self.fault_free(self.looking(solo)).await?;
        self.options.trials.add(solo, &observed);
        Ok(observed)
    }

    async fn fault_free(&self, how: How) -> Result<Observed, SetupError> {
        let (none, identity) = (Faultload::none(), by_interface());
        let (observed, _) = self.watched(job(0, &none, &identity), how).await?;
        Ok(observed)
    }

    /// How an execution is watched of which is to be learnt how it goes.
    pub(super) fn looking(&self, solo: bool) -> How {
        let grace = self.options.grace.max(TRYING);
        How { solo, grace }
    }
}

/// An execution whose requests are of no interest.
pub(super) fn job<'j>(
    worker: u32,
    faultload: &'j Faultload,
    identity: &'j Arc<Identity>,
) -> Job<'j> {
    Job {
        worker,
        faultload,
        identity,
        keep: Keep::Calls,
    }
}

/// Names for calls whose payload is of no interest.
pub(super) fn by_interface() -> Arc<Identity> {
    Arc::new(Identity {
        payload: false,
        ..Identity::default()
    })
}

/// How long after the scenario had ended the last call arrived, but for those
/// that go on for good.
pub(super) fn late(observed: &Observed) -> Option<Duration> {
    let goes_on = polling(&observed.execution.trace, &observed.details);
    let details = (0..).map(CallId).zip(&observed.details);
    let awaited = details.filter(|(id, _)| goes_on.binary_search(id).is_err());
    let last = awaited.map(|(_, detail)| detail.arrived).max()?;
    last.checked_sub(observed.took)
        .filter(|late| !late.is_zero())
}

/// Whether services that run already call others by their proxies: only where
/// these listen at fixed addresses.
fn is_called_by_running(system: &SystemSpec) -> bool {
    let services = &system.services;
    let runs = |it: &ServiceSpec| matches!(it.source, Source::Running { .. });
    let is_fixed = |it: &ServiceSpec| it.proxied && it.listen.is_some();
    services.iter().any(runs) && services.iter().any(is_fixed)
}

/// Calls of `all` that are not in `seen`, distinguished by that.
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
    let fixed = services.filter(|service| {
        let is_fixed = workers == 1 && service.listen.is_some();
        // The test tells others where it is, and calls there itself.
        is_fixed || service.is_started_by_test()
    });
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
    use murphy_model::{Execution, Trace, Verdict};

    fn seen(calls: &[(&str, Option<u32>, u32, Option<u32>)]) -> Observed {
        let call =
            |&(point, parent, arrived, finished): &(&str, Option<u32>, u32, Option<u32>)| Call {
                point: point.parse().unwrap(),
                parent: parent.map(CallId),
                arrived,
                finished,
                reply: None,
                injected: None,
                body: None,
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

//! A user's own system, as described in `murphy.toml`: services that run
//! already or are started here, proxies in front of them, and scenarios of
//! every kind.
//!
//! Owns the course of one execution over real sockets. Reading the
//! description is the binary's job; what arrives here makes sense.

mod bring_up;
mod bypass;
mod callers;
mod context;
mod control;
mod correlate;
mod crash_cause;
mod described;
mod each;
mod egress;
mod grace;
mod health;
mod ledger;
mod listening;
mod log;
mod options;
mod parallel_check;
mod ports;
mod proc;
mod process;
mod refusal;
mod rehearsal;
mod runner;
mod running_system;
mod scenario;
mod services;
pub mod sightings;
pub mod spec;
mod started_by_test;
mod steps;
mod suite;
mod survey;
mod teardown;
pub mod template;
pub mod versions;
mod wiring;

use std::sync::Arc;
use std::time::{Duration, Instant};

use murphy_model::{Execution, Fault, Faultload, Observed, Point, Verdict};
use murphy_registry::{ExecutionId, Plan, Recorded, SharedInjector, Unattributed, WorkerId};
use tokio::time::timeout;

use self::context::{Variables, head_lines};
use self::crash_cause::is_down;
use self::grace::Grace;
use self::log::Log;
use self::runner::warmth::{self, Shape, Warmth};
use self::runner::{Aftermath, Taken};
use self::scenario::{About, Scenario};
use self::services::Mark;
use self::spec::{
    AskInjected, Injected, ScenarioKind, ScenarioSpec, Session, SystemSpec, UnderFault,
};
use futures_util::future::BoxFuture;
use murphy_campaign::{Executing, Job, Keep, SetupError, World};

pub use self::bypass::bypassed;
pub use self::control::{ListedTest, Listing, openapi as control_openapi};
pub use self::correlate::{Correlation, Wanted};
pub use self::described::Endpoint;
pub use self::each::{FirstLook, Tests};
pub use self::egress::{AuthorityFiles, open_authority, rotate_authority, trusted_with};
pub use self::ledger::{CleanedUp, MARK, clean_up};
pub use self::options::{LiveOptions, Say, Trials, Wired};
pub use self::parallel_check::{Interference, InterferenceKind};
pub use self::runner::{KnownRunner, ListError, RunnerKind};
pub use self::running_system::RunningSystem;
pub use self::scenario::command::{CONTROL_VARIABLE, TOKEN_VARIABLE, url_variable};
pub use self::services::STOP_WITHIN;
pub use self::suite::{SuiteSystem, SuiteTests};
pub use self::survey::{ServiceState, survey};
pub use self::wiring::RefusedHandshake;
pub use murphy_proxy::{Client, Refusal, Refuser};
pub use murphy_request::json_path;

/// How much of what a test prints is kept, from its end.
const OUTPUT: usize = 64 * 1024;

/// How long what services printed may take to reach us. Only failing
/// executions wait for it.
const PRINTING: Duration = Duration::from_millis(2);

/// A scenario in a system on real sockets, with Murphy around it.
/// [`LiveWorld::stop`] ends it gracefully, and with it the system, unless
/// others share that; dropping it ends it at once.
pub struct LiveWorld {
    scenario: Scenario,
    system: Arc<RunningSystem>,
    grace: Grace,
    options: LiveOptions,
    timeout: Duration,
    /// Whether the scenario's own requests may fail.
    entries: bool,
    under_fault: UnderFault,
    warmth: Warmth,
    /// The services to which a call is expected.
    expected: Vec<String>,
    /// Late calls of executions that were only tried out, or are another
    /// scenario's.
    late_before: usize,
}

/// What came of running the scenario once.
struct Ran {
    observed: Observed,
    /// The requests, where they are to be kept.
    recorded: Option<Recorded>,
    /// Whether a service ended meanwhile.
    ended: bool,
    aftermath: Aftermath,
}

/// The scenario's result, what was seen, and how long it took.
struct Played {
    result: Result<(), String>,
    recorded: Recorded,
    took: Duration,
    aftermath: Aftermath,
}

/// How an execution is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
struct How {
    solo: bool,
    grace: Duration,
}

impl LiveWorld {
    /// Starts a system for this scenario alone.
    pub async fn start(
        system: SystemSpec,
        scenario: ScenarioSpec,
        options: LiveOptions,
    ) -> Result<Self, SetupError> {
        let started = RunningSystem::start(system, std::slice::from_ref(&scenario), options);
        LiveWorld::in_system(started.await?, scenario).await
    }

    /// Puts a scenario into a system that is up. Scenarios may share one, but
    /// run one after the other.
    pub async fn in_system(
        system: Arc<RunningSystem>,
        scenario: ScenarioSpec,
    ) -> Result<Self, SetupError> {
        let mut options = system.options.clone();
        options.trials = Trials::default();
        system.registry.take_unattributed();
        let mark = system.services.mark();
        Ok(LiveWorld {
            scenario: Scenario::prepare(&scenario, &system, options.workers, &mark).await?,
            warmth: warmth_of(&scenario),
            timeout: scenario.timeout,
            entries: scenario.entries,
            under_fault: scenario.under_fault.clone(),
            expected: match &scenario.kind {
                // One test of many need not call them all.
                ScenarioKind::Test(_) => Vec::new(),
                _ => expected(&system.spec, &scenario.name),
            },
            late_before: system.registry.late(),
            grace: Grace::set(options.grace),
            options,
            system,
        })
    }

    /// The system it runs in.
    pub fn system(&self) -> &Arc<RunningSystem> {
        &self.system
    }

    /// Where a worker's scenario enters a service, `host:port`.
    pub fn entry(&self, worker: u32, service: &str) -> Option<String> {
        let there = worker < self.options.workers;
        let place = there.then(|| self.system.wiring.entries(worker).get(service));
        place.flatten().map(|it| it.address())
    }

    /// Ends the scenario, and the system if nobody else has it.
    pub async fn stop(self) -> Result<(), SetupError> {
        drop(self.scenario);
        match Arc::into_inner(self.system) {
            Some(system) => system.stop().await,
            None => Ok(()),
        }
    }

    fn how(&self) -> How {
        How {
            solo: self.options.solo,
            grace: self.grace.get(),
        }
    }

    /// Runs the scenario once. What only another run can tell is asked of one:
    /// whose doing it was that a service ended or that a warm runner was lost,
    /// and whether a warm runner is still as it was.
    async fn watched(
        &self,
        job: Job<'_>,
        how: How,
    ) -> Result<(Observed, Option<Recorded>), SetupError> {
        self.check_worker(job.worker)?;
        self.rehearse(job, how).await?;
        let mut ran = self.beside_others(job, how, self.is_fresh()).await?;
        if ran.aftermath.lost.is_some() && !self.is_fresh() {
            ran = self.beside_others(job, how, true).await?;
        }
        if !self.is_fresh() && self.is_test() {
            self.check_runner(job, how, &ran).await?;
        }
        Ok((ran.observed, ran.recorded))
    }

    /// Runs what has to be seen before the handshakes of calls can fail, as far
    /// as it was not seen yet.
    async fn rehearse(&self, job: Job<'_>, how: How) -> Result<(), SetupError> {
        if self.system.spec.over_tls().is_empty() {
            return Ok(());
        }
        for faultload in rehearsal::before(job.faultload) {
            if !self.system.registry.has_seen(job.identity, &faultload) {
                let job = Job {
                    faultload: &faultload,
                    keep: Keep::Calls,
                    ..job
                };
                self.beside_others(job, how, self.is_fresh()).await?;
            }
        }
        Ok(())
    }

    /// The same beside others, where there are any. Where a service ended
    /// meanwhile it is run again alone.
    async fn beside_others(
        &self,
        job: Job<'_>,
        how: How,
        is_fresh: bool,
    ) -> Result<Ran, SetupError> {
        let together = self.system.together.read().await;
        let ran = self.execute_once(job, how, is_fresh).await?;
        drop(together);
        if !ran.ended || self.options.workers == 1 {
            return Ok(ran);
        }
        let _alone = self.system.together.write().await;
        self.execute_once(job, how, is_fresh).await
    }

    fn is_test(&self) -> bool {
        matches!(self.scenario, Scenario::Test(..))
    }

    fn is_fresh(&self) -> bool {
        self.warmth.is_fresh()
    }

    /// Why every execution has a process of its own, if that is so.
    pub fn why_fresh(&self) -> Option<String> {
        self.warmth.why_fresh()
    }

    /// After an execution that a warm runner may have spoilt: is it still as it
    /// was? If not, all that was seen in it is in doubt, and the scenario has to
    /// begin anew with a process per execution.
    async fn check_runner(&self, job: Job<'_>, how: How, ran: &Ran) -> Result<(), SetupError> {
        let verdict = &ran.observed.execution.verdict;
        let Some(usual) = self.warmth.usual() else {
            return Ok(());
        };
        if !self.warmth.wants_check(job.faultload, verdict) {
            return Ok(());
        }
        let now = self.fault_free_shape(job.worker, how, false).await?;
        self.warmth.checked();
        if now == usual {
            return Ok(());
        }
        let fresh = self.fault_free_shape(job.worker, how, true).await?;
        let again = self.fault_free_shape(job.worker, how, true).await?;
        match warmth::why_not_warm(&now, &fresh, &again) {
            Some(why) => {
                self.warmth.set_fresh(why.clone());
                Err(
                    SetupError::new(format!("the warm runner cannot be trusted: {why}"))
                        .hint("`--fresh` gives every execution a process of its own"),
                )
            }
            // It is the system that is not as it was.
            None => {
                self.warmth.set_usual(fresh);
                Ok(())
            }
        }
    }

    async fn fault_free_shape(
        &self,
        worker: u32,
        how: How,
        is_fresh: bool,
    ) -> Result<Shape, SetupError> {
        let (none, identity) = (Faultload::none(), correlate::by_interface());
        let job = correlate::job(worker, &none, &identity);
        let ran = self.beside_others(job, how, is_fresh).await?;
        Ok(Shape::of(&ran.observed))
    }

    /// Compares a test in a warm and in a fresh process, and falls back to
    /// fresh ones where they differ.
    async fn settle_warmth(&self) -> Result<(), SetupError> {
        if !self.is_test() || self.is_fresh() {
            return Ok(());
        }
        let how = self.looking(self.options.solo);
        let (none, identity) = (Faultload::none(), correlate::by_interface());
        let job = correlate::job(0, &none, &identity);
        let warm = self.beside_others(job, how, false).await?;
        if let Some(why) = warmth::why_not_after(&warm.aftermath) {
            self.warmth.set_fresh(why);
            return Ok(());
        }
        let warm = Shape::of(&warm.observed);
        let fresh = self.fault_free_shape(0, how, true).await?;
        if warm != fresh {
            let again = self.fault_free_shape(0, how, true).await?;
            if let Some(why) = warmth::why_not_warm(&warm, &fresh, &again) {
                self.warmth.set_fresh(why);
            }
        }
        self.warmth.set_usual(fresh);
        Ok(())
    }

    /// Takes the runner for an execution, before anything belongs to it.
    async fn runner(&self, worker: u32, is_fresh: bool) -> Result<Option<Taken>, SetupError> {
        let Scenario::Test(_, runner) = &self.scenario else {
            return Ok(None);
        };
        let (runners, control) = (&self.system.runners, &self.system.control);
        Ok(Some(match is_fresh {
            true => runners.fresh(runner, worker, control).await?,
            false => runners.warm(runner, worker, control).await?,
        }))
    }

    /// Runs the scenario once, in a fresh process of its runner or a warm one.
    async fn execute_once(
        &self,
        job: Job<'_>,
        how: How,
        is_fresh: bool,
    ) -> Result<Ran, SetupError> {
        self.system.begin_anew().await?;
        let runner = self.runner(job.worker, is_fresh).await?;
        let marks = self.system.services.marks();
        let begun = self.begin(job, how.solo, None)?;
        let printed = Arc::new(Log::new(OUTPUT));
        let played = self.play(job.worker, runner, &begun, &printed, how).await?;
        let Played {
            result,
            recorded,
            took,
            aftermath,
        } = played;
        if result.is_err() && recorded.details.iter().any(is_down) {
            self.check_running(&recorded).await?;
        }
        self.system.crash_cause.take(&recorded);
        let ended = self.ended_since(&marks, &recorded).await;
        let refused = result.is_err()
            && ended.is_empty()
            && took < self.timeout
            && refusal::is_refused(&self.under_fault, &recorded);
        let result = with_ended(result, &ended);
        let logged = self.logged(result.is_err(), &marks).await;
        let output = printed.text();
        let faultload = job.faultload;
        if faultload.is_empty() && result.is_ok() {
            self.grace.learn(took);
        }
        let missing = recorded.not_exercised(faultload);
        let kept = (job.keep == Keep::Requests).then(|| recorded.clone());
        let observed = Observed {
            execution: Execution {
                faultload: faultload.clone(),
                trace: recorded.trace,
                verdict: verdict(result, refused, missing),
            },
            details: recorded.details,
            quiet: recorded.quiet,
            took,
            output: (!output.is_empty()).then_some(output),
            logged: logged.filter(|text| !text.is_empty()),
        };
        Ok(Ran {
            observed,
            recorded: kept,
            ended: !ended.is_empty(),
            aftermath,
        })
    }

    /// What is to be printed of services that ended since by themselves.
    async fn ended_since(&self, marks: &[Mark], recorded: &Recorded) -> Vec<String> {
        let mut calls = recorded.trace.calls().iter().zip(&recorded.details);
        let broke = calls.any(|(call, detail)| {
            let callee = &call.point.frame().destination;
            detail.organic.is_some() && self.system.services.manages(callee)
        });
        self.system.services.ended_since(marks, broke).await
    }

    /// A test that fails because a service is down says nothing about faults.
    async fn check_running(&self, recorded: &Recorded) -> Result<(), SetupError> {
        let alone = self.options.workers == 1;
        let up = self
            .system
            .services
            .check_running(&self.system.wiring)
            .await;
        up.map_err(|broken| self.system.crash_cause.tell(broken, recorded, alone))
    }

    fn begin(
        &self,
        job: Job<'_>,
        solo: bool,
        injector: Option<SharedInjector>,
    ) -> Result<Begun<'_>, SetupError> {
        let plan = Plan {
            faultload: job.faultload.clone(),
            identity: job.identity.clone(),
            worker: Some(WorkerId(job.worker)),
            solo,
            entries: self.entries,
            injector,
        };
        let id = match job.keep {
            Keep::Calls if !self.under_fault.looks_at_bodies() => self.system.registry.begin(plan),
            Keep::Calls | Keep::Requests => self.system.registry.begin_keeping_requests(plan),
        };
        let id = id.map_err(|error| SetupError::new(error.to_string()))?;
        let worker = job.worker;
        let begun = Begun {
            world: self,
            id,
            worker,
        };
        let control = &self.system.control;
        match &self.scenario {
            Scenario::Test(test, _) => {
                let phases = &test.runner.phases;
                control.began(id, job.faultload.clone(), phases);
                // The runner says when the next phase begins.
                let is_armed = phases.iter().any(|it| it == control::PHASES[0]);
                let _ = self.system.registry.arm(id, is_armed);
            }
            scenario => {
                let is_command = matches!(scenario, Scenario::Command(_));
                control.test_begins(worker, is_command);
                control.began(id, job.faultload.clone(), &[]);
            }
        }
        Ok(begun)
    }

    async fn play(
        &self,
        worker: u32,
        runner: Option<Taken>,
        begun: &Begun<'_>,
        printed: &Arc<Log>,
        how: How,
    ) -> Result<Played, SetupError> {
        let about = About {
            worker,
            session: &|| begun.session(),
            headers: &|| head_lines(&self.options.proxy.carriers, begun.id),
            timeout: self.timeout,
            injected: &|| begun.was_injected(),
            printed,
        };
        let began = Instant::now();
        let mut run = self.scenario.start(&about, runner)?;
        let result = timeout(self.timeout, run.result()).await;
        let took = began.elapsed();
        // A stuck scenario is left waiting until its record is taken, which
        // then shows the call it waits for, not how the call was dropped.
        let (grace, patience) = match result {
            Ok(_) => (how.grace, self.options.patience),
            Err(_) => (Duration::ZERO, Duration::ZERO),
        };
        let recorded = self
            .system
            .registry
            .collect_within(begun.id, grace, patience);
        let recorded = recorded.await.map_err(|_| {
            SetupError::new("an execution was forgotten before it could be collected")
                .hint("it took longer than any scenario may; is the machine suspended at times?")
        })?;
        let aftermath = run.end().await;
        let result =
            result.unwrap_or_else(|_| Err(format!("did not end within {:?}", self.timeout)));
        Ok(Played {
            result,
            recorded,
            took,
            aftermath,
        })
    }

    /// What the services logged, where the test failed.
    async fn logged(&self, failed: bool, marks: &[Mark]) -> Option<String> {
        if !failed || marks.is_empty() {
            return None;
        }
        tokio::time::sleep(PRINTING).await;
        let alone = self.options.workers == 1;
        Some(self.system.services.logged_since(marks, alone))
    }

    fn check_worker(&self, worker: u32) -> Result<(), SetupError> {
        let workers = self.options.workers;
        match worker < workers {
            true => Ok(()),
            false => Err(SetupError::new(format!(
                "there is no worker {worker}: there are {workers}, from 0"
            ))),
        }
    }
}

impl World for LiveWorld {
    fn workers(&self) -> u32 {
        self.options.workers
    }

    fn late(&self) -> usize {
        self.system.registry.late() - self.late_before
    }

    fn unattributed(&self) -> Vec<Unattributed> {
        self.system.registry.unattributed()
    }

    fn services(&self) -> Vec<String> {
        let expected = self.expected.iter();
        let is_seen = |it: &&String| !self.system.registry.has_ignored(it);
        expected.filter(is_seen).cloned().collect()
    }

    fn trials(&self) -> Vec<Observed> {
        self.options.trials.comparable(self.options.solo)
    }

    fn lost_in_trials(&self) -> Vec<Point> {
        self.options.trials.lost()
    }

    fn claims_to_be_cold(&self) -> bool {
        self.system.spec.is_cold || self.system.spec.restart
    }

    fn restart(&self) -> BoxFuture<'_, Result<bool, SetupError>> {
        Box::pin(self.system.restart())
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<(), SetupError>> {
        Box::pin(LiveWorld::stop(*self))
    }

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(self.watched(job, self.how()))
    }
}

fn warmth_of(scenario: &ScenarioSpec) -> Warmth {
    let warmth = Warmth::default();
    if let ScenarioKind::Test(test) = &scenario.kind
        && test.runner.fresh
    {
        warmth.set_fresh("asked for");
    }
    warmth
}

/// An execution that is ended when dropped, also if its run is cancelled.
struct Begun<'w> {
    world: &'w LiveWorld,
    id: ExecutionId,
    worker: u32,
}

impl Begun<'_> {
    fn session(&self) -> Session {
        let variables = Variables::of(self.id);
        let control = &self.world.system.control;
        Session {
            entries: Default::default(),
            execution: self.id.to_string(),
            traceparent: variables.traceparent,
            tracestate: variables.tracestate,
            baggage: variables.baggage,
            faults: control.planned(self.id),
            control: control.url(),
            token: control.token(self.worker).to_owned(),
            injected: Injected(Some(self.injected())),
        }
    }

    fn injected(&self) -> AskInjected {
        let (registry, id) = (self.world.system.registry.clone(), self.id);
        Arc::new(move || registry.injected(id).unwrap_or_default())
    }

    fn was_injected(&self) -> bool {
        let injected = self.world.system.registry.injected(self.id);
        injected.is_ok_and(|faults| !faults.is_empty())
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.world.system.registry.end(self.id);
        self.world.system.control.ended(self.id);
    }
}

/// A crash is a failure, also where the scenario gets over it or sees nothing
/// of it.
fn with_ended(result: Result<(), String>, ended: &[String]) -> Result<(), String> {
    match (result, ended) {
        (result, []) => result,
        (Ok(()), ended) => Err(ended.join("; ")),
        (Err(why), ended) => Err(format!("{why}; {}", ended.join("; "))),
    }
}

fn verdict(result: Result<(), String>, refused: bool, missing: Vec<Fault>) -> Verdict {
    match result {
        Err(why) if refused => Verdict::Refused { why },
        Err(why) => Verdict::Failed { why },
        Ok(()) if missing.is_empty() => Verdict::Passed,
        Ok(()) => Verdict::NotExercised { missing },
    }
}

/// The services to which a scenario is expected to lead.
fn expected(system: &SystemSpec, scenario: &str) -> Vec<String> {
    let services = system.services.iter();
    let expected = services.filter(|it| it.proxied && !it.unused.covers(scenario));
    expected.map(|it| it.name.clone()).collect()
}

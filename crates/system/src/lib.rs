//! A user's own system, as described in `murphy.toml`: services that run
//! already or are started here, proxies in front of them, and scenarios of
//! every kind.
//!
//! Owns the course of one execution over real sockets. Reading the
//! description is the binary's job; what arrives here makes sense.

mod beside;
mod bring_up;
mod broken;
mod client;
mod context;
mod control;
mod correlate;
mod downfall;
mod grace;
mod health;
mod ledger;
mod log;
mod options;
mod ports;
mod process;
mod scenario;
mod services;
pub mod spec;
mod steps;
mod survey;
mod teardown;
pub mod template;
mod wiring;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use murphy_model::{Execution, Fault, Observed, Point, Verdict};
use murphy_registry::{ExecutionId, Plan, Recorded, Registry, Unattributed, WorkerId};
use tokio::sync::RwLock;
use tokio::time::timeout;

use self::bring_up::bring_up;
use self::broken::{More, broken};
use self::context::{Variables, head_lines};
use self::control::Control;
use self::downfall::{Downfall, is_down};
use self::grace::Grace;
use self::log::Log;
use self::scenario::{About, Scenario};
use self::services::{Mark, Services};
use self::spec::{AskInjected, Injected, ScenarioSpec, Session, SystemSpec};
use self::steps::Steps;
use self::teardown::Teardown;
use self::wiring::Wiring;
use futures_util::future::BoxFuture;
use murphy_campaign::{BrokenWorld, Executing, Job, Keep, World};

pub use self::beside::{Clash, HowClashed};
pub use self::correlate::{Correlation, Wanted};
pub use self::ledger::{CleanedUp, MARK, clean_up};
pub use self::options::{LiveOptions, Say, Trials, Wired};
pub use self::scenario::command::{CONTROL_VARIABLE, url_variable};
pub use self::scenario::json_path;
pub use self::services::STOP_WITHIN;
pub use self::survey::{ServiceState, survey};

/// How much of what a test prints is kept, from its end.
const OUTPUT: usize = 64 * 1024;

/// How long what services printed may take to reach us. Only failing
/// executions wait for it.
const PRINTING: Duration = Duration::from_millis(2);

/// A system on real sockets with Murphy around it. [`LiveWorld::stop`] ends it
/// in good order; dropping it ends it at once, but for the commands and
/// requests of the teardown, for which it waits. Neither leaves a process or a
/// bound port behind.
pub struct LiveWorld {
    scenario: Scenario,
    setup: Steps,
    reset: Steps,
    teardown: Steps,
    // While the services are there.
    owed: Teardown,
    control: Control,
    // Before the services, so that nobody calls one that is not there.
    wiring: Wiring,
    services: Services,
    /// Who runs beside others shares this; who must be alone has it.
    together: RwLock<()>,
    downfall: Downfall,
    registry: Arc<Registry>,
    grace: Grace,
    /// Whether every execution begins with services that were just started.
    restarts: bool,
    /// Whether a `reset` step claims the same.
    is_cold: bool,
    /// How long the last restart took.
    restart_took: Mutex<Option<Duration>>,
    options: LiveOptions,
    timeout: Duration,
    /// The services to which a call is expected.
    expected: Vec<String>,
    /// Late calls of executions that were only tried out.
    late_before: usize,
    cleaned_up: Vec<CleanedUp>,
}

/// How an execution is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
struct How {
    solo: bool,
    grace: Duration,
}

impl LiveWorld {
    /// Cleans up after owners that were killed, binds the proxies, starts the
    /// services, waits until they are up, and runs the set-up.
    pub async fn start(
        system: SystemSpec,
        scenario: ScenarioSpec,
        options: LiveOptions,
    ) -> Result<Self, BrokenWorld> {
        options.check()?;
        let cleaned_up = clean_up(&options.state);
        let registry = Arc::new(Registry::new(murphy_registry::Settings {
            grace: options.grace,
            patience: options.patience,
            // A scenario that is still allowed to run must not be forgotten.
            time_to_live: scenario.timeout + options.patience + Duration::from_secs(60),
        }));
        let (services, wiring) = bring_up(&system, &scenario, &options, &registry).await?;
        let mark = services.mark();
        let direct = wiring.direct();
        let setup = Steps::prepare("setup", &system.setup, direct, &mark).await?;
        let reset = Steps::prepare("reset", &system.reset, direct, &mark).await?;
        let teardown = Steps::prepare("teardown", &system.teardown, direct, &mark).await?;
        let owed = Teardown::owed(&system.teardown, direct, &mark);
        setup.run().await?;
        let control = Control::start(registry.clone()).await;
        let control = control.map_err(|error| {
            broken(format!(
                "cannot listen on loopback for tests that ask: {error}"
            ))
        })?;
        Ok(LiveWorld {
            scenario: Scenario::prepare(&scenario, &wiring, options.workers, &mark).await?,
            setup,
            reset,
            teardown,
            owed,
            control,
            wiring,
            services,
            together: RwLock::default(),
            downfall: Downfall::default(),
            registry,
            timeout: scenario.timeout,
            expected: expected(&system, &scenario),
            late_before: 0,
            grace: Grace::set(options.grace),
            restarts: system.restart,
            is_cold: system.is_cold,
            restart_took: Mutex::default(),
            options,
            cleaned_up,
        })
    }

    /// What earlier owners had left behind and was stopped at the start.
    pub fn cleaned_up(&self) -> &[CleanedUp] {
        &self.cleaned_up
    }

    /// Where a service listens itself, `host:port`.
    pub fn direct(&self, service: &str) -> Option<String> {
        self.wiring.direct().get(service).map(|it| it.address())
    }

    /// Whether a process that Murphy started for another service serves it.
    pub fn comes_with_others(&self, service: &str) -> bool {
        self.services.comes_with_others(service)
    }

    /// Where callers that Murphy does not start must call a service so that
    /// its proxy sees it, `host:port`.
    pub fn proxied(&self, service: &str) -> Option<String> {
        self.wiring.common().get(service).map(|it| it.address())
    }

    /// Where a worker's scenario enters a service, `host:port`.
    pub fn entry(&self, worker: u32, service: &str) -> Option<String> {
        let there = worker < self.options.workers;
        let place = there.then(|| self.wiring.entries(worker).get(service));
        place.flatten().map(|it| it.address())
    }

    /// What a service that Murphy started has printed lately.
    pub fn logs(&self, service: &str) -> String {
        self.services.log(service)
    }

    /// Whose requests the proxies see, for those who need more than verdicts.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Runs the teardown, then stops everything, whatever came of it. The first
    /// thing that went wrong is told; a service that is down for good keeps no
    /// step from being tried that may not need it.
    pub async fn stop(mut self) -> Result<(), BrokenWorld> {
        let revived = self.services.revive(&self.wiring).await;
        let torn_down = self.teardown.run_all().await;
        self.owed.let_off();
        drop(self.scenario);
        self.services.stop().await;
        drop(self.wiring);
        revived.and(torn_down)
    }

    /// How long it takes to restart the services, where that is done before
    /// every execution.
    pub fn restart_took(&self) -> Option<Duration> {
        *self
            .restart_took
            .lock()
            .unwrap_or_else(|it| it.into_inner())
    }

    /// Starts the services anew, where every execution is to begin so.
    async fn restart_if_wanted(&self) -> Result<(), BrokenWorld> {
        if !self.restarts {
            return Ok(());
        }
        let began = Instant::now();
        self.services.restart(&self.wiring).await?;
        self.setup.run().await?;
        let mut took = self
            .restart_took
            .lock()
            .unwrap_or_else(|it| it.into_inner());
        *took = Some(began.elapsed());
        Ok(())
    }

    fn how(&self) -> How {
        How {
            solo: self.options.solo,
            grace: self.grace.get(),
        }
    }

    /// Runs the scenario once. Where a service ended meanwhile and others ran
    /// beside, whose doing that was shows only alone: it is run again so.
    async fn watched(
        &self,
        job: Job<'_>,
        how: How,
    ) -> Result<(Observed, Option<Recorded>), BrokenWorld> {
        self.check_worker(job.worker)?;
        let together = self.together.read().await;
        let (observed, recorded, ended) = self.execute_once(job, how).await?;
        drop(together);
        if !ended || self.options.workers == 1 {
            return Ok((observed, recorded));
        }
        let _alone = self.together.write().await;
        let (observed, recorded, _) = self.execute_once(job, how).await?;
        Ok((observed, recorded))
    }

    /// What was seen, the requests where they are to be kept, and whether a
    /// service ended meanwhile.
    async fn execute_once(
        &self,
        job: Job<'_>,
        how: How,
    ) -> Result<(Observed, Option<Recorded>, bool), BrokenWorld> {
        self.restart_if_wanted().await?;
        self.services.revive(&self.wiring).await?;
        self.reset.run().await?;
        let marks = self.services.marks();
        let begun = self.begin(job, how.solo)?;
        let said = Arc::new(Log::new(OUTPUT));
        let (word, recorded, took) = self.play(job.worker, &begun, &said, how).await?;
        if word.is_err() && recorded.details.iter().any(is_down) {
            self.check_running(&recorded).await?;
        }
        self.downfall.take(&recorded);
        let ended = self.ended_since(&marks, &recorded).await;
        let word = with_ended(word, &ended);
        let logged = self.logged(word.is_err(), &marks).await;
        let output = said.text();
        let faultload = job.faultload;
        if faultload.is_empty() && word.is_ok() {
            self.grace.learn(took);
        }
        let missing = recorded.not_exercised(faultload);
        let kept = (job.keep == Keep::Requests).then(|| recorded.clone());
        let observed = Observed {
            execution: Execution {
                faultload: faultload.clone(),
                trace: recorded.trace,
                verdict: verdict(word, missing),
            },
            details: recorded.details,
            quiet: recorded.quiet,
            took,
            output: (!output.is_empty()).then_some(output),
            logged: logged.filter(|text| !text.is_empty()),
        };
        Ok((observed, kept, !ended.is_empty()))
    }

    /// What is to be said of services that ended since by themselves.
    async fn ended_since(&self, marks: &[Mark], recorded: &Recorded) -> Vec<String> {
        let mut calls = recorded.trace.calls().iter().zip(&recorded.details);
        let broke = calls.any(|(call, detail)| {
            let callee = &call.point.frame().destination;
            detail.organic.is_some() && self.services.manages(callee)
        });
        self.services.ended_since(marks, broke).await
    }

    /// A test that fails because a service is down says nothing about faults.
    async fn check_running(&self, recorded: &Recorded) -> Result<(), BrokenWorld> {
        let alone = self.options.workers == 1;
        let up = self.services.check_running().await;
        up.map_err(|broken| self.downfall.tell(broken, recorded, alone))
    }

    fn begin(&self, job: Job<'_>, solo: bool) -> Result<Begun<'_>, BrokenWorld> {
        let plan = Plan {
            faultload: job.faultload.clone(),
            identity: job.identity.clone(),
            worker: Some(WorkerId(job.worker)),
            solo,
        };
        let id = match job.keep {
            Keep::Calls => self.registry.begin(plan),
            Keep::Requests => self.registry.begin_keeping_requests(plan),
        };
        let id = id.map_err(|error| broken(error.to_string()))?;
        self.control.began(id, job.faultload.clone());
        Ok(Begun { world: self, id })
    }

    /// The scenario's word, what was seen, and how long it took.
    async fn play(
        &self,
        worker: u32,
        begun: &Begun<'_>,
        said: &Arc<Log>,
        how: How,
    ) -> Result<(Result<(), String>, Recorded, Duration), BrokenWorld> {
        let about = About {
            worker,
            session: &|| begun.session(),
            headers: &|| head_lines(&self.options.proxy.carriers, begun.id),
            struck: &|| begun.was_struck(),
            said,
        };
        let began = Instant::now();
        let mut run = self.scenario.start(&about)?;
        let word = timeout(self.timeout, run.word()).await;
        let took = began.elapsed();
        // A stuck scenario is left waiting until its record is taken, which
        // then shows the call it waits for, not how the call was dropped.
        let (grace, patience) = match word {
            Ok(_) => (how.grace, self.options.patience),
            Err(_) => (Duration::ZERO, Duration::ZERO),
        };
        let recorded = self.registry.collect_within(begun.id, grace, patience);
        let recorded = recorded.await.map_err(|_| {
            broken("an execution was forgotten before it could be collected")
                .hint("it took longer than any scenario may; is the machine suspended at times?")
        })?;
        run.end().await;
        let word = word.unwrap_or_else(|_| Err(format!("did not end within {:?}", self.timeout)));
        Ok((word, recorded, took))
    }

    /// What the services logged, where the test failed.
    async fn logged(&self, failed: bool, marks: &[Mark]) -> Option<String> {
        if !failed || marks.is_empty() {
            return None;
        }
        tokio::time::sleep(PRINTING).await;
        let alone = self.options.workers == 1;
        Some(self.services.logged_since(marks, alone))
    }

    fn check_worker(&self, worker: u32) -> Result<(), BrokenWorld> {
        let workers = self.options.workers;
        match worker < workers {
            true => Ok(()),
            false => Err(broken(format!(
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
        self.registry.late() - self.late_before
    }

    fn unattributed(&self) -> Vec<Unattributed> {
        self.registry.unattributed()
    }

    fn services(&self) -> Vec<String> {
        let expected = self.expected.iter();
        let is_seen = |it: &&String| !self.registry.has_ignored(it);
        expected.filter(is_seen).cloned().collect()
    }

    fn trials(&self) -> Vec<Observed> {
        self.options.trials.comparable(self.options.solo)
    }

    fn lost_in_trials(&self) -> Vec<Point> {
        self.options.trials.lost()
    }

    fn claims_to_be_cold(&self) -> bool {
        self.is_cold || self.restarts
    }

    fn restart(&self) -> BoxFuture<'_, Result<bool, BrokenWorld>> {
        Box::pin(async {
            let _alone = self.together.write().await;
            if !self.services.restart(&self.wiring).await? {
                return Ok(false);
            }
            self.setup.run().await?;
            Ok(true)
        })
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<(), BrokenWorld>> {
        Box::pin(LiveWorld::stop(*self))
    }

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(self.watched(job, self.how()))
    }
}

/// An execution that is ended when dropped, also if its run is cancelled.
struct Begun<'w> {
    world: &'w LiveWorld,
    id: ExecutionId,
}

impl Begun<'_> {
    fn session(&self) -> Session {
        let variables = Variables::of(self.id);
        let control = &self.world.control;
        Session {
            entries: Default::default(),
            execution: self.id.to_string(),
            traceparent: variables.traceparent,
            tracestate: variables.tracestate,
            baggage: variables.baggage,
            faults: control.planned(self.id),
            control: control.url(),
            injected: Injected(Some(self.injected())),
        }
    }

    fn injected(&self) -> AskInjected {
        let (registry, id) = (self.world.registry.clone(), self.id);
        Arc::new(move || registry.struck(id).unwrap_or_default())
    }

    fn was_struck(&self) -> bool {
        let struck = self.world.registry.struck(self.id);
        struck.is_ok_and(|faults| !faults.is_empty())
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.world.registry.end(self.id);
        self.world.control.ended(self.id);
    }
}

/// A crash is a failure, also where the scenario gets over it or sees nothing
/// of it.
fn with_ended(word: Result<(), String>, ended: &[String]) -> Result<(), String> {
    match (word, ended) {
        (word, []) => word,
        (Ok(()), ended) => Err(ended.join("; ")),
        (Err(why), ended) => Err(format!("{why}; {}", ended.join("; "))),
    }
}

fn verdict(word: Result<(), String>, missing: Vec<Fault>) -> Verdict {
    match word {
        Err(why) => Verdict::Failed { why },
        Ok(()) if missing.is_empty() => Verdict::Passed,
        Ok(()) => Verdict::NotExercised { missing },
    }
}

/// The services to which a scenario is expected to lead.
fn expected(system: &SystemSpec, scenario: &ScenarioSpec) -> Vec<String> {
    let services = system.services.iter();
    let expected = services.filter(|it| it.proxied && !it.unused.covers(&scenario.name));
    expected.map(|it| it.name.clone()).collect()
}

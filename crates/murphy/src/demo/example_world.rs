//! An example system on sockets, run as a user's system is.
//!
//! Its services are served in this process; everything else is the
//! [`LiveWorld`] that users get: the proxies, the registry and the course of
//! an execution. So what the examples prove holds for users. Owns what is
//! special about the examples: the pace of their time, fresh state, and that
//! it can be told whether a handler is still at work.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use murphy_campaign::{Executing, Job, SetupError, World};
use murphy_corpus::System;
use murphy_corpus::sockets::{self, Propagation, Served, Source, TimeScale};
use murphy_model::{Identity, Observed, Point, Verdict, not_exercised};
use murphy_registry::Unattributed;
use murphy_system::spec::{
    self, Function, Health, ScenarioKind, ScenarioSpec, ServiceSpec, Session, StepSpec, SystemSpec,
    Unused,
};
use murphy_system::{LiveOptions, LiveWorld};

use crate::facade::state::State;

/// What can be set about an [`ExampleWorld`].
#[derive(Clone)]
pub struct Options {
    /// How the services are served. The delays of faults keep to their pace.
    pub services: sockets::Options,
    /// How many executions can run at the same time.
    pub workers: u32,
    /// With several workers, how long an execution must have been quiet to be
    /// over. No example system fires a call and forgets it, so it can be short.
    pub grace: Duration,
    /// How long, in real time, handlers and calls may take to end that nobody
    /// waits for any more. A scenario that takes twice as long is stuck.
    pub patience: Duration,
    /// The proxies, with the carriers of context among their settings.
    pub proxy: murphy_proxy::Settings,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            services: sockets::Options::default(),
            workers: 1,
            grace: Duration::from_millis(2),
            // The longest timeout of any example system is a minute.
            patience: Duration::from_secs(90),
            proxy: murphy_proxy::Settings::default(),
        }
    }
}

/// An example system on sockets with Murphy around it; all stopped when
/// dropped.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use murphy::campaign::World;
/// use murphy::demo::{ExampleWorld, Options};
/// use murphy_corpus::sockets::Source;
///
/// let app = murphy_corpus::find("cinema-3").expect("a known app");
/// let settings = app.settings([])?;
/// let world = ExampleWorld::start(Source::App(app, settings), Options::default()).await?;
/// let faultload = "** > bookings * #1 = 503".parse()?;
/// let observed = world.run(0, &faultload, world.identity()).await?;
/// println!("{:?}", observed.execution.verdict);
/// # Ok(())
/// # }
/// ```
pub struct ExampleWorld {
    // Stopped first, so that nobody calls a service that is not there.
    live: LiveWorld,
    served: Arc<Served>,
    time: Arc<TimeScale>,
    identity: Arc<Identity>,
    /// A live system notes there what it starts, which is nothing here.
    _state: State,
}

impl ExampleWorld {
    /// Serves a system and puts proxies around it.
    pub async fn start(source: Source, options: Options) -> Result<Self, SetupError> {
        check_pace(options.services.pace)?;
        let served = Served::start(source, options.services.clone()).await;
        let served = Arc::new(
            served.map_err(|error| SetupError::new(format!("{error}: {}", error.source)))?,
        );
        let system = served.system();
        check_sharing(&system, options.workers)?;
        let state = State::open(None).map_err(|error| SetupError::new(error.to_string()))?;
        let time = Arc::new(TimeScale::new(options.services.pace));
        let live = LiveWorld::start(
            system_spec(&served),
            scenario_spec(&served, &time, &options),
            live_options(&served, &state, &options),
        );
        Ok(ExampleWorld {
            live: live.await?,
            identity: Arc::new(system.identity.clone()),
            served,
            time,
            _state: state,
        })
    }

    /// The live system around it.
    pub fn live(&self) -> &LiveWorld {
        &self.live
    }

    /// The system that is served now.
    pub fn system(&self) -> Arc<System> {
        self.served.system()
    }

    /// How calls are named, as the system declares.
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// What was observed, as if time had not been scaled.
    fn as_planned(&self, job: Job<'_>, mut observed: Observed) -> Observed {
        let execution = &mut observed.execution;
        execution.faultload = job.faultload.clone();
        execution.trace = self.time.planned_trace(&execution.trace);
        if let Verdict::NotExercised { missing } = &mut execution.verdict {
            *missing = not_exercised(job.faultload, &execution.trace, &observed.details);
        }
        observed
    }
}

impl World for ExampleWorld {
    fn workers(&self) -> u32 {
        self.live.workers()
    }

    fn late(&self) -> usize {
        self.live.late()
    }

    fn unattributed(&self) -> Vec<Unattributed> {
        self.live.unattributed()
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<(), SetupError>> {
        Box::pin(async move { self.live.stop().await })
    }

    /// The calls of the execution read as if the simulator had run it; their
    /// details are in real time.
    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(async move {
            let faultload = self.time.real(job.faultload);
            let real = Job {
                faultload: &faultload,
                ..job
            };
            let (observed, recorded) = self.live.execute(real).await?;
            Ok((self.as_planned(job, observed), recorded))
        })
    }
}

fn system_spec(served: &Arc<Served>) -> SystemSpec {
    let system = served.system();
    let service = |service: &murphy_corpus::Service| ServiceSpec {
        name: service.name.to_owned(),
        source: spec::Source::Running {
            upstream: served.addresses()[service.name].to_string(),
        },
        process: None,
        tls: None,
        callers: Default::default(),
        listen: None,
        proxied: service.proxied,
        calls: None,
        // Some are there for other scenarios, or for when faults are injected.
        unused: Unused::Always,
        health: Health::default(),
        place: None,
    };
    SystemSpec {
        services: system.services.iter().map(service).collect(),
        reset: system
            .keeps_state
            .then(|| reset(served))
            .into_iter()
            .collect(),
        ..SystemSpec::default()
    }
}

fn reset(served: &Arc<Served>) -> StepSpec {
    let served = served.clone();
    StepSpec::Function(Arc::new(move |_| {
        served.reset();
        Box::pin(async { Ok(()) })
    }))
}

fn scenario_spec(served: &Arc<Served>, time: &Arc<TimeScale>, options: &Options) -> ScenarioSpec {
    let (served, time) = (served.clone(), time.clone());
    let (workers, patience) = (options.workers, options.patience);
    let function: Function = Arc::new(move |session: Session| {
        let (served, time) = (served.clone(), time.clone());
        Box::pin(async move {
            let entries = session.entries.clone();
            let entry = |service: &str| address(entries.get(service)?);
            let planned = move |(point, mode): (Point, _)| {
                (point.frame().destination.to_string(), time.planned(mode))
            };
            let injected = move || session.injected().into_iter().map(&planned).collect();
            let result = served.scenario(entry, injected).await;
            // Handlers may work on although nobody waits for them any more.
            // With several workers there is always one at work for somebody
            // else; then the grace has to do.
            if workers == 1 {
                let _ = tokio::time::timeout(patience, served.idle()).await;
            }
            result
        })
    });
    ScenarioSpec {
        name: "example".to_owned(),
        kind: ScenarioKind::Function(function),
        timeout: 2 * patience,
        entries: false,
        under_fault: Default::default(),
    }
}

fn live_options(served: &Arc<Served>, state: &State, options: &Options) -> LiveOptions {
    let served = served.clone();
    LiveOptions {
        workers: options.workers,
        proxy: options.proxy.clone(),
        state: state.path().to_owned(),
        solo: options.services.propagation == Propagation::Nothing,
        grace: match options.workers {
            // No handler is at work any more that could make another call.
            1 => Duration::ZERO,
            _ => options.grace,
        },
        patience: options.patience,
        wired: Some(Arc::new(move |urls| {
            served.reroute(|service| address(urls.get(service)?));
        })),
        ..LiveOptions::default()
    }
}

/// The address in a URL of a live system.
fn address(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("http://")?.parse().ok()
}

fn check_pace(pace: f64) -> Result<(), SetupError> {
    match pace.is_finite() && pace > 0.0 {
        true => Ok(()),
        false => Err(SetupError::new(format!(
            "`pace` is {pace}: it must be more than 0"
        ))),
    }
}

fn check_sharing(system: &System, workers: u32) -> Result<(), SetupError> {
    match system.keeps_state && workers > 1 {
        true => Err(SetupError::new(format!(
            "`workers` is {workers}, but the services keep state that parallel executions would share: use one worker"
        ))),
        false => Ok(()),
    }
}

//! A system on sockets with Murphy around it, ready to be played.
//!
//! Owns one set of servers, proxies and a registry, and the course of one
//! execution: arm the faultload, run the scenario, wait until all is quiet,
//! collect. Deciding what to run is somebody else's job.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{Execution, Faultload, Identity, Mode, Point};
use murphy_proxy::{Listener, Proxy, StartError};
use murphy_registry::{
    BeginError, ExecutionId, Origin, Plan, Recorded, Registry, Settings as RegistrySettings,
    Unknown, WorkerId,
};

use super::net::{Caller, Routes, SocketNet};
use super::paced::Paced;
use super::propagation::Propagation;
use super::served::{ServeError, Served, Source, Witness};
use crate::app::{App, STUCK, Settings, System, verdict};
use crate::net::Ctx;

/// What can be set about a [`Stage`].
#[derive(Clone)]
pub struct Options {
    /// How the services hand trace context on.
    pub propagation: Propagation,
    /// How many executions can run at the same time.
    pub workers: u32,
    /// How many seconds a second of the services takes: their timeouts, their
    /// pauses and the delays of faults are all multiplied by it.
    pub pace: f64,
    /// How long each service works on each request before its handler begins.
    pub work: Duration,
    /// How long an execution must have been quiet to be over. No example
    /// system fires a call and forgets it, so it can be short.
    pub grace: Duration,
    /// How long, in real time, a scenario may take before it counts as stuck,
    /// and calls may take to end that nobody waits for any more.
    pub patience: Duration,
    /// How calls are named, if not as the system declares.
    pub identity: Option<Identity>,
    /// The proxies, with the carriers of context among their settings.
    pub proxy: murphy_proxy::Settings,
    /// Sees each request as its service receives it.
    pub witness: Option<Witness>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            propagation: Propagation::default(),
            workers: 1,
            pace: 1.0,
            work: Duration::ZERO,
            grace: Duration::from_millis(2),
            // The longest timeout of any example system is a minute.
            patience: Duration::from_secs(90),
            identity: None,
            proxy: murphy_proxy::Settings::default(),
            witness: None,
        }
    }
}

/// Why a stage could not be set, or an execution not be run.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Without a worker nothing can be run.
    #[error("`workers` is 0: at least one is needed to run anything")]
    NoWorkers,
    /// Time must pass.
    #[error("`pace` is {0}: it must be more than 0")]
    Pace(f64),
    /// The system cannot be shared.
    #[error(
        "`workers` is {workers}, but the services keep state that executions at the same time would share: use one worker"
    )]
    KeepsState {
        /// How many were asked for.
        workers: u32,
    },
    /// Executions of a system that propagates nothing cannot be told apart.
    #[error(
        "`workers` is {workers}, but services that hand no context on can be watched in one execution at a time: use one worker"
    )]
    Nothing {
        /// How many were asked for.
        workers: u32,
    },
    /// There is no such worker.
    #[error("there is no worker {worker}: the stage has {workers}, from 0")]
    NoSuchWorker {
        /// What was given.
        worker: u32,
        /// How many there are.
        workers: u32,
    },
    /// A service could not be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The proxies could not be started.
    #[error(transparent)]
    Proxy(#[from] StartError),
    /// The execution could not begin.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The execution was forgotten while it ran: it outlived the registry's
    /// time to live.
    #[error("the execution was forgotten before it could be collected")]
    Forgotten(#[from] Unknown),
}

/// A system on sockets, its proxies and their registry; all stopped when
/// dropped.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use murphy_corpus::sockets::{Options, Stage};
///
/// let app = murphy_corpus::find("cinema-3").expect("a known app");
/// let settings = app.settings([])?;
/// let stage = Stage::new(app, settings, Options::default()).await?;
/// let (execution, _) = stage.run(0, &"** > bookings * #1 = 503".parse()?).await?;
/// println!("{:?}", execution.verdict);
/// # Ok(())
/// # }
/// ```
pub struct Stage {
    // Stopped first, so that nobody calls a service that is not there.
    _proxy: Proxy,
    served: Served,
    registry: Arc<Registry>,
    proxied: Routes,
    /// Where the scenario enters, worker by worker.
    entries: Vec<Arc<Routes>>,
    identity: Arc<Identity>,
    options: Options,
}

impl Stage {
    /// Sets the stage for an app.
    pub async fn new(app: App, settings: Settings, options: Options) -> Result<Self, StageError> {
        Stage::set(Source::App(app, settings), options).await
    }

    /// Sets the stage for a system whose handlers keep no state.
    pub async fn of(system: System, options: Options) -> Result<Self, StageError> {
        Stage::set(Source::Given(Box::new(system)), options).await
    }

    async fn set(source: Source, options: Options) -> Result<Self, StageError> {
        check(&options)?;
        let Options {
            propagation, pace, ..
        } = options;
        let witness = options.witness.clone();
        let served = Served::start(source, propagation, pace, options.work, witness).await?;
        let system = served.system();
        check_sharing(&system, &options)?;
        let registry = Arc::new(Registry::new(RegistrySettings {
            grace: options.grace,
            patience: options.patience,
            ..RegistrySettings::default()
        }));
        let doors = doors(&system, served.addresses(), options.workers);
        let listeners = doors.iter().map(|(_, listener)| listener.clone());
        let proxy = Proxy::start(listeners.collect(), registry.clone(), options.proxy.clone())?;
        let opened = doors.iter().zip(proxy.addresses());
        let mut proxied = served.addresses().clone();
        let mut entries = vec![served.addresses().clone(); options.workers as usize];
        for ((name, listener), address) in opened {
            let routes = match &listener.origin {
                Origin::Entry(WorkerId(worker)) => &mut entries[*worker as usize],
                Origin::Service { .. } | Origin::Fixed { .. } => &mut proxied,
            };
            routes.insert(name, *address);
        }
        served.reroute(proxied.clone());
        let identity = options.identity.clone();
        Ok(Stage {
            identity: Arc::new(identity.unwrap_or_else(|| system.identity.clone())),
            entries: entries.into_iter().map(Arc::new).collect(),
            _proxy: proxy,
            served,
            registry,
            proxied,
            options,
        })
    }

    /// Where a service listens itself.
    pub fn direct(&self, service: &str) -> Option<SocketAddr> {
        self.served.addresses().get(service).copied()
    }

    /// Where other services reach a service: at its proxy, if it has one.
    pub fn proxied(&self, service: &str) -> Option<SocketAddr> {
        self.proxied.get(service).copied()
    }

    /// The system that is served now.
    pub fn system(&self) -> Arc<System> {
        self.served.system()
    }

    /// How many executions are in flight.
    pub fn in_flight(&self) -> usize {
        self.registry.live()
    }

    /// Runs the scenario once under a faultload. Each worker runs one
    /// execution at a time; different workers can run at once.
    ///
    /// The execution reads as if the simulator had run it, times included; the
    /// record says what a trace has no room for, in real time.
    pub async fn run(
        &self,
        worker: u32,
        faultload: &Faultload,
    ) -> Result<(Execution, Recorded), StageError> {
        self.run_as(worker, faultload, &self.identity, Keep::Nothing)
            .await
    }

    /// The same, with calls named by another identity, and the requests kept
    /// in the record if wanted.
    pub async fn run_as(
        &self,
        worker: u32,
        faultload: &Faultload,
        identity: &Arc<Identity>,
        keep: Keep,
    ) -> Result<(Execution, Recorded), StageError> {
        let entry = self.entries.get(worker as usize);
        let entry = entry.ok_or(StageError::NoSuchWorker {
            worker,
            workers: self.options.workers,
        })?;
        let begun = self.begin(WorkerId(worker), faultload, identity, keep)?;
        if self.system().keeps_state {
            self.served.reset();
        }
        let mut scenario = (self.system().scenario)(self.outside(entry, &begun));
        let word = tokio::time::timeout(self.options.patience, &mut scenario).await;
        if word.is_ok() {
            self.settle().await;
        }
        let recorded = match self.alone() {
            // Nobody is at work any more who could make another call.
            true => {
                let patience = self.options.patience;
                let collected = self
                    .registry
                    .collect_within(begun.id, Duration::ZERO, patience);
                collected.await?
            }
            false => self.registry.collect(begun.id).await?,
        };
        // A stuck scenario waits on until here, so that the record shows the
        // call it waits for, not how the call was dropped.
        drop(scenario);
        let word = word.unwrap_or_else(|_| Err(STUCK.to_owned()));
        Ok((begun.execution(faultload, word, &recorded), recorded))
    }

    fn begin(
        &self,
        worker: WorkerId,
        faultload: &Faultload,
        identity: &Arc<Identity>,
        keep: Keep,
    ) -> Result<Begun, StageError> {
        let paced = Paced::new(faultload, self.served.common().clock);
        let plan = Plan {
            faultload: paced.armed().clone(),
            identity: identity.clone(),
            worker: Some(worker),
            solo: self.options.propagation == Propagation::Nothing,
        };
        let id = match keep {
            Keep::Nothing => self.registry.begin(plan),
            Keep::Requests => self.registry.begin_keeping_requests(plan),
        }?;
        Ok(Begun {
            registry: self.registry.clone(),
            id,
            paced: Arc::new(paced),
        })
    }

    /// The world as the scenario sees it.
    fn outside(&self, entry: &Arc<Routes>, begun: &Begun) -> Ctx {
        let (registry, id) = (self.registry.clone(), begun.id);
        let paced = begun.paced.clone();
        let struck = move || {
            let struck = registry.struck(id).unwrap_or_default();
            let planned = |(point, mode): (Point, Mode)| {
                (point.frame().destination.to_string(), paced.planned(mode))
            };
            struck.into_iter().map(planned).collect()
        };
        Ctx::new(Arc::new(SocketNet {
            common: self.served.common().clone(),
            routes: entry.clone(),
            caller: Caller::Scenario(Box::new(struck)),
        }))
    }

    /// Whether executions run one at a time, so that whoever is at work is at
    /// work for this one.
    fn alone(&self) -> bool {
        self.options.workers == 1
    }

    /// Waits for handlers that work on although nobody waits for them any
    /// more. With several workers there is always one at work for somebody
    /// else; then the registry's grace has to do.
    async fn settle(&self) {
        if self.alone() {
            let _ = tokio::time::timeout(self.options.patience, self.served.idle()).await;
        }
    }
}

/// What a record holds besides the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// The requests themselves.
    Requests,
}

/// An execution that is ended when dropped, also if its run is cancelled.
struct Begun {
    registry: Arc<Registry>,
    id: ExecutionId,
    paced: Arc<Paced>,
}

impl Begun {
    /// The execution as it was planned, from the scenario's word and what was
    /// recorded.
    fn execution(
        &self,
        faultload: &Faultload,
        word: Result<(), String>,
        recorded: &Recorded,
    ) -> Execution {
        let missing = recorded.not_exercised(self.paced.armed());
        let missing = missing.into_iter();
        let missing = missing.map(|fault| self.paced.planned_fault(fault));
        Execution {
            faultload: faultload.clone(),
            verdict: verdict(word, missing.collect()),
            trace: self.paced.planned_trace(&recorded.trace),
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.registry.end(self.id);
    }
}

fn check(options: &Options) -> Result<(), StageError> {
    if options.workers == 0 {
        return Err(StageError::NoWorkers);
    }
    if !options.pace.is_finite() || options.pace <= 0.0 {
        return Err(StageError::Pace(options.pace));
    }
    Ok(())
}

fn check_sharing(system: &System, options: &Options) -> Result<(), StageError> {
    let workers = options.workers;
    if workers == 1 {
        return Ok(());
    }
    if system.keeps_state {
        return Err(StageError::KeepsState { workers });
    }
    if options.propagation == Propagation::Nothing {
        return Err(StageError::Nothing { workers });
    }
    Ok(())
}

/// One listener in front of each service that is seen, and one more of it for
/// each worker's scenario to enter by.
fn doors(system: &System, addresses: &Routes, workers: u32) -> Vec<(&'static str, Listener)> {
    let origins = std::iter::once(Origin::Service { caller: None })
        .chain((0..workers).map(|worker| Origin::Entry(WorkerId(worker))));
    let origins: Vec<Origin> = origins.collect();
    let seen = system.services.iter().filter(|service| service.proxied);
    let doors = seen.flat_map(|service| {
        let upstream = addresses[service.name].to_string();
        origins.iter().map(move |origin| {
            let listener = Listener {
                service: service.name.to_owned(),
                listen: (Ipv4Addr::LOCALHOST, 0).into(),
                upstream: upstream.clone(),
                origin: origin.clone(),
            };
            (service.name, listener)
        })
    });
    doors.collect()
}

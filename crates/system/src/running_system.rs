//! Services that are up, with proxies in front of them, whatever is run there.
//!
//! Owns what the scenarios of a run share: everything that is started once and
//! stopped once. Which scenario runs, and what is seen of it, is the world's
//! business.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use murphy_campaign::SetupError;
use murphy_registry::Registry;
use tokio::sync::RwLock;

use super::bring_up::bring_up;
use super::control::Control;
use super::control::Listing;
use super::crash_cause::CrashCause;
use super::ledger::{CleanedUp, clean_up};
use super::options::LiveOptions;
use super::runner::{Plugins, Runner, Runners};
use super::services::Services;
use super::spec::{RunnerSpec, ScenarioSpec, SystemSpec};
use super::steps::{self, Steps};
use super::teardown::Teardown;
use super::wiring::{RefusedHandshake, Wiring};

/// A system on real sockets. [`RunningSystem::stop`] ends it gracefully;
/// dropping it ends it at once, but for the commands and requests of the
/// teardown, for which it waits. Neither leaves a process or a bound port
/// behind.
pub struct RunningSystem {
    setup: Steps,
    pub(super) reset: Steps,
    teardown: Steps,
    // While the services are there.
    owed: Teardown,
    pub(super) control: Control,
    // Before the services, so that nobody calls one that is not there.
    pub(super) wiring: Wiring,
    pub(super) services: Services,
    /// Before the services: they end first.
    pub(super) runners: Runners,
    plugins: OnceLock<Plugins>,
    /// Who runs beside others shares this; who must be alone has it.
    pub(super) together: RwLock<()>,
    pub(super) crash_cause: CrashCause,
    pub(super) registry: Arc<Registry>,
    /// How long the last restart took.
    restart_took: Mutex<Option<Duration>>,
    pub(super) options: LiveOptions,
    pub(super) spec: SystemSpec,
    cleaned_up: Vec<CleanedUp>,
}

impl RunningSystem {
    /// Cleans up after owners that were killed, binds the proxies, starts the
    /// services, waits until they are up, and runs the set-up. All scenarios
    /// that will be run are named now.
    pub async fn start(
        spec: SystemSpec,
        scenarios: &[ScenarioSpec],
        options: LiveOptions,
    ) -> Result<Arc<Self>, SetupError> {
        options.check()?;
        steps::check(&spec)?;
        let cleaned_up = clean_up(&options.state);
        let longest = scenarios.iter().map(|scenario| scenario.timeout).max();
        let registry = Arc::new(Registry::new(murphy_registry::Settings {
            grace: options.grace,
            patience: options.patience,
            // A scenario that is still allowed to run must not be forgotten.
            time_to_live: longest.unwrap_or_default() + options.patience + Duration::from_secs(60),
        }));
        let (services, wiring) = bring_up(&spec, scenarios, &options, &registry).await?;
        let mark = services.mark();
        let direct = wiring.direct();
        let setup = Steps::prepare("setup", &spec.setup, direct, &mark).await?;
        let reset = Steps::prepare("reset", &spec.reset, direct, &mark).await?;
        let teardown = Steps::prepare("teardown", &spec.teardown, direct, &mark).await?;
        let owed = Teardown::owed(&spec.teardown, direct, &mark);
        setup.run().await?;
        let started = wiring.started_by_test().clone();
        let control = Control::start(registry.clone(), options.workers, started).await;
        let control = control.map_err(|error| {
            SetupError::new(format!(
                "cannot listen on loopback for tests that ask: {error}"
            ))
        })?;
        Ok(Arc::new(RunningSystem {
            setup,
            reset,
            teardown,
            owed,
            control,
            wiring,
            services,
            runners: Runners::default(),
            plugins: OnceLock::new(),
            together: RwLock::default(),
            crash_cause: CrashCause::default(),
            registry,
            restart_took: Mutex::default(),
            options,
            spec,
            cleaned_up,
        }))
    }

    /// What earlier owners had left behind and was stopped at the start.
    pub fn cleaned_up(&self) -> &[CleanedUp] {
        &self.cleaned_up
    }

    /// Where a service listens itself, `host:port`.
    pub fn direct(&self, service: &str) -> Option<String> {
        let places = self.services.places();
        places.get(service).map(|it| it.address())
    }

    /// The certificates that end soon, by the service.
    pub fn certificates_ending(&self) -> BTreeMap<String, SystemTime> {
        self.services.ending()
    }

    /// The callers that broke TLS handshakes with Murphy off.
    pub fn refused_handshakes(&self) -> Vec<RefusedHandshake> {
        self.wiring.refused()
    }

    /// Whether hosts that belong to no service are refused.
    pub fn only_named_hosts(&self) -> bool {
        self.spec.only_named_hosts
    }

    /// The hosts that calls left for by the forward proxy and that belong to no
    /// service.
    pub fn other_hosts(&self) -> BTreeSet<String> {
        self.wiring.other_hosts()
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

    /// What a service that Murphy started has printed lately.
    pub fn logs(&self, service: &str) -> String {
        self.services.log(service)
    }

    /// What test runners load, written when the first one needs it.
    pub(super) fn plugins(&self) -> Result<&Plugins, SetupError> {
        if let Some(plugins) = self.plugins.get() {
            return Ok(plugins);
        }
        let folder = self.options.state.join("run").join(&self.options.campaign);
        let plugins = Plugins::write(&folder).map_err(|error| {
            SetupError::new(format!("cannot write what test runners load: {error}"))
        })?;
        Ok(self.plugins.get_or_init(|| plugins))
    }

    /// The tests that a runner finds; it stays up for running them.
    pub async fn list_tests(&self, spec: &RunnerSpec) -> Result<Listing, SetupError> {
        let mark = self.services.mark();
        let runner = Runner::prepare(spec, &self.wiring, 1, &mark, self.plugins()?)?;
        self.runners.list(&runner, &self.control).await
    }

    /// Ends all warm runners; the next execution starts one that has loaded
    /// everything anew.
    pub async fn stop_runners(&self) {
        self.runners.stop().await;
    }

    /// Whose requests the proxies see, for those who need more than verdicts.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Runs the teardown, then stops everything, whatever came of it. The first
    /// thing that went wrong is told; a service that is down for good keeps no
    /// step from being tried that may not need it.
    pub async fn stop(mut self) -> Result<(), SetupError> {
        self.runners.stop().await;
        let revived = self.services.revive(&self.wiring).await;
        let torn_down = self.teardown.run_all().await;
        self.owed.let_off();
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

    /// Starts the services anew, while nothing runs; false where none of them
    /// is Murphy's to start.
    pub async fn restart(&self) -> Result<bool, SetupError> {
        let _alone = self.together.write().await;
        if !self.services.restart(&self.wiring).await? {
            return Ok(false);
        }
        self.setup.run().await?;
        Ok(true)
    }

    /// Makes everything as after a start, as far as it can be: services are
    /// restarted where that is wanted, and the steps of the reset run.
    pub(super) async fn begin_anew(&self) -> Result<(), SetupError> {
        self.restart_if_wanted().await?;
        self.services.revive(&self.wiring).await?;
        self.reset.run().await
    }

    /// Starts those services anew that may have read one of these files, while
    /// nothing runs.
    pub async fn restart_readers(&self, files: &[PathBuf]) -> Result<(), SetupError> {
        let _alone = self.together.write().await;
        if self.services.restart_readers(files, &self.wiring).await? {
            self.setup.run().await?;
        }
        Ok(())
    }

    /// Starts the services anew, where every execution is to begin so.
    pub(super) async fn restart_if_wanted(&self) -> Result<(), SetupError> {
        if !self.spec.restart {
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
}

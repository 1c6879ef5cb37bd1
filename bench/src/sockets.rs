//! Campaigns over real sockets, as the command line runs them, for benches.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Result, ensure};
use murphy::campaign::{
    Droppable, Event, Heading, IdentityChoice, Memory, Outcome, REFERENCES,
    Settings as CampaignSettings, Sink, Stopping, StrategyKind, World, run,
};
use murphy::demo::{ExampleWorld, Options as ExampleOptions};
use murphy_corpus::sockets::Source as ServedFrom;
use murphy_corpus::{App, FaultSet, Settings};
use murphy_model::Identity;
use murphy_search::{Modes, Options};
use murphy_store::{CampaignHead, Fingerprint, Store};
use murphy_system::spec::{
    Expectations, Health, RequestCall, RequestSpec, ScenarioKind, ScenarioSpec, ServiceSpec,
    Source, SystemSpec, UnderFault,
};
use murphy_system::{LiveOptions, LiveWorld, Wanted};

use crate::services::Services;

/// A campaign to be run on an example system.
pub struct Campaign {
    /// The system.
    pub app: App,
    /// Its switches.
    pub settings: Settings,
    /// What the search may do.
    pub options: Options,
    /// How calls are identified.
    pub identity: Identity,
    /// Executions at once.
    pub jobs: u32,
}

impl Campaign {
    /// The four HTTP errors, as the system names its calls.
    pub fn of(app: App, settings: Settings, jobs: u32) -> Self {
        let system = (app.build)(&settings);
        let modes = Modes::ByService(FaultSet::http_errors().by_service(&system));
        Campaign {
            app,
            settings,
            options: Options::new(modes),
            identity: system.identity.clone(),
            jobs,
        }
    }

    /// Runs it to its end.
    pub async fn run(self) -> Outcome {
        let settings = self.campaign_settings();
        let system = (self.app.build)(&self.settings);
        let workers = if system.keeps_state { 1 } else { self.jobs };
        let options = ExampleOptions {
            workers,
            // None of these systems makes a call that nobody waits for.
            grace: Duration::ZERO,
            ..ExampleOptions::default()
        };
        let source = ServedFrom::App(self.app, self.settings);
        let world = ExampleWorld::start(source, options).await;
        let world = world.expect("loopback ports are free");
        finish(&world, &settings, &mut Nobody).await
    }

    /// Runs it as `murphy run` does on a user's system: the services run
    /// already, the test is a declared request, how long to wait for late calls
    /// and how to tell calls apart is found out, and everything is kept.
    pub async fn run_declared(self, request: Declared, services: &mut Services) -> Result<Outcome> {
        let settings = CampaignSettings {
            identity: IdentityChoice::Auto(self.identity.clone(), Droppable::ANYTHING),
            ..self.campaign_settings()
        };
        let folder = std::env::temp_dir().join(format!("murphy-bench-{}", std::process::id()));
        let world = self.bring_up(request, services, &folder).await?;
        let store = Store::open(&folder)?;
        let mut recorder = store.begin(&head(&settings))?;
        let outcome = finish(&world, &settings, &mut recorder).await;
        world.stop().await?;
        drop(recorder);
        ensure!(store.trouble().is_none(), "everything was kept");
        // It writes until then.
        drop(store);
        services.reroute(|_| None).await?;
        std::fs::remove_dir_all(folder)?;
        Ok(outcome)
    }

    /// A port that was free may be a connection's a moment later.
    async fn bring_up(
        &self,
        request: Declared,
        services: &mut Services,
        folder: &Path,
    ) -> Result<LiveWorld> {
        let mut tries = 3;
        loop {
            tries -= 1;
            match self.try_to_bring_up(request, services, folder).await {
                Err(error) if tries > 0 => eprintln!("once more: {error}"),
                done => return done,
            }
        }
    }

    async fn try_to_bring_up(
        &self,
        request: Declared,
        services: &mut Services,
        folder: &Path,
    ) -> Result<LiveWorld> {
        let listens = services.free_addresses()?;
        services.reroute(|name| listens.get(name).copied()).await?;
        let service = |(name, address): (&'static str, SocketAddr)| ServiceSpec {
            name: name.to_owned(),
            source: Source::Running {
                upstream: address.to_string(),
            },
            listen: listens.get(name).copied(),
            process: None,
            tls: None,
            callers: Default::default(),
            proxied: true,
            calls: None,
            unused: Default::default(),
            health: Health::default(),
            place: None,
        };
        let system = SystemSpec {
            services: services.addresses().map(service).collect(),
            ..SystemSpec::default()
        };
        let options = LiveOptions {
            workers: self.jobs,
            state: folder.to_owned(),
            ..LiveOptions::default()
        };
        let wanted = Wanted {
            at_once: self.jobs,
            ..Wanted::default()
        };
        let started = LiveWorld::start_correlated(system, request.scenario(), options, wanted);
        let (world, correlation) = started.await?;
        ensure!(!correlation.solo, "the services hand on context");
        ensure!(correlation.clash.is_none(), "they keep no state");
        Ok(world)
    }

    fn campaign_settings(&self) -> CampaignSettings {
        CampaignSettings {
            scenario: self.app.name.to_owned(),
            strategy: StrategyKind::Tree,
            options: self.options.clone(),
            modes: Vec::new(),
            seed: 0,
            jobs: self.jobs,
            max_time: None,
            audit: None,
            references: REFERENCES,
            identity: IdentityChoice::Given(self.identity.clone()),
            oracles: murphy_oracle::Settings::default(),
            heading: Heading::default(),
        }
    }
}

fn head(settings: &CampaignSettings) -> CampaignHead {
    CampaignHead {
        scenario: settings.scenario.clone(),
        fingerprint: Fingerprint::of(["bench", &settings.scenario]),
        settings: "{}".to_owned(),
        begun: SystemTime::now(),
    }
}

async fn finish(world: &dyn World, settings: &CampaignSettings, sink: &mut dyn Sink) -> Outcome {
    let memory = Memory::default();
    let outcome = run(world, settings, memory, sink, Stopping::never()).await;
    outcome.unwrap_or_else(|failed| panic!("{}: {failed:?}", settings.scenario))
}

/// A declared request that tests a system, as one would write it in
/// `murphy.toml`.
#[derive(Clone, Copy)]
pub struct Declared {
    /// The service it enters by.
    pub service: &'static str,
    /// What it gets.
    pub path: &'static str,
}

impl Declared {
    fn scenario(self) -> ScenarioSpec {
        let request = RequestSpec {
            service: self.service.to_owned(),
            call: RequestCall::Http {
                method: "GET".to_owned(),
                target: self.path.to_owned(),
                body: Vec::new(),
            },
            headers: Vec::new(),
            expect: Expectations {
                status: vec!["200".to_owned()],
                under_fault: UnderFault {
                    statuses: ["404", "500", "503"].map(str::to_owned).into(),
                    ..UnderFault::default()
                },
                ..Expectations::default()
            },
        };
        ScenarioSpec {
            name: "declared".to_owned(),
            kind: ScenarioKind::Requests(vec![request]),
            timeout: Duration::from_secs(60),
            entries: false,
            under_fault: UnderFault::default(),
        }
    }
}

/// Listens to nothing.
struct Nobody;

impl Sink for Nobody {
    fn note(&mut self, _: &Event) {}
}

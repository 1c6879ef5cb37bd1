//! Campaigns over real sockets, as the command line runs them, for benches.

use std::time::Duration;

use murphy::campaign::{
    Event, IdentityChoice, Memory, Outcome, REFERENCES, Settings as CampaignSettings, Sink,
    Stopping, StrategyKind, run,
};
use murphy::demo::OnSockets;
use murphy_corpus::sockets::{Options as StageOptions, Stage};
use murphy_corpus::{App, FaultSet, Settings};
use murphy_model::Identity;
use murphy_search::{Modes, Options};

/// A campaign to be run on an example system.
pub struct Campaign {
    /// The system.
    pub app: App,
    /// Its switches.
    pub settings: Settings,
    /// What the search may do.
    pub options: Options,
    /// How calls are told apart.
    pub identity: Identity,
    /// Executions at once.
    pub jobs: u32,
    /// How long each service works on each request.
    pub work: Duration,
}

impl Campaign {
    /// The four HTTP errors, as the system names its calls, services that
    /// answer at once.
    pub fn of(app: App, settings: Settings, jobs: u32) -> Self {
        let system = (app.build)(&settings);
        let modes = Modes::ByService(FaultSet::http_errors().by_service(&system));
        Campaign {
            app,
            settings,
            options: Options::new(modes),
            identity: system.identity.clone(),
            jobs,
            work: Duration::ZERO,
        }
    }

    /// Runs it to its end.
    pub async fn run(self) -> Outcome {
        let scenario = self.app.name.to_owned();
        let system = (self.app.build)(&self.settings);
        let workers = if system.keeps_state { 1 } else { self.jobs };
        let stage = StageOptions {
            workers,
            // None of these systems makes a call that nobody waits for.
            grace: Duration::ZERO,
            work: self.work,
            ..StageOptions::default()
        };
        let stage = Stage::new(self.app, self.settings, stage).await;
        let world = OnSockets::new(stage.expect("loopback ports are free"), workers);
        let settings = CampaignSettings {
            scenario,
            strategy: StrategyKind::Tree,
            options: self.options,
            modes: Vec::new(),
            seed: 0,
            jobs: self.jobs,
            max_time: None,
            audit: None,
            references: REFERENCES,
            identity: IdentityChoice::Given(self.identity),
            oracles: murphy_oracle::Settings::default(),
        };
        let memory = Memory::default();
        let outcome = run(&world, &settings, memory, &mut Nobody, Stopping::never()).await;
        outcome.unwrap_or_else(|failed| panic!("{}: {failed:?}", settings.scenario))
    }
}

/// Listens to nothing.
struct Nobody;

impl Sink for Nobody {
    fn note(&mut self, _: &Event) {}
}

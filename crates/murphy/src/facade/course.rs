//! The course of a campaign: what is brought up, run, kept and told.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use murphy_campaign::{Memory, Outcome, Refused, Settings, Sink, Stopping, World};
use murphy_model::Identity;
use murphy_store::{CampaignHead, Fingerprint, Recorder, Store};
use murphy_system::spec::{ScenarioKind, ScenarioSpec, SystemSpec};
use murphy_system::{Correlation, LiveOptions, LiveWorld, Wanted};

use super::state::State;
use super::{Campaign, Error, Report, Step, services, steps, why_one_at_a_time};
use crate::replays::{ReferenceRun, Replay, ReplayPlan, Replayed, System};
use crate::run_campaign::{Finished, run_campaign};

/// With a single worker what comes to a service's own proxy without context is
/// taken for the test's. A function has its entries, so here it is a service's,
/// whose context was lost.
const WORKERS: u32 = 2;

impl Campaign {
    /// Runs the campaign to its end. What the services do wrong is in the
    /// report; an error says why there is none.
    pub async fn run(self) -> Result<Report, Error> {
        let mut settings = self.settings()?;
        let state = State::open(self.store.as_deref())?;
        let mut kept = match &self.store {
            Some(_) => Some(self.keep(&state, &settings)?),
            None => None,
        };
        let (world, correlation) = self.bring_up(&state, self.jobs_at_once()).await?;
        settings.jobs = correlation.at_once(settings.jobs.min(world.workers()));
        settings.heading.solo = why_one_at_a_time(&correlation);
        let recorder = kept.as_mut().map(|(_, recorder)| recorder as &mut dyn Sink);
        let mut listeners: Vec<&mut dyn Sink> = recorder.into_iter().collect();
        let (memory, never) = (Memory::default(), Stopping::never());
        let done = run_campaign(&world, &settings, memory, &mut listeners, never).await;
        let stopped = world.stop().await;
        let Finished { outcome, summary } = done.map_err(Error::of)?;
        if let Some(broken) = outcome.broken.clone() {
            self.save_replays(&outcome)?;
            return Err(Error::Broken(broken));
        }
        if let Some(trouble) = kept.as_ref().and_then(|(store, _)| store.trouble()) {
            return Err(Error::Store(trouble));
        }
        let replays = self.save_replays(&outcome)?;
        if let Some((store, recorder)) = &kept {
            let campaign = recorder.campaign().clone();
            store.tell(&[campaign]).map_err(Error::Store)?;
        }
        let notes = self.notes(&outcome, &correlation);
        Ok(Report {
            summary,
            solo: correlation.solo,
            jobs: settings.jobs,
            notes,
            replays,
            left: stopped.err(),
        })
    }

    /// Whether a finding still shows: one of the campaign's
    /// [`store`](Campaign::store) by its name, or any by its replay file. Its
    /// faults are injected once in each mode it was found with, after a run
    /// without any; what limits the search does not matter.
    ///
    /// Kept with the tests, a replay file makes a bug stay fixed:
    ///
    /// ```no_run
    /// # async fn doc(shop: murphy::Campaign) -> Result<(), murphy::Error> {
    /// let replayed = shop.replay("tests/replays/M-67f873.json").await?;
    /// replayed.assert_fixed();
    /// # Ok(())
    /// # }
    /// ```
    pub async fn replay(self, what: &str) -> Result<Replayed, Error> {
        let settings = self.settings()?;
        let replay = self.find_replay(what)?;
        let (plan, identity) = (replay.plan(), replay.identity.clone());
        let state = State::open(self.store.as_deref())?;
        let (world, _) = self.bring_up(&state, 1).await?;
        let played = play(&world, identity, settings.oracles, &replay, &plan).await;
        let stopped = world.stop().await;
        Ok(played?.leaving(stopped.err()))
    }

    fn find_replay(&self, what: &str) -> Result<Replay, Error> {
        match &self.store {
            Some(store) => Ok(Replay::find(what, store)?),
            None if Path::new(what).is_file() => Ok(Replay::read(Path::new(what))?),
            None => Err(Error::Nonsense(format!(
                "there is no file `{what}`, and a finding's name says nothing without a `store` to look it up in"
            ))),
        }
    }

    /// Starts what is to be started, and finds out how calls are identified and
    /// whether so many can run at once.
    async fn bring_up(
        &self,
        state: &State,
        at_once: u32,
    ) -> Result<(LiveWorld, Correlation), Error> {
        let (scenario, system) = (self.scenario_spec()?, self.system()?);
        let wanted = Wanted {
            solo: self.solo,
            grace: None,
            at_once,
        };
        let options = self.options(state)?;
        let started = LiveWorld::start_correlated(system, scenario, options, wanted);
        started.await.map_err(Error::Broken)
    }

    fn save_replays(&self, outcome: &Outcome) -> Result<Vec<PathBuf>, Error> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let identity = &outcome.chosen.identity;
        let save = |finding| {
            let replay = Replay::new(finding, &self.name, identity, &System::Program);
            let replay = replay.after(outcome.prefixes.get(&finding.id));
            let saved = replay.save(store);
            saved.map_err(|error| Error::Directory(store.clone(), error))
        };
        outcome.findings.iter().map(save).collect()
    }

    fn notes(&self, outcome: &Outcome, correlation: &Correlation) -> Vec<String> {
        let mut notes = Vec::new();
        if self.jobs > self.jobs_at_once() {
            notes.push("with `reset` steps, parallel executions would reset each other's state: one ran at a time, whatever `jobs` says".to_owned());
        }
        if let Some(why) = why_one_at_a_time(correlation) {
            let fewer = match self.jobs {
                1 => "",
                _ => ", whatever `jobs` says",
            };
            notes.push(format!("{why}: one execution ran at a time{fewer}"));
        }
        notes.extend(outcome.chosen.masked.iter().cloned());
        notes
    }

    fn scenario_spec(&self) -> Result<ScenarioSpec, Error> {
        let function = self.scenario.clone().ok_or_else(|| {
            let text = "the campaign has no test: give it one with `scenario`";
            Error::Nonsense(text.to_owned())
        })?;
        Ok(ScenarioSpec {
            name: self.name.clone(),
            kind: ScenarioKind::Function(function),
            timeout: self.timeout,
            entries: false,
            under_fault: Default::default(),
        })
    }

    fn system(&self) -> Result<SystemSpec, Error> {
        services::check(&self.services)?;
        let steps = |steps: &[Step]| steps::specs(steps, &self.services);
        Ok(SystemSpec {
            services: self.services.clone(),
            setup: steps(&self.setup)?,
            reset: steps(&self.reset)?,
            teardown: steps(&self.teardown)?,
            ..SystemSpec::default()
        })
    }

    fn options(&self, state: &State) -> Result<LiveOptions, Error> {
        let mut proxy = murphy_proxy::Settings::default();
        if let Some(text) = &self.carriers {
            let carriers = text.parse();
            let carriers: murphy_proxy::carriers::Carriers =
                carriers.map_err(|error: murphy_proxy::carriers::CarriersError| {
                    Error::Nonsense(error.to_string())
                })?;
            proxy.carriers = Arc::new(carriers);
        }
        let proxied = self.proxied.clone();
        Ok(LiveOptions {
            workers: self.jobs_at_once().max(WORKERS),
            least_workers: WORKERS,
            proxy,
            state: state.path().to_owned(),
            wired: Some(Arc::new(move |urls| proxied.set(urls))),
            ..LiveOptions::default()
        })
    }

    fn keep(&self, state: &State, settings: &Settings) -> Result<(Store, Recorder), Error> {
        let store = Store::open(state.path()).map_err(Error::Store)?;
        let search = format!("{:?} {:?}", settings.options, settings.identity);
        let head = CampaignHead {
            scenario: settings.scenario.clone(),
            fingerprint: Fingerprint::of([env!("CARGO_PKG_VERSION"), &self.name, &search]),
            settings: "{}".to_owned(),
            begun: SystemTime::now(),
        };
        let recorder = store.begin(&head).map_err(Error::Store)?;
        Ok((store, recorder))
    }
}

/// One run without faults, and those that replay a finding.
async fn play(
    world: &LiveWorld,
    identity: Identity,
    oracles: murphy_oracle::Settings,
    replay: &Replay,
    plan: &ReplayPlan,
) -> Result<Replayed, Error> {
    let reference = ReferenceRun::find(world, identity, oracles).await;
    let reference = reference.map_err(Error::Broken)?.map_err(|unfit| {
        Error::Refused(Refused::Fails {
            complaint: unfit.complaint,
            output: unfit.output,
        })
    })?;
    let replayed = reference.replay(world, replay, plan).await;
    Ok(replayed.map_err(Error::Broken)??)
}

//! The system of a finding, brought up once more.
//!
//! Owns the way from what a replay file says of a system, or from the name of
//! an example system, to a world in which faults can be injected again. What
//! is injected there, and what that shows, is for the commands.

use std::path::Path;
use std::sync::Arc;

use murphy_campaign::live::LiveWorld;
use murphy_campaign::{BrokenWorld, IdentityChoice, World, redacted};
use murphy_model::{Faultload, Identity, Observed, Verdict};
use murphy_oracle::{Oracle, Reference, judge};
use murphy_registry::Recorded;

use crate::args::{ProjectArgs, SearchArgs, SystemArgs};
use crate::context::Context;
use crate::error::Error;
use crate::observe;
use crate::project::Project;
use crate::replays::{Replay, System};
use crate::settings::Settings;
use crate::worlds::Demo;

/// A system that is up, with what is known of it without faults.
pub(crate) struct Reopened {
    place: Place,
    identity: Arc<Identity>,
    reference: Reference,
    oracles: murphy_oracle::Settings,
}

/// Where the system is.
enum Place {
    Demo(Demo),
    Live(Box<LiveWorld>),
}

/// A place before anything was run in it.
struct Opened {
    place: Place,
    oracles: murphy_oracle::Settings,
    hint: String,
}

impl Reopened {
    /// The system of a replay file; `modes` are all that will be injected,
    /// `config` is where murphy.toml is now, if not where it was.
    pub(crate) async fn of_replay(
        replay: &Replay,
        modes: String,
        config: Option<&Path>,
        context: &Context,
    ) -> Result<Self, Error> {
        let opened = match &replay.system {
            System::Demo {
                app,
                set,
                simulate,
                keep_state,
            } => {
                let given = SystemArgs {
                    simulate: *simulate,
                    set: set.clone(),
                    keep_state: *keep_state,
                    ..SystemArgs::default()
                };
                let settings = demo_settings("murphy replay", app, &given, modes)?;
                open_demo(settings).await?
            }
            System::Project { .. } => open_project(replay, config, context).await?,
        };
        opened.with_reference(replay.identity()?).await
    }

    /// An example system in memory.
    pub(crate) async fn of_app(
        command: &str,
        app: &str,
        given: &SystemArgs,
        modes: String,
    ) -> Result<Self, Error> {
        let settings = demo_settings(command, app, given, modes)?;
        let IdentityChoice::Given(identity) = settings.campaign.identity.clone() else {
            unreachable!("example systems say what tells calls apart");
        };
        open_demo(settings).await?.with_reference(identity).await
    }

    /// Runs the scenario once under these faults; what was seen, and what
    /// which oracle holds against it.
    pub(crate) async fn run(
        &self,
        faultload: &Faultload,
    ) -> Result<(Observed, Vec<(Oracle, String)>), BrokenWorld> {
        let observed = self.place.run(0, faultload, &self.identity).await?;
        let observed = redacted(observed);
        let complaints = judge(&observed, &self.reference, &self.oracles);
        let said = complaints.into_iter();
        let said = said.map(|(oracle, _, complaint)| (oracle, complaint.summary));
        Ok((observed, said.collect()))
    }

    /// Stops what was started.
    pub(crate) async fn stop(self) -> Result<(), BrokenWorld> {
        self.place.stop().await
    }
}

impl Opened {
    /// Runs the scenario without faults, which must go well.
    async fn with_reference(self, identity: Identity) -> Result<Reopened, Error> {
        let identity = Arc::new(identity);
        match self.reference(&identity).await {
            Ok(reference) => Ok(Reopened {
                place: self.place,
                identity,
                reference,
                oracles: self.oracles,
            }),
            Err(error) => {
                // The first thing that went wrong is the one to be told.
                let _ = self.place.stop().await;
                Err(error)
            }
        }
    }

    async fn reference(&self, identity: &Arc<Identity>) -> Result<Reference, Error> {
        let (reference, _) = self.place.reference(identity).await?;
        let reference = redacted(reference);
        match reference.execution.verdict {
            Verdict::Failed { why } => Err(Error::Reference {
                complaint: why,
                output: reference.output,
                hint: self.hint.clone(),
            }),
            _ => Ok(Reference::of([&reference])),
        }
    }
}

fn demo_settings(
    command: &str,
    app: &str,
    given: &SystemArgs,
    modes: String,
) -> Result<Settings, Error> {
    let search = SearchArgs {
        modes: Some(modes).filter(|modes| !modes.is_empty()),
        ..SearchArgs::default()
    };
    Ok(Settings::of_system(command, app, given, &search)?)
}

async fn open_demo(settings: Settings) -> Result<Opened, Error> {
    Ok(Opened {
        place: Place::Demo(Demo::open(settings.place).await?),
        oracles: settings.campaign.oracles,
        hint: settings.reference_hint,
    })
}

async fn open_project(
    replay: &Replay,
    moved: Option<&Path>,
    context: &Context,
) -> Result<Opened, Error> {
    let System::Project {
        config,
        command,
        directory,
    } = &replay.system
    else {
        unreachable!("asked for projects only");
    };
    let given = ProjectArgs {
        config: Some(moved.unwrap_or(config).to_owned()),
        scenario: match command.is_empty() {
            true => vec![replay.scenario.clone()],
            false => Vec::new(),
        },
        command: command.clone(),
    };
    let project = Project::open_in(&given, context, directory)?;
    let scenario = &project.scenarios[0];
    let campaign = project.campaign(scenario, &SearchArgs::default(), None)?;
    let (world, _) = project.bring_up(scenario, 1, "replay").await?;
    Ok(Opened {
        place: Place::Live(Box::new(world)),
        oracles: campaign.oracles,
        hint: observe::HINT.to_owned(),
    })
}

impl Place {
    async fn run(
        &self,
        worker: u32,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> Result<Observed, BrokenWorld> {
        match self {
            Place::Demo(world) => world.run(worker, faultload, identity).await,
            Place::Live(world) => world.run(worker, faultload, identity).await,
        }
    }

    async fn reference(
        &self,
        identity: &Arc<Identity>,
    ) -> Result<(Observed, Option<Recorded>), BrokenWorld> {
        match self {
            Place::Demo(world) => world.reference(identity).await,
            Place::Live(world) => world.reference(identity).await,
        }
    }

    async fn stop(self) -> Result<(), BrokenWorld> {
        match self {
            Place::Demo(_) => Ok(()),
            Place::Live(world) => world.stop().await,
        }
    }
}

//! The system of a finding, brought up once more.
//!
//! Owns the way from what a replay file says of a system, or from the name of
//! an example system, to a world in which faults can be injected again. What
//! is injected there, and what that shows, is for the commands.

use std::path::{Path, PathBuf};

use murphy::replays::{ReferenceRun, Replay, System};
use murphy_campaign::{IdentityChoice, World};
use murphy_model::Identity;
use murphy_report::terminal;

use crate::context::Context;
use crate::error::{Error, HINT};
use crate::project::Project;
use crate::settings::Settings;
use crate::typed::{Typed, TypedExample, TypedProject, TypedSearch};
use crate::worlds;
use murphy_config as config;
use murphy_config::Usage;

/// A system that is up, with what is known of it without faults.
pub struct ReplaySystem {
    /// Where faults are injected.
    pub world: Box<dyn World>,
    /// What it does without faults.
    pub reference: ReferenceRun,
}

/// The same before anything was run in it.
struct Opened {
    world: Box<dyn World>,
    oracles: murphy_oracle::Settings,
    hint: String,
}

impl ReplaySystem {
    /// The system of a replay file; `modes` are all that will be injected,
    /// `config` is where murphy.toml is now, if not where it was.
    pub async fn of_replay(
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
                let given = TypedExample {
                    simulate: *simulate,
                    set: set.clone(),
                    keep_state: *keep_state,
                    ..TypedExample::default()
                };
                let settings = demo_settings("murphy replay", app, &given, modes)?;
                open_demo(settings).await?
            }
            System::Project { .. } => open_project(replay, config, context).await?,
            System::Program => return Err(only_its_program(replay).into()),
        };
        opened.with_reference(replay.identity.clone()).await
    }

    /// An example system in memory.
    pub async fn of_app(
        command: &str,
        app: &str,
        given: &TypedExample,
        modes: String,
    ) -> Result<Self, Error> {
        let settings = demo_settings(command, app, given, modes)?;
        let IdentityChoice::Given(identity) = settings.campaign.identity.clone() else {
            unreachable!("example systems say what identifies their calls");
        };
        open_demo(settings).await?.with_reference(identity).await
    }
}

impl Opened {
    /// Runs the scenario without faults, which must go well.
    async fn with_reference(self, identity: Identity) -> Result<ReplaySystem, Error> {
        let Opened {
            world,
            oracles,
            hint,
        } = self;
        let error = match ReferenceRun::find(&*world, identity, oracles).await {
            Ok(Ok(reference)) => return Ok(ReplaySystem { world, reference }),
            Ok(Err(unfit)) => Error::Reference {
                complaint: unfit.complaint,
                output: unfit.output,
                hint,
            },
            Err(broken) => broken.into(),
        };
        // The first thing that went wrong is the one to be told.
        let _ = world.stop().await;
        Err(error)
    }
}

fn only_its_program(replay: &Replay) -> Usage {
    let Replay { id, scenario, .. } = replay;
    Usage::new(format!(
        "{id} was found by a Rust program: only that can run its scenario `{scenario}`"
    ))
    .hint(format!(
        "replay it there, with `Campaign::replay(\"{id}\")`"
    ))
}

fn demo_settings(
    command: &str,
    app: &str,
    given: &TypedExample,
    modes: String,
) -> Result<Settings, Error> {
    let search = TypedSearch {
        modes: Some(modes).filter(|modes| !modes.is_empty()),
        ..TypedSearch::default()
    };
    Ok(Settings::of_system(command, app, given, &search.into())?)
}

async fn open_demo(settings: Settings) -> Result<Opened, Error> {
    Ok(Opened {
        world: worlds::open(settings.place).await?,
        oracles: settings.campaign.oracles,
        hint: settings.reference_hint,
    })
}

async fn open_project(
    replay: &Replay,
    moved: Option<&Path>,
    context: &Context,
) -> Result<Opened, Error> {
    let scenarios = vec![replay.scenario.clone()];
    let project = project_of(&replay.system, scenarios, moved, context)?;
    let scenario = &project.scenarios[0];
    let campaign = project.campaign(scenario, &Typed::default())?;
    let (world, _) = project.bring_up(scenario, 1, "replay").await?;
    Ok(Opened {
        world: Box::new(world),
        oracles: campaign.oracles,
        hint: HINT.to_owned(),
    })
}

/// The project that findings of these scenarios are in, or of the test that was
/// typed in place of a scenario, wherever it is now.
pub fn project_of(
    system: &System,
    scenarios: Vec<String>,
    moved: Option<&Path>,
    context: &Context,
) -> Result<Project, Error> {
    let System::Project {
        config,
        command,
        directory,
    } = system
    else {
        unreachable!("asked for projects only");
    };
    let (config, directory) = where_now(config, directory, moved, &context.directory());
    // Its text is shown where it is wrong; not that of any file that there is.
    if config.extension().is_none_or(|it| it != "toml") {
        return Err(no_configuration(&config).into());
    }
    let given = TypedProject {
        config: Some(config),
        // A test that was typed for no scenario has a name of its own.
        scenario: match command.is_empty() || scenarios.iter().all(|it| it != config::TYPED) {
            true => scenarios,
            false => Vec::new(),
        },
        command: command.clone(),
    };
    Project::open_in(&given, context, &directory)
}

fn no_configuration(config: &Path) -> Usage {
    let shown = terminal::visible(&config.display().to_string());
    Usage::new(format!(
        "the replay file names {shown}, which is no TOML file"
    ))
    .hint("name the configuration with `--config`")
}

/// Where the file of a finding is now, and where its test was typed: a project
/// may have been moved, or the finding made on another machine. Then it is the
/// file that was named, or the nearest.
fn where_now(
    config: &Path,
    directory: &Path,
    moved: Option<&Path>,
    here: &Path,
) -> (PathBuf, PathBuf) {
    let then = directory.join(config);
    let now = match moved {
        Some(moved) => Some(here.join(moved)),
        None if then.is_file() => None,
        None => config::nearest(here),
    };
    let Some(now) = now else {
        return (then, directory.to_owned());
    };
    let below = then
        .parent()
        .and_then(|root| directory.strip_prefix(root).ok());
    let root = now.parent().unwrap_or(here);
    let directory = root.join(below.unwrap_or(Path::new("")));
    (now, directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(moved: Option<&str>, here: &str) -> (PathBuf, PathBuf) {
        let config = Path::new("/nowhere/shop/murphy.toml");
        let directory = Path::new("/nowhere/shop/tests");
        where_now(config, directory, moved.map(Path::new), Path::new(here))
    }

    #[test]
    fn a_project_that_was_moved_is_where_it_is_said_to_be() {
        let there = ("/new/shop/murphy.toml".into(), "/new/shop/tests".into());
        assert_eq!(now(Some("/new/shop/murphy.toml"), "/"), there);
        assert_eq!(now(Some("shop/murphy.toml"), "/new"), there);
    }

    #[test]
    fn a_project_that_was_moved_is_looked_for() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let below = root.join("tests/unit");
        std::fs::create_dir_all(&below).unwrap();
        let file = root.join("murphy.toml");
        std::fs::write(&file, "").unwrap();
        let there = (file, root.join("tests"));
        assert_eq!(now(None, below.to_str().unwrap()), there);
        let as_it_was = ("/nowhere/shop/murphy.toml", "/nowhere/shop/tests");
        let as_it_was = (as_it_was.0.into(), as_it_was.1.into());
        assert_eq!(now(None, "/nowhere"), as_it_was);
    }
}

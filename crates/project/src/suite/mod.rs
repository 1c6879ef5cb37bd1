//! A test suite over cloud services: what was typed, as a system that is up
//! and a session that says what to run in it.
//!
//! Owns the way from flags to a description like that of any system (the text
//! of a `murphy.toml`, read by the one resolver), and the loop that runs the
//! rounds. Which rounds there are is for [`murphy_suite`], what is printed of
//! them for `murphy_report`.

mod description;
mod emulator;
mod record;
mod replayed;
mod rounds;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use murphy_campaign::SetupError;
use murphy_config::{Config, TypedEach, Usage};
use murphy_suite::{Injection, LostAnswer, Round, RoundKind, SuiteFinding, SuiteSettings};
use murphy_system::spec::{ScenarioKind, ScenarioSpec};
use murphy_system::{LiveOptions, SuiteSystem};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::Error;
use crate::messages;
use crate::project::Project;

pub use self::record::{SuiteRecord, stored_report};
pub use self::replayed::Replayed;
pub use self::rounds::{Rounds, Watcher};

/// What was typed about a suite, or stands in `[suite.NAME]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TypedSuite {
    /// The command that runs the tests; empty where a scenario is named.
    pub command: Vec<String>,
    /// This file instead of the nearest murphy.toml.
    pub config: Option<PathBuf>,
    /// The scenario of murphy.toml that stands for the tests.
    pub scenario: Option<String>,
    /// Services that run already: `HOST:PORT` or `NAME=HOST:PORT`.
    pub upstream: Vec<String>,
    /// Emulators to be started: `moto`, `azurite`, or `NAME=COMMAND`.
    pub emulator: Vec<String>,
    /// Variables of the tests: `NAME=TEMPLATE`.
    pub set: Vec<String>,
    /// What makes the services as new: a command, or `POST URL`.
    pub reset: Option<String>,
    /// Lists the tests, where the runner is not known.
    pub list_command: Option<String>,
    /// Runs one of them.
    pub one_command: Option<String>,
    /// What counts as application besides the project: paths, packages.
    pub app: Vec<String>,
    /// By how much the back-off of SDKs is scaled.
    pub backoff_scale: Option<f64>,
    /// How many rounds run at once.
    pub jobs: Option<u32>,
    /// How answers are lost.
    pub lost_answer: Option<LostAnswer>,
    /// What is planned and judged.
    #[serde(skip)]
    pub settings: SuiteSettings,
}

/// A suite that can be run.
pub struct Suite {
    project: Project,
    scenario: ScenarioSpec,
    settings: SuiteSettings,
    how: Injection,
    jobs: u32,
    name: String,
}

impl Suite {
    /// What was typed, checked.
    pub fn open(typed: &TypedSuite, context: &Context) -> Result<Self, Error> {
        let (config, scenario) = match &typed.scenario {
            Some(name) => written(typed, name, context)?,
            None => described(typed, context)?,
        };
        let project = Project {
            config,
            scenarios: vec![scenario.clone()],
            command: typed.command.clone(),
        };
        let jobs = typed.jobs.unwrap_or(1).max(1);
        let is_shared = project.shares_services();
        if jobs > 1 && is_shared {
            messages::note(
                "using `--jobs 1`: rounds at once need an emulator each, which only `--emulator` can start",
            );
        }
        let mut how = typed.settings.injection;
        how.lost = typed.lost_answer.unwrap_or(LostAnswer::Raise);
        Ok(Suite {
            scenario: with_library(scenario, typed, context),
            settings: SuiteSettings {
                injection: how,
                ..typed.settings.clone()
            },
            project,
            how,
            jobs: if is_shared { 1 } else { jobs },
            name: format!("pid-{}", std::process::id()),
        })
    }

    /// The project that it is run in.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// What is planned and judged.
    pub fn settings(&self) -> &SuiteSettings {
        &self.settings
    }

    /// How faults are made.
    pub fn how(&self) -> &Injection {
        &self.how
    }

    /// How many rounds run at once.
    pub fn jobs(&self) -> u32 {
        self.jobs
    }

    /// Starts a system for one round at a time; the `number`-th.
    pub async fn start(&self, number: u32) -> Result<SuiteSystem, SetupError> {
        let options = LiveOptions {
            proxy: self.project.config.proxy.clone(),
            state: self.project.state().to_owned(),
            campaign: format!("{}-{number}", self.name),
            say: Some(Arc::new(|text| messages::note(format_args!("{text}")))),
            ..LiveOptions::default()
        };
        let system = self.project.config.system.clone();
        SuiteSystem::start(system, self.scenario.clone(), options).await
    }

    /// Runs the case of a finding once more, alone.
    pub async fn replay(
        &self,
        system: &SuiteSystem,
        finding: &SuiteFinding,
    ) -> Result<Replayed, SetupError> {
        let round = Round {
            id: 0,
            kind: RoundKind::Alone,
            cases: vec![finding.replay.clone()],
        };
        let runs = system.run(&round, &self.how).await?;
        let run = runs.into_iter().next();
        Ok(Replayed::of(finding, run.expect("a run for every case")))
    }
}

impl Project {
    /// Whether a service is there only once, for whoever calls it.
    fn shares_services(&self) -> bool {
        use murphy_system::spec::Source;
        let services = self.config.system.services.iter();
        let running = services.filter(|it| it.process.is_none());
        running
            .filter(|it| it.proxied)
            .any(|it| matches!(it.source, Source::Running { .. }))
    }
}

/// A scenario that stands in murphy.toml.
fn written(
    typed: &TypedSuite,
    name: &str,
    context: &Context,
) -> Result<(Config, ScenarioSpec), Error> {
    let variables = |name: &str| context.variable(name);
    let config = Config::load(typed.config.as_deref(), &context.directory(), &variables);
    let config = config.map_err(Error::Config)?;
    let config = config.with_each(&each())?;
    let scenario = config.scenario(name)?.clone();
    if !matches!(scenario.kind, ScenarioKind::Each(_)) {
        return Err(Usage::new(format!("scenario `{name}` is no suite of tests"))
            .hint("its command must start a test runner: pytest, mocha, vitest, or any other with `list_command` and `one_command`")
            .into());
    }
    Ok((config, with_entries(scenario)))
}

/// The same, as it would stand there.
fn described(typed: &TypedSuite, context: &Context) -> Result<(Config, ScenarioSpec), Error> {
    let directory = context.directory();
    let text = description::text(typed, &directory, &|name| context.variable(name))?;
    let path = directory.join("murphy.toml");
    // Every variable is filled in already.
    let config = Config::of_new_file(&path, &text, &|_| None).map_err(Error::Config)?;
    let config = config.with_each(&each())?;
    let scenario = config.scenario(description::SCENARIO)?.clone();
    Ok((config, with_entries(scenario)))
}

fn each() -> TypedEach {
    TypedEach {
        each: true,
        ..TypedEach::default()
    }
}

/// The tests' own requests are what fails.
fn with_entries(scenario: ScenarioSpec) -> ScenarioSpec {
    ScenarioSpec {
        entries: true,
        ..scenario
    }
}

/// What the library in the test process goes by.
fn with_library(mut scenario: ScenarioSpec, typed: &TypedSuite, context: &Context) -> ScenarioSpec {
    let Some(command) = scenario.kind.command_mut() else {
        return scenario;
    };
    let mut tell = |name: &str, value: String| {
        let value = value.replace('{', "{{").replace('}', "}}");
        command.environment.insert(name.to_owned(), value);
    };
    tell("MURPHY_PROJECT", root(&context.directory()));
    if !typed.app.is_empty() {
        tell("MURPHY_APP", typed.app.join(":"));
    }
    if let Some(scale) = typed.backoff_scale {
        tell("MURPHY_BACKOFF_SCALE", scale.to_string());
    }
    if typed
        .lost_answer
        .is_some_and(|way| way != LostAnswer::Raise)
    {
        tell("MURPHY_LOST_ANSWER", "off".to_owned());
    }
    scenario
}

fn root(directory: &Path) -> String {
    directory.display().to_string()
}

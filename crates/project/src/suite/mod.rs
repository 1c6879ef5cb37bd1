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
use std::time::Duration;

use murphy_campaign::SetupError;
use murphy_config::{Config, TypedEach, Usage};
use murphy_suite::{
    Case, CaseRun, Injection, LostAnswer, Round, RoundKind, SuiteFinding, SuiteSettings, TestEnd,
};
use murphy_system::spec::{ScenarioKind, ScenarioSpec};
use murphy_system::{LiveOptions, SuiteSystem, versions};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::Error;
use crate::messages;
use crate::project::{Project, hide_secrets_of};

pub use self::record::{SuiteRecord, is_suite, stored_report};
pub use self::replayed::Replayed;
pub use self::rounds::{Rounds, RoundsEnded, Watcher};

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
                "using `--jobs 1`: rounds at once need services of their own, and one of these runs already or has a fixed port",
            );
        }
        let timeout = scenario.timeout;
        let mut how = typed.settings.injection;
        how.lost = typed.lost_answer.unwrap_or(LostAnswer::Raise);
        Ok(Suite {
            scenario: with_library(scenario, typed, context),
            settings: SuiteSettings {
                injection: how,
                backoff: pauses(how.lost, typed.backoff_scale.unwrap_or(USUAL_SCALE)),
                least_budget: typed.settings.least_budget.max(timeout),
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

    /// What the services, the tests and what is tested are now: any change of
    /// a file counts.
    fn versions(&self) -> String {
        let config = &self.project.config;
        let services = versions::of_services(&config.system, &config.versions, &[]);
        let test = versions::of_test(&self.scenario, &config.system, &[]);
        format!("{services:?} {test}")
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

    /// Runs the case of a finding once more, alone, after its test without
    /// faults.
    pub async fn replay(
        &self,
        system: &SuiteSystem,
        finding: &SuiteFinding,
    ) -> Result<Replayed, SetupError> {
        let without = Case {
            aims: Vec::new(),
            ..finding.replay.clone()
        };
        let reference = self
            .run_alone(system, without, RoundKind::Reference)
            .await?;
        if reference.result.outcome != TestEnd::Passed {
            return Err(SetupError::new(format!(
                "`{}` does not pass without faults: {}",
                finding.replay.test, reference.result.message
            ))
            .hint("run the test by hand"));
        }
        let case = finding.case_in(&reference);
        let run = self.run_alone(system, case, RoundKind::Alone).await?;
        Ok(Replayed::of(finding, &run, reference))
    }

    async fn run_alone(
        &self,
        system: &SuiteSystem,
        case: Case,
        kind: RoundKind,
    ) -> Result<CaseRun, SetupError> {
        let cases = vec![case];
        let round = Round { id: 0, kind, cases };
        let runs = system.run(&round, &self.how, &|| false).await?;
        Ok(runs.into_iter().next().expect("a run for every case"))
    }
}

impl Project {
    /// Whether a service is there only once, for whoever calls it.
    fn shares_services(&self) -> bool {
        use murphy_system::spec::Source;
        let is_fixed = |source: &Source| match source {
            Source::Running { .. } => true,
            Source::Managed(managed) => managed.port.is_some(),
            _ => false,
        };
        let mut services = self.config.system.services.iter();
        services.any(|it| it.listen.is_some() || it.process.is_some() || is_fixed(&it.source))
    }
}

/// By how much the library scales pauses unless it is told otherwise.
const USUAL_SCALE: f64 = 0.01;

/// What waiting adds to a case at most: for answers that never come, by boto3's
/// defaults, and between attempts, by those of Azure.
fn pauses(lost: LostAnswer, scale: f64) -> Duration {
    match lost {
        LostAnswer::Hang => Duration::from_secs(300),
        _ => Duration::from_secs_f64(90.0 * scale.clamp(0.0, 100.0)),
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
    hide_secrets_of(&config);
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
    let variable = |name: &str| context.variable(name);
    let text = description::text(typed, &directory, &variable)?;
    let path = directory.join("murphy.toml");
    // Every variable is filled in already.
    // It points at no file that anybody could look into.
    let unplaced = |errors: Vec<Usage>| errors.into_iter().map(Usage::without_place).collect();
    let config = Config::of_new_file(&path, &text, &|_| None);
    let config = config.map_err(|errors| Error::Config(unplaced(errors)))?;
    hide_secrets_of(&config);
    let config = config.with_each(&each()).map_err(|error| {
        let runners = "known are pytest, mocha, vitest, unittest, jest, node --test, cargo test and nextest; any other by `--list-command` and `--one-command \"… {id}\"`";
        error.without_place().hint(runners)
    })?;
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

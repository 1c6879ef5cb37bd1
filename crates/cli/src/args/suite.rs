//! The arguments of `murphy suite`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use murphy_project::suite::TypedSuite;
use murphy_suite::{Coverage, LostAnswer, Policy, SuiteSettings, TestPhase};

use super::Format;

const SUITE: &str = "\
Takes the test suite you have, learns which test makes which call to the cloud and from where, and
runs the tests again with those calls failing as clouds fail. No test is edited.

Examples:
  murphy suite plan --emulator moto -- pytest tests      what would be run, and how long it takes
  murphy suite run --emulator moto -- pytest tests       run it; moto is started, reset and stopped
  murphy suite run --emulator azurite -- npx mocha
  murphy suite run --upstream 127.0.0.1:4566 --reset 'POST /_localstack/state/reset' -- pytest
  murphy suite replay M-1a2b3c4d                         one finding, alone

Policies (--policies), as what happens to the attempts of one call of the SDK:
  p1  the first answer is lost: the service did the work, the SDK tries again
  p2  every answer is lost
  p3  every attempt is refused: the service is not available
  p4  the first answer is lost, then every attempt is refused
  p5  the first attempt is refused
  p6  every request is lost: the service sees nothing";

#[derive(Args, Debug)]
#[command(after_help = SUITE)]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SuiteCommand {
    /// Run the suite without faults, and say what would be injected and what that costs.
    Plan(SuiteRunArgs),
    /// Run the suite with the calls to the cloud failing, and report unique bugs.
    Run(SuiteRunArgs),
    /// Run a finding once more, alone: FIXED, FAILED or NOT REACHED.
    Replay(SuiteReplayArgs),
}

#[derive(Args, Debug)]
pub(crate) struct SuiteRunArgs {
    #[command(flatten)]
    pub(crate) system: SuiteSystemArgs,

    /// Which calls are aimed at.
    #[arg(long, value_name = "WHICH", default_value = "c5", value_parser = coverages())]
    pub(crate) cover: Coverage,

    /// Policies, separated by commas [default: p1,p2,p3,p4].
    #[arg(long, value_name = "P1,P2,…", value_delimiter = ',', value_parser = policies())]
    pub(crate) policies: Vec<Policy>,

    /// Phases of a test in which calls may fail [default: call,setup(function)].
    #[arg(long, value_name = "PHASES", value_delimiter = ',', value_parser = phases())]
    pub(crate) phases: Vec<TestPhase>,

    /// How often the suite is run without faults first.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) references: u32,

    /// Do not try the first policy at all sites of a test in one run.
    #[arg(long)]
    pub(crate) no_group: bool,

    /// Run every case in a process of its own.
    #[arg(long)]
    pub(crate) no_batch: bool,

    /// The tests are system tests: an error that reaches one unhandled is a finding.
    #[arg(long = "system")]
    pub(crate) is_system: bool,

    /// The share of the sites that passed together that is run alone as well, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 5)]
    pub(crate) audit: u8,

    /// Begin no round after this time, such as 10m.
    #[arg(long, value_name = "TIME")]
    pub(crate) max_time: Option<String>,

    /// Go on where a run with the same arguments was stopped.
    #[arg(long)]
    pub(crate) resume: bool,

    /// How the result is written to stdout.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// What the tests are, and what they call.
#[derive(Args, Debug)]
pub(crate) struct SuiteSystemArgs {
    /// A scenario of murphy.toml that stands for tests (`each`), with its services.
    #[arg(conflicts_with_all = ["command", "emulator", "upstream", "set", "reset", "list_command", "one_command"])]
    pub(crate) scenario: Option<String>,

    /// Read this file instead of the nearest murphy.toml, here or above.
    #[arg(long, value_name = "PATH", requires = "scenario")]
    pub(crate) config: Option<PathBuf>,

    /// Start, reset and stop this emulator: moto, azurite, or NAME=COMMAND with {port}.
    #[arg(long, value_name = "EMULATOR")]
    pub(crate) emulator: Vec<String>,

    /// A service that runs already; variables of the environment that name it lead to Murphy instead.
    #[arg(long, value_name = "[NAME=]HOST:PORT")]
    pub(crate) upstream: Vec<String>,

    /// Set a variable of the tests; {NAME.url} is where a service is called.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,

    /// What makes the services as new between rounds: a command, or a request such as "POST /reset".
    #[arg(long, value_name = "COMMAND|REQUEST")]
    pub(crate) reset: Option<String>,

    /// A command that prints the id of a test on each line, for any other runner.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) list_command: Option<String>,

    /// A command that runs the test {id}.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) one_command: Option<String>,

    /// What counts as application besides the project: a path, or an installed package.
    #[arg(long, value_name = "PATH")]
    pub(crate) app: Vec<String>,

    /// How answers are lost; by default the client's own time-out is raised at once where that can be.
    #[arg(long, value_name = "HOW", value_parser = lost_answers())]
    pub(crate) lost_answer: Option<LostAnswer>,

    /// Answer refused calls with this status, in the words of the service.
    #[arg(long, value_name = "STATUS", default_value_t = 503, value_parser = clap::value_parser!(u16).range(400..600))]
    pub(crate) error: u16,

    /// By how much pauses of SDKs between attempts are scaled.
    #[arg(long, value_name = "FACTOR")]
    pub(crate) backoff_scale: Option<f64>,

    /// How many rounds run at once, each with an emulator of its own.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) jobs: u32,

    /// The command that runs the tests.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SuiteReplayArgs {
    /// The finding, by its id or the beginning of it.
    pub(crate) id: String,

    /// Read this file instead of the nearest murphy.toml; it says where the store is.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
}

impl SuiteSystemArgs {
    /// The same, with what is planned and judged.
    pub(crate) fn typed(&self, settings: SuiteSettings) -> TypedSuite {
        TypedSuite {
            command: self.command.clone(),
            config: self.config.clone(),
            scenario: self.scenario.clone(),
            upstream: self.upstream.clone(),
            emulator: self.emulator.clone(),
            set: self.set.clone(),
            reset: self.reset.clone(),
            list_command: self.list_command.clone(),
            one_command: self.one_command.clone(),
            app: self.app.clone(),
            backoff_scale: self.backoff_scale,
            jobs: Some(self.jobs),
            lost_answer: self.lost_answer,
            settings,
        }
    }
}

impl SuiteRunArgs {
    /// What is planned and judged.
    pub(crate) fn settings(&self) -> SuiteSettings {
        let usual = SuiteSettings::default();
        let injection = murphy_suite::Injection {
            error: self.system.error,
            ..usual.injection
        };
        SuiteSettings {
            references: self.references.max(1),
            coverage: self.cover,
            policies: match self.policies.is_empty() {
                true => usual.policies.clone(),
                false => self.policies.clone(),
            },
            phases: match self.phases.is_empty() {
                true => usual.phases.clone(),
                false => self.phases.iter().copied().collect(),
            },
            injection,
            group: !self.no_group,
            batch: !self.no_batch,
            audit: f64::from(self.audit.min(100)) / 100.0,
            system: self.is_system,
            ..usual
        }
    }
}

fn coverages() -> impl TypedValueParser<Value = Coverage> {
    let names = Coverage::ALL.map(Coverage::name);
    PossibleValuesParser::new(names).map(|name| Coverage::named(&name).expect("a possible value"))
}

fn policies() -> impl TypedValueParser<Value = Policy> {
    let names = Policy::ALL.map(Policy::name);
    PossibleValuesParser::new(names).map(|name| Policy::named(&name).expect("a possible value"))
}

fn phases() -> impl TypedValueParser<Value = TestPhase> {
    let names = TestPhase::ALL.map(TestPhase::name);
    PossibleValuesParser::new(names).map(|name| TestPhase::named(&name).expect("a possible value"))
}

fn lost_answers() -> impl TypedValueParser<Value = LostAnswer> {
    let ways = [
        ("raise", LostAnswer::Raise),
        ("close", LostAnswer::Close),
        ("hang", LostAnswer::Hang),
        ("408", LostAnswer::Status408),
    ];
    PossibleValuesParser::new(ways.map(|(name, _)| name)).map(move |name| {
        let way = ways.iter().find(|(known, _)| *known == name);
        way.expect("a possible value").1
    })
}

//! What was typed, word for word.
//!
//! Owns names, help and defaults of arguments. Nothing is checked here that
//! needs to know an app; that is [`murphy_project::settings`]' job.

mod baseline;
mod harden;
mod project;
mod report;
mod setup;
mod suite;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use murphy_campaign::StrategyKind;
use murphy_project::typed::{Typed, TypedExample, TypedProject, TypedSearch};
use murphy_report::terminal::Detail;
use murphy_search::{Order, Replies};

pub(crate) use baseline::{
    BaselineAddArgs, BaselineArgs, BaselineCommand, BaselineFileArgs, BaselineListArgs,
    BaselineRemoveArgs, BaselineWriteArgs,
};
pub(crate) use harden::HardenArgs;
pub(crate) use project::{
    DoctorArgs, ListArgs, PlanArgs, ProjectArgs, ReplayArgs, RunArgs, TryArgs, WatchArgs,
};
pub(crate) use report::{ReportArgs, ReportFormat};
pub(crate) use setup::{CaArgs, CaCommand, CheckArgs, CompletionsArgs, InitArgs, ModesArgs};
pub(crate) use suite::{SuiteArgs, SuiteCommand, SuiteReplayArgs, SuiteRunArgs};

/// Find out what an application does when the things it calls fail.
#[derive(Parser, Debug)]
#[command(name = "murphy", version, max_term_width = 100, after_help = OVERVIEW)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const OVERVIEW: &str = "\
Start here:
  murphy demo                     find a bug in an example system, in a second
  murphy init                     write a murphy.toml for your own system
  murphy doctor                   see whether all is wired as it should be
  murphy try \"cart GET * = 503\"  make calls of your choice fail once, and see what happens
  murphy run -- pytest -q         test it, with your own test
  murphy harden --budget 3        see which call sites to harden first
  murphy explain M-67f873         see what a finding is about
  murphy replay M-67f873          see whether it is fixed; `--all`: every finding of the last run
  murphy report junit             print the last result once more, in another format

Exit codes: 0 no findings, 1 findings, 2 usage or configuration, 3 the scenario fails without
faults or is not stable, 4 nothing was injected, 5 not complete (with --require-complete),
70 internal error, 130 interrupted, 143 terminated, 129 hung up";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run your test with the calls between services failing, alone and together.
    Run(RunArgs),
    /// Run the tests of a command again whenever a file is saved, and show findings as they come.
    Watch(WatchArgs),
    /// Run a test suite with its calls to cloud services failing as clouds fail.
    Suite(SuiteArgs),
    /// Make calls of your choice fail in one run of your test, and show what happens.
    Try(TryArgs),
    /// Test an example system with known bugs; no set-up needed.
    Demo(DemoArgs),
    /// Explain a finding; say what became of a faultload, and why; or show one execution.
    Explain(ExplainArgs),
    /// Run a test once and show the calls it leads to: what can be injected.
    List(ListArgs),
    /// Say how many cases there are and how long they may take, before running them.
    Plan(PlanArgs),
    /// Run a finding once more: FIXED, FAILED or NOT REACHED.
    Replay(ReplayArgs),
    /// Print the result of a stored campaign once more, in any format; or list the campaigns.
    Report(ReportArgs),
    /// Say which call sites to harden: the few that cover most of what was found.
    Harden(HardenArgs),
    /// See which services are up, how calls are attributed, and what would be injected.
    Doctor(DoctorArgs),
    /// Keep known findings from failing the build: list, add, remove or write them.
    Baseline(BaselineArgs),
    /// Write a commented murphy.toml for your own system.
    Init(InitArgs),
    /// Read murphy.toml and say what it means.
    Check(CheckArgs),
    /// List the ways in which calls can fail: what each shows and what it costs.
    Modes(ModesArgs),
    /// Show, hand on or replace the certificate that callers over HTTPS must trust.
    Ca(CaArgs),
    /// Print the JSON Schema of murphy.toml.
    Schema {
        /// Of what.
        #[arg(value_enum, default_value_t)]
        of: Described,
    },
    /// Print completions for a shell.
    Completions(CompletionsArgs),
}

const DEMO_EXAMPLES: &str = "\
Examples:
  murphy demo mailchimp
  murphy demo netflix --set bugs=on --reduce modes
  murphy demo cinema-3 --modes declared --no-reduce ser
  murphy demo audible --modes 503,reset --max-faults 2 --audit 200
  murphy demo checkout --format json --require-complete";

/// What `murphy schema` describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Described {
    /// murphy.toml, as JSON Schema
    #[default]
    Config,
    /// The control API that tests and runners talk to, as OpenAPI
    Control,
}

#[derive(Args, Debug)]
#[command(after_help = DEMO_EXAMPLES, mut_arg("modes", |arg| arg.help(MODES_OF_DEMOS)))]
pub(crate) struct DemoArgs {
    /// The example system to test; `--list` shows them all.
    #[arg(default_value = DEFAULT_APP)]
    pub(crate) app: String,

    /// List the example systems and their switches.
    #[arg(long, exclusive = true)]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) system: SystemArgs,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

const MODES_OF_THE_SEARCH: &str = "How calls fail: a list such as `500,503,reset`, or `http` for 500,502,503,504; for example systems also `declared` [default: as in the last campaign; for example systems 503,reset,after:reset]";

const MODES_OF_DEMOS: &str = "How calls fail: a list such as `500,503,reset`, `http` for 500,502,503,504, or `declared`, what each service declares; `murphy modes` shows them all [default: 503,reset,after:reset]";

/// Short, and has a real bug.
pub(crate) const DEFAULT_APP: &str = "mailchimp";

const EXPLAIN_EXAMPLES: &str = "\
A faultload is a list of faults, each a call and a mode. With a wildcard (`*`, or `** >` for any
callers) it means every attempt of every call that matches, unless `#1`, `#2`, … names one:
  murphy explain \"** > cart * = 503\"
  murphy explain \"** > cart * = 503\" -- pytest -q tests
  murphy explain M-9b6263                   a finding of the last campaigns: what was injected,
                                            what each caller did, why it counts
  murphy explain 35                         execution 35 of the last campaign
  murphy explain --app mailchimp \"** > app-server * = 503\"
  murphy explain --app netflix \"** > user-profile * = 500, ** > bookmarks * = 503\"
  murphy explain --app cinema-3 --reduce retry \"** > bookings * #2 = 500\"

Of your own system, the last campaign is explained as it was run: nothing that was given to
`murphy run` about the search needs to be given again. What is given counts instead.";

#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES, mut_arg("modes", |arg| arg.help(MODES_OF_THE_SEARCH)))]
#[command(mut_args(about_example_systems))]
pub(crate) struct ExplainArgs {
    /// An example system, instead of the last campaign on your own; `murphy demo --list` shows
    /// them all.
    #[arg(long, value_name = "APP", conflicts_with_all = ["config", "scenario", "command"])]
    pub(crate) app: Option<String>,

    /// Read this file instead of the nearest murphy.toml, here or above.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,

    /// The scenario of the file, if it has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,

    /// A finding of the last campaigns, by name or its beginning; a faultload, such as
    /// "** > cart GET /cart = 503"; or the number of an execution of the last campaign.
    #[arg(value_name = "FINDING|FAULTLOAD|EXECUTION")]
    pub(crate) faultload: String,

    /// What was given to `murphy run` after `--`.
    #[arg(last = true, value_name = "COMMAND|ARGUMENTS")]
    pub(crate) command: Vec<String>,

    #[command(flatten)]
    pub(crate) system: SystemArgs,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    /// How faultloads are chosen: `tree` covers every distinct behaviour, `lineage` finds every
    /// minimal failing combination (for replicas and fallbacks), `random` samples.
    #[arg(long, value_parser = one_of(&StrategyKind::NAMES), help_heading = SEARCH)]
    pub(crate) strategy: Option<StrategyKind>,
}

/// What is set about an example system needs one.
fn about_example_systems(arg: clap::Arg) -> clap::Arg {
    match arg.get_id().as_str() {
        "simulate" | "set" | "identity" | "keep_state" => arg.requires("app"),
        _ => arg,
    }
}

impl ExplainArgs {
    /// The user's own system.
    pub(crate) fn project(&self) -> TypedProject {
        TypedProject {
            config: self.config.clone(),
            scenario: self.scenario.iter().cloned().collect(),
            command: self.command.clone(),
        }
    }

    /// What was typed about the search.
    pub(crate) fn typed(&self) -> Typed {
        Typed {
            strategy: self.strategy,
            ..self.search.typed().into()
        }
    }
}

const SYSTEM: &str = "The system";
const SEARCH: &str = "The search";
const OUTPUT: &str = "Output";

/// What is set about an example system.
#[derive(Args, Debug, Default)]
pub(crate) struct SystemArgs {
    /// Run the system in memory instead of on sockets.
    #[arg(long, help_heading = SYSTEM)]
    pub(crate) simulate: bool,

    /// Set a switch of the app, such as `bugs=on`; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', help_heading = SYSTEM)]
    pub(crate) set: Vec<String>,

    /// Switch what identifies a call, such as `predecessors=on,payload=off`.
    #[arg(long, value_name = "PART=on|off", value_delimiter = ',', help_heading = SYSTEM)]
    pub(crate) identity: Vec<String>,

    /// Let every execution find the state that the last one left behind.
    #[arg(long, help_heading = SYSTEM)]
    pub(crate) keep_state: bool,
}

impl SystemArgs {
    /// What was typed.
    pub(crate) fn typed(&self) -> TypedExample {
        TypedExample {
            simulate: self.simulate,
            set: self.set.clone(),
            identity: self.identity.clone(),
            keep_state: self.keep_state,
        }
    }
}

/// What every search takes, so that an explanation is about the same search.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SearchArgs {
    /// How calls fail: a list such as `500,503,reset`; `http` stands for 500,502,503,504, `grpc` for
    /// four gRPC statuses; `murphy modes` shows them all [default: as murphy.toml says, or by the
    /// callee's protocol: over HTTP 503,reset,after:reset, over gRPC grpc:UNAVAILABLE,grpc:INTERNAL,
    /// after:grpc:UNAVAILABLE].
    #[arg(long, value_name = "MODES", help_heading = SEARCH)]
    pub(crate) modes: Option<String>,

    /// Make only calls fail that match this pattern, such as "** > cart *" for every attempt, or
    /// "** > cart * #1" for the first; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = SEARCH)]
    pub(crate) only: Vec<String>,

    /// Never make calls fail that match this pattern; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = SEARCH)]
    pub(crate) except: Vec<String>,

    /// Try at most K faults together.
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) max_faults: Option<usize>,

    /// Make at most N executions, the one without faults included.
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) max_cases: Option<usize>,

    /// Begin no execution after this time, such as `90s` or `5m`.
    #[arg(long, value_name = "TIME", help_heading = SEARCH)]
    pub(crate) max_time: Option<String>,

    /// Leave nothing out but what service encapsulation makes redundant: no mode equivalence, no
    /// retry reduction, and every body that a callee answers with counts.
    #[arg(long, help_heading = SEARCH)]
    pub(crate) exhaustive: bool,

    /// What of a reply its caller may act on: its `status`; also whether a successful answer has
    /// its usual body or a degraded one (`classes`, the default); or which body (`bodies`).
    #[arg(long, value_parser = one_of(&Replies::NAMES), hide_possible_values = true, value_name = "WHAT", help_heading = SEARCH)]
    pub(crate) replies: Option<Replies>,

    /// Skip more: `retry` (within retry loops); for lineage `modes` (modes that act alike).
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = SEARCH)]
    pub(crate) reduce: Vec<String>,

    /// Skip less: `modes` switches off mode equivalence, `ser` service encapsulation; both are on
    /// by default.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = SEARCH)]
    pub(crate) no_reduce: Vec<String>,

    /// Which faultloads come first: few faults (`bfs`, the default) or what follows from the last (`dfs`).
    #[arg(long, value_parser = one_of(&Order::NAMES), hide_possible_values = true, help_heading = SEARCH)]
    pub(crate) order: Option<Order>,

    /// Decides everything random: samples, and the order of concurrent calls in memory [default: 0].
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) seed: Option<u64>,

    /// Executions under way at once; results do not depend on it [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) jobs: Option<u32>,

    /// How the result is written: text for people or one JSON object.
    #[arg(long, value_enum, default_value_t = Format::Human, help_heading = OUTPUT)]
    pub(crate) format: Format,
}

impl SearchArgs {
    /// What was typed, without how the result is written.
    pub(crate) fn typed(&self) -> TypedSearch {
        TypedSearch {
            modes: self.modes.clone(),
            only: self.only.clone(),
            except: self.except.clone(),
            max_faults: self.max_faults,
            max_cases: self.max_cases,
            max_time: self.max_time.clone(),
            exhaustive: self.exhaustive,
            replies: self.replies,
            reduce: self.reduce.clone(),
            no_reduce: self.no_reduce.clone(),
            order: self.order,
            seed: self.seed,
            jobs: self.jobs,
        }
    }
}

/// What every campaign takes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CampaignArgs {
    /// How faultloads are chosen: `tree` covers every distinct behaviour, `lineage` finds every
    /// minimal failing combination (for replicas and fallbacks), `random` samples.
    #[arg(long, value_parser = one_of(&StrategyKind::NAMES), help_heading = SEARCH)]
    pub(crate) strategy: Option<StrategyKind>,

    /// Run N of the skipped faultloads after all and compare with what was predicted [default: 10
    /// with mode equivalence, otherwise none].
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = SEARCH)]
    pub(crate) audit: Option<usize>,

    /// Exit with 5 unless the search is complete.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) require_complete: bool,

    /// Show everything: calls, skipped cases and why, assumptions, how callers handle failures, and
    /// every finding in full.
    #[arg(long, short, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Show a line for each finding and nothing else: no progress, no notes.
    #[arg(long, short, help_heading = OUTPUT)]
    pub(crate) quiet: bool,

    /// Also write a report: `json`, `junit`, `markdown` or `events`, and where; may be repeated.
    #[arg(long, value_name = "FORMAT=PATH", help_heading = OUTPUT)]
    pub(crate) report: Vec<String>,
}

impl CampaignArgs {
    /// What was typed about a campaign with this search.
    pub(crate) fn typed(&self, search: &SearchArgs) -> Typed {
        Typed {
            search: search.typed(),
            strategy: self.strategy,
            audit: self.audit,
        }
    }

    /// How much is told.
    pub(crate) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Full,
            (false, false) => Detail::Usual,
        }
    }
}

/// One of these, by its name.
fn one_of<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let value = |typed: String| names.iter().find(|(name, _)| *name == typed);
    let possible = PossibleValuesParser::new(names.iter().map(|(name, _)| *name));
    possible.map(move |typed| value(typed).expect("one of the possible values").1)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Human,
    Json,
}

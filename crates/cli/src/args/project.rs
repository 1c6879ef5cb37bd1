//! The arguments of commands about a user's own system.

use std::path::PathBuf;

use clap::{Arg, Args};
use murphy_project::typed::{Earlier, SavedArgs, TypedProject};

use murphy_config::TypedEach;

use super::{CampaignArgs, SearchArgs};

/// Which system, and which of its scenarios.
#[derive(Args, Clone, Debug)]
pub(crate) struct ProjectArgs {
    /// Read this file instead of the nearest murphy.toml, here or above.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,

    /// Only this scenario of the file; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Vec<String>,

    /// A test command to be used instead of the scenario's; its `env`, `timeout` and `under_fault`
    /// stay, where a scenario is named or the file has only one. Words that begin with `-` are
    /// arguments, and are added to the command of that scenario.
    #[arg(last = true, value_name = "COMMAND|ARGUMENTS")]
    pub(crate) command: Vec<String>,
}

impl From<&ProjectArgs> for TypedProject {
    fn from(args: &ProjectArgs) -> Self {
        TypedProject {
            config: args.config.clone(),
            scenario: args.scenario.clone(),
            command: args.command.clone(),
        }
    }
}

const RUN_EXAMPLES: &str = "\
Examples:
  murphy run                              all scenarios of murphy.toml
  murphy run checkout                     only the scenario `checkout`
  murphy run -- pytest -q tests           any test, with the services of murphy.toml
  murphy run --each -- pytest tests       every test a scenario, at the speed of the test
  murphy run checkout -- -k happy         only `checkout`, with more arguments for its command
  murphy run --jobs 8 --max-faults 2 --report junit=murphy.xml
  murphy run --resume                     go on after a crash, Ctrl-C or --max-time
  murphy run --since-last                 only what a change can have affected";

const WATCH_EXAMPLES: &str = "\
Runs the tests of a command as `murphy run --each` does, with single faults unless `--max-faults` says
otherwise, and again whenever a file of the project is saved: services and test runners stay up in
between, and what a change cannot have affected is not run again. Ctrl-C ends it.

Examples:
  murphy watch -- pytest tests/test_checkout.py
  murphy watch checkout
  murphy watch -k refund -- npx mocha test";

#[derive(Args, Debug, Clone)]
#[command(after_help = WATCH_EXAMPLES)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Args, Debug, Clone)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// Only this scenario of the file, as `--scenario NAME`; may be repeated.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,

    #[command(flatten)]
    pub(crate) tests: EachArgs,

    /// Go on with the last campaign if it was killed or stopped: what it finished is not run again.
    #[arg(long, help_heading = super::SEARCH)]
    pub(crate) resume: bool,

    /// Run only what services that changed since the last campaign took part in.
    #[arg(long, conflicts_with = "resume", help_heading = super::SEARCH)]
    pub(crate) since_last: bool,

    /// The findings that may stay [default: murphy-baseline.toml beside murphy.toml].
    #[arg(long, value_name = "PATH", help_heading = super::OUTPUT)]
    pub(crate) baseline: Option<PathBuf>,
}

impl RunArgs {
    /// The project, with the scenarios that were named either way.
    pub(crate) fn named_project(&self) -> TypedProject {
        let mut project = TypedProject::from(&self.project);
        project.scenario.extend(self.names.iter().cloned());
        project
    }

    /// What earlier campaigns are good for.
    pub(crate) fn earlier(&self) -> Earlier {
        match (self.resume, self.since_last) {
            (true, _) => Earlier::Resumed,
            (false, true) => Earlier::Compared,
            (false, false) => Earlier::Ignored,
        }
    }

    /// What is kept of these with the campaign.
    pub(crate) fn saved(&self) -> SavedArgs {
        SavedArgs {
            test: self.project.command.clone(),
            search: self.search.typed(),
            strategy: self.campaign.strategy,
        }
    }
}

/// Every test of a command as a scenario.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EachArgs {
    /// Make every test of the command a scenario of its own, on one system that is started once; a
    /// runner that can (pytest, mocha, vitest) stays alive from one execution to the next.
    #[arg(long, help_heading = super::SYSTEM)]
    pub(crate) each: bool,

    /// With `--each`, only the tests whose names hold this text; may be repeated.
    #[arg(long, short = 'k', value_name = "TEXT", help_heading = super::SYSTEM)]
    pub(crate) filter: Vec<String>,

    /// With `--each`, run every execution in a new process of the runner.
    #[arg(long, help_heading = super::SYSTEM)]
    pub(crate) fresh: bool,

    /// With `--each`, tear down fixtures of modules, classes and sessions after every execution.
    #[arg(long, help_heading = super::SYSTEM)]
    pub(crate) fresh_fixtures: bool,

    /// With `--each`, the phases of a test in which calls may fail: `setup`, `call`, `teardown`
    /// [default: call].
    #[arg(long, value_name = "PHASES", value_delimiter = ',', value_parser = ["setup", "call", "teardown"], help_heading = super::SYSTEM)]
    pub(crate) phases: Vec<String>,
}

impl EachArgs {
    /// What was typed about the tests of a command one by one.
    pub(crate) fn typed(&self) -> TypedEach {
        TypedEach {
            each: self.each,
            fresh: self.fresh,
            fresh_fixtures: self.fresh_fixtures,
            phases: self.phases.clone(),
        }
    }
}

/// What changes nothing where calls are only listed.
const IDLE_FOR_LIST: [&str; 10] = [
    "max_faults",
    "max_cases",
    "max_time",
    "exhaustive",
    "replies",
    "reduce",
    "no_reduce",
    "order",
    "seed",
    "jobs",
];

/// What changes nothing where cases are only counted: which of them are
/// skipped, and when a search ends before them, shows only while running.
const IDLE_FOR_PLAN: [&str; 8] = [
    "max_cases",
    "max_time",
    "exhaustive",
    "replies",
    "reduce",
    "no_reduce",
    "order",
    "seed",
];

/// Leaves these arguments out of the help. They are let pass, so that what is
/// given to `murphy run` can be given here too.
fn hide(arg: Arg, idle: &[&str]) -> Arg {
    match idle.contains(&arg.get_id().as_str()) {
        true => arg.hide(true),
        false => arg,
    }
}

#[derive(Args, Debug)]
#[command(mut_args(|arg| hide(arg, &IDLE_FOR_LIST)))]
pub(crate) struct ListArgs {
    /// The number of an execution of the last campaign, whose calls are shown instead; nothing is
    /// run.
    #[arg(value_name = "EXECUTION")]
    pub(crate) execution: Option<usize>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

#[derive(Args, Debug)]
#[command(mut_args(|arg| hide(arg, &IDLE_FOR_PLAN)))]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) tests: EachArgs,

    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

const REPLAY_EXAMPLES: &str = "\
Says FAILED (exit code 1) if the finding still shows, FIXED (0) if all its faults are injected and nothing
is held against it any more, NOT REACHED (4) if they are not injected.

With `--all`, every finding of the last run is replayed, in a system that is started once, and told in
one line each: 1 if any FAILED, otherwise 4 if any was NOT REACHED, otherwise 0.

Examples:
  murphy replay M-67f873
  murphy replay 67f8                        the beginning of its name is enough
  murphy replay --all                       what is left of the last run, after some fixes
  murphy replay .murphy/replays/M-67f873.json

A file from elsewhere may name a scenario of your murphy.toml and what must fail in it. If it names
a command or another configuration, it is shown and refused, unless `--trust` is given.";

#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// The finding's name or its beginning, or its replay file.
    #[arg(value_name = "ID|FILE", required_unless_present = "all")]
    pub(crate) what: Option<String>,

    /// Replay every finding of the last run: of every scenario, or of the test that was typed.
    #[arg(long, conflicts_with = "what")]
    pub(crate) all: bool,

    /// With `--all`, only the findings of this scenario.
    #[arg(long, value_name = "NAME", requires = "all")]
    pub(crate) scenario: Option<String>,

    /// Where murphy.toml is now, if not where it was.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,

    /// Let a file from elsewhere run its own command and read its own configuration.
    #[arg(long)]
    pub(crate) trust: bool,
}

const TRY_EXAMPLES: &str = "\
Runs your test without faults first, then once more with these calls failing, and shows what
happened: the calls, what was injected, the verdict and what was printed. One call alone means
that call whoever makes it; `*` stands for any text, and every call that matches fails.

Examples:
  murphy try \"cart GET * = 503\"
  murphy try \"cart GET /cart #1 = reset\" -- pytest -q tests/checkout.py
  murphy try \"cart * = 503, stock * = hang\" --scenario checkout

Exit codes: 0 the test passed, 1 it failed, 4 not every fault was injected: NOT REACHED.";

#[derive(Args, Debug)]
#[command(after_help = TRY_EXAMPLES)]
pub(crate) struct TryArgs {
    /// What is to fail, such as "cart GET * = 503".
    pub(crate) faultload: String,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

const DOCTOR_EXAMPLES: &str = "\
Starts what is to be started, runs your test a few times without faults, and prints one page: which
services are up, how it is known who made each call and how certain that is, what is not seen and
why, whether the runs are alike, what would be injected, and what to change. Nothing fails. A
service that does not come up is waited for 10 seconds, unless `start_within` says otherwise.

Examples:
  murphy doctor                             every scenario of murphy.toml
  murphy doctor --scenario checkout
  murphy doctor -- pytest -q tests/checkout.py

Exit codes: 0 the test passes and is stable, 3 it is not, or a service is down.";

#[derive(Args, Debug)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    /// Show every call, every proxy and all advice, not only what fits on a page.
    #[arg(long, help_heading = super::OUTPUT)]
    pub(crate) verbose: bool,
}

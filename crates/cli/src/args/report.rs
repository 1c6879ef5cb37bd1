//! The arguments of `murphy report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Everything comes from the store; nothing is run. What is printed is what the run itself printed, or
would have printed if it had not been killed first. Findings that the baseline excuses now are shown
so, whatever it said then.

Examples:
  murphy report human                       the newest campaign that has a result
  murphy report --list                      all campaigns, with their names
  murphy report json 20261116-031502-a1b2   this one; the beginning of its name is enough
  murphy report junit > murphy.xml
  murphy report markdown >> \"$GITHUB_STEP_SUMMARY\"

Exit codes: as those of the run: 0 no findings, 1 findings, 4 nothing was injected; 2 if there is no
such campaign.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// How the result is written, to stdout.
    #[arg(required_unless_present = "list")]
    pub(crate) format: Option<ReportFormat>,

    /// The campaign, by its name or the beginning of it [default: the newest that has a result].
    pub(crate) campaign: Option<String>,

    /// List the campaigns that are stored, the newest first.
    #[arg(long, conflicts_with_all = ["format", "campaign"])]
    pub(crate) list: bool,

    /// Read this file instead of the nearest murphy.toml, here or above; it says where the store is.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,

    /// The findings that may stay [default: murphy-baseline.toml beside murphy.toml].
    #[arg(long, value_name = "PATH")]
    pub(crate) baseline: Option<PathBuf>,
}

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people.
    Human,
    /// One JSON object, as `--format json` prints it.
    Json,
    /// JUnit XML: a suite of executions.
    Junit,
    /// Markdown, for pull requests.
    Markdown,
}

//! The arguments of `murphy baseline`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ProjectArgs;

const EXAMPLES: &str = "\
A finding in the baseline is reported and does not fail the build, until it expires or shows with
other modes. Without a command, the entries are listed, with those that have expired and those that
the last complete campaign did not find any more. Commit murphy-baseline.toml.

Examples:
  murphy baseline                                   list the entries
  murphy baseline add M-9b6263 --reason \"ticket 4711\" --expires 2027-01-31
  murphy baseline add 9b62 77aa                     the beginning of a name is enough
  murphy baseline remove M-9b6263                   it fails the build again
  murphy baseline write --reason \"before the rewrite\"   all that the last campaigns found";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    pub(crate) command: Option<BaselineCommand>,

    #[command(flatten)]
    pub(crate) list: BaselineListArgs,
}

#[derive(Subcommand, Debug)]
pub(crate) enum BaselineCommand {
    /// List the entries: which hold, which have expired, which are not found any more.
    List(BaselineListArgs),
    /// Take findings of the last campaigns as known, by their names.
    Add(BaselineAddArgs),
    /// Take findings out, so that they fail the build again.
    Remove(BaselineRemoveArgs),
    /// Take all findings of the last campaign of each scenario as known.
    Write(BaselineWriteArgs),
}

/// Which baseline, of which project.
#[derive(Args, Debug, Default)]
pub(crate) struct BaselineFileArgs {
    /// Read this file instead of the nearest murphy.toml, here or above.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,

    /// The baseline [default: murphy-baseline.toml beside murphy.toml].
    #[arg(long, value_name = "PATH")]
    pub(crate) baseline: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct BaselineListArgs {
    #[command(flatten)]
    pub(crate) file: BaselineFileArgs,
}

const ADD_EXAMPLES: &str = "\
A finding that several scenarios show is taken as known in all of them, unless `--scenario` names
one. What is known already gets the new reason and date; modes are those of the last campaign.

Examples:
  murphy baseline add M-9b6263 --reason \"ticket 4711\" --expires 2027-01-31
  murphy baseline add 9b62 77aa --reason \"the cart is replaced in May\"

Exit codes: 0 added, 2 no such finding in the last campaigns.";

#[derive(Args, Debug)]
#[command(after_help = ADD_EXAMPLES)]
pub(crate) struct BaselineAddArgs {
    /// The findings, by name or its beginning; `M-` may be left out.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    /// Why they may stay.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    /// The last day on which they may, such as 2027-01-31.
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,

    /// Only in this scenario.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,

    #[command(flatten)]
    pub(crate) file: BaselineFileArgs,
}

const REMOVE_EXAMPLES: &str = "\
Examples:
  murphy baseline remove M-9b6263
  murphy baseline remove 9b62 77aa --scenario checkout

Exit codes: 0 removed, 2 no such entry.";

#[derive(Args, Debug)]
#[command(after_help = REMOVE_EXAMPLES)]
pub(crate) struct BaselineRemoveArgs {
    /// The findings, by name or its beginning; `M-` may be left out.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    /// Only the entries of this scenario.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,

    #[command(flatten)]
    pub(crate) file: BaselineFileArgs,
}

#[derive(Args, Debug)]
pub(crate) struct BaselineWriteArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    /// Why they may stay.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,

    /// The last day on which they may, such as 2027-01-31.
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,

    /// The file to be written [default: murphy-baseline.toml beside murphy.toml].
    #[arg(long, value_name = "PATH")]
    pub(crate) baseline: Option<PathBuf>,
}

//! The arguments of `murphy harden`.

use std::path::PathBuf;

use clap::Args;

use murphy_project::typed::TypedExample;

use super::{Format, OUTPUT, SYSTEM};

const EXAMPLES: &str = "\
To harden a call site is to make its caller cope with the failure of that call: by another
attempt, a fallback, or an answer without it. A combination of failing calls is covered if at
least one of its call sites is hardened. The choice is the best there is, not an estimate.

Examples:
  murphy harden                             what it takes to cover everything, and what less covers
  murphy harden --budget 3                  the three call sites that cover most
  murphy harden --budget 3 --high checkout  the same, with all that brings `checkout` down covered
  murphy harden --budget 3 --frequency requests.txt   the same for the most frequent scenarios
  murphy harden --budget 3 --verify         inject what is left, and see what still fails
  murphy harden a.json b.json               from what `--report json=PATH` wrote
  murphy demo netflix --set bugs=on --report json=a.json
  murphy harden a.json --budget 1 --verify --app netflix --set bugs=on

Exit codes: 0 with an answer, also if there is nothing to harden; 1 if `--verify` shows that
something covered fails all the same; 2 also if the budget is too small for the scenarios of
high priority.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HardenArgs {
    /// Results in JSON to be looked at, instead of the newest campaign of each scenario.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Harden at most B call sites [default: as many as it takes].
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub(crate) budget: Option<usize>,

    /// Cover everything that brings this scenario down; may be repeated.
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) high: Vec<String>,

    /// How often each scenario is asked for: lines of a name and a number. The most frequent, four
    /// fifths of all requests together, are of high priority.
    #[arg(long, value_name = "FILE")]
    pub(crate) frequency: Option<PathBuf>,

    /// Count warnings too.
    #[arg(long)]
    pub(crate) warnings: bool,

    /// Only this scenario; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Vec<String>,

    /// Read this file instead of the nearest murphy.toml, here or above.
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,

    /// Inject every combination again, without the faults at hardened call sites, and see what
    /// still fails.
    #[arg(long)]
    pub(crate) verify: bool,

    /// The results are of this example system, which is run in memory to verify.
    #[arg(long, value_name = "APP", requires = "verify", help_heading = SYSTEM)]
    pub(crate) app: Option<String>,

    /// Set a switch of the app, as for `murphy demo`; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', requires = "app", help_heading = SYSTEM)]
    pub(crate) set: Vec<String>,

    /// Switch what identifies a call, as for `murphy demo`.
    #[arg(long, value_name = "PART=on|off", value_delimiter = ',', requires = "app", help_heading = SYSTEM)]
    pub(crate) identity: Vec<String>,

    /// How the result is written: text for people or one JSON object.
    #[arg(long, value_enum, default_value_t = Format::Human, help_heading = OUTPUT)]
    pub(crate) format: Format,
}

impl HardenArgs {
    /// What is set about the example system.
    pub(crate) fn system(&self) -> TypedExample {
        TypedExample {
            simulate: true,
            set: self.set.clone(),
            identity: self.identity.clone(),
            keep_state: false,
        }
    }
}

//! Everything that keeps a command from giving its result.
//!
//! Three kinds stay apart: the arguments are wrong, the system under test does
//! not work even without faults, or Murphy itself failed. A finding is none of
//! these; it is a result.

use murphy_campaign::{BrokenWorld, Failed, Refused, Varies};

use crate::usage::Usage;
use crate::{exit, output};

/// Why a command gave no result.
#[derive(Debug)]
pub(crate) enum Error {
    /// The arguments make no sense.
    Usage(Usage),
    /// The configuration makes no sense, in one or more places.
    Config(Vec<Usage>),
    /// The scenario fails without faults.
    Reference {
        /// What it complained about.
        complaint: String,
        /// The way out.
        hint: String,
    },
    /// The scenario makes different calls from one time to the next.
    Unstable {
        /// What varies.
        varies: Vec<String>,
        /// The way out.
        hint: String,
    },
    /// The scenario sometimes fails without faults.
    Flaky {
        /// How often it passed before it failed.
        passed: usize,
        /// What it complained about.
        complaint: String,
    },
    /// The system under test cannot be run.
    Broken(BrokenWorld),
    /// What campaigns are kept in does not work.
    Store(String),
    /// Told to stop at once.
    Interrupted,
    /// Murphy failed.
    Internal(anyhow::Error),
}

impl Error {
    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        let (text, code) = match self {
            Error::Config(problems) => return report_config(problems),
            Error::Usage(usage) => (usage.to_string(), exit::USAGE),
            Error::Reference { complaint, hint } => {
                let text =
                    format!("the scenario fails without any fault\n  | {complaint}\nhint: {hint}");
                (text, exit::REFERENCE_FAILED)
            }
            Error::Unstable { varies, hint } => {
                let varies: String = varies.iter().map(|line| format!("  | {line}\n")).collect();
                let text = format!(
                    "the scenario makes different calls from one time to the next, without any fault\n{varies}hint: {hint}"
                );
                (text, exit::REFERENCE_FAILED)
            }
            Error::Flaky { passed, complaint } => {
                let text = format!(
                    "the scenario is flaky: without any fault it passed {passed} times and then failed\n  | {complaint}\nhint: make it pass every time first: faults tell nothing about a test that fails by chance"
                );
                (text, exit::REFERENCE_FAILED)
            }
            Error::Broken(broken) => (broken_text(broken), exit::REFERENCE_FAILED),
            Error::Store(why) => (why.clone(), exit::USAGE),
            Error::Interrupted => (
                "stopped before there was a result".to_owned(),
                exit::INTERRUPTED,
            ),
            Error::Internal(error) => (format!("{error:#}"), exit::INTERNAL),
        };
        complain(text);
        code
    }
}

fn broken_text(broken: &BrokenWorld) -> String {
    let mut text = broken.message.clone();
    for (name, log) in &broken.logs {
        text += &format!("\n  -- the last lines of {name}:");
        for line in log.lines() {
            text += &format!("\n  | {line}");
        }
    }
    match &broken.hint {
        Some(hint) => text + "\nhint: " + hint,
        None => text,
    }
}

impl Error {
    /// Why a campaign gave no result; `hint` for a scenario that fails.
    pub(crate) fn of_campaign(failed: Failed, hint: &str) -> Self {
        match failed {
            Failed::Refused(Refused::Fails { complaint, .. }) => Error::Reference {
                complaint,
                hint: hint.to_owned(),
            },
            Failed::Refused(Refused::Flaky {
                passed, complaint, ..
            }) => Error::Flaky { passed, complaint },
            Failed::Refused(Refused::Unstable { varies }) => Error::Unstable {
                varies: varies.iter().map(Varies::to_string).collect(),
                hint: UNSTABLE.to_owned(),
            },
            Failed::Broken(broken) => Error::Broken(broken),
            Failed::Interrupted => Error::Interrupted,
        }
    }
}

const UNSTABLE: &str = "make the scenario start from the same state every time (a `reset` step), or name what varies under `[identity]` in murphy.toml";

/// Enough to work on; later ones may follow from these.
const MOST_PROBLEMS: usize = 5;

fn report_config(problems: &[Usage]) -> u8 {
    for problem in problems.iter().take(MOST_PROBLEMS) {
        complain(problem);
    }
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        output::say(format_args!("({more} more)"));
    }
    exit::USAGE
}

/// Prints an error message.
pub(crate) fn complain(text: impl std::fmt::Display) {
    const RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();
    output::say(format_args!("{RED}error:{RED:#} {text}"));
}

impl From<Usage> for Error {
    fn from(usage: Usage) -> Self {
        Error::Usage(usage)
    }
}

impl From<BrokenWorld> for Error {
    fn from(broken: BrokenWorld) -> Self {
        Error::Broken(broken)
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Error::Internal(error)
    }
}

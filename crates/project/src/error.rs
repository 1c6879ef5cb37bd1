//! Everything that keeps a command from giving its result.
//!
//! Three kinds stay apart: the arguments are wrong, the system under test does
//! not work even without faults, or Murphy itself failed. A finding is none of
//! these; it is a result.

use std::io;

use murphy::replays::ReplayError;
use murphy_campaign::{Failed, Refused, SetupError, Varies};
use murphy_model::{Interface, Point};
use murphy_report::point_text;
use murphy_store::StoreError;

use murphy_config::Usage;

/// Why a command gave no result.
#[derive(Debug)]
pub enum Error {
    /// The arguments make no sense.
    Usage(Usage),
    /// The configuration makes no sense, in one or more places.
    Config(Vec<Usage>),
    /// The scenario fails without faults.
    Reference {
        /// What it complained about.
        complaint: String,
        /// What it printed, and the services with it.
        output: Option<String>,
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
        /// What it printed, and the services with it.
        output: Option<String>,
    },
    /// The system under test cannot be run.
    Broken(SetupError),
    /// What campaigns are kept in does not work.
    Store(StoreError),
    /// Told to stop at once.
    Interrupted,
    /// Murphy failed.
    Internal {
        /// What could not be done.
        what: &'static str,
        /// Why not.
        error: io::Error,
    },
}

impl Error {
    /// What is the matter, for a table.
    pub fn in_one_line(&self) -> String {
        match self {
            Error::Usage(usage) => usage
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
            Error::Config(_) => "murphy.toml makes no sense".to_owned(),
            Error::Reference { .. } => "it fails without any fault".to_owned(),
            Error::Unstable { .. } => {
                "it makes different calls from one time to the next, without any fault".to_owned()
            }
            Error::Flaky { .. } => "it is flaky: it fails at times without any fault".to_owned(),
            Error::Broken(broken) => broken.message.clone(),
            Error::Store(error) => error.to_string(),
            Error::Interrupted => "stopped before there was a result".to_owned(),
            Error::Internal { what, .. } => (*what).to_owned(),
        }
    }
}

impl Error {
    /// Why a campaign gave no result; `hint` for a scenario that fails.
    pub fn of_campaign(failed: Failed, hint: &str) -> Self {
        match failed {
            Failed::Refused(Refused::Fails { complaint, output }) => Error::Reference {
                complaint,
                output,
                hint: hint.to_owned(),
            },
            Failed::Refused(Refused::Flaky {
                passed,
                complaint,
                output,
                ..
            }) => Error::Flaky {
                passed,
                complaint,
                output,
            },
            Failed::Refused(Refused::Unstable { varies }) => Error::Unstable {
                hint: way_out(&varies),
                varies: varies.iter().map(Varies::to_string).collect(),
            },
            Failed::Refused(Refused::NotCold { at }) => Error::Broken(not_cold(&at)),
            Failed::Broken(broken) => Error::Broken(broken),
            Failed::Interrupted => Error::Interrupted,
        }
    }
}

/// What to try where a scenario fails without faults.
pub const HINT: &str = "fix the test or the system first: faults tell nothing about what is broken without them; `murphy doctor` looks at the wiring";

/// What lets a scenario be tested whose calls vary so.
fn way_out(varies: &[Varies]) -> String {
    let mut points = varies.iter().map(Varies::at);
    let Some(first) = points.next() else {
        return UNSTABLE.to_owned();
    };
    if !varies.iter().all(Varies::is_only_number) {
        return UNSTABLE.to_owned();
    }
    let topmost = points.fold(first, |top, at| match at.depth() < top.depth() {
        true => at,
        false => top,
    });
    let as_one = "let all of them count as one with `[identity] count = \"off\"`";
    if topmost.parent().is_none() {
        return format!(
            "only the number of the test's own equal calls varies, as where it polls: {as_one}"
        );
    }
    let path = match &topmost.frame().interface {
        Interface::Http { path, .. } => path.to_string(),
        other => format!("/{other}"),
    };
    format!(
        "only the number of equal calls varies, as where somebody polls: leave these calls out with `[inject] ignore = [\"{path}\"]`, or {as_one}"
    )
}

const UNSTABLE: &str = "make the scenario start from the same state every time (a `reset` step), or name what varies under `[identity]` in murphy.toml";

/// What is said to bring everything back to how it is after a start does not.
fn not_cold(at: &[Point]) -> SetupError {
    let calls = at.iter().map(|at| format!("`{}`", point_text(at)));
    let calls: Vec<String> = calls.collect();
    SetupError::new(format!(
        "executions do not begin as the first after a start: only that made {}",
        calls.join(", ")
    ))
    .hint("`restart = \"execution\"` or `cold = true` say they do: what still knows of the first run, a database or a file?")
}

impl From<Usage> for Error {
    fn from(usage: Usage) -> Self {
        Error::Usage(usage)
    }
}

impl From<ReplayError> for Error {
    fn from(error: ReplayError) -> Self {
        let usage = Usage::new(error.message()).hint(error.hint());
        Error::Usage(match &error {
            ReplayError::Unknown { what, .. } => usage.at(
                "murphy replay",
                what,
                what,
                "neither a file nor one finding's name",
            ),
            _ => usage,
        })
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Error::Store(error)
    }
}

impl From<SetupError> for Error {
    fn from(broken: SetupError) -> Self {
        Error::Broken(broken)
    }
}

//! Everything that keeps a command from giving its result.
//!
//! Three kinds stay apart: the arguments are wrong, the system under test does
//! not work even without faults, or Murphy itself failed. A finding is none of
//! these; it is a result.

use murphy::replays::ReplayError;
use murphy::setup_error_text;
use murphy_campaign::{Failed, Refused, SetupError, Varies};
use murphy_model::{Interface, Point};
use murphy_report::point_text;
use murphy_store::StoreError;

use crate::{exit, output, runtime};
use murphy_config::Usage;

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
    Internal(anyhow::Error),
}

impl Error {
    /// What is the matter, for a table.
    pub(crate) fn in_one_line(&self) -> String {
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
            Error::Internal(error) => error.to_string(),
        }
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        let (text, code) = match self {
            Error::Config(problems) => return report_config(problems),
            Error::Usage(usage) => (usage.to_string(), exit::USAGE),
            Error::Reference {
                complaint,
                output,
                hint,
            } => {
                let why = why_it_failed(complaint, output.as_deref());
                let text = format!("the scenario fails without any fault\n{why}hint: {hint}");
                (text, exit::REFERENCE_FAILED)
            }
            Error::Unstable { varies, hint } => {
                let varies: String = varies.iter().map(|line| format!("  | {line}\n")).collect();
                let text = format!(
                    "the scenario makes different calls from one time to the next, without any fault\n{varies}hint: {hint}"
                );
                (text, exit::REFERENCE_FAILED)
            }
            Error::Flaky {
                passed,
                complaint,
                output,
            } => {
                let why = why_it_failed(complaint, output.as_deref());
                let times = match passed {
                    1 => "once".to_owned(),
                    times => format!("{times} times"),
                };
                let text = format!(
                    "the scenario is flaky: without any fault it passed {times} and then failed\n{why}hint: make it pass every time first: faults tell nothing about a test that fails by chance"
                );
                (text, exit::REFERENCE_FAILED)
            }
            Error::Broken(broken) => (setup_error_text(broken), exit::REFERENCE_FAILED),
            Error::Store(error) => (format!("{error}\nhint: {}", error.hint()), exit::USAGE),
            Error::Interrupted => (
                "stopped before there was a result".to_owned(),
                runtime::code_of_signal(),
            ),
            Error::Internal(error) => (format!("{error:#}"), exit::INTERNAL),
        };
        complain(text);
        code
    }
}

/// More than this is looked for where it was printed.
const MOST_LINES: usize = 20;

/// What a scenario complained about, and the end of what was printed unless
/// that has been said already.
fn why_it_failed(complaint: &str, output: Option<&str>) -> String {
    let mut text: String = complaint.lines().map(quoted_line).collect();
    let lines: Vec<&str> = output.unwrap_or_default().trim().lines().collect();
    if lines.iter().any(|line| !complaint.contains(line.trim())) {
        text += "  -- what was printed last:\n";
        let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
        text.extend(last.iter().copied().map(quoted_line));
    }
    text
}

fn quoted_line(line: &str) -> String {
    format!("  | {line}\n")
}

impl Error {
    /// Why a campaign gave no result; `hint` for a scenario that fails.
    pub(crate) fn of_campaign(failed: Failed, hint: &str) -> Self {
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
            Failed::Refused(Refused::Unstable { varies, guessed }) => Error::Unstable {
                hint: match guessed.is_empty() {
                    true => way_out(&varies),
                    false => leave_out(&guessed),
                },
                varies: varies.iter().map(Varies::to_string).collect(),
            },
            Failed::Refused(Refused::NotCold { at }) => Error::Broken(not_cold(&at)),
            Failed::Broken(broken) => Error::Broken(broken),
            Failed::Interrupted => Error::Interrupted,
        }
    }
}

/// What lets a scenario be tested some of whose calls are seen under another
/// caller each time.
fn leave_out(guessed: &[String]) -> String {
    let patterns: Vec<String> = guessed.iter().map(|it| format!("{it:?}")).collect();
    format!(
        "who made some of these calls is a guess, because no trace context arrives with them, as with those of a worker thread: let their callers hand on context (`murphy doctor` names them), or leave them out of the search with\n  [search]\n  except = [{}]",
        patterns.join(", ")
    )
}

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

/// Prints a warning: something that may be meant, but hardly is.
pub(crate) fn warn(text: impl std::fmt::Display) {
    const YELLOW: anstyle::Style = anstyle::AnsiColor::Yellow.on_default().bold();
    output::say(format_args!("{YELLOW}warning:{YELLOW:#} {text}"));
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

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Error::Internal(error)
    }
}

#[cfg(test)]
mod tests {
    use super::why_it_failed;

    #[test]
    fn what_was_printed_is_shown_once() {
        let said = "exit code 1: no cart";
        let alone = "  | exit code 1: no cart\n";
        assert_eq!(why_it_failed(said, None), alone);
        assert_eq!(why_it_failed(said, Some("no cart\n")), alone);
        let more = why_it_failed(said, Some("\nlooking\nno cart\n"));
        let shown = "  -- what was printed last:\n  | looking\n  | no cart\n";
        assert_eq!(more, format!("{alone}{shown}"));
        let long: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        let shown = why_it_failed(said, Some(&long));
        assert!(!shown.contains("line 10\n") && shown.contains("line 11\n"));
    }
}

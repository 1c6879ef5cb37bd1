//! What is printed of an error, and its exit code.

use murphy::setup_error_text;
use murphy_config::Usage;
use murphy_project::messages::say;

pub(crate) use murphy_project::error::Error;
pub(crate) use murphy_project::messages::{complain, warn};

use crate::{exit, runtime};

/// Prints the error and returns the exit code.
pub(crate) fn report(error: &Error) -> u8 {
    let (text, code) = match error {
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
        Error::Internal { what, error } => (format!("{what}: {error}"), exit::INTERNAL),
    };
    complain(text);
    code
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

/// Enough to work on; later ones may follow from these.
const MOST_PROBLEMS: usize = 5;

fn report_config(problems: &[Usage]) -> u8 {
    for problem in problems.iter().take(MOST_PROBLEMS) {
        complain(problem);
    }
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        say(format_args!("({more} more)"));
    }
    exit::USAGE
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

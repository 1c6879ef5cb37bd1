//! Results in files: what `--report json=PATH` and `--format json` write.
//!
//! Owns what of their form is needed here. The form itself is that of
//! `murphy_report::json`.

use std::fs;
use std::path::{Path, PathBuf};

use murphy_config::{FilePlace, Usage};
use murphy_model::{BugClass, Fault, Faultload, Severity, SyntaxError, Target};
use serde::Deserialize;
use serde_json::Value;

use super::found::{Failure, Found};

/// What all the files tell.
pub fn read_files(paths: &[PathBuf]) -> Result<Vec<Found>, Usage> {
    paths.iter().map(|path| read(path)).collect()
}

#[derive(Deserialize)]
struct Summary {
    scenario: String,
    findings: Vec<Finding>,
    /// The smallest combinations that fail, where a search lists them.
    #[serde(default)]
    minimal: Option<Vec<Vec<String>>>,
}

#[derive(Deserialize)]
struct Finding {
    id: String,
    severity: Severity,
    class: BugClass,
    oracle: String,
    faultload: Vec<String>,
    also: Vec<Vec<String>>,
}

fn read(path: &Path) -> Result<Found, Usage> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| Usage::new(format!("cannot read `{file}`: {error}")).hint(HINT))?;
    let value = parsed(&file, &text)?;
    let is_result = value.get("scenario").is_some() && value.get("findings").is_some();
    if !is_result {
        let message = format!("`{file}` is no result of a campaign");
        return Err(Usage::new(message).hint(HINT));
    }
    let summary: Summary = serde_json::from_value(value).map_err(|error| {
        Usage::new(format!(
            "`{file}` is a result of another version of Murphy: {error}"
        ))
        .hint("run the campaign again with this version")
    })?;
    found(summary, file)
}

const HINT: &str = "such files are written by `murphy run` and `murphy demo`, with `--report json=PATH` or `--format json`";

fn parsed(file: &str, text: &str) -> Result<Value, Usage> {
    serde_json::from_str(text).map_err(|error| {
        let before: usize = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum();
        let at = (before + error.column().saturating_sub(1)).min(text.len());
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at));
        let at = at.unwrap_or(0);
        Usage::new(format!("`{file}` is not JSON"))
            .in_file(FilePlace {
                file,
                text,
                span: at..at + 1,
                label: "unreadable from here on".to_owned(),
            })
            .hint(HINT)
    })
}

fn found(summary: Summary, file: String) -> Result<Found, Usage> {
    let mut found = Found {
        scenario: summary.scenario,
        source: file,
        ..Found::default()
    };
    for finding in summary.findings {
        let also = finding.also.iter();
        let also: Result<_, _> = also.map(|it| faultload(it, &found.source)).collect();
        let failure = Failure {
            finding: Some(finding.id),
            oracle: finding.oracle,
            severity: finding.severity,
            faultload: faultload(&finding.faultload, &found.source)?,
        };
        found.take(finding.class, failure, also?);
    }
    for faults in summary.minimal.unwrap_or_default() {
        let faultload = faultload(&faults, &found.source)?;
        found.take_minimal(faultload);
    }
    Ok(found)
}

/// Campaigns make exactly known calls fail; a pattern was never a result.
fn faultload(faults: &[String], file: &str) -> Result<Faultload, Usage> {
    let refused = |text: &str, why: String| {
        Usage::new(format!("`{file}` names a fault that cannot be read: {why}"))
            .at("in the file:", text, text, "not a fault at a call")
            .hint("run the campaign again with this version")
    };
    let mut all = Vec::new();
    for text in faults {
        let fault: Fault = text
            .parse()
            .map_err(|error: SyntaxError| refused(text, error.message().to_owned()))?;
        if matches!(fault.target, Target::Matching(_)) {
            return Err(refused(text, "it is a pattern".to_owned()));
        }
        all.push(fault);
    }
    let whole = faults.join(", ");
    Faultload::new(all).map_err(|conflict| refused(&whole, conflict.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Found, String> {
        let value = parsed("a.json", text).map_err(|error| error.to_string())?;
        let summary = serde_json::from_value(value).map_err(|error| error.to_string())?;
        found(summary, "a.json".to_owned()).map_err(|error| error.to_string())
    }

    const FINDING: &str = r#""id": "M-1", "severity": "fail", "class": "no-handling", "oracle": "scenario",
        "faultload": ["a GET / > b GET / = 503"]"#;

    #[test]
    fn findings_and_listed_combinations_are_failures() {
        let text = format!(
            r#"{{"scenario": "buy", "findings": [{{ {FINDING}, "also": [["a GET / > c GET / = 500"]] }}],
                "minimal": [["a GET / > b GET / = 503", "a GET / > d GET / = 500"]]}}"#
        );
        let found = read_text(&text).unwrap();
        assert_eq!((found.scenario.as_str(), found.findings), ("buy", 1));
        let failures: Vec<(Option<&str>, usize)> = found
            .failures
            .iter()
            .map(|it| (it.finding.as_deref(), it.faultload.len()))
            .collect();
        assert_eq!(failures, [(Some("M-1"), 1), (Some("M-1"), 1), (None, 2)]);
    }

    #[test]
    fn what_was_never_injected_is_counted_and_no_failure() {
        let text = format!(r#"{{"scenario": "buy", "findings": [{{ {FINDING}, "also": [] }}]}}"#);
        let found = read_text(&text.replace("no-handling", "untested")).unwrap();
        assert_eq!((found.untested, found.failures.len()), (1, 0));
    }
}

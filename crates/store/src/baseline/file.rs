//! The file of a baseline: read with places in errors, written at once.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Baseline, Entry};
use crate::atomic_file::{self, Readable};

/// What every file begins with.
const HEADER: &str = "\
# Findings of Murphy that are known and may stay for now: they do not fail the
# build. Written by `murphy baseline write`, `add` and `remove`, which keep reasons
# and dates but not comments. `expires` is the last day on which an entry holds.
";

/// Why a baseline cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read or written.
    #[error("the baseline `{}` cannot be {action}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried, in one word.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// What is in the file is no baseline.
    #[error("{}:{line}:{column}: {message}\n  | {text}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The line of the place, from 1.
        line: usize,
        /// The column of the place in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// The line itself.
        text: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(default)]
    finding: Vec<Spanned<Entry>>,
}

#[derive(Serialize)]
struct Written<'b> {
    finding: &'b [Entry],
}

pub(super) fn load(path: &Path) -> Result<Baseline, BaselineError> {
    let text = fs::read_to_string(path).map_err(|source| failed(path, "read", source))?;
    let read: Read = toml::from_str(&text)
        .map_err(|error| content(path, &text, error.span(), error.message()))?;
    let mut seen = BTreeSet::new();
    for entry in &read.finding {
        let Entry { id, scenario, .. } = entry.get_ref();
        if !seen.insert((id, scenario)) {
            let message = format!("`{id}` of `{scenario}` is listed twice; remove one of them");
            return Err(content(path, &text, Some(entry.span()), &message));
        }
    }
    let entries = read.finding.into_iter().map(Spanned::into_inner);
    Ok(Baseline {
        entries: entries.collect(),
    })
}

fn failed(path: &Path, action: &'static str, source: io::Error) -> BaselineError {
    BaselineError::File {
        path: path.to_owned(),
        action,
        source,
    }
}

fn content(path: &Path, text: &str, span: Option<Range<usize>>, message: &str) -> BaselineError {
    let at = span.map_or(0, |span| span.start).min(text.len());
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    BaselineError::Content {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        message: message.to_owned(),
        text: text[start..].lines().next().unwrap_or_default().to_owned(),
    }
}

pub(super) fn save(baseline: &Baseline, path: &Path) -> Result<(), BaselineError> {
    let finding = &baseline.entries;
    let entries = toml::to_string(&Written { finding }).expect("texts and dates only");
    let text = match baseline.entries.is_empty() {
        true => HEADER.to_owned(),
        false => format!("{HEADER}\n{entries}"),
    };
    let written = atomic_file::replace(path, text.as_bytes(), Readable::AsUsual);
    written.map_err(|source| failed(path, "written", source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::NamedTempFile;

    fn file(text: &str) -> NamedTempFile {
        let file = NamedTempFile::new().unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn what_is_written_is_read_and_looks_like_this() {
        let file = file("");
        let path = file.path();
        let baseline = Baseline {
            entries: vec![
                Entry {
                    id: "M-3fa9c1".into(),
                    scenario: "checkout".into(),
                    class: "no-handling".into(),
                    call: "shop POST /checkout > cart GET /cart".into(),
                    bug: "scenario no-handling, answer 500: cart GET /cart".into(),
                    summary: "expected \"200\",\ngot 500".into(),
                    modes: vec!["500".into(), "reset".into()],
                    reason: "fixed with the new cart".into(),
                    added: Some("2026-11-18".parse().unwrap()),
                    expires: Some("2027-01-31".parse().unwrap()),
                },
                Entry {
                    id: "M-77".into(),
                    scenario: "checkout".into(),
                    class: String::new(),
                    call: String::new(),
                    bug: String::new(),
                    summary: String::new(),
                    modes: Vec::new(),
                    reason: String::new(),
                    added: None,
                    expires: None,
                },
            ],
        };
        baseline.save(path).unwrap();
        assert_eq!(Baseline::load(path).unwrap(), baseline);
        let text = fs::read_to_string(path).unwrap();
        let entries = text.strip_prefix(HEADER).unwrap();
        assert_eq!(
            entries,
            r#"
[[finding]]
id = "M-3fa9c1"
scenario = "checkout"
class = "no-handling"
call = "shop POST /checkout > cart GET /cart"
bug = "scenario no-handling, answer 500: cart GET /cart"
summary = """
expected "200",
got 500"""
modes = ["500", "reset"]
reason = "fixed with the new cart"
added = "2026-11-18"
expires = "2027-01-31"

[[finding]]
id = "M-77"
scenario = "checkout"
summary = ""
"#
        );
        Baseline::default().save(path).unwrap();
        assert_eq!(Baseline::load(path).unwrap(), Baseline::default());
    }

    #[test]
    fn what_is_no_baseline_is_refused_with_its_place() {
        const ENTRY: &str = "[[finding]]\nid = \"a\"\nscenario = \"s\"\nreason = \"r\"\n";
        let cases = [
            (
                format!("{ENTRY}owner = \"x\"\n"),
                ":5:1: unknown field `owner`",
                "| owner = \"x\"",
            ),
            (
                format!("{ENTRY}expires = \"soon\"\n"),
                ":5:11: `soon` is no date",
                "2027-01-31",
            ),
            (
                "[[finding]]\nid = \"a\"\n".to_owned(),
                ":1:1: missing field `scenario`",
                "[[finding]]",
            ),
            (
                format!("{ENTRY}{ENTRY}"),
                ":5:1: `a` of `s` is listed twice",
                "remove one",
            ),
            (
                "findings = []\n".to_owned(),
                ":1:1: unknown field `findings`",
                "`finding`",
            ),
            ("[[finding]\n".to_owned(), ":1:", "[[finding]"),
        ];
        for (text, place, says) in cases {
            let file = file(&text);
            let shown = Baseline::load(file.path()).unwrap_err().to_string();
            assert!(shown.contains(place), "{place:?} is not in:\n{shown}");
            assert!(shown.contains(says), "{says:?} is not in:\n{shown}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error_unless_it_may_be_missing() {
        let path = Path::new("/nowhere/murphy-baseline.toml");
        assert!(matches!(
            Baseline::load(path),
            Err(BaselineError::File { .. })
        ));
        assert_eq!(Baseline::load_or_empty(path).unwrap(), Baseline::default());
    }
}

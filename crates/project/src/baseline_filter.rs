//! Which findings of a campaign the baseline knows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use murphy_report::shell::quoted;
use murphy_report::{Known, Summary, bug_name};
use murphy_store::baseline::{Baseline, Date, Entry};

use crate::messages;
use crate::project::Project;
use crate::typed::TypedSearch;
use murphy_config::Usage;

/// A baseline, and the file that it is in.
pub struct BaselineFilter {
    file: PathBuf,
    baseline: Baseline,
}

impl BaselineFilter {
    /// The baseline of a project, `None` if it has none. One that was typed
    /// must be there: a mistyped path would excuse nothing, and say nothing.
    pub fn open(project: &Project, typed: Option<&Path>) -> Result<Option<Self>, Usage> {
        BaselineFilter::open_file(project.baseline(typed), typed)
    }

    /// The same in this file.
    pub fn open_file(file: PathBuf, typed: Option<&Path>) -> Result<Option<Self>, Usage> {
        if !file.exists() {
            return typed.map_or(Ok(None), |typed| Err(missing(typed)));
        }
        let baseline = load(&file)?;
        Ok(Some(BaselineFilter { file, baseline }))
    }

    /// Says which entries have expired: they excuse nothing any more, whether
    /// or not their findings are still there.
    pub fn say_expired(&self) {
        let today = today();
        let expired = self.baseline.entries().iter();
        let expired = expired.filter(|entry| entry.is_expired(&today));
        let ids: BTreeSet<&str> = expired.map(|entry| entry.id.as_str()).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        if !ids.is_empty() {
            messages::say(format_args!(
                "note: expired in {}, so no longer excused: {} (`murphy baseline` lists them)",
                self.file.display(),
                ids.join(", ")
            ));
        }
    }

    /// What it says of the findings of a campaign. That a bug is not there any
    /// more is told only by who looked everywhere.
    pub fn of(&self, summary: &Summary, search: &TypedSearch) -> Known {
        let everywhere = summary.certificate.is_complete() && !search.is_narrowed();
        let findings = &summary.findings;
        let scenario = &summary.scenario;
        let split = self.baseline.split(scenario, findings, bug_name, &today());
        let through = split.known.iter().chain(&split.expired);
        let through =
            through.filter(|(it, entry)| it.id != entry.id || *scenario != entry.scenario);
        let through = through.map(|(it, entry)| (it.id.clone(), entry_name(entry, scenario)));
        let reasons = split.known.iter();
        let reasons = reasons.map(|(finding, entry)| (finding.id.clone(), reason(entry)));
        Known {
            file: self.file.display().to_string(),
            through: through.collect(),
            reasons: reasons.collect(),
            expired: split
                .expired
                .iter()
                .map(|(finding, _)| finding.id.clone())
                .collect(),
            other_modes: split
                .other_modes
                .iter()
                .map(|(finding, modes)| (finding.id.clone(), modes.clone()))
                .collect(),
            stale: split
                .stale
                .iter()
                .filter(|_| everywhere)
                .map(|entry| entry.id.clone())
                .collect(),
        }
    }
}

/// An entry, as whoever reads about this scenario finds it.
fn entry_name(entry: &Entry, scenario: &str) -> String {
    match entry.scenario == scenario {
        true => entry.id.clone(),
        false => format!("{} in scenario `{}`", entry.id, entry.scenario),
    }
}

/// Why an entry may stay, in words.
fn reason(entry: &Entry) -> String {
    match entry.reason.is_empty() {
        true => "no reason given".to_owned(),
        false => entry.reason.clone(),
    }
}

fn missing(typed: &Path) -> Usage {
    let path = typed.display().to_string();
    Usage::new("there is no such baseline")
        .at("--baseline", &path, &path, "no such file")
        .hint(format!(
            "`murphy baseline write --baseline {} --reason TEXT` makes it from what the last campaign found",
            quoted(&path)
        ))
}

/// The baseline in this file; nothing is known where there is none.
pub fn load(file: &Path) -> Result<Baseline, Usage> {
    Baseline::load_or_empty(file).map_err(|error| {
        Usage::new(error.to_string()).hint("`murphy baseline write` writes it anew")
    })
}

/// The day it is, in UTC.
pub fn today() -> Date {
    Date::of(SystemTime::now().max(UNIX_EPOCH))
}

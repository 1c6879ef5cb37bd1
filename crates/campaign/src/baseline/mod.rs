//! The baseline: findings that are known, each with the reason why it may
//! stay for now.
//!
//! Owns `murphy-baseline.toml`, a file for people to review and to keep beside
//! the code. It decides which findings are news; what follows from that (exit
//! codes, reports) is for others. The file is written as a whole: reasons and
//! dates are kept, comments are not.

mod date;
mod file;

pub use date::{Date, NotADate};
pub use file::BaselineError;

use std::path::Path;

use murphy_model::Finding;
use serde::{Deserialize, Serialize};

/// The usual name of the file.
pub const FILE: &str = "murphy-baseline.toml";

/// Findings that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: Vec<Entry>,
}

/// A finding that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The finding's stable name.
    pub id: String,
    /// The scenario that shows it.
    pub scenario: String,
    /// What is wrong, for whoever reads the file.
    #[serde(default)]
    pub summary: String,
    /// Why it may stay.
    pub reason: String,
    /// The last day on which it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Date>,
}

impl Entry {
    fn is_for(&self, scenario: &str, id: &str) -> bool {
        self.scenario == scenario && self.id == id
    }

    fn is_expired(&self, today: &Date) -> bool {
        self.expires.as_ref().is_some_and(|last| last < today)
    }
}

/// Findings of a campaign, divided by what the baseline says of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split<'b> {
    /// Not known.
    pub new: Vec<&'b Finding>,
    /// Known, and may stay.
    pub known: Vec<(&'b Finding, &'b Entry)>,
    /// Known, but should be gone by now.
    pub expired: Vec<(&'b Finding, &'b Entry)>,
    /// Known and not found any more: the entry can go.
    pub stale: Vec<&'b Entry>,
}

impl Baseline {
    /// The baseline in this file.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        file::load(path)
    }

    /// The baseline in this file; nothing is known where there is none.
    pub fn load_or_empty(path: &Path) -> Result<Self, BaselineError> {
        match path.exists() {
            true => Self::load(path),
            false => Ok(Baseline::default()),
        }
    }

    /// Writes the file, as a whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), BaselineError> {
        file::save(self, path)
    }

    /// The entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds these findings of a scenario, each by its name and what is wrong;
    /// how many are new to it. Entries that are there keep their reason and
    /// date, unless they have expired: then they are renewed.
    pub fn add<'f>(
        &mut self,
        scenario: &str,
        findings: impl IntoIterator<Item = (&'f str, &'f str)>,
        reason: &str,
        expires: Option<&Date>,
        today: &Date,
    ) -> usize {
        let before = self.entries.len();
        for (id, summary) in findings {
            let entry = Entry {
                id: id.to_owned(),
                scenario: scenario.to_owned(),
                summary: summary.to_owned(),
                reason: reason.to_owned(),
                expires: expires.cloned(),
            };
            let known = |entry: &&mut Entry| entry.is_for(scenario, id);
            match self.entries.iter_mut().find(known) {
                Some(known) if known.is_expired(today) => *known = entry,
                Some(known) => known.summary = entry.summary,
                None => self.entries.push(entry),
            }
        }
        let key = |entry: &Entry| (entry.scenario.clone(), entry.id.clone());
        self.entries.sort_by_key(key);
        self.entries.len() - before
    }

    /// Divides the findings of a scenario's campaign. An entry holds through
    /// the day it expires on.
    pub fn split<'b>(&'b self, scenario: &str, findings: &'b [Finding], today: &Date) -> Split<'b> {
        let mut split = Split::default();
        for finding in findings {
            let mut entries = self.entries.iter();
            match entries.find(|entry| entry.is_for(scenario, &finding.id)) {
                None => split.new.push(finding),
                Some(entry) if entry.is_expired(today) => split.expired.push((finding, entry)),
                Some(entry) => split.known.push((finding, entry)),
            }
        }
        let found = |entry: &Entry| findings.iter().any(|f| f.id == entry.id);
        let of_scenario = self.entries.iter().filter(|e| e.scenario == scenario);
        split.stale = of_scenario.filter(|entry| !found(entry)).collect();
        split
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use murphy_model::{BugClass, Faultload, Severity};

    fn finding(id: &str) -> Finding {
        Finding {
            id: id.to_owned(),
            severity: Severity::Fail,
            class: BugClass::Unclassified,
            oracle: "scenario",
            faultload: Faultload::none(),
            summary: format!("{id} is wrong"),
            edge: None,
            execution: 1,
            shown: Arc::default(),
            seen: 1,
            also: Vec::new(),
        }
    }

    fn named(findings: &[Finding]) -> impl Iterator<Item = (&str, &str)> {
        findings
            .iter()
            .map(|it| (it.id.as_str(), it.summary.as_str()))
    }

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn only_news_and_what_expired_are_held_against_a_build() {
        let mut baseline = Baseline::default();
        let (until, today) = (day("2026-12-31"), day("2026-11-16"));
        baseline.add(
            "shop",
            named(&[finding("M-1"), finding("M-3")]),
            "later",
            None,
            &today,
        );
        baseline.add(
            "shop",
            named(&[finding("M-2")]),
            "soon",
            Some(&until),
            &today,
        );
        baseline.add("other", named(&[finding("M-4")]), "theirs", None, &today);
        let findings = [finding("M-1"), finding("M-2"), finding("M-4")];
        let ids = |today: &str| {
            let split = baseline.split("shop", &findings, &day(today));
            let of =
                |pairs: &[(&Finding, &Entry)]| pairs.iter().map(|(f, _)| f.id.clone()).collect();
            let known: Vec<String> = of(&split.known);
            let expired: Vec<String> = of(&split.expired);
            let new: Vec<String> = split.new.iter().map(|f| f.id.clone()).collect();
            let stale: Vec<String> = split.stale.iter().map(|e| e.id.clone()).collect();
            format!(
                "{} | {} | {} | {}",
                new.join(","),
                known.join(","),
                expired.join(","),
                stale.join(",")
            )
        };
        assert_eq!(ids("2026-12-31"), "M-4 | M-1,M-2 |  | M-3");
        assert_eq!(ids("2027-01-01"), "M-4 | M-1 | M-2 | M-3");
    }

    #[test]
    fn entries_keep_their_reasons_until_they_expire() {
        let mut baseline = Baseline::default();
        let (past, today) = (day("2026-11-15"), day("2026-11-16"));
        let both = [finding("M-1"), finding("M-2")];
        assert_eq!(
            baseline.add("a", named(&both[..1]), "first", None, &today),
            1
        );
        assert_eq!(
            baseline.add("a", named(&both[1..]), "first", Some(&past), &past),
            1
        );
        assert_eq!(baseline.add("a", named(&both), "second", None, &today), 0);
        let reasons: Vec<&str> = baseline.entries().iter().map(|e| &*e.reason).collect();
        assert_eq!(reasons, ["first", "second"]);
    }
}

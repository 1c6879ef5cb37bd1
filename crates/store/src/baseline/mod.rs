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

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use murphy_model::{Finding, Mode};
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
    /// The modes it was known with; empty, as in files of earlier versions,
    /// stands for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
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

    /// Takes over what a later campaign says of the finding.
    fn renew(&mut self, later: Entry) {
        self.summary = later.summary;
        self.modes.extend(later.modes);
        self.modes.sort();
        self.modes.dedup();
    }

    /// The modes of a finding that it was not known with.
    fn new_modes(&self, finding: &Finding) -> Vec<String> {
        let modes = finding.modes().into_iter().map(|mode| mode.to_string());
        let is_new = |mode: &String| !self.modes.is_empty() && !self.modes.contains(mode);
        modes.filter(is_new).collect()
    }

    fn is_expired(&self, today: &Date) -> bool {
        self.expires.as_ref().is_some_and(|last| last < today)
    }
}

/// A finding to be taken as known.
#[derive(Clone, Debug)]
pub struct ToKnow<'f> {
    /// Its stable name.
    pub id: &'f str,
    /// What is wrong.
    pub summary: &'f str,
    /// The modes it shows with.
    pub modes: BTreeSet<Mode>,
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
    /// Known, but not with these modes.
    pub other_modes: Vec<(&'b Finding, Vec<String>)>,
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

    /// Adds these findings of a scenario; how many are new to it. Entries that
    /// are there keep their reason and date and are known with more modes,
    /// unless they have expired: then they are renewed.
    pub fn add<'f>(
        &mut self,
        scenario: &str,
        findings: impl IntoIterator<Item = ToKnow<'f>>,
        reason: &str,
        expires: Option<&Date>,
        today: &Date,
    ) -> usize {
        let before = self.entries.len();
        for ToKnow { id, summary, modes } in findings {
            let entry = Entry {
                id: id.to_owned(),
                scenario: scenario.to_owned(),
                summary: summary.to_owned(),
                modes: modes.iter().map(Mode::to_string).collect(),
                reason: reason.to_owned(),
                expires: expires.cloned(),
            };
            let known = |entry: &&mut Entry| entry.is_for(scenario, id);
            match self.entries.iter_mut().find(known) {
                Some(known) if known.is_expired(today) => *known = entry,
                Some(known) => known.renew(entry),
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
        let of_scenario = self.entries.iter().filter(|e| e.scenario == scenario);
        let entries: BTreeMap<&str, &Entry> = of_scenario.map(|it| (&*it.id, it)).collect();
        let mut found = BTreeSet::new();
        for finding in findings {
            found.insert(&*finding.id);
            let entry = entries.get(&*finding.id).copied();
            let new_modes = entry.map(|entry| entry.new_modes(finding));
            match (entry, new_modes) {
                (Some(entry), _) if entry.is_expired(today) => split.expired.push((finding, entry)),
                (Some(_), Some(modes)) if !modes.is_empty() => {
                    split.other_modes.push((finding, modes));
                }
                (Some(entry), _) => split.known.push((finding, entry)),
                (None, _) => split.new.push(finding),
            }
        }
        let stale = self.entries.iter().filter(|e| e.scenario == scenario);
        split.stale = stale.filter(|it| !found.contains(&*it.id)).collect();
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
            oracle: "scenario".into(),
            faultload: Faultload::none(),
            summary: format!("{id} is wrong"),
            edge: None,
            execution: 1,
            shown: Arc::default(),
            seen: 1,
            also: Vec::new(),
        }
    }

    fn named(findings: &[Finding]) -> impl Iterator<Item = ToKnow<'_>> {
        findings.iter().map(|it| ToKnow {
            id: &it.id,
            summary: &it.summary,
            modes: it.modes(),
        })
    }

    #[test]
    fn a_new_mode_of_a_known_finding_is_not_excused() {
        let with = |modes: &[&str]| {
            let faultload = |mode: &&str| format!("shop GET / > cart GET / = {mode}").parse();
            let mut all: Vec<Faultload> = modes
                .iter()
                .map(faultload)
                .collect::<Result<_, _>>()
                .unwrap();
            Finding {
                faultload: all.remove(0),
                also: all,
                ..finding("M-1")
            }
        };
        let today = day("2026-11-16");
        let mut baseline = Baseline::default();
        baseline.add("shop", named(&[with(&["500"])]), "later", None, &today);
        let new_modes = |baseline: &Baseline, modes: &[&str]| {
            let findings = [with(modes)];
            let split = baseline.split("shop", &findings, &today);
            assert_eq!(split.known.len() + split.other_modes.len(), 1);
            split.other_modes.first().map(|(_, modes)| modes.clone())
        };
        assert_eq!(new_modes(&baseline, &["500"]), None);
        assert_eq!(
            new_modes(&baseline, &["500", "503"]),
            Some(vec!["503".to_owned()])
        );
        baseline.add("shop", named(&[with(&["503"])]), "ignored", None, &today);
        assert_eq!(new_modes(&baseline, &["500", "503"]), None);
        assert_eq!(baseline.entries[0].reason, "later");
        baseline.entries[0].modes.clear();
        assert_eq!(new_modes(&baseline, &["reset"]), None, "as in older files");
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
        let reasons: Vec<&str> = baseline.entries.iter().map(|e| &*e.reason).collect();
        assert_eq!(reasons, ["first", "second"]);
    }
}

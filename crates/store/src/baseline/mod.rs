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
    /// Its place in the taxonomy, for whoever reads the file; empty in files of
    /// earlier versions, as are the call and the day.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// The call whose failure is not handled, for whoever reads the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// What tells the bug in other tests and scenarios: the call sites and what
    /// comes of it. Empty, as in files of earlier versions, where the entry holds
    /// for its own finding only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bug: String,
    /// What is wrong, for whoever reads the file.
    #[serde(default)]
    pub summary: String,
    /// The modes it was known with; empty, as in files of earlier versions,
    /// stands for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// Why it may stay; empty if nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The day on which it was taken as known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Date>,
    /// The last day on which it may stay.
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
        self.class = later.class;
        self.call = later.call;
        self.bug = later.bug;
        self.modes.extend(later.modes);
        self.modes.sort();
        self.modes.dedup();
    }

    /// Whether it holds for a finding by the name of its bug.
    pub fn is_about(&self, bug: &str) -> bool {
        !bug.is_empty() && self.bug == bug
    }

    /// The modes of a finding that it was not known with.
    fn new_modes(&self, finding: &Finding) -> Vec<String> {
        let modes = finding.modes().into_iter().map(|mode| mode.to_string());
        let is_new = |mode: &String| !self.modes.is_empty() && !self.modes.contains(mode);
        modes.filter(is_new).collect()
    }

    /// Whether its last day is over.
    pub fn is_expired(&self, today: &Date) -> bool {
        self.expires.as_ref().is_some_and(|last| last < today)
    }
}

/// A finding to be taken as known.
#[derive(Clone, Debug)]
pub struct ToKnow<'f> {
    /// Its stable name.
    pub id: &'f str,
    /// Its place in the taxonomy.
    pub class: &'f str,
    /// The call whose failure is not handled.
    pub call: String,
    /// What tells the bug in other tests and scenarios, if anything does.
    pub bug: String,
    /// What is wrong.
    pub summary: &'f str,
    /// The modes it shows with.
    pub modes: BTreeSet<Mode>,
}

/// Why findings may stay, and until when.
#[derive(Clone, Debug)]
pub struct Excuse {
    /// Why; empty if nobody says.
    pub reason: String,
    /// The last day on which they may; forever if none.
    pub expires: Option<Date>,
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

    /// All entries, by scenario and name.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds these findings of a scenario; how many are new to it. Entries that
    /// are there keep their reason and dates and are known with more modes,
    /// unless they have expired: then they are renewed.
    pub fn add<'f>(
        &mut self,
        scenario: &str,
        findings: impl IntoIterator<Item = ToKnow<'f>>,
        excuse: &Excuse,
        today: &Date,
    ) -> usize {
        let before = self.entries.len();
        for finding in findings {
            let entry = entry(scenario, &finding, excuse, today);
            match self.known(scenario, finding.id) {
                Some(known) if known.is_expired(today) => *known = entry,
                Some(known) => known.renew(entry),
                None => self.entries.push(entry),
            }
        }
        self.sort();
        self.entries.len() - before
    }

    /// Adds one finding of a scenario, by name: what is said of it now counts,
    /// also where it was known. Whether it was new.
    pub fn put(
        &mut self,
        scenario: &str,
        finding: &ToKnow<'_>,
        excuse: &Excuse,
        today: &Date,
    ) -> bool {
        let mut entry = entry(scenario, finding, excuse, today);
        let known = self.known(scenario, finding.id);
        let is_new = known.is_none();
        match known {
            Some(known) => {
                // Left out is not taken back.
                if entry.reason.is_empty() {
                    entry.reason.clone_from(&known.reason);
                }
                *known = entry;
            }
            None => self.entries.push(entry),
        }
        self.sort();
        is_new
    }

    /// Takes out the entries of a finding, of this scenario or of all; what
    /// was taken out.
    pub fn remove(&mut self, id: &str, scenario: Option<&str>) -> Vec<Entry> {
        let is_meant =
            |entry: &Entry| entry.id == id && scenario.is_none_or(|it| entry.scenario == it);
        let entries = std::mem::take(&mut self.entries).into_iter();
        let (removed, kept) = entries.partition(is_meant);
        self.entries = kept;
        removed
    }

    fn known(&mut self, scenario: &str, id: &str) -> Option<&mut Entry> {
        let mut entries = self.entries.iter_mut();
        entries.find(|entry| entry.is_for(scenario, id))
    }

    fn sort(&mut self) {
        let key = |entry: &Entry| (entry.scenario.clone(), entry.id.clone());
        self.entries.sort_by_key(key);
    }

    /// Divides the findings of a scenario's campaign. A finding's own entry
    /// counts most; without one, that of the same bug in another test or
    /// scenario, the one that holds longest. An entry holds through the day it
    /// expires on.
    pub fn split<'b>(
        &'b self,
        scenario: &str,
        findings: &'b [Finding],
        bug_name: impl Fn(&Finding) -> String,
        today: &Date,
    ) -> Split<'b> {
        let mut split = Split::default();
        let of_scenario = self.entries.iter().filter(|e| e.scenario == scenario);
        let entries: BTreeMap<&str, &Entry> = of_scenario.map(|it| (&*it.id, it)).collect();
        let (mut found, mut bugs) = (BTreeSet::new(), BTreeSet::new());
        for finding in findings {
            found.insert(&*finding.id);
            let bug = bug_name(finding);
            let entry = entries.get(&*finding.id).copied();
            let entry = entry.or_else(|| self.of_bug(&bug));
            bugs.insert(bug);
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
        let is_gone = |entry: &&Entry| {
            !found.contains(&*entry.id) && !bugs.iter().any(|bug| entry.is_about(bug))
        };
        split.stale = stale.filter(is_gone).collect();
        split
    }

    /// The entry about this bug that holds longest.
    fn of_bug(&self, bug: &str) -> Option<&Entry> {
        let about = self.entries.iter().filter(|entry| entry.is_about(bug));
        about.max_by_key(|entry| (entry.expires.is_none(), entry.expires.as_ref()))
    }
}

fn entry(scenario: &str, finding: &ToKnow<'_>, excuse: &Excuse, today: &Date) -> Entry {
    Entry {
        id: finding.id.to_owned(),
        scenario: scenario.to_owned(),
        class: finding.class.to_owned(),
        call: finding.call.clone(),
        bug: finding.bug.clone(),
        summary: finding.summary.to_owned(),
        modes: finding.modes.iter().map(Mode::to_string).collect(),
        reason: excuse.reason.clone(),
        added: Some(today.clone()),
        expires: excuse.expires.clone(),
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
            class: it.class.name(),
            call: "shop GET / > cart GET /".to_owned(),
            bug: String::new(),
            summary: &it.summary,
            modes: it.modes(),
        })
    }

    fn no_bug(_: &Finding) -> String {
        String::new()
    }

    #[test]
    fn an_entry_holds_for_its_bug_in_other_tests_and_scenarios() {
        let (until, today) = (day("2026-12-31"), day("2026-11-16"));
        let mut baseline = Baseline::default();
        let known = [finding("M-1")];
        let mut known = named(&known).collect::<Vec<_>>();
        known[0].bug = "cart".to_owned();
        baseline.add("shop", known, &because("later", Some(&until)), &today);
        let findings = [finding("M-1"), finding("M-2"), finding("M-3")];
        let bug_name = |it: &Finding| match &*it.id {
            "M-3" => "stock".to_owned(),
            _ => "cart".to_owned(),
        };
        let split = |scenario: &str, findings: &[Finding], today: &str| {
            let split = baseline.split(scenario, findings, bug_name, &day(today));
            let of = |pairs: &[(&Finding, &Entry)]| -> Vec<String> {
                pairs.iter().map(|(it, _)| it.id.clone()).collect()
            };
            (
                of(&split.known),
                of(&split.expired),
                split.new.len(),
                split.stale.len(),
            )
        };
        let ids = |ids: &[&str]| -> Vec<String> { ids.iter().map(|it| (*it).to_owned()).collect() };
        let [one, other] = ["2026-12-31", "2027-01-01"];
        let both = ids(&["M-1", "M-2"]);
        assert_eq!(split("shop", &findings, one), (both.clone(), vec![], 1, 0));
        assert_eq!(
            split("other", &findings[1..], one),
            (ids(&["M-2"]), vec![], 1, 0)
        );
        assert_eq!(split("other", &findings, other), (vec![], both, 1, 0));
        assert_eq!(
            split("shop", &findings[1..2], one).3,
            0,
            "another test shows it"
        );
        assert_eq!(split("shop", &findings[2..], one).3, 1, "nothing shows it");
    }

    fn because(reason: &str, expires: Option<&Date>) -> Excuse {
        Excuse {
            reason: reason.to_owned(),
            expires: expires.cloned(),
        }
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
        baseline.add(
            "shop",
            named(&[with(&["500"])]),
            &because("later", None),
            &today,
        );
        let new_modes = |baseline: &Baseline, modes: &[&str]| {
            let findings = [with(modes)];
            let split = baseline.split("shop", &findings, no_bug, &today);
            assert_eq!(split.known.len() + split.other_modes.len(), 1);
            split.other_modes.first().map(|(_, modes)| modes.clone())
        };
        assert_eq!(new_modes(&baseline, &["500"]), None);
        assert_eq!(
            new_modes(&baseline, &["500", "503"]),
            Some(vec!["503".to_owned()])
        );
        baseline.add(
            "shop",
            named(&[with(&["503"])]),
            &because("ignored", None),
            &today,
        );
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
            &because("later", None),
            &today,
        );
        baseline.add(
            "shop",
            named(&[finding("M-2")]),
            &because("soon", Some(&until)),
            &today,
        );
        baseline.add(
            "other",
            named(&[finding("M-4")]),
            &because("theirs", None),
            &today,
        );
        let findings = [finding("M-1"), finding("M-2"), finding("M-4")];
        let ids = |today: &str| {
            let split = baseline.split("shop", &findings, no_bug, &day(today));
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
            baseline.add("a", named(&both[..1]), &because("first", None), &today),
            1
        );
        assert_eq!(
            baseline.add(
                "a",
                named(&both[1..]),
                &because("first", Some(&past)),
                &past
            ),
            1
        );
        assert_eq!(
            baseline.add("a", named(&both), &because("second", None), &today),
            0
        );
        let reasons: Vec<&str> = baseline.entries.iter().map(|e| &*e.reason).collect();
        assert_eq!(reasons, ["first", "second"]);
    }

    #[test]
    fn what_is_put_by_name_counts_as_it_is_said_now() {
        let mut baseline = Baseline::default();
        let (then, today) = (day("2026-11-15"), day("2026-11-16"));
        let one = [finding("M-1")];
        let mut put = |excuse: &Excuse, today: &Date| {
            let one = named(&one).next().unwrap();
            let is_new = baseline.put("shop", &one, excuse, today);
            (is_new, baseline.entries()[0].clone())
        };
        let (is_new, entry) = put(&because("ticket 1", None), &then);
        assert!(is_new);
        assert_eq!(entry.class, "unclassified");
        assert_eq!(entry.call, "shop GET / > cart GET /");
        assert_eq!(entry.added, Some(then));
        let (is_new, entry) = put(&because("", Some(&today)), &today);
        assert!(!is_new);
        assert_eq!(entry.reason, "ticket 1", "left out is not taken back");
        assert_eq!(entry.expires, Some(today.clone()));
        let (_, entry) = put(&because("ticket 2", None), &today);
        assert_eq!((&*entry.reason, entry.expires), ("ticket 2", None));
    }

    #[test]
    fn what_is_removed_is_told() {
        let mut baseline = Baseline::default();
        let today = day("2026-11-16");
        for scenario in ["a", "b"] {
            let both = [finding("M-1"), finding("M-2")];
            baseline.add(scenario, named(&both), &because("x", None), &today);
        }
        assert_eq!(baseline.remove("M-3", None), []);
        let removed = baseline.remove("M-1", Some("b"));
        assert_eq!(removed.len(), 1);
        assert_eq!((&*removed[0].id, &*removed[0].scenario), ("M-1", "b"));
        assert_eq!(baseline.remove("M-2", None).len(), 2);
        assert_eq!(baseline.entries().len(), 1);
    }
}

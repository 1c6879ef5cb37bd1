//! The summary of a campaign: what every format is made from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use murphy_model::{
    Besides, Certificate, EdgeProfile, Faultload, Finding, Point, Severity, Trace, Verdict,
};

/// All that is reported of a campaign.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// What it is about, in one line.
    pub about: String,
    /// The strategy's name.
    pub strategy: String,
    /// How calls failed, as it was asked for.
    pub modes: Vec<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// What was covered.
    pub certificate: Certificate,
    /// Why a policy skips, by the policy's name.
    pub reasons: BTreeMap<&'static str, &'static str>,
    /// The bugs.
    pub findings: Vec<Finding>,
    /// How many of the explored executions failed: the scenario, or an oracle
    /// complained whose word fails the build. Progress counts the same.
    pub failed_executions: usize,
    /// The execution without faults.
    pub reference: Trace,
    /// Every point seen that can be injected, in the order first seen.
    pub points: Vec<Point>,
    /// How long it took.
    pub timing: Timing,
    /// What every edge did about failures; empty if it was not looked at.
    pub profile: Vec<EdgeProfile>,
    /// The command that explains a faultload, without the faultload; empty if
    /// there is none.
    pub explain_command: String,
    /// What follows the faultload in that command, with the blank before it.
    pub explain_ending: String,
    /// The command that runs the scenario again, without modes and what
    /// `explain_ending` holds; empty if there is none.
    pub rerun_command: String,
    /// Where a user declares which answers are right under faults; empty if
    /// nowhere.
    pub declared_in: String,
    /// The command that replays a finding, without its id, if there is one.
    pub replay_command: Option<String>,
    /// Every execution that counted, in order; empty where they are not kept.
    pub cases: Vec<Case>,
    /// What a baseline says of the findings, if there is one.
    pub known: Option<Known>,
    /// What does not identify calls, because it is never the same.
    pub masked: Vec<String>,
    /// Why one execution ran at a time, whatever was asked for; `None` where
    /// several can run and be distinguished.
    pub solo: Option<String>,
    /// Runs that the search did not ask for.
    pub besides: Besides,
    /// Whether any fault was injected in any execution.
    pub injected: bool,
    /// Why executions could not be carried out any more, if that ended it.
    pub broken: Option<String>,
}

impl Summary {
    /// Whether the build fails: there is a finding that is more than a warning
    /// and that the baseline does not excuse.
    pub fn fails(&self) -> bool {
        self.findings.iter().any(|finding| self.fails_by(finding))
    }

    /// Whether this finding alone fails the build.
    pub(crate) fn fails_by(&self, finding: &Finding) -> bool {
        finding.severity == Severity::Fail && self.excuse(&finding.id).is_none()
    }

    /// Why a finding may stay, if the baseline says so.
    pub fn excuse(&self, id: &str) -> Option<&str> {
        let known = self.known.as_ref()?;
        known.reasons.get(id).map(String::as_str)
    }

    /// How many executions failed because of honest refusals only.
    pub(crate) fn refused(&self) -> usize {
        let refused = |case: &&Case| matches!(case.verdict, Verdict::Refused { .. });
        self.cases.iter().filter(refused).count()
    }

    /// The command that replays a finding.
    pub(crate) fn replay(&self, finding: &Finding) -> Option<String> {
        let command = self.replay_command.as_ref()?;
        Some(format!("{command} {}", crate::shell::quoted(&finding.id)))
    }
}

/// One execution, as reports list it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number, from 1.
    pub number: usize,
    /// What was to fail.
    pub faultload: Faultload,
    /// What came of it.
    pub verdict: Verdict,
    /// How long the scenario took.
    pub took: Duration,
    /// The findings that it shows, by id.
    pub findings: Vec<String>,
    /// What the scenario printed, if that was kept.
    pub output: Option<String>,
}

/// The findings by id, so that a case finds its own without a look at all.
pub(crate) struct FindingIndex<'s> {
    findings: &'s [Finding],
    places: HashMap<&'s str, usize>,
}

impl<'s> FindingIndex<'s> {
    pub(crate) fn new(findings: &'s [Finding]) -> Self {
        let ids = findings.iter().map(|finding| finding.id.as_str());
        FindingIndex {
            findings,
            places: ids.zip(0..).collect(),
        }
    }

    /// The findings that a case shows, in the order of the campaign's.
    pub(crate) fn shown_by(&self, case: &Case) -> Vec<&'s Finding> {
        let ids = case.findings.iter();
        let places = ids.filter_map(|id| self.places.get(id.as_str()).copied());
        let places: BTreeSet<usize> = places.collect();
        places.into_iter().map(|at| &self.findings[at]).collect()
    }
}

/// What a baseline says of the findings of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The baseline's file.
    pub file: String,
    /// The findings that may stay and why, by id.
    pub reasons: BTreeMap<String, String>,
    /// The entries that these findings are known by, where that is one of the
    /// same bug in another test or scenario, by id.
    pub through: BTreeMap<String, String>,
    /// Findings that are known but should be gone by now, by id.
    pub expired: Vec<String>,
    /// Findings that are known, but not with these modes, by id.
    pub other_modes: BTreeMap<String, Vec<String>>,
    /// Entries for bugs that were not found any more, by id.
    pub stale: Vec<String>,
}

/// How long a campaign took.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// All of it.
    pub total: Duration,
    /// The reference execution alone.
    pub reference: Duration,
}

impl Timing {
    /// Executions a second, over the whole campaign.
    pub fn executions_per_second(&self, executions: usize) -> f64 {
        let seconds = self.total.as_secs_f64();
        match seconds > 0.0 {
            true => executions as f64 / seconds,
            false => 0.0,
        }
    }
}

/// That these faults are not handled, for tests.
#[cfg(test)]
pub(crate) fn finding(faultload: &str) -> Finding {
    use murphy_model::{BugClass, Severity};

    Finding {
        id: "M-1".to_owned(),
        severity: Severity::Fail,
        class: BugClass::NoHandling,
        oracle: "scenario".into(),
        faultload: match faultload {
            "" => murphy_model::Faultload::none(),
            text => text.parse().expect("a faultload"),
        },
        summary: String::new(),
        edge: None,
        execution: 2,
        shown: Default::default(),
        seen: 1,
        also: Vec::new(),
    }
}

/// Nothing was done and nothing found; tests add what they are about.
#[cfg(test)]
pub(crate) fn empty() -> Summary {
    Summary {
        scenario: String::new(),
        about: String::new(),
        strategy: "tree".to_owned(),
        modes: Vec::new(),
        seed: 0,
        certificate: Certificate {
            points: 0,
            conditional: 0,
            space: 1_u32.into(),
            explored: 0,
            considered: 0,
            pruned: BTreeMap::new(),
            skips: None,
            not_exercised: 0,
            speculative: 0,
            bound: None,
            incomplete: None,
            assumptions: Vec::new(),
            flags: Vec::new(),
            audit: None,
            minimal: None,
        },
        reasons: BTreeMap::new(),
        findings: Vec::new(),
        failed_executions: 0,
        reference: Trace::default(),
        points: Vec::new(),
        timing: Timing {
            total: Duration::ZERO,
            reference: Duration::ZERO,
        },
        profile: Vec::new(),
        explain_command: String::new(),
        explain_ending: String::new(),
        rerun_command: String::new(),
        declared_in: String::new(),
        replay_command: None,
        cases: Vec::new(),
        known: None,
        masked: Vec::new(),
        solo: None,
        besides: Besides::default(),
        injected: false,
        broken: None,
    }
}

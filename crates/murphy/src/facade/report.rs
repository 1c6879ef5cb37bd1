//! What came of a campaign.

use std::fmt;
use std::path::PathBuf;

use murphy_campaign::SetupError;
use murphy_model::{Certificate, Finding, Point, Severity};
use murphy_report::{Summary, terminal};
use murphy_system::{Correlation, Interference, InterferenceKind};

use super::Error;
use crate::replays::write_files;

/// What came of a campaign. Written as the text that the command line shows,
/// without colours.
#[derive(Clone, Debug)]
pub struct Report {
    pub(super) summary: Summary,
    pub(super) solo: bool,
    pub(super) jobs: u32,
    pub(super) notes: Vec<String>,
    pub(super) replays: Vec<PathBuf>,
    pub(super) left: Option<SetupError>,
}

impl Report {
    /// The bugs, warnings among them.
    pub fn findings(&self) -> &[Finding] {
        &self.summary.findings
    }

    /// What was covered, under which assumptions, and what was skipped.
    pub fn certificate(&self) -> &Certificate {
        &self.summary.certificate
    }

    /// Whether any fault was injected. If none was, nothing was tested.
    pub fn injected(&self) -> bool {
        self.summary.injected
    }

    /// Whether one execution ran at a time and callers were inferred.
    pub fn is_solo(&self) -> bool {
        self.solo
    }

    /// How many executions ran at once.
    pub fn jobs(&self) -> u32 {
        self.jobs
    }

    /// What is worth knowing about how it was done, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The replay files of the findings, if the campaign has a
    /// [`store`](super::Campaign::store).
    pub fn replay_files(&self) -> &[PathBuf] {
        &self.replays
    }

    /// What went wrong when all was over: a step of the teardown that failed, or
    /// a service that could not be brought back for it. The findings stand.
    pub fn left_behind(&self) -> Option<&SetupError> {
        self.left.as_ref()
    }

    /// All of it, for the other formats of [`crate::report`].
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Panics with the report if anything was found that is more than a
    /// warning, if no fault was injected at all, which is no pass, or if the teardown
    /// failed.
    #[track_caller]
    pub fn assert_no_findings(&self) {
        let fails = |finding: &&Finding| finding.severity == Severity::Fail;
        let found = self.findings().iter().filter(fails).count();
        if found > 0 {
            panic!("Murphy found {found} bug(s)\n\n{self}");
        }
        if !self.summary.injected {
            panic!(
                "nothing was tested: no fault was injected\nhint: do the services call each other through the proxies (`Proxied`)?\n\n{self}"
            );
        }
        if self.left.is_some() {
            panic!("no bug was found, but the teardown failed\n\n{self}");
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        let written = terminal::write(&self.summary, &mut text);
        let written = written.and_then(|()| write_files(&self.replays, &mut text));
        written.map_err(|_| fmt::Error)?;
        let text = String::from_utf8_lossy(&text);
        f.write_str(&anstream::adapter::strip_str(&text).to_string())?;
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        if let Some(left) = &self.left {
            writeln!(f, "error: {}", Error::Broken(left.clone()))?;
        }
        Ok(())
    }
}

/// Why executions run one at a time, if that was found out: which services are
/// called without any context of ours, or how the scenario gets in its own way.
pub fn why_one_at_a_time(correlation: &Correlation) -> Option<String> {
    match &correlation.clash {
        Some(clash) => Some(why_not_beside_itself(clash)),
        None if correlation.solo => why_solo(&correlation.lost),
        None => None,
    }
}

fn why_not_beside_itself(clash: &Interference) -> String {
    let at_once = clash.at_once;
    match &clash.how {
        InterferenceKind::Failed { count, why } => {
            format!("the test passes alone, but {count} of {at_once} parallel runs failed ({why})")
        }
        InterferenceKind::OtherCalls(point) => {
            format!(
                "the test makes different calls when {at_once} copies run in parallel ({point})"
            )
        }
    }
}

fn why_solo(lost: &[Point]) -> Option<String> {
    let mut callees: Vec<&str> = Vec::new();
    for point in lost {
        let callee = &*point.frame().destination;
        if !callees.contains(&callee) {
            callees.push(callee);
        }
    }
    let callees = (!callees.is_empty()).then(|| callees.join(", "))?;
    Some(format!(
        "no trace context arrives with the calls to {callees}"
    ))
}

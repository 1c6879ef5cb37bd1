//! What a campaign found, wherever that was kept.
//!
//! Owns which findings say that calls fail together: those about faults that
//! were injected. Severity is decided later, when it is known what counts.

use murphy_model::{BugClass, Faultload, Severity};

/// The findings of a campaign.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The scenario's name.
    pub(super) scenario: String,
    /// The campaign's name, or the file that tells of it.
    pub(super) source: String,
    /// How many findings it has.
    pub(super) findings: usize,
    /// What brought the scenario down.
    pub(super) failures: Vec<Failure>,
    /// How many findings say that a fault was never injected.
    pub(super) untested: usize,
}

/// A smallest faultload that brought a scenario down.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The finding, by id; `None` where a search says so by itself.
    pub(super) finding: Option<String>,
    /// The name of the oracle that speaks up.
    pub(super) oracle: String,
    pub(super) severity: Severity,
    pub(super) faultload: Faultload,
}

/// A finding, as far as it matters here.
pub(super) struct Kept {
    pub(super) id: String,
    pub(super) class: BugClass,
    pub(super) oracle: String,
    pub(super) severity: Severity,
    pub(super) faultload: Faultload,
    pub(super) also: Vec<Faultload>,
}

impl Found {
    /// Nothing yet.
    pub(super) fn new(scenario: String, source: String) -> Self {
        Found {
            scenario,
            source,
            ..Found::default()
        }
    }

    /// Takes in a finding.
    pub(super) fn take(&mut self, finding: Kept) {
        self.findings += 1;
        if finding.class == BugClass::Untested {
            self.untested += 1;
            return;
        }
        for faultload in std::iter::once(finding.faultload).chain(finding.also) {
            self.failures.push(Failure {
                finding: Some(finding.id.clone()),
                oracle: finding.oracle.clone(),
                severity: finding.severity,
                faultload,
            });
        }
    }

    /// Takes in a combination that the scenario itself complains about.
    pub(super) fn take_minimal(&mut self, faultload: Faultload) {
        self.failures.push(Failure {
            finding: None,
            oracle: murphy_oracle::Oracle::Scenario.name().to_owned(),
            severity: Severity::Fail,
            faultload,
        });
    }
}

//! What a campaign found, wherever that was kept.
//!
//! Owns which findings say that calls fail together: those about faults that
//! were injected. Severity is decided later, when it is known what counts.

use murphy_model::{BugClass, Faultload, Severity};
use murphy_oracle::Oracle;
use murphy_store::{CampaignEntry, Store, StoreError};

/// The findings of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The scenario's name.
    pub scenario: String,
    /// The campaign's name, or the file that tells of it.
    pub source: String,
    /// How many findings it has.
    pub findings: usize,
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

impl Found {
    /// What a campaign in the store found.
    pub fn in_store(store: &Store, entry: &CampaignEntry) -> Result<Self, StoreError> {
        let mut found = Found {
            scenario: entry.scenario.clone(),
            source: entry.campaign.as_str().to_owned(),
            ..Found::default()
        };
        if let Some(ended) = store.ended(&entry.campaign)? {
            for finding in ended.findings {
                let failure = Failure {
                    finding: Some(finding.id),
                    oracle: finding.oracle.into_owned(),
                    severity: finding.severity,
                    faultload: finding.faultload,
                };
                found.take(finding.class, failure, finding.also);
            }
            let minimal = ended.certificate.minimal.into_iter().flatten();
            minimal.for_each(|it| found.take_minimal(it));
        }
        Ok(found)
    }

    /// Takes in a finding, with what else shows the same.
    pub(super) fn take(&mut self, class: BugClass, failure: Failure, also: Vec<Faultload>) {
        self.findings += 1;
        if class == BugClass::Untested {
            self.untested += 1;
            return;
        }
        let others = also.into_iter().map(|faultload| Failure {
            faultload,
            ..failure.clone()
        });
        let others: Vec<Failure> = others.collect();
        self.failures.push(failure);
        self.failures.extend(others);
    }

    /// Takes in a combination that the scenario itself complains about.
    pub(super) fn take_minimal(&mut self, faultload: Faultload) {
        self.failures.push(Failure {
            finding: None,
            oracle: Oracle::Scenario.name().to_owned(),
            severity: Severity::Fail,
            faultload,
        });
    }
}

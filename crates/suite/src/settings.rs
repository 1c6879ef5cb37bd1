//! What a session is asked for.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;

use crate::plan::Coverage;
use crate::policy::{Injection, Policy};
use crate::site::TestPhase;

/// What a session is asked for.
#[derive(Clone, Debug)]
pub struct SuiteSettings {
    /// The name of the suite: part of the ids of its findings.
    pub name: String,
    /// The runner, as reports name it.
    pub runner: String,
    /// How often the suite is run without faults.
    pub references: u32,
    /// Which calls are aimed at.
    pub coverage: Coverage,
    /// What is done to them.
    pub policies: Vec<Policy>,
    /// In which phases.
    pub phases: BTreeSet<TestPhase>,
    /// How faults are made.
    pub injection: Injection,
    /// Whether P1 is tried at all sites of a test at once first.
    pub group: bool,
    /// Whether a round runs one case of every test, and not a single case.
    pub batch: bool,
    /// The share of the sites that passed in a group to be run alone, 0 to 1.
    pub audit: f64,
    /// Whether an error that reaches the test is a finding.
    pub system: bool,
    /// Whether there is no library: sites are operations, by ordinal.
    pub generic: bool,
    /// What starting the runner and resetting the services takes.
    pub start_up: Duration,
    /// What pauses between attempts add to a case.
    pub backoff: Duration,
    /// A test that takes longer than this and five times its reference hangs.
    pub least_budget: Duration,
    /// Ids of findings that are known and not reported.
    pub known: BTreeSet<String>,
    /// Where emulators differ from the services.
    pub differences: Vec<EmulatorDifference>,
}

impl Default for SuiteSettings {
    fn default() -> Self {
        SuiteSettings {
            name: String::new(),
            runner: String::new(),
            references: 2,
            coverage: Coverage::C5,
            policies: Policy::DEFAULT.to_vec(),
            phases: [TestPhase::Call, TestPhase::SetupFunction].into(),
            injection: Injection::default(),
            group: true,
            batch: true,
            audit: 0.05,
            system: false,
            generic: false,
            start_up: Duration::ZERO,
            backoff: Duration::ZERO,
            least_budget: Duration::from_secs(30),
            known: BTreeSet::new(),
            differences: EmulatorDifference::shipped(),
        }
    }
}

/// An answer to a retry that an emulator gives and the service would not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulatorDifference {
    /// The operation, as the library or the request names it, without a service.
    pub operation: String,
    /// The status that the retry is answered with.
    pub status: u16,
    /// Why that says nothing about the application.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    difference: Vec<EmulatorDifference>,
}

impl EmulatorDifference {
    /// Those of the file that Murphy brings.
    pub fn shipped() -> Vec<Self> {
        let text = include_str!("emulators.toml");
        Self::read(text).expect("a test reads the file")
    }

    /// Those of a file.
    ///
    /// # Errors
    /// If it is no TOML, or a field is missing or not known.
    pub fn read(text: &str) -> Result<Vec<Self>, toml::de::Error> {
        toml::from_str(text).map(|file: File| file.difference)
    }

    /// Whether this operation of a service (`dynamodb.DeleteTable`, or without
    /// the service) was answered so.
    pub(crate) fn is_met(&self, operation: &str, status: Option<u16>) -> bool {
        let name = operation.rsplit('.').next().unwrap_or(operation);
        name == self.operation && status == Some(self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_differences_are_read_and_met_with_or_without_a_service() {
        let known = EmulatorDifference::shipped();
        let is_met = |operation, status| known.iter().any(|known| known.is_met(operation, status));
        assert!(is_met("dynamodb.DeleteTable", Some(400)));
        assert!(is_met("DeleteTable", Some(400)));
        assert!(!is_met("DeleteTable", Some(409)));
        assert!(!is_met("dynamodb.PutItem", Some(400)));
        assert!(EmulatorDifference::read("[[difference]]\noperation = 'x'\n").is_err());
    }
}

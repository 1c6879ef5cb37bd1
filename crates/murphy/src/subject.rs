//! From what came of a campaign to what every report is made from.
//!
//! Owns nothing but the way in between; the binary and the facade share it.

use std::collections::BTreeMap;

use murphy_campaign::{Case, Outcome};
use murphy_model::Finding;
use murphy_report::{Summary, Timing};
use murphy_search::Policy;

/// What the report needs to know of the settings.
pub struct Subject {
    /// The scenario's name.
    pub scenario: String,
    /// What it does, in one line.
    pub about: String,
    /// The strategy's name.
    pub strategy: &'static str,
    /// How calls were made to fail, as it was asked for.
    pub modes: Vec<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// The command that explains a faultload, without it; empty if there is
    /// none.
    pub explain_command: String,
    /// The command that replays a finding, without its name, if there is one.
    pub replay_command: Option<String>,
}

impl Subject {
    /// All that is reported.
    pub fn summary(self, outcome: &Outcome) -> Summary {
        let reasons = Policy::ALL.map(|policy| (policy.name(), policy.reason()));
        let failed = |case: &&Case| case.verdict.is_failure();
        Summary {
            scenario: self.scenario,
            about: self.about,
            strategy: self.strategy,
            modes: self.modes,
            seed: self.seed,
            certificate: outcome.certificate.clone(),
            reasons: BTreeMap::from(reasons),
            findings: outcome.findings.clone(),
            failed_executions: outcome.cases.iter().filter(failed).count(),
            reference: outcome.reference.execution.trace.clone(),
            points: outcome.points.clone(),
            timing: Timing {
                total: outcome.took,
                reference: outcome.reference_took,
            },
            profile: outcome.profile.rows(),
            explain_command: self.explain_command,
            replay_command: self.replay_command,
            cases: cases(outcome),
            known: None,
            masked: outcome.chosen.masked.clone(),
        }
    }
}

fn cases(outcome: &Outcome) -> Vec<murphy_report::Case> {
    let shows = |case: &Case, finding: &Finding| {
        finding.execution == case.number
            || finding.faultload == case.faultload
            || finding.also.contains(&case.faultload)
    };
    let case = |case: &Case| murphy_report::Case {
        number: case.number,
        faultload: case.faultload.clone(),
        verdict: case.verdict.clone(),
        took: case.took,
        findings: {
            let findings = outcome.findings.iter().filter(|f| shows(case, f));
            findings.map(|finding| finding.id.clone()).collect()
        },
        output: case.output.clone(),
    };
    outcome.cases.iter().map(case).collect()
}

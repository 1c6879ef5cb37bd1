//! From what came of a campaign to what every report is made from.
//!
//! Owns nothing but the way in between; the binary and the facade share it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use murphy_campaign::{Case, Outcome};
use murphy_model::Finding;
use murphy_oracle::{FaultloadIndex, Oracle};
use murphy_report::{Apart, Summary, Timing};
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
        Summary {
            scenario: self.scenario,
            about: self.about,
            strategy: self.strategy,
            modes: self.modes,
            seed: self.seed,
            certificate: outcome.certificate.clone(),
            reasons: BTreeMap::from(reasons),
            findings: outcome.findings.clone(),
            failed_executions: outcome.failed,
            reference: outcome.reference.execution.trace.clone(),
            points: outcome.points.clone(),
            timing: Timing {
                total: outcome.took,
                reference: outcome.reference_took,
            },
            profile: outcome.profile.rows(),
            explain_command: self.explain_command,
            explain_ending: String::new(),
            replay_command: self.replay_command,
            cases: cases(outcome),
            known: None,
            masked: outcome.chosen.masked.clone(),
            solo: None,
            apart: Apart {
                references: outcome.apart.references,
                checks: outcome.apart.checks,
                repeated: outcome.apart.repeated,
            },
        }
    }
}

fn cases(outcome: &Outcome) -> Vec<murphy_report::Case> {
    let shows = Shows::of(&outcome.findings);
    let case = |case: &Case| murphy_report::Case {
        number: case.number,
        faultload: case.faultload.clone(),
        verdict: case.verdict.clone(),
        took: case.took,
        findings: {
            let findings = shows.findings(case).into_iter();
            findings.map(|at| outcome.findings[at].id.clone()).collect()
        },
        output: case.output.clone(),
    };
    outcome.cases.iter().map(case).collect()
}

/// Which cases show which findings, each by its place in the list.
struct Shows<'f> {
    findings: &'f [Finding],
    by_execution: HashMap<usize, Vec<usize>>,
    by_faultload: FaultloadIndex,
}

impl<'f> Shows<'f> {
    fn of(findings: &'f [Finding]) -> Self {
        let mut by_execution: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut by_faultload = FaultloadIndex::default();
        for (at, finding) in findings.iter().enumerate() {
            by_execution.entry(finding.execution).or_default().push(at);
            for way in finding.also.iter().chain([&finding.faultload]) {
                by_faultload.add(way, at);
            }
        }
        Shows {
            findings,
            by_execution,
            by_faultload,
        }
    }

    /// A case shows a finding by its very faults, or because it failed and
    /// they are among its faults, which is what findings are reduced by.
    fn findings(&self, case: &Case) -> BTreeSet<usize> {
        let failed = case.verdict.is_failure();
        let is_told_by_part =
            |at: &usize| failed && self.findings[*at].oracle == Oracle::Scenario.name();
        let mut shown = self.by_faultload.within(&case.faultload);
        shown.retain(is_told_by_part);
        shown.extend(self.by_faultload.equal(&case.faultload));
        shown.extend(self.by_execution.get(&case.number).into_iter().flatten());
        shown.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use murphy_model::{BugClass, Severity, Verdict};

    use super::*;

    const CART: &str = "shop GET / > cart GET / = 503";
    const BOTH: &str = "shop GET / > cart GET / = 503, shop GET / > pay GET / = 503";

    #[test]
    fn a_case_shows_what_its_faults_are_known_to_bring_about() {
        let finding = |oracle: Oracle| Finding {
            id: "M-1".to_owned(),
            severity: Severity::Fail,
            class: BugClass::NoHandling,
            oracle: oracle.name(),
            faultload: CART.parse().unwrap(),
            summary: String::new(),
            edge: None,
            execution: 2,
            shown: Arc::default(),
            seen: 1,
            also: vec!["shop GET / > cart GET / = reset".parse().unwrap()],
        };
        let failed = || Verdict::Failed { why: String::new() };
        let none = "shop GET / > pay GET / = 503";
        let cases = [
            (Oracle::Scenario, CART, failed(), true),
            (Oracle::Scenario, BOTH, failed(), true),
            (Oracle::Scenario, BOTH, Verdict::Passed, false),
            (Oracle::Scenario, none, failed(), false),
            // Who complains of an edge names the executions by their faults.
            (Oracle::RetryAtOnce, BOTH, failed(), false),
            (Oracle::RetryAtOnce, CART, Verdict::Passed, true),
        ];
        for (oracle, faultload, verdict, expected) in cases {
            let case = Case {
                number: 3,
                faultload: faultload.parse().unwrap(),
                verdict,
                took: Duration::ZERO,
                output: None,
            };
            let findings = [finding(oracle)];
            let shown = !Shows::of(&findings).findings(&case).is_empty();
            assert_eq!(shown, expected, "{case:?}");
        }
    }
}

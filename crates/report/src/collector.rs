//! From the events of a campaign to the summary that every format is made from.
//!
//! Owns nothing but the way in between. A run and `murphy report` share it, so
//! what is told of a campaign is the same while it is fresh and years later.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use murphy_model::{Began, Ended, Event, Faultload, Finding, Observed, Sink, Trace};
use murphy_oracle::{FaultloadIndex, Oracle};
use murphy_search::Policy;

use crate::{Case, Summary, Timing};

/// Listens to a campaign and sums it up when it has ended.
#[derive(Debug, Default)]
pub struct Collector {
    began: Option<Began>,
    masked: Vec<String>,
    reference: Option<(Trace, Duration)>,
    /// Executions that may come to count, by what was planned.
    executions: HashMap<Faultload, Case>,
    /// Executions that count.
    cases: Vec<Case>,
    ended: Option<Ended>,
}

impl Collector {
    /// All that is reported, once the campaign has ended; none before.
    pub fn summary(self) -> Option<Summary> {
        let (began, ended) = (self.began?, self.ended?);
        let reasons = Policy::ALL.map(|policy| (policy.name(), policy.reason()));
        let (reference, reference_took) = self.reference.unwrap_or_default();
        let mut cases = self.cases;
        cases.sort_by_key(|case| case.number);
        let shows = Shows::of(&ended.findings);
        for case in &mut cases {
            let shown = shows.findings(case).into_iter();
            case.findings = shown.map(|at| ended.findings[at].id.clone()).collect();
        }
        Some(Summary {
            scenario: began.scenario,
            about: began.about,
            strategy: began.strategy,
            modes: ended.modes,
            seed: began.seed,
            certificate: ended.certificate,
            reasons: BTreeMap::from(reasons),
            findings: ended.findings,
            failed_executions: ended.failed,
            reference,
            points: ended.points,
            timing: Timing {
                total: ended.took,
                reference: reference_took,
            },
            profile: ended.profile,
            explain_command: began.explain_command,
            explain_ending: began.explain_ending,
            rerun_command: began.rerun_command,
            declared_in: began.declared_in,
            replay_command: None,
            cases,
            known: None,
            masked: self.masked,
            solo: began.solo,
            besides: ended.besides,
            injected: ended.injected,
            broken: ended.broken,
        })
    }

    fn take(&mut self, observed: &Observed) {
        let planned = &observed.execution.faultload;
        if planned.is_empty() {
            self.reference = Some((observed.execution.trace.clone(), observed.took));
        }
        // Of several under one faultload the first counts.
        if !self.executions.contains_key(planned) {
            let case = self.case(0, observed);
            self.executions.insert(planned.clone(), case);
        }
    }

    fn case(&self, number: usize, observed: &Observed) -> Case {
        let began = self.began.as_ref();
        let injected_only = began.is_some_and(|began| began.injected_only);
        let execution = &observed.execution;
        let (faultload, verdict) = match injected_only {
            true => execution.as_injected(),
            false => (execution.faultload.clone(), execution.verdict.clone()),
        };
        Case {
            number,
            faultload,
            took: observed.took,
            findings: Vec::new(),
            output: verdict.is_failure().then(|| observed.printed()).flatten(),
            verdict,
        }
    }
}

impl Sink for Collector {
    fn note(&mut self, event: &Event) {
        match event {
            // A resumed campaign counts anew, and reuses what was run.
            Event::Began(began) => {
                self.began = Some(Began::clone(began));
                self.cases.clear();
                self.ended = None;
            }
            Event::IdentityChosen { masked, .. } => self.masked = masked.clone(),
            Event::Restarted { .. } => {
                self.executions.clear();
                self.cases.clear();
            }
            Event::ExecutionEnded { observed, .. } | Event::Audited { observed, .. } => {
                self.take(observed);
            }
            Event::Counted { number, faultload } => {
                let case = self.executions.get(faultload).cloned();
                self.cases.extend(case.map(|case| Case {
                    number: *number,
                    ..case
                }));
            }
            Event::Repeated {
                observed,
                counts_as: Some(number),
                ..
            } => self.cases.push(self.case(*number, observed)),
            Event::Ended(ended) => self.ended = Some(Ended::clone(ended)),
            Event::ReferenceRan { .. }
            | Event::Found(_)
            | Event::Learned(_)
            | Event::Checked { .. }
            | Event::StateLeft(_)
            | Event::FailedInParallel(_)
            | Event::Repeated { .. }
            // A suite has a report of its own.
            | Event::SuiteRound { .. }
            | Event::SuiteEnded { .. } => {}
        }
    }
}

impl Summary {
    /// All that is reported of a campaign with these events; none if it has
    /// not ended.
    pub fn of_events<'e>(events: impl IntoIterator<Item = &'e Event>) -> Option<Self> {
        let mut collector = Collector::default();
        for event in events {
            collector.note(event);
        }
        collector.summary()
    }
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
            oracle: oracle.name().into(),
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
                findings: Vec::new(),
                output: None,
            };
            let findings = [finding(oracle)];
            let shown = !Shows::of(&findings).findings(&case).is_empty();
            assert_eq!(shown, expected, "{case:?}");
        }
    }
}

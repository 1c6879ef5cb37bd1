//! A session: which round to run next, given what was seen.
//!
//! Owns the order of things. A session goes through stages; each stage's rounds
//! are fixed before the first of them is run, and are looked at in their order
//! when all are back. So the report does not depend on how many rounds are under
//! way, or which comes back first; and who learns the stored rounds of an
//! interrupted session again is where it was.

mod learn;
mod rounds;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::case::{Aim, Case, CaseId, CaseRun, Round, RoundKind, TestInfo};
use crate::cluster::{Clusters, Key};
use crate::exclusion::Exclusions;
use crate::plan::{Plan, PlanSummary};
use crate::policy::Policy;
use crate::reference::Reference;
use crate::report::{
    AuditSummary, Executed, Outcomes, ReferenceSummary, SuiteReport, SuiteSummary,
};
use crate::settings::SuiteSettings;

pub use verdicts::Verdict;

/// What a session wants next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run this, and bring back what came of it.
    Round(Round),
    /// Nothing to run before a round under way is back.
    Wait,
    /// All is done; nothing is under way.
    Done,
}

/// What a session is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    References,
    /// P1 at all sites at once, again and again without the sites that failed.
    Group,
    /// What needs no knowledge of retries: P1 alone, P3, P5, P6.
    First,
    /// What comes to nothing where calls are not retried: P4, P2.
    Second,
    Confirm,
    Audit,
    /// The other sites of tests for which the audit disagreed.
    AfterAudit,
    ConfirmAgain,
    Done,
}

/// Runs a suite to its report.
#[derive(Debug)]
pub struct Session {
    settings: SuiteSettings,
    tests: Vec<TestInfo>,
    stage: Stage,
    /// Rounds of this stage that are not handed out yet.
    queue: VecDeque<Round>,
    under_way: BTreeSet<u32>,
    /// Rounds of this stage that were handed out.
    rounds: BTreeMap<u32, Round>,
    results: BTreeMap<u32, Vec<CaseRun>>,
    stopped: bool,
    next_round: u32,
    next_case: u32,
    reference_runs: BTreeMap<String, Vec<CaseRun>>,
    reference: Reference,
    plan: Plan,
    summary: PlanSummary,
    /// Faults that wait for the next stage that runs one fault at a time.
    singles: Vec<(String, Aim)>,
    /// What is left of groups.
    groups: Vec<(String, Vec<Aim>)>,
    /// Cases that are to be run again alone before the stage ends.
    again: Vec<Case>,
    /// Tests that disturb each other.
    apart: BTreeMap<String, BTreeSet<String>>,
    /// Faults that passed as part of a group.
    grouped: BTreeSet<(String, Aim)>,
    /// Whether calls are asked for again after a lost answer (P1).
    retried: BTreeMap<(String, Aim), bool>,
    /// Faults of P1 after which the service refused the retry.
    transformed: BTreeSet<(String, Aim)>,
    /// What each case of a confirmation is to confirm.
    confirming: BTreeMap<CaseId, Key>,
    verdicts: BTreeMap<(String, Aim), Verdict>,
    failures: Clusters,
    warnings: Clusters,
    smells: Clusters,
    exclusions: Exclusions,
    executed: Executed,
    outcomes: Outcomes,
    audit: Option<AuditSummary>,
}

impl Session {
    /// Over these tests.
    pub fn new(tests: Vec<TestInfo>, settings: SuiteSettings) -> Self {
        let mut session = Session {
            settings,
            tests,
            stage: Stage::References,
            queue: VecDeque::new(),
            under_way: BTreeSet::new(),
            rounds: BTreeMap::new(),
            results: BTreeMap::new(),
            stopped: false,
            next_round: 0,
            next_case: 0,
            reference_runs: BTreeMap::new(),
            reference: Reference::default(),
            plan: Plan::default(),
            summary: PlanSummary::default(),
            singles: Vec::new(),
            groups: Vec::new(),
            again: Vec::new(),
            apart: BTreeMap::new(),
            grouped: BTreeSet::new(),
            retried: BTreeMap::new(),
            transformed: BTreeSet::new(),
            confirming: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            failures: Clusters::default(),
            warnings: Clusters::default(),
            smells: Clusters::default(),
            exclusions: Exclusions::default(),
            executed: Executed::default(),
            outcomes: Outcomes::default(),
            audit: None,
        };
        session.add_references();
        session
    }

    /// What to run next. May be asked again while rounds are under way.
    #[allow(clippy::should_implement_trait)] // It is no iterator: it may say "wait".
    pub fn next(&mut self) -> Next {
        if !self.stopped
            && let Some(round) = self.queue.pop_front()
        {
            self.under_way.insert(round.id);
            self.rounds.insert(round.id, round.clone());
            return Next::Round(round);
        }
        match self.under_way.is_empty() {
            true => Next::Done,
            false => Next::Wait,
        }
    }

    /// Takes in what came of a round: every round must be answered once, in any
    /// order. A case without a run was not begun and is run again alone.
    ///
    /// Runs of a round that is not under way are of no use, and dropped.
    pub fn learn(&mut self, round: u32, runs: Vec<CaseRun>) {
        if !self.under_way.remove(&round) {
            return;
        }
        self.results.insert(round, runs);
        let is_complete = self.under_way.is_empty() && (self.stopped || self.queue.is_empty());
        if is_complete {
            self.end_stage();
        }
    }

    /// What starting the runner and resetting the services takes: for the
    /// forecast, and to be said before the references are learnt.
    pub fn set_start_up(&mut self, start_up: Duration) {
        self.settings.start_up = start_up;
    }

    /// Proposes nothing more: what is under way is still to be learnt.
    pub fn stop(&mut self) {
        if self.stage == Stage::Done {
            return;
        }
        self.stopped = true;
        if self.under_way.is_empty() {
            self.end_stage();
        }
    }

    /// Stops at once: what is under way will never be learnt.
    pub fn break_off(&mut self) {
        self.under_way.clear();
        self.stop();
    }

    /// What is planned: known when the references are learnt.
    pub fn plan(&self) -> PlanSummary {
        self.summary.clone()
    }

    /// What came of every fault so far, by test.
    pub fn verdicts(&self) -> impl Iterator<Item = (&str, &Aim, &Verdict)> {
        let verdicts = self.verdicts.iter();
        verdicts.map(|((test, aim), verdict)| (test.as_str(), aim, verdict))
    }

    /// Everything there is to say so far.
    pub fn report(&self) -> SuiteReport {
        let mut ids = BTreeSet::new();
        let name = &self.settings.name;
        let (known, findings) = self
            .failures
            .findings(name, &mut ids)
            .into_iter()
            .partition::<Vec<_>, _>(|finding| self.settings.known.contains(&finding.id));
        let mut exclusions = self.exclusions.clone();
        for finding in known {
            for test in &finding.tests {
                let site = &finding.replay.aims[0].site;
                exclusions.call(crate::Reason::Known, test, site, None);
            }
        }
        let propagated = |verdict: &&Verdict| **verdict == Verdict::Propagated;
        SuiteReport {
            suite: self.suite(),
            reference: ReferenceSummary {
                calls: self.reference.calls,
                attempts: self.reference.attempts,
                sites: self.reference.sites().len(),
                wall_ms: self.reference.wall.as_millis() as u64,
            },
            plan: self.plan(),
            executed: self.executed.clone(),
            outcomes: self.outcomes.clone(),
            propagated: self.verdicts.values().filter(propagated).count(),
            findings,
            warnings: self.warnings.findings(name, &mut ids),
            smells: self.smells.findings(name, &mut ids),
            excluded: exclusions.list(),
            assumptions: self.assumptions(),
            audit: self.audit.clone(),
            stopped: self.stopped,
        }
    }

    fn suite(&self) -> SuiteSummary {
        SuiteSummary {
            runner: self.settings.runner.clone(),
            tests: self.tests.len(),
            passing: self.reference.tests.len(),
            flaky: self.reference.flaky.clone(),
            baseline_failures: self.reference.baseline_failures.clone(),
        }
    }

    fn assumptions(&self) -> Vec<String> {
        let mut assumptions = vec![
            "a call that all reference runs make is made again under a fault".to_owned(),
            "a failure that shows again alone is the application's, and not luck".to_owned(),
        ];
        if self.settings.group && self.settings.policies.contains(&Policy::P1) {
            let audited = self.settings.audit * 100.0;
            assumptions.push(format!(
                "a lost first answer that is masked does not hide another one of the same test; \
                 {audited:.0} % of the sites that passed in a group are run alone"
            ));
        }
        if self.settings.generic {
            let text = "without a library, the n-th call of an operation is the same in every run";
            assumptions.push(text.to_owned());
        }
        assumptions
    }

    fn round(&mut self, kind: RoundKind, cases: Vec<Case>) {
        let id = self.next_round;
        self.next_round += 1;
        self.queue.push_back(Round { id, kind, cases });
    }

    fn case(&mut self, test: &str, aims: Vec<Aim>) -> Case {
        let id = CaseId(self.next_case);
        self.next_case += 1;
        Case {
            id,
            test: test.to_owned(),
            aims,
            budget: self.budget(test),
        }
    }

    /// How long a test may take before it counts as hanging.
    fn budget(&self, test: &str) -> Duration {
        let took = self.reference.tests.get(test).map(|seen| seen.took);
        let longer = took.unwrap_or_default() * 5 + self.settings.backoff;
        self.settings.least_budget.max(longer)
    }
}

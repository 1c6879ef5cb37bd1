//! What rounds say.

use std::collections::BTreeMap;

use super::{Session, Stage, Verdict};
use crate::case::{Aim, Case, CaseRun, Round, RoundKind, TestEnd};
use crate::cloud_call::CallOutcome;
use crate::exclusion::Reason;
use crate::oracle::{Evidence, Judgement, Ruling};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::reference::Reference;
use crate::shot::AimEnd;

impl Session {
    /// All rounds of the stage are back, or will not come.
    pub(super) fn end_stage(&mut self) {
        let rounds = std::mem::take(&mut self.rounds);
        let mut results = std::mem::take(&mut self.results);
        for (id, round) in rounds {
            if let Some(runs) = results.remove(&id) {
                self.learn_round(&round, runs);
            }
        }
        if self.stage == Stage::References {
            self.make_plan();
        }
        if self.stopped {
            self.queue.clear();
            self.stage = Stage::Done;
            return;
        }
        for mut case in std::mem::take(&mut self.again) {
            let (budget, key) = (case.budget, self.confirming.remove(&case.id));
            case = self.case(&case.test, case.aims);
            case.budget = budget;
            self.confirming.extend(key.map(|key| (case.id, key)));
            self.round(RoundKind::Alone, vec![case]);
        }
        self.go_on();
    }

    fn make_plan(&mut self) {
        let runs = self.reference_runs.values().flatten();
        let mut calls = runs.flat_map(|run| &run.record.calls);
        // Another language than those of the libraries: places are operations then.
        let has_library = calls.any(|call| call.id.is_some() || call.site.is_in_application());
        self.settings.generic |= !has_library;
        self.reference = Reference::of(&std::mem::take(&mut self.reference_runs));
        self.plan = Plan::of(&self.reference, &self.settings);
        self.exclusions = std::mem::take(&mut self.plan.exclusions);
        self.summary = self.plan.summary(&self.reference, &self.settings);
        self.plan_groups();
    }

    fn learn_round(&mut self, round: &Round, runs: Vec<CaseRun>) {
        if round.kind == RoundKind::Reference {
            let tests: BTreeMap<_, _> = round
                .cases
                .iter()
                .map(|case| (case.id, case.test.clone()))
                .collect();
            for run in runs {
                if let Some(test) = tests.get(&run.case) {
                    self.reference_runs
                        .entry(test.clone())
                        .or_default()
                        .push(run);
                }
            }
            return;
        }
        self.executed.rounds += 1;
        let mut runs: BTreeMap<_, _> = runs.into_iter().map(|run| (run.case, run)).collect();
        // Tests that ran before in this round, and may have left something behind.
        let mut before: Vec<(String, bool)> = Vec::new();
        for case in &round.cases {
            match runs.remove(&case.id) {
                Some(run) => {
                    self.executed.cases += 1;
                    self.executed.wall_ms += run.took.as_millis() as u64;
                    self.learn_case(round, case, &run, &before);
                    before.push((case.test.clone(), run.result.is_failure()));
                }
                None if round.kind == RoundKind::Alone => self.not_exercised(case),
                None => self.again.push(case.clone()),
            }
        }
    }

    fn learn_case(&mut self, round: &Round, case: &Case, run: &CaseRun, before: &[(String, bool)]) {
        let is_alone = round.cases.len() == 1;
        if matches!(run.result.outcome, TestEnd::Vanished | TestEnd::Skipped) {
            return self.not_exercised(case);
        }
        let misaimed = |end: AimEnd| matches!(end, AimEnd::Misaimed { .. });
        let is_misaimed = run.record.aims.iter().any(|aim| misaimed(aim.end));
        let has_landed = run.record.has_landed();
        if run.result.is_failure() && !has_landed && !is_misaimed {
            return self.learn_collateral(case, is_alone, before);
        }
        // A test that takes long is given twice the time before it counts as hanging.
        let is_first = case.budget <= self.budget(&case.test);
        if run.result.outcome == TestEnd::Hung && is_first {
            return self.again.push(Case {
                budget: case.budget * 2,
                ..case.clone()
            });
        }
        match &case.aims[..] {
            [aim] => self.learn_single(round, case, aim, run),
            _ => self.learn_group(case, run),
        }
    }

    /// A test failed, and not for a fault of its own.
    fn learn_collateral(&mut self, case: &Case, is_alone: bool, before: &[(String, bool)]) {
        if is_alone {
            self.refute(case);
            for aim in &case.aims {
                let (site, policy) = (&aim.site, Some(aim.policy));
                self.exclusions
                    .call(Reason::Flaky, &case.test, site, policy);
                self.set(case, aim, Verdict::Excluded(Reason::Flaky));
            }
            return;
        }
        self.executed.collateral += 1;
        let has_failed = before.iter().any(|(_, failed)| *failed);
        for (test, _) in before.iter().filter(|(_, failed)| *failed || !has_failed) {
            let pairs = [(test, &case.test), (&case.test, test)];
            for (one, other) in pairs {
                self.apart
                    .entry(one.clone())
                    .or_default()
                    .insert(other.clone());
            }
        }
        self.again.push(case.clone());
    }

    fn not_exercised(&mut self, case: &Case) {
        self.refute(case);
        for aim in &case.aims {
            self.executed.not_exercised += 1;
            self.set(case, aim, Verdict::NotExercised);
        }
    }

    fn learn_group(&mut self, case: &Case, run: &CaseRun) {
        if !run.result.is_failure() {
            // An effect that happened twice may hide what else would have gone wrong.
            if self.has_side_effect(case, run) {
                let single = |aim: &Aim| (case.test.clone(), aim.clone());
                self.singles.extend(case.aims.iter().map(single));
                return;
            }
            for record in &run.record.aims {
                match record.end {
                    AimEnd::Landed { call } => {
                        self.grouped.insert((case.test.clone(), record.aim.clone()));
                        self.learn_landed(case, &record.aim, call, run);
                    }
                    // Without faults elsewhere in the test it may be reached.
                    _ => self.singles.push((case.test.clone(), record.aim.clone())),
                }
            }
            return;
        }
        let unmasked = run
            .record
            .landed()
            .filter(|(_, call)| run.record.outcome(*call) != CallOutcome::Masked);
        let first = unmasked
            .min_by_key(|(_, call)| *call)
            .map(|(aim, _)| aim.clone());
        let (out, rest): (Vec<_>, Vec<_>) = case.aims.iter().cloned().partition(|aim| {
            // Where all was masked, nothing says which of them it is.
            first.as_ref().is_none_or(|first| aim == first)
        });
        let single = |aim| (case.test.clone(), aim);
        self.singles.extend(out.into_iter().map(single));
        if !rest.is_empty() {
            self.groups.push((case.test.clone(), rest));
        }
    }

    /// Whether a retry was answered otherwise than the attempt before it.
    fn has_side_effect(&self, case: &Case, run: &CaseRun) -> bool {
        let mut landed = run.record.landed();
        landed.any(|(aim, place)| {
            let evidence = self.evidence(case, aim, place, run);
            evidence.is_some_and(|evidence| evidence.answers_differ())
        })
    }

    fn evidence<'e>(
        &'e self,
        case: &Case,
        aim: &'e Aim,
        place: usize,
        run: &'e CaseRun,
    ) -> Option<Evidence<'e>> {
        Some(Evidence {
            aim,
            place,
            run,
            reference: self.reference.tests.get(&case.test)?,
            frames: &self.reference.frames,
            settings: &self.settings,
        })
    }

    fn learn_single(&mut self, round: &Round, case: &Case, aim: &Aim, run: &CaseRun) {
        let end = run.record.aims.first().map(|record| record.end);
        let call = match end {
            Some(AimEnd::Landed { call }) => call,
            Some(AimEnd::Misaimed { .. }) => {
                self.executed.misaimed += 1;
                self.refute(case);
                return self.set(case, aim, Verdict::Misaimed);
            }
            _ => return self.not_exercised(case),
        };
        let fails = self.learn_landed(case, aim, call, run);
        if round.kind == RoundKind::Audit {
            self.learn_audit(case, fails);
        }
    }

    fn learn_audit(&mut self, case: &Case, fails: bool) {
        let audit = self.audit.get_or_insert_default();
        audit.sampled += 1;
        audit.agreed += usize::from(!fails);
        if fails {
            // The group has hidden something: its other sites are run one by one.
            let of_test = self.grouped.iter().filter(|(test, _)| *test == case.test);
            let others = of_test.filter(|(_, aim)| *aim != case.aims[0]).cloned();
            self.singles.extend(others);
        }
    }

    /// A fault was injected: what the oracles say. Tells whether it is a failure.
    fn learn_landed(&mut self, case: &Case, aim: &Aim, call: usize, run: &CaseRun) -> bool {
        let Some(reference) = self.reference.tests.get(&case.test) else {
            return false;
        };
        let evidence = Evidence {
            aim,
            place: call,
            run,
            reference,
            frames: &self.reference.frames,
            settings: &self.settings,
        };
        let outcome = evidence.outcome();
        let Judgement {
            ruling,
            warnings,
            smells,
        } = evidence.judge();
        for warning in warnings {
            self.warnings.add(&evidence, case, warning);
        }
        for smell in smells {
            self.smells.add(&evidence, case, smell);
        }
        let mut suspected = None;
        let (verdict, failure) = match ruling {
            Ruling::Passed => (Verdict::Passed, None),
            Ruling::Propagated => (Verdict::Propagated, None),
            Ruling::Failed(complaint) => {
                let key = self.failures.add(&evidence, case, complaint);
                (Verdict::Failed, Some(key))
            }
            Ruling::Suspect(complaint) => {
                suspected = complaint.reason;
                self.warnings.add(&evidence, case, complaint);
                (
                    Verdict::Excluded(suspected.unwrap_or(Reason::EmulatorSuspect)),
                    None,
                )
            }
        };
        if let Some(reason) = suspected {
            let (site, policy) = (&aim.site, Some(aim.policy));
            self.exclusions.call(reason, &case.test, site, policy);
        }
        self.count(outcome);
        self.learn_retry(case, aim, call, run);
        self.set(case, aim, verdict);
        let fails = failure.is_some();
        match (self.confirming.remove(&case.id), failure) {
            (Some(wanted), Some(seen)) => {
                self.confirm(&seen);
                if wanted != seen {
                    self.refute_member(&wanted, case);
                }
            }
            (Some(wanted), None) => {
                self.refute_member(&wanted, case);
                self.exclude_unconfirmed(case, aim);
            }
            (None, _) => {}
        }
        fails
    }

    fn exclude_unconfirmed(&mut self, case: &Case, aim: &Aim) {
        let (site, policy) = (&aim.site, Some(aim.policy));
        self.exclusions
            .call(Reason::NotConfirmed, &case.test, site, policy);
    }

    fn confirm(&mut self, key: &crate::cluster::Key) {
        if let Some(cluster) = self.failures.0.get_mut(key) {
            cluster.is_confirmed = true;
        }
    }

    /// The failure that this case was to confirm did not show again.
    fn refute(&mut self, case: &Case) {
        if let Some(wanted) = self.confirming.remove(&case.id) {
            self.refute_member(&wanted, case);
            self.exclude_unconfirmed(case, &case.aims[0]);
        }
    }

    fn refute_member(&mut self, key: &crate::cluster::Key, case: &Case) {
        let cluster = self.failures.0.get_mut(key);
        let members = cluster.into_iter().flat_map(|cluster| &mut cluster.members);
        for member in members {
            if member.case.test == case.test && member.case.aims == case.aims {
                member.is_refuted = true;
            }
        }
    }

    fn count(&mut self, outcome: CallOutcome) {
        self.executed.landed += 1;
        let counter = match outcome {
            CallOutcome::Masked => &mut self.outcomes.masked,
            CallOutcome::Transformed => &mut self.outcomes.transformed,
            CallOutcome::Failed => &mut self.outcomes.failed,
            CallOutcome::Abandoned => &mut self.outcomes.abandoned,
        };
        *counter += 1;
    }

    /// Whether the SDK asked again: where it does not after a lost answer, P2
    /// and P4 come down to P1.
    fn learn_retry(&mut self, case: &Case, aim: &Aim, call: usize, run: &CaseRun) {
        if aim.policy != Policy::P1 {
            return;
        }
        let key = (case.test.clone(), aim.clone());
        if run.record.outcome(call) == CallOutcome::Transformed {
            self.transformed.insert(key.clone());
        }
        let is_retried = run.record.calls[call].attempts.len() > 1;
        self.retried.insert(key, is_retried);
    }

    /// The last word counts: rounds with one test come after those with many.
    fn set(&mut self, case: &Case, aim: &Aim, verdict: Verdict) {
        self.verdicts
            .insert((case.test.clone(), aim.clone()), verdict);
    }
}

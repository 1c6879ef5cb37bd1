//! Which rounds a stage has.

use std::collections::BTreeSet;

use super::{Session, Stage};
use crate::case::{Aim, Case, RoundKind};
use crate::exclusion::Reason;
use crate::plan::Target;
use crate::policy::Policy;
use crate::report::AuditSummary;
use crate::site::SiteKey;

impl Session {
    pub(super) fn add_references(&mut self) {
        for _ in 0..self.settings.references.max(1) {
            let tests: Vec<String> = self.tests.iter().map(|test| test.id.clone()).collect();
            let cases = tests
                .iter()
                .map(|test| self.case(test, Vec::new()))
                .collect();
            self.round(RoundKind::Reference, cases);
        }
    }

    /// Goes on to the next stage that has something to run.
    pub(super) fn go_on(&mut self) {
        while self.queue.is_empty() && self.stage != Stage::Done {
            self.stage = self.following();
            match self.stage {
                Stage::References | Stage::Done => {}
                Stage::Group => self.add_groups(),
                Stage::First => self.add_first(),
                Stage::Second => self.add_second(),
                Stage::Confirm | Stage::ConfirmAgain => self.add_confirmations(),
                Stage::Audit => self.add_audit(),
                Stage::AfterAudit => self.add_singles(),
            }
        }
    }

    fn following(&self) -> Stage {
        let has_candidates = || {
            let mut clusters = self.failures.0.values();
            clusters.any(|cluster| cluster.candidate().is_some())
        };
        match self.stage {
            Stage::References => Stage::Group,
            Stage::Group if !self.groups.is_empty() => Stage::Group,
            Stage::Group => Stage::First,
            Stage::First => Stage::Second,
            Stage::Second => Stage::Confirm,
            Stage::Confirm if has_candidates() => Stage::Confirm,
            Stage::Confirm => Stage::Audit,
            Stage::Audit => Stage::AfterAudit,
            Stage::AfterAudit => Stage::ConfirmAgain,
            Stage::ConfirmAgain if has_candidates() => Stage::ConfirmAgain,
            Stage::ConfirmAgain | Stage::Done => Stage::Done,
        }
    }

    /// The targets of a policy, in the order of the plan, sites that no test
    /// before has shown first.
    fn targets(&self, policy: Policy) -> Vec<Target> {
        let targets = self.plan.targets.get(&policy).cloned().unwrap_or_default();
        let mut shown: BTreeSet<SiteKey> = BTreeSet::new();
        let (new, known): (Vec<_>, Vec<_>) = targets
            .into_iter()
            .partition(|target| shown.insert(target.site.clone()));
        new.into_iter().chain(known).collect()
    }

    /// What the first round of groups holds: P1 at every site of every test.
    pub(super) fn plan_groups(&mut self) {
        for target in self.targets(Policy::P1) {
            let aim = target.aim(Policy::P1);
            if !self.settings.group {
                self.singles.push((target.test, aim));
                continue;
            }
            match self
                .groups
                .iter_mut()
                .find(|(test, _)| *test == target.test)
            {
                Some((_, aims)) => aims.push(aim),
                None => self.groups.push((target.test, vec![aim])),
            }
        }
    }

    fn add_groups(&mut self) {
        let mut groups = std::mem::take(&mut self.groups);
        groups.sort();
        let cases: Vec<Case> = groups
            .into_iter()
            .map(|(test, aims)| self.case(&test, aims))
            .collect();
        self.add_rounds(RoundKind::Group, cases);
    }

    fn add_first(&mut self) {
        for policy in [Policy::P3, Policy::P5, Policy::P6] {
            for target in self.targets(policy) {
                self.singles.push((target.test.clone(), target.aim(policy)));
            }
        }
        self.add_singles();
    }

    fn add_second(&mut self) {
        for policy in [Policy::P4, Policy::P2] {
            for target in self.targets(policy) {
                let aim = target.aim(policy);
                match self.reason_to_skip(&target, policy) {
                    None => self.singles.push((target.test, aim)),
                    Some(reason) => {
                        let (test, site) = (&target.test, &target.site);
                        self.exclusions.call(reason, test, site, Some(policy));
                    }
                }
            }
        }
        self.add_singles();
    }

    /// Why P1 has shown already what this policy would.
    fn reason_to_skip(&self, target: &Target, policy: Policy) -> Option<Reason> {
        let p1 = (target.test.clone(), target.aim(Policy::P1));
        if self.retried.get(&p1) == Some(&false) {
            return Some(Reason::NotRetried);
        }
        let is_paper = policy == Policy::P2 && self.settings.injection.p2_paper;
        (is_paper && self.transformed.contains(&p1)).then_some(Reason::SameAsP1)
    }

    pub(super) fn add_singles(&mut self) {
        let singles = std::mem::take(&mut self.singles);
        let cases: Vec<Case> = singles
            .into_iter()
            .map(|(test, aim)| self.case(&test, vec![aim]))
            .collect();
        match self.settings.batch {
            true => self.add_rounds(RoundKind::Batch, cases),
            false => {
                for case in cases {
                    self.round(RoundKind::Batch, vec![case]);
                }
            }
        }
    }

    /// Puts every case into the first round that has neither its test nor one
    /// that disturbs it.
    fn add_rounds(&mut self, kind: RoundKind, cases: Vec<Case>) {
        let mut rounds: Vec<(BTreeSet<String>, Vec<Case>)> = Vec::new();
        for case in cases {
            let apart = self.apart.get(&case.test);
            let fits = |tests: &BTreeSet<String>| {
                !tests.contains(&case.test) && apart.is_none_or(|apart| apart.is_disjoint(tests))
            };
            match rounds.iter_mut().find(|(tests, _)| fits(tests)) {
                Some((tests, cases)) => {
                    tests.insert(case.test.clone());
                    cases.push(case);
                }
                None => rounds.push(([case.test.clone()].into(), vec![case])),
            }
        }
        for (_, mut cases) in rounds {
            cases.sort_by(|a, b| a.test.cmp(&b.test));
            self.round(kind, cases);
        }
    }

    /// The first failure of every bug that was not seen twice, alone.
    fn add_confirmations(&mut self) {
        let candidates: Vec<_> = self
            .failures
            .0
            .iter()
            .filter_map(|(key, cluster)| Some((key.clone(), cluster.candidate()?.case.clone())))
            .collect();
        for (key, shown) in candidates {
            let case = self.case(&shown.test, shown.aims);
            self.confirming.insert(case.id, key);
            self.round(RoundKind::Alone, vec![case]);
        }
    }

    /// Every n-th of the sites that passed in a group.
    fn add_audit(&mut self) {
        let share = self.settings.audit.clamp(0.0, 1.0);
        let sampled = (self.grouped.len() as f64 * share).ceil() as usize;
        if sampled == 0 {
            return;
        }
        self.audit = Some(AuditSummary::default());
        let total = self.grouped.len();
        let sample: Vec<(String, Aim)> = (0..sampled)
            .filter_map(|number| self.grouped.iter().nth(number * total / sampled).cloned())
            .collect();
        for (test, aim) in sample {
            let case = self.case(&test, vec![aim]);
            self.round(RoundKind::Audit, vec![case]);
        }
    }
}

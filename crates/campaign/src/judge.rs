//! Complaints about the executions of a campaign, while it runs.
//!
//! Owns when an execution is judged: as soon as the strategy has taken it in,
//! in that order, so that nothing depends on how many run at once. Those that
//! the strategy throws away never are. Complaints about one is the
//! oracles' business.

use std::sync::Arc;

use murphy_model::{Faultload, Finding, Found, Observed, Severity};
use murphy_oracle::{Complaint, Findings, Oracle, Profile, Reference};
use murphy_registry::Unattributed;
use murphy_search::Ticket;

use crate::searcher::Searcher;
use crate::settings::Settings;
use crate::uncertainty::Uncertainty;

pub(crate) struct Judge {
    oracles: murphy_oracle::Settings,
    reference: Arc<Reference>,
    findings: Findings,
    profile: Profile,
    /// Not taken in yet.
    waiting: Vec<(Ticket, Arc<Observed>)>,
    /// The faultloads that passed.
    passed: Vec<Faultload>,
    /// The highest number of an execution.
    last_number: usize,
    /// How many of those that the search asked for failed.
    failed: usize,
    doubts: Uncertainty,
    /// Whether an execution counts as one of the faults that were injected.
    injected_only: bool,
}

impl Judge {
    /// A judge who knows what happens without faults.
    pub(crate) fn new(settings: &Settings, reference: &Observed) -> Self {
        let reference = Arc::new(Reference::of([reference]));
        let oracles = settings.oracles.clone();
        Judge {
            oracles: oracles.clone(),
            reference: reference.clone(),
            findings: Findings::with(&settings.scenario, oracles, reference.clone()),
            profile: Profile::new(reference),
            waiting: Vec::new(),
            passed: Vec::new(),
            last_number: 0,
            failed: 0,
            doubts: Uncertainty::default(),
            injected_only: settings.strategy.counts_injected_only(),
        }
    }

    /// What would fail the build in an execution that is not taken in yet.
    pub(crate) fn symptoms(&self, observed: &Observed) -> Vec<Symptom> {
        let complaints = murphy_oracle::judge(observed, &self.reference, &self.oracles);
        let fails = complaints.into_iter().filter(|(oracle, severity, _)| {
            *severity == Severity::Fail && *oracle != Oracle::NotExercised
        });
        let symptom = |(oracle, _, complaint): (Oracle, Severity, Complaint)| Symptom {
            oracle,
            summary: complaint.summary,
            injected: observed.execution.trace.injected(),
        };
        fails.map(symptom).collect()
    }

    /// Judges what has been taken in by now: the numbers of these executions
    /// and what was planned for each.
    pub(crate) fn take(
        &mut self,
        ticket: Ticket,
        observed: Arc<Observed>,
        searcher: &Searcher,
    ) -> Vec<(usize, Faultload)> {
        self.waiting.push((ticket, observed));
        let mut turn: Vec<(usize, Arc<Observed>)> = Vec::new();
        self.waiting.retain(|(ticket, observed)| {
            let number = searcher.number(*ticket, &observed.execution.faultload);
            turn.extend(number.map(|number| (number, observed.clone())));
            number.is_none()
        });
        turn.sort_by_key(|(number, _)| *number);
        let planned = |(number, observed): &(usize, Arc<Observed>)| {
            (*number, observed.execution.faultload.clone())
        };
        let counted = turn.iter().map(planned).collect();
        for (number, observed) in turn {
            let failed = self.judge(number, observed);
            self.failed += usize::from(failed);
        }
        counted
    }

    /// Judges an execution that is to be number so many. Tells whether it
    /// failed: the scenario, or an oracle complained whose word fails the build.
    pub(crate) fn judge(&mut self, number: usize, mut observed: Arc<Observed>) -> bool {
        if self.injected_only {
            let execution = &mut Arc::make_mut(&mut observed).execution;
            (execution.faultload, execution.verdict) = execution.as_injected();
        }
        let observed = &*observed;
        let fails = self.findings.judge(number, observed);
        self.doubts.take(number, observed);
        self.profile.take(observed);
        let failed = observed.execution.verdict.is_failure();
        self.last_number = self.last_number.max(number);
        if !failed {
            self.passed.push(observed.execution.faultload.clone());
        }
        failed || fails
    }

    /// These calls had arrived by the end of the execution with this number,
    /// and belong to none.
    pub(crate) fn were_missed(&mut self, number: usize, missed: Vec<Unattributed>) {
        self.doubts.were_missed(number, missed);
    }

    /// The smallest faultloads, at most so many, that passed and aim at one of
    /// several equal calls made at the same time: it was luck into which of
    /// them the fault was injected.
    pub(crate) fn aimed_at_twins(&self, most: usize) -> Vec<Faultload> {
        let passed = self.passed.iter();
        let mut aimed: Vec<&Faultload> = passed
            .filter(|faultload| self.doubts.is_aimed_at_twin(faultload))
            .collect();
        aimed.sort_by_key(|faultload| faultload.len());
        aimed.into_iter().take(most).cloned().collect()
    }

    /// The number of an execution that comes after all others.
    pub(crate) fn next_number(&self) -> usize {
        self.last_number + 1
    }

    /// What showed for the first time since this was last asked.
    pub(crate) fn take_news(&mut self) -> Vec<Found> {
        self.findings.take_news()
    }

    /// How many executions failed up to now, and how many bugs that is.
    pub(crate) fn failed(&self) -> (usize, usize) {
        (self.failed, self.findings.bugs())
    }

    /// What came of it.
    pub(crate) fn verdict(self) -> Judgement {
        Judgement {
            findings: self.findings.into_findings(),
            profile: self.profile,
            failed: self.failed,
            doubts: self.doubts,
        }
    }
}

/// Something that would fail the build in one execution.
pub(crate) struct Symptom {
    /// The oracle that complained.
    pub(crate) oracle: Oracle,
    /// What it said.
    pub(crate) summary: String,
    /// The faults that were injected.
    pub(crate) injected: Faultload,
}

/// What a judge has to say in the end.
pub(crate) struct Judgement {
    /// The bugs.
    pub(crate) findings: Vec<Finding>,
    /// What every edge does about failures.
    pub(crate) profile: Profile,
    /// How many of those that the search asked for failed.
    pub(crate) failed: usize,
    /// What was not certain.
    pub(crate) doubts: Uncertainty,
}

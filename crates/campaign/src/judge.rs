//! What is held against the executions of a campaign, while it runs.
//!
//! Owns which executions are kept until it is known whether they count: only
//! those that an oracle objects to. What it objects to is the oracle's
//! business.

use murphy_model::{Faultload, Finding, Observed};
use murphy_oracle::Findings;
use murphy_search::Ticket;

use crate::settings::Settings;

pub(crate) struct Judge {
    scenario: String,
    failing: Vec<(Ticket, Observed)>,
}

impl Judge {
    pub(crate) fn new(settings: &Settings) -> Self {
        Judge {
            scenario: settings.scenario.clone(),
            failing: Vec::new(),
        }
    }

    pub(crate) fn reference(&mut self, _observed: &Observed) {}

    pub(crate) fn take(&mut self, ticket: Ticket, observed: &Observed) {
        if observed.execution.verdict.is_failure() {
            self.failing.push((ticket, observed.clone()));
        }
    }

    /// The bugs, of the executions that have a number.
    pub(crate) fn findings(
        self,
        number: &dyn Fn(Ticket, &Faultload) -> Option<usize>,
    ) -> Vec<Finding> {
        let mut findings = Findings::new(self.scenario);
        for (ticket, observed) in &self.failing {
            if let Some(number) = number(*ticket, &observed.execution.faultload) {
                findings.judge(number, &observed.execution);
            }
        }
        findings.into_findings()
    }
}

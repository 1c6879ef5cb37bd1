//! The verdicts of the scenario, by what it saw.
//!
//! A scenario judges the replies to its own requests, and sometimes more: the
//! state that services are left in, say. Owns what verdict may be expected of
//! an execution; decision trees leave the scenario's verdict out.

use std::collections::HashMap;

use crate::catalogue::FaultSet;

/// What verdict an execution is expected to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// It passes.
    Passes,
    /// It fails.
    Fails,
    /// Executions like it passed and failed: either may happen, because part
    /// of what it does fails by itself.
    Either,
}

impl Expectation {
    /// Whether a verdict is as expected.
    pub(crate) fn is_met(self, failed: bool) -> bool {
        match self {
            Expectation::Passes => !failed,
            Expectation::Fails => failed,
            Expectation::Either => true,
        }
    }
}

/// The verdicts seen so far.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// Whether executions passed and whether they failed, by the replies that
    /// the scenario saw.
    by_replies: HashMap<u64, (bool, bool)>,
    /// What failed.
    failing: Vec<FaultSet>,
}

impl Verdicts {
    /// Takes in a verdict on these replies under faults that were injected.
    pub(crate) fn learn(&mut self, replies: u64, injected: &FaultSet, failed: bool) {
        let (passes, fails) = self.by_replies.entry(replies).or_default();
        *passes |= !failed;
        *fails |= failed;
        if failed {
            self.failing.push(injected.clone());
        }
    }

    /// What to expect where the scenario sees these replies under these
    /// faults, each way they can be written. A failure that the replies do
    /// not explain is expected only where part of the faults was seen to fail.
    pub(crate) fn expected(&self, replies: u64, faults: &[&FaultSet]) -> Expectation {
        let part_fails = || {
            let part = |failing: &FaultSet| faults.iter().any(|all| failing.is_subset(all));
            self.failing.iter().any(part)
        };
        match self.by_replies.get(&replies) {
            Some((false, true)) => Expectation::Fails,
            Some((true, _)) | None if part_fails() => Expectation::Either,
            _ => Expectation::Passes,
        }
    }
}

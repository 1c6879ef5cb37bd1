//! An execution: one run of a scenario under one faultload.

use serde::{Deserialize, Serialize};

use crate::{Fault, Faultload, Trace};

/// What came of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The scenario passed and every planned fault was injected.
    Passed,
    /// The scenario failed.
    Failed {
        /// What it said.
        why: String,
    },
    /// The scenario failed because the request above a fault was answered in a
    /// way that it declares right under faults: an honest refusal, no bug.
    Refused {
        /// What it said.
        why: String,
    },
    /// The scenario passed, but not every planned fault was injected, so it
    /// says nothing about them.
    NotExercised {
        /// The faults that were never injected.
        missing: Vec<Fault>,
    },
}

impl Verdict {
    /// The verdict on a scenario's own word, given what was planned and what
    /// was seen.
    pub fn of(scenario: Result<(), String>, planned: &Faultload, trace: &Trace) -> Self {
        if let Err(why) = scenario {
            return Verdict::Failed { why };
        }
        let injected = |fault: &Fault| {
            trace
                .calls()
                .iter()
                .any(|c| c.injected.as_ref() == Some(fault))
        };
        let missing: Vec<Fault> = planned.faults().filter(|fault| !injected(fault)).collect();
        if missing.is_empty() {
            Verdict::Passed
        } else {
            Verdict::NotExercised { missing }
        }
    }

    /// Whether the scenario complained.
    pub fn is_failure(&self) -> bool {
        matches!(self, Verdict::Failed { .. })
    }
}

/// One run of a scenario under one faultload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// What was to fail.
    pub faultload: Faultload,
    /// What was seen.
    #[serde(rename = "calls")]
    pub trace: Trace,
    /// What the scenario made of it.
    pub verdict: Verdict,
}

impl Execution {
    /// Faultload and verdict if it counts as one of the faults that were
    /// injected: the others had no part.
    pub fn as_injected(&self) -> (Faultload, Verdict) {
        let verdict = match &self.verdict {
            Verdict::NotExercised { .. } => Verdict::Passed,
            verdict => verdict.clone(),
        };
        (self.trace.injected(), verdict)
    }
}

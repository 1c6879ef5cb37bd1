//! What came of running a finding once more.

use murphy_suite::{CaseRun, SuiteFinding};

/// What came of running a finding once more.
pub struct Replayed {
    is_reached: bool,
    is_shown: bool,
}

impl Replayed {
    /// What a run says of a finding, beside one of its test without faults.
    pub(super) fn of(finding: &SuiteFinding, run: &CaseRun, reference: CaseRun) -> Self {
        Replayed {
            is_reached: run.record.has_landed(),
            is_shown: finding.is_shown_by(run, reference),
        }
    }

    /// Whether its fault was injected.
    pub fn is_reached(&self) -> bool {
        self.is_reached
    }

    /// Whether the bug still shows.
    pub fn is_failure(&self) -> bool {
        self.is_reached && self.is_shown
    }
}

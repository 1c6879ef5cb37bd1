//! What came of running a finding once more.

use murphy_suite::{CallOutcome, CaseRun, Record, SuiteFinding, SuiteOracle};

/// What came of running a finding once more.
pub struct Replayed {
    /// The run.
    pub run: CaseRun,
    is_shown: bool,
}

impl Replayed {
    /// What a run says of a finding.
    pub(super) fn of(finding: &SuiteFinding, run: CaseRun) -> Self {
        let is_shown = match finding.oracle {
            // These speak where the test passes.
            SuiteOracle::O6 => landed(&run.record).any(|call| answers_differ(&run.record, call)),
            SuiteOracle::O7 => {
                let mut landed = landed(&run.record);
                !run.result.is_failure()
                    && landed.any(|call| run.record.outcome(call) == CallOutcome::Failed)
            }
            _ => run.result.is_failure(),
        };
        Replayed { run, is_shown }
    }

    /// Whether its fault was injected.
    pub fn is_reached(&self) -> bool {
        self.run.record.has_landed()
    }

    /// Whether the bug still shows.
    pub fn is_failure(&self) -> bool {
        self.is_reached() && self.is_shown
    }
}

fn landed(record: &Record) -> impl Iterator<Item = usize> {
    record.landed().map(|(_, call)| call)
}

/// Whether the answer that was delivered in the end is another than one that
/// was lost.
fn answers_differ(record: &Record, call: usize) -> bool {
    let ends = || record.attempts_of(call).filter_map(|it| it.end.as_ref());
    let delivered = ends().next_back().and_then(|end| end.body);
    let mut lost = ends().filter_map(|end| end.lost);
    delivered.is_some() && lost.any(|lost| lost.body != delivered)
}

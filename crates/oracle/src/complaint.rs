//! A complaint: what one oracle holds against one execution.

use murphy_model::{BugClass, CallId, Severity};

/// What one oracle holds against one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong, in one sentence that is the same whenever the bug shows:
    /// without times and numbers that differ from run to run.
    pub summary: String,
    /// The place in the taxonomy.
    pub class: BugClass,
    /// The call that was not handled, or was made wrongly.
    pub edge: Option<CallId>,
    /// How sure the oracle is: less than [`Severity::Fail`] counts as a
    /// warning, whatever is configured.
    pub severity: Severity,
}

impl Complaint {
    /// A complaint that its oracle is sure of.
    pub(crate) fn new(summary: impl Into<String>, class: BugClass, edge: Option<CallId>) -> Self {
        Complaint {
            summary: summary.into(),
            class,
            edge,
            severity: Severity::Fail,
        }
    }

    /// The same, as a warning at most.
    pub(crate) fn unsure(self) -> Self {
        Complaint {
            severity: Severity::Warn,
            ..self
        }
    }
}

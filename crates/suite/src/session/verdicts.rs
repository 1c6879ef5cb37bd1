//! What came of a fault.

use serde::{Deserialize, Serialize};

use crate::exclusion::Reason;

/// What came of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The test passed with it.
    Passed,
    /// The test failed for the error that was injected.
    Propagated,
    /// The test failed for something else.
    Failed,
    /// There was no call to inject it into.
    NotExercised,
    /// It was injected into another call than the one that was meant.
    Misaimed,
    /// It counts for nothing.
    Excluded(Reason),
}

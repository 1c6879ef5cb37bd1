//! Findings: what is held against an execution.
//!
//! Owns the words; which executions deserve one is the oracles' business.

use crate::Faultload;

/// Where a bug belongs in the taxonomy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BugClass {
    /// The failure went through unhandled: the caller got an error that no one
    /// chose to send.
    NoHandling,
    /// The answer looked well and was wrong.
    SilentViolation,
    /// The kind cannot be told from what was seen.
    Unclassified,
}

impl BugClass {
    /// The name used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            BugClass::NoHandling => "no-handling",
            BugClass::SilentViolation => "silent-violation",
            BugClass::Unclassified => "unclassified",
        }
    }
}

/// A bug, with the smallest faultload known to show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name: the same bug gets the same one in every campaign.
    pub id: String,
    /// Its place in the taxonomy.
    pub class: BugClass,
    /// The oracle that spoke.
    pub oracle: &'static str,
    /// The smallest faultload that shows it.
    pub faultload: Faultload,
    /// What is wrong, in one sentence.
    pub summary: String,
    /// Number of the execution that shows it first.
    pub execution: usize,
    /// How many executions show it, this one included.
    pub seen: usize,
    /// Other smallest faultloads that show the same bug (other modes, mostly).
    pub also: Vec<Faultload>,
}

//! Findings: complaints about an execution.
//!
//! Owns the words; which executions deserve one is the oracles' business.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Detail, Faultload, Mode, Point, Trace, json};

/// Where a bug belongs in the taxonomy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BugClass {
    /// The failure went through unhandled: the caller got an error that no one
    /// chose to send.
    NoHandling,
    /// What went wrong has nothing to do with the fault: handling it broke
    /// something else.
    UnrelatedException,
    /// The answer looked fine but was wrong.
    SilentViolation,
    /// What is stored afterwards is not what a run without faults stores.
    StateDivergence,
    /// Someone waits too long, or not long enough.
    Timeout,
    /// A retry causes harm.
    Retry,
    /// More calls are made than are needed.
    Waste,
    /// A fault was planned and never injected: nothing was learnt about it.
    Untested,
    /// The kind cannot be told from what was seen.
    Unclassified,
}

impl BugClass {
    /// The name used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            BugClass::NoHandling => "no-handling",
            BugClass::UnrelatedException => "unrelated-exception",
            BugClass::SilentViolation => "silent-violation",
            BugClass::StateDivergence => "state-divergence",
            BugClass::Timeout => "timeout",
            BugClass::Retry => "retry",
            BugClass::Waste => "waste",
            BugClass::Untested => "untested",
            BugClass::Unclassified => "unclassified",
        }
    }
}

/// Whether a finding fails the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It is reported and nothing more.
    Warn,
    /// It does.
    Fail,
}

impl Severity {
    /// The name used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warn => "warn",
            Severity::Fail => "fail",
        }
    }
}

/// A bug, with the smallest faultload known to show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name: the same bug gets the same one in every campaign.
    pub id: String,
    /// Whether it fails the build.
    pub severity: Severity,
    /// Its place in the taxonomy.
    pub class: BugClass,
    /// The oracle that spoke.
    pub oracle: Cow<'static, str>,
    /// The smallest faultload that shows it.
    pub faultload: Faultload,
    /// What is wrong, in one sentence.
    pub summary: String,
    /// The call whose failure was not handled, or that was made wrongly; a
    /// point of the execution shown. `None` where it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<Point>,
    /// Number of the execution that shows it first.
    pub execution: usize,
    /// What was seen in that execution.
    #[serde(default, skip_serializing_if = "json::is_default")]
    pub shown: Arc<Shown>,
    /// How many executions show it, this one included.
    pub seen: usize,
    /// Other smallest faultloads that show the same bug (other modes, mostly).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Faultload>,
}

impl Finding {
    /// The modes in which calls are injected where it shows, in order.
    pub fn modes(&self) -> BTreeSet<Mode> {
        let faultloads = self.also.iter().chain([&self.faultload]);
        faultloads.flat_map(Faultload::modes).collect()
    }
}

/// What was seen in the execution that shows a bug.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its calls.
    #[serde(rename = "calls")]
    pub trace: Trace,
    /// More about each call, in the order of the trace; empty where nothing
    /// more is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Detail>,
}

//! What happens in a campaign, told in the past tense.
//!
//! Owns the vocabulary of a run as others see it. The campaign is the only
//! one to speak; the live view, the reports and the store listen. Everything
//! they show can be told from these events alone, and an event in JSON is one
//! line: `{"event":"execution_ended",...}`. Those of a campaign that was
//! resumed follow on those of its earlier run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    BugClass, Certificate, EdgeProfile, Faultload, Finding, Flag, Identity, Observed, Point,
    Severity, Shown, json,
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A campaign began, or was resumed.
    Began(Box<Began>),
    /// A reference run ended.
    ReferenceRan {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
    },
    /// The reference runs were compared.
    IdentityChosen {
        /// How calls are identified from now on.
        identity: Identity,
        /// What is ignored, and why, one sentence each.
        masked: Vec<String>,
    },
    /// The search starts over: what calls send varies after failures, and is
    /// ignored from now on. All executions up to now count for nothing.
    Restarted {
        /// How many those are.
        executions: usize,
        /// What is ignored, and why, one sentence each.
        masked: Vec<String>,
    },
    /// An execution under a faultload ended (or came out of the store).
    ExecutionEnded {
        /// The number of the proposal it answers.
        ticket: u64,
        /// What was seen.
        observed: Arc<Observed>,
        /// Whether it was made by an earlier run of the same campaign.
        stored: bool,
    },
    /// The execution under a faultload, which ended before, counts as one of
    /// the search: it was not speculative.
    Counted {
        /// Its number in reports, from 1.
        number: usize,
        /// What was planned for it.
        faultload: Faultload,
    },
    /// An execution shows what none before it did. Later ones may show that it
    /// is no bug of its own.
    Found(Found),
    /// The strategy took something in.
    Learned(Standing),
    /// A case that was skipped was run to see whether it goes as predicted (or
    /// came out of the store).
    Audited {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
        /// Whether it went as predicted.
        agreed: bool,
        /// Whether it was made by an earlier run of the same campaign.
        stored: bool,
    },
    /// The scenario ran without faults, to see whether the system is still as
    /// it was at the start.
    Checked {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
        /// Whether it passed.
        passed: bool,
    },
    /// An execution left state behind on which the scenario failed.
    StateLeft(Arc<LeftBehind>),
    /// An execution failed in parallel with others and passed alone.
    FailedInParallel(Flag),
    /// An execution was repeated, because it is luck into which of several
    /// equal calls its faults are injected.
    Repeated {
        /// From 1.
        number: usize,
        /// What was seen.
        observed: Arc<Observed>,
        /// Its number in reports, where it failed and so counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counts_as: Option<usize>,
    },
    /// All is done.
    Ended(Box<Ended>),
    /// A round of a test suite over cloud services ended. What its words mean is
    /// known where suites are planned and judged.
    SuiteRound {
        /// What was run.
        round: Value,
        /// What came of it.
        runs: Value,
    },
    /// All rounds of a suite are done, or it was stopped.
    SuiteEnded {
        /// What came of it.
        report: Value,
        /// Whether it was stopped while there was more to run.
        #[serde(default, skip_serializing_if = "json::is_default")]
        stopped: bool,
    },
}

impl Event {
    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Began(_) => "began",
            Event::ReferenceRan { .. } => "reference_ran",
            Event::IdentityChosen { .. } => "identity_chosen",
            Event::Restarted { .. } => "restarted",
            Event::ExecutionEnded { .. } => "execution_ended",
            Event::Counted { .. } => "counted",
            Event::Found(_) => "found",
            Event::Learned(_) => "learned",
            Event::Audited { .. } => "audited",
            Event::Checked { .. } => "checked",
            Event::StateLeft(_) => "state_left",
            Event::FailedInParallel(_) => "failed_in_parallel",
            Event::Repeated { .. } => "repeated",
            Event::Ended(_) => "ended",
            Event::SuiteRound { .. } => "suite_round",
            Event::SuiteEnded { .. } => "suite_ended",
        }
    }
}

/// Something that an oracle holds against an execution for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The number of the execution in reports.
    pub execution: usize,
    /// Whether it fails the build.
    pub severity: Severity,
    /// Its place in the taxonomy.
    pub class: BugClass,
    /// The oracle that spoke.
    pub oracle: Cow<'static, str>,
    /// The faults that were injected.
    pub faultload: Faultload,
    /// What is wrong, in one sentence.
    pub summary: String,
    /// The call to blame, if the oracle can tell. Not written, as what follows:
    /// the execution itself is.
    #[serde(skip)]
    pub edge: Option<Point>,
    /// What was seen in that execution.
    #[serde(skip)]
    pub shown: Arc<Shown>,
}

/// What is known of a campaign when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    /// The version of the JSON form, see [`crate::FORMAT`].
    pub format: u32,
    /// The scenario's name.
    pub scenario: String,
    /// What it does, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The strategy's name.
    pub strategy: String,
    /// How calls may fail, as it was asked for.
    pub modes: Vec<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// Executions that run in parallel.
    pub jobs: u32,
    /// Executions of an earlier run that are reused.
    pub resumed: usize,
    /// Whether an execution counts as one of the faults that were injected, not
    /// of those that were planned.
    #[serde(default, skip_serializing_if = "json::is_default")]
    pub injected_only: bool,
    /// Why one execution runs at a time, whatever was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solo: Option<String>,
    /// The command that explains a faultload, without the faultload; empty if
    /// there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explain_command: String,
    /// What follows the faultload in that command, with the blank before it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explain_ending: String,
    /// The command that runs the scenario again, without modes and what
    /// `explain_ending` holds; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rerun_command: String,
    /// Where a user declares which answers are right under faults; empty if
    /// nowhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub declared_in: String,
}

/// What is known of a campaign when it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// What was covered.
    pub certificate: Certificate,
    /// The bugs.
    pub findings: Vec<Finding>,
    /// How long it took.
    #[serde(rename = "took_ns", with = "json::nanos")]
    pub took: Duration,
    /// How many of the executions that the search asked for failed: the
    /// scenario, or an oracle complained whose word fails the build.
    pub failed: usize,
    /// Whether any fault was injected in any execution.
    pub injected: bool,
    /// How calls failed, given the calls that were seen.
    pub modes: Vec<String>,
    /// Every point seen that can be injected, in the order first seen.
    pub points: Vec<Point>,
    /// How every edge was seen to handle failures.
    pub profile: Vec<EdgeProfile>,
    /// Runs that the search did not ask for.
    pub besides: Besides,
    /// For findings about state left behind, by id: the executions that bring
    /// it about from a fresh start; none where it cannot be replayed alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prefixes: BTreeMap<String, Vec<Faultload>>,
    /// Why executions could not be carried out any more, if that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// Runs that are not counted among the executions, because the search did not
/// ask for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Besides {
    /// Reference runs after the first.
    pub references: usize,
    /// Runs without faults to see whether the system is as it was at the start.
    pub checks: usize,
    /// Executions that were repeated.
    pub repeated: usize,
}

/// State that an execution left behind: without faults the scenario failed
/// after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBehind {
    /// The executions of which one left it, in order, by the number of the
    /// proposal and what was injected; a single one where that is certain.
    pub by: Vec<(u64, Faultload)>,
    /// The executions that bring it about from a fresh start, in order; empty
    /// where it cannot be replayed alone.
    pub prefix: Vec<Faultload>,
    /// The run without faults that failed.
    pub observed: Observed,
}

impl LeftBehind {
    /// What complains of it, beside the oracles.
    pub const ORACLE: &str = "state-left-behind";

    /// What was injected into the execution that left it; nothing where that
    /// is not certain.
    pub fn culprit(&self) -> Faultload {
        match &self.by[..] {
            [(_, faultload)] => faultload.clone(),
            _ => Faultload::none(),
        }
    }
}

/// Where a campaign stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Executions taken in.
    pub explored: usize,
    /// Faultloads looked at and not run; `None` where the strategy does not
    /// look at them one by one.
    pub skipped: Option<usize>,
    /// Faultloads waiting to be looked at; `None` likewise.
    pub waiting: Option<usize>,
    /// Whether all that waits are combinations: every fault was tried alone.
    #[serde(default, skip_serializing_if = "json::is_default")]
    pub singles_done: bool,
    /// Those of them that failed, counted as in [`Ended::failed`].
    pub failed: usize,
    /// The bugs they show, warnings aside; more executions may show that
    /// several are one.
    pub findings: usize,
}

/// Someone who listens.
pub trait Sink: Send {
    /// Takes note of an event.
    fn note(&mut self, event: &Event);
}

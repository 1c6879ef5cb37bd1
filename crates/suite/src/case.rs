//! Cases and rounds: what is run, and what came of it.
//!
//! Owns the words that a session and whoever runs its rounds share.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::shot::Record;
use crate::site::{SiteKey, TestPhase};
use crate::time;

/// A test that the runner knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestInfo {
    /// What the runner calls it.
    pub id: String,
}

/// A policy at a cloud call of a test.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Aim {
    /// Where the application asks for the call.
    pub site: SiteKey,
    /// In which phase of the test.
    pub phase: TestPhase,
    /// Which of the calls that match, from 1. Should its answer leave nothing to
    /// lose, the next one is taken.
    pub ordinal: u32,
    /// What is done to it.
    pub policy: Policy,
    /// Only calls that this line of the test leads to match and are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// Names a case: no two of a session have the same.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct CaseId(pub u32);

/// One execution of a test under its aims; a reference run has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Its name.
    pub id: CaseId,
    /// The test.
    pub test: String,
    /// What is injected: one, except in a group.
    pub aims: Vec<Aim>,
    /// The test hangs if it takes longer than this.
    #[serde(rename = "budget_ns", with = "time")]
    #[schemars(with = "u64")]
    pub budget: Duration,
}

/// Why a round is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundKind {
    /// To see what happens without faults.
    Reference,
    /// The first answer is lost at every site of every test.
    Group,
    /// Every test has one fault of its own.
    Batch,
    /// One test alone: to confirm, or because others disturbed it.
    Alone,
    /// One test alone, to check what a group said.
    Audit,
}

/// One run of part of the suite, in a fresh process with fresh state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its number.
    pub id: u32,
    /// Why it is run.
    pub kind: RoundKind,
    /// What is run, one after another; no test twice.
    pub cases: Vec<Case>,
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseRun {
    /// The case.
    pub case: CaseId,
    /// What the runner says.
    pub result: TestOutcome,
    /// What the proxy saw.
    pub record: Record,
    /// How long the test took.
    #[serde(rename = "took_ns", with = "time")]
    pub took: Duration,
}

/// How a test ended.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum TestEnd {
    /// It passed.
    #[default]
    Passed,
    /// It failed.
    Failed,
    /// Its set-up or clean-up failed.
    Error,
    /// It was not run, or failed as it declares.
    Skipped,
    /// Its process ended.
    Crashed,
    /// It took longer than its budget.
    Hung,
    /// The runner does not know it any more.
    Vanished,
}

/// What the runner says about a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestOutcome {
    /// How it ended.
    pub outcome: TestEnd,
    /// The phase in which that was decided.
    #[serde(default)]
    pub phase: TestPhase,
    /// What failed, in one line.
    #[serde(default)]
    pub message: String,
    /// The exception that failed it and its causes, outermost first.
    #[serde(default)]
    pub exceptions: Vec<Exception>,
    /// The assertion that failed, if that is what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion: Option<Assertion>,
    /// What was printed.
    #[serde(default)]
    pub output: String,
}

impl TestOutcome {
    /// Whether something is wrong with the test.
    pub fn is_failure(&self) -> bool {
        use TestEnd::{Crashed, Error, Failed, Hung};
        matches!(self.outcome, Failed | Error | Crashed | Hung)
    }
}

/// An exception, as the library saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its text.
    #[serde(default)]
    pub message: String,
    /// Where it was raised, innermost last.
    #[serde(default)]
    pub frames: Vec<String>,
    /// The HTTP status that it carries.
    #[serde(default)]
    pub status: Option<u16>,
    /// The error code that it carries.
    #[serde(default)]
    pub code: Option<String>,
    /// The request id that it carries.
    #[serde(default)]
    pub request_id: Option<String>,
    /// Whether the library raised it for a lost answer.
    #[serde(default)]
    pub injected: bool,
    /// The cloud call that it came from.
    #[serde(default)]
    pub call: Option<String>,
}

/// An assertion that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// The file it is in.
    #[serde(default)]
    pub file: String,
    /// Its line.
    #[serde(default)]
    pub line: u32,
    /// What it says.
    #[serde(default)]
    pub text: String,
}

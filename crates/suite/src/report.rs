//! The report of a suite: what reports print, and what `--format json` is.

use std::collections::BTreeSet;

use murphy_model::{BugClass, Mode, Reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::exclusion::{Excluded, Reason};
use crate::oracle::SuiteOracle;
use crate::plan::PlanSummary;
use crate::policy::Policy;
use crate::shot::Record;

/// Everything there is to say about a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteReport {
    /// The suite.
    pub suite: SuiteSummary,
    /// What happens without faults.
    pub reference: ReferenceSummary,
    /// What was planned.
    pub plan: PlanSummary,
    /// What was run.
    pub executed: Executed,
    /// How the calls went that faults were injected into.
    pub outcomes: Outcomes,
    /// How many faults reached the test as the errors that they are.
    pub propagated: usize,
    /// Unique bugs.
    pub findings: Vec<SuiteFinding>,
    /// What is worth a look although no test shows it to be wrong.
    pub warnings: Vec<SuiteFinding>,
    /// Errors that were swallowed without any harm that was seen.
    pub smells: Vec<SuiteFinding>,
    /// What was not run or not held against the application.
    pub excluded: Vec<Excluded>,
    /// What must be true for what was not run to be redundant.
    pub assumptions: Vec<String>,
    /// How often sites that passed in a group passed alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditSummary>,
    /// Whether the session was stopped before everything was run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// The tests of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSummary {
    /// The runner.
    pub runner: String,
    /// How many tests there are.
    pub tests: usize,
    /// How many pass every time.
    pub passing: usize,
    /// Those that pass sometimes.
    pub flaky: Vec<String>,
    /// Those that never pass.
    pub baseline_failures: Vec<String>,
}

/// What the suite does without faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceSummary {
    /// Cloud calls.
    pub calls: usize,
    /// Their attempts.
    pub attempts: usize,
    /// Sites in the application.
    pub sites: usize,
    /// What the tests of one run take together.
    pub wall_ms: u64,
}

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// Executions of a test under a fault, those for confirmation and audit included.
    pub cases: usize,
    /// Rounds, references not counted.
    pub rounds: usize,
    /// Faults that were injected.
    pub landed: usize,
    /// Faults for which there was no call.
    pub not_exercised: usize,
    /// Faults whose call turned out to be another: no results.
    pub misaimed: usize,
    /// Executions that failed without their own fault: run again alone.
    pub collateral: usize,
    /// What the tests of all rounds took together.
    pub wall_ms: u64,
}

/// How the calls went that faults were injected into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcomes {
    /// The last attempt succeeded.
    pub masked: usize,
    /// The service refused the last attempt.
    pub transformed: usize,
    /// The last attempt was injected.
    pub failed: usize,
    /// The caller went away.
    pub abandoned: usize,
}

/// What the audit says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditSummary {
    /// Sites that were run alone.
    pub sampled: usize,
    /// Those that passed, as they did in their group.
    pub agreed: usize,
}

/// A unique bug, or what may be one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteFinding {
    /// Stable name: the same bug gets the same one in every run.
    pub id: String,
    /// Its place in the taxonomy.
    #[schemars(with = "String")]
    pub class: BugClass,
    /// The oracle that spoke first.
    pub oracle: SuiteOracle,
    /// The policies that show it.
    pub policy: BTreeSet<Policy>,
    /// The service.
    pub service: String,
    /// What it was asked for.
    pub operation: String,
    /// The application's frame that is specific to the operation.
    pub site: String,
    /// The whole chain of the application's frames, innermost first.
    pub stack: Vec<String>,
    /// The tests that show it.
    pub tests: BTreeSet<String>,
    /// How many executions show it.
    pub runs: usize,
    /// The exception that failed the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// What failed, without what differs from run to run.
    pub message: String,
    /// The same with its values, as one execution showed it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub example: String,
    /// The attempts of the call.
    pub evidence: Vec<Rung>,
    /// Whether it showed again when its test was run alone.
    pub confirmed: bool,
    /// Why it is only a warning, where it would be more otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// A case that shows it.
    pub replay: Case,
}

/// One attempt, as the ladder of a finding shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// Its number, from 1.
    pub attempt: u32,
    /// What was injected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub injected: Option<Mode>,
    /// What the service answered, whoever heard of it; nothing if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the caller saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub reply: Option<Reply>,
}

/// The attempts of a call, as a finding shows them.
pub(crate) fn ladder(record: &Record, call: usize) -> Vec<Rung> {
    let attempts = record.attempts_of(call);
    attempts
        .map(|attempt| Rung {
            attempt: attempt.number,
            injected: attempt.mode.filter(|_| attempt.is_injected()),
            status: attempt.status(),
            reply: attempt.end.as_ref().map(|end| end.reply),
        })
        .collect()
}

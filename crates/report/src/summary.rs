//! The summary of a campaign: what every format is made from.

use std::collections::BTreeMap;
use std::time::Duration;

use murphy_model::{Certificate, EdgeProfile, Finding, Point, Trace};

/// All that is reported of a campaign.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// What it is about, in one line.
    pub about: String,
    /// The strategy's name.
    pub strategy: &'static str,
    /// How calls were made to fail, as it was asked for.
    pub modes: Vec<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// What was covered.
    pub certificate: Certificate,
    /// Why a policy skips, by the policy's name.
    pub reasons: BTreeMap<&'static str, &'static str>,
    /// The bugs.
    pub findings: Vec<Finding>,
    /// How many executions failed.
    pub failed_executions: usize,
    /// The execution without faults.
    pub reference: Trace,
    /// Every point seen that can be made to fail, in the order first seen.
    pub points: Vec<Point>,
    /// How long it took.
    pub timing: Timing,
    /// What every edge did about failures; empty if it was not looked at.
    pub profile: Vec<EdgeProfile>,
    /// The command that explains a faultload, without the faultload.
    pub explain_command: String,
    /// The command that replays a finding, without the finding's name; `None`
    /// if nothing was stored to replay.
    pub replay_command: Option<String>,
}

/// How long a campaign took.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// All of it.
    pub total: Duration,
    /// The reference execution alone.
    pub reference: Duration,
}

impl Timing {
    /// Executions a second, over the whole campaign.
    pub fn executions_per_second(&self, executions: usize) -> f64 {
        let seconds = self.total.as_secs_f64();
        match seconds > 0.0 {
            true => executions as f64 / seconds,
            false => 0.0,
        }
    }
}

//! The oracles by name.
//!
//! Owns the list of them, what each is about and how much its word counts
//! unless configured otherwise: `fail` only where it is hardly ever wrong.

use std::fmt;
use std::str::FromStr;

use murphy_model::nearest;

use crate::case::Case;
use crate::complaint::Complaint;
use crate::settings::Level;
use crate::{
    no_cause, not_exercised, redundant_calls, response, retry_amplification, retry_at_once,
    retry_not_idempotent, scenario, timeout_inversion, wrong_status,
};

/// Someone who judges executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oracle {
    /// The scenario's own verdict.
    Scenario,
    /// Rules about the answers the scenario gets.
    Response,
    /// A failure although no fault was injected.
    NoCause,
    /// A callee's 503, 504 or 429 handed on as one's own answer.
    WrongStatus,
    /// A planned fault that was never injected.
    NotExercised,
    /// A caller with less patience than its callee.
    TimeoutInversion,
    /// Work that was done is asked for once more.
    RetryNotIdempotent,
    /// Attempts at several levels multiply.
    RetryAmplification,
    /// A broken connection is met with the same call at once.
    RetryAtOnce,
    /// The same call made twice without need.
    RedundantCalls,
}

impl Oracle {
    /// Whether it speaks of how an edge is configured, rather than of what
    /// became of a whole execution.
    pub fn blames_edges(self) -> bool {
        match self {
            Oracle::Scenario | Oracle::Response | Oracle::NoCause | Oracle::NotExercised => false,
            Oracle::WrongStatus
            | Oracle::TimeoutInversion
            | Oracle::RetryNotIdempotent
            | Oracle::RetryAmplification
            | Oracle::RetryAtOnce
            | Oracle::RedundantCalls => true,
        }
    }

    /// All of them, in the order in which they are asked.
    pub const ALL: [Oracle; 10] = [
        Oracle::Scenario,
        Oracle::Response,
        Oracle::NoCause,
        Oracle::WrongStatus,
        Oracle::NotExercised,
        Oracle::TimeoutInversion,
        Oracle::RetryNotIdempotent,
        Oracle::RetryAmplification,
        Oracle::RetryAtOnce,
        Oracle::RedundantCalls,
    ];

    /// The name in settings and findings.
    pub fn name(self) -> &'static str {
        match self {
            Oracle::Scenario => "scenario",
            Oracle::Response => "response",
            Oracle::NoCause => "no-cause",
            Oracle::WrongStatus => "wrong-status",
            Oracle::NotExercised => "not-exercised",
            Oracle::TimeoutInversion => "timeout-inversion",
            Oracle::RetryNotIdempotent => "retry-not-idempotent",
            Oracle::RetryAmplification => "retry-amplification",
            Oracle::RetryAtOnce => "retry-at-once",
            Oracle::RedundantCalls => "redundant-calls",
        }
    }

    /// What it holds against an execution, in a sentence about that.
    pub fn meaning(self) -> &'static str {
        match self {
            Oracle::Scenario => "the test failed under the faults, and passes without them",
            Oracle::Response => "an answer broke a rule of `[response]` in murphy.toml",
            Oracle::NoCause => "something failed although no fault was injected into it",
            Oracle::WrongStatus => {
                "a service that ran handed on its callee's status as its own, so that whoever gets it may repeat what was done"
            }
            Oracle::NotExercised => {
                "a planned fault was not injected, so the execution passed for nothing"
            }
            Oracle::TimeoutInversion => {
                "a caller gave up on a callee that was still busy, so that the callee's own fallback reached nobody"
            }
            Oracle::RetryNotIdempotent => {
                "work that was done, or may have been, was asked for once more"
            }
            Oracle::RetryAmplification => "attempts at several levels multiplied",
            Oracle::RetryAtOnce => {
                "a broken connection was met with the same call, without a pause"
            }
            Oracle::RedundantCalls => "the same call was made twice without need",
        }
    }

    /// How much its word counts unless configured otherwise. Rules about
    /// responses count in full, as there are none until someone writes them.
    pub fn default_level(self) -> Level {
        match self {
            Oracle::Scenario
            | Oracle::Response
            | Oracle::NoCause
            | Oracle::TimeoutInversion
            | Oracle::RetryNotIdempotent => Level::Fail,
            // To answer 503 for an unavailable callee is common practice, but
            // makes clients try again what was done.
            Oracle::WrongStatus
            | Oracle::NotExercised
            | Oracle::RetryAmplification
            | Oracle::RetryAtOnce => Level::Warn,
            // Asking twice for what is cheap is common practice.
            Oracle::RedundantCalls => Level::Off,
        }
    }

    /// What it holds against an execution.
    pub(crate) fn judge(self, case: &Case<'_>) -> Vec<Complaint> {
        match self {
            Oracle::Scenario => scenario::judge(case).into_iter().collect(),
            Oracle::Response => response::judge(case),
            Oracle::NoCause => no_cause::judge(case).into_iter().collect(),
            Oracle::WrongStatus => wrong_status::judge(case),
            Oracle::NotExercised => not_exercised::judge(case).into_iter().collect(),
            Oracle::TimeoutInversion => timeout_inversion::judge(case),
            Oracle::RetryNotIdempotent => retry_not_idempotent::judge(case),
            Oracle::RetryAmplification => retry_amplification::judge(case),
            Oracle::RetryAtOnce => retry_at_once::judge(case),
            Oracle::RedundantCalls => redundant_calls::judge(case),
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no oracle's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no oracle `{name}`; {hint}")]
pub struct UnknownOracle {
    name: String,
    hint: String,
}

impl FromStr for Oracle {
    type Err = UnknownOracle;

    fn from_str(name: &str) -> Result<Self, UnknownOracle> {
        let named = |oracle: &Oracle| oracle.name() == name;
        Oracle::ALL.into_iter().find(named).ok_or_else(|| {
            let names = Oracle::ALL.map(Oracle::name);
            let hint = match nearest(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            UnknownOracle {
                name: name.to_owned(),
                hint,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler asks for a new one here, so that it cannot be forgotten there.
    #[test]
    fn none_is_missing_in_the_list() {
        let next = |oracle: Oracle| match oracle {
            Oracle::Scenario => Some(Oracle::Response),
            Oracle::Response => Some(Oracle::NoCause),
            Oracle::NoCause => Some(Oracle::WrongStatus),
            Oracle::WrongStatus => Some(Oracle::NotExercised),
            Oracle::NotExercised => Some(Oracle::TimeoutInversion),
            Oracle::TimeoutInversion => Some(Oracle::RetryNotIdempotent),
            Oracle::RetryNotIdempotent => Some(Oracle::RetryAmplification),
            Oracle::RetryAmplification => Some(Oracle::RetryAtOnce),
            Oracle::RetryAtOnce => Some(Oracle::RedundantCalls),
            Oracle::RedundantCalls => None,
        };
        let all: Vec<Oracle> =
            std::iter::successors(Some(Oracle::Scenario), |it| next(*it)).collect();
        assert_eq!(all, Oracle::ALL);
    }

    #[test]
    fn names_are_read_back_and_mistyped_ones_corrected() {
        for oracle in Oracle::ALL {
            assert_eq!(oracle.name().parse(), Ok(oracle));
        }
        let refused = |name: &str| name.parse::<Oracle>().unwrap_err().to_string();
        assert_eq!(
            refused("timeout-inversions"),
            "there is no oracle `timeout-inversions`; did you mean `timeout-inversion`?"
        );
        assert!(refused("weather").contains("there are scenario, response, "));
    }
}

//! The certificate: what a search covered, under which assumptions.
//!
//! Owns the statement, not the reasoning behind it: strategies fill it in,
//! reports print it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use crate::{Faultload, Point, Reply, json};

/// What a search covered when it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Points seen that can be injected (the scenario's own requests are not).
    pub points: usize,
    /// How many of them the reference execution did not show.
    pub conditional: usize,
    /// All faultloads over these points: the product of (1 + modes) of each.
    #[serde(with = "json::text")]
    pub space: BigUint,
    /// Executions that counted, the reference included.
    pub explored: usize,
    /// Faultloads looked at, run or not.
    pub considered: usize,
    /// Faultloads looked at and not run, by policy.
    pub pruned: BTreeMap<Cow<'static, str>, usize>,
    /// Where every faultload of the space went, when the model is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skips: Option<Skips>,
    /// Executions in which a planned fault was not injected.
    pub not_exercised: usize,
    /// Executions speculative, discarded.
    pub speculative: usize,
    /// The largest number of faults that was allowed together, if bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    /// Why the search is not complete; `None` if it is, up to the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
    /// What must be true of the system for the skipped cases to be redundant.
    pub assumptions: Vec<String>,
    /// What was seen that speaks against them.
    pub flags: Vec<Flag>,
    /// How often re-running skipped cases confirmed the prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// The combinations that fail and of which no part does, where the
    /// strategy tells: all of them up to the bound, if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimal: Option<Vec<Faultload>>,
}

impl Certificate {
    /// Whether every distinct case up to the bound was run or shown redundant.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }
}

/// The space, divided: explored and skipped add up to all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skips {
    /// Faultloads whose every fault is injected: the cases that can happen at all.
    #[serde(with = "json::text")]
    pub possible: BigUint,
    /// Faultloads of the space that were not run, by policy.
    #[serde(with = "json::text_map")]
    pub by_policy: BTreeMap<Cow<'static, str>, BigUint>,
}

/// Why a search ended before it was complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Incomplete {
    /// The allowed number of executions was used up.
    #[serde(rename = "max-cases")]
    Cases {
        /// Faultloads still waiting.
        waiting: usize,
    },
    /// The search was told to stop: the time was up, or the user said so.
    Stopped {
        /// Faultloads still waiting.
        waiting: usize,
    },
    /// The strategy samples and never claims completeness.
    Sampling,
    /// The system contradicted itself, so skipping cannot be relied on.
    Nondeterminism,
    /// Depth first, calls may first be reached with more faults than necessary, so a
    /// bound on faults may have cut off cases within it.
    BoundDepthFirst,
    /// Skipped cases that were run after all did not go as predicted.
    Audit,
    /// No execution ever succeeded, so nothing can be told from what fails.
    NoSuccess,
    /// Calls that had sufficed did not, although none of them failed.
    Contradicted,
    /// The proof that nothing is left was given up for its size.
    GaveUp,
    /// Nobody is known to have made some calls, so they were not injected.
    Orphans,
    /// Calls arrived when their execution was over, so it is not known what
    /// all came of it.
    Late,
    /// Equal calls were made at the same time, so it is luck which of them a
    /// fault is injected into.
    Twins,
    /// Who made some calls was inferred, and others could have.
    Guessed,
    /// Services make calls in the background, which were not injected.
    Background,
    /// Calls come and go without faults, and were left out.
    Varies,
    /// Calls arrived without trace context, so it is not known which execution
    /// made them.
    Unattributed,
    /// No call to some declared services was seen.
    Uncalled,
    /// A call is made only in the first run after a start, and was not tested.
    FirstRun,
    /// Executions ran on state that an earlier one had left behind.
    LeftBehind,
    /// The scenario failed without faults once and passed when repeated.
    Flaky,
    /// Callers react to the bodies of answers, and replies were compared by
    /// status alone.
    Replies,
}

impl Incomplete {
    /// The name of the reason, as its JSON form has it.
    pub fn name(&self) -> String {
        let form = serde_json::to_value(self).expect("a reason has a JSON form");
        form["why"].as_str().unwrap_or_default().to_owned()
    }
}

/// Something seen that the assumptions do not cover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Flag {
    /// The same circumstances led to different behaviour.
    Nondeterminism {
        /// The call whose service behaved so; `None` for the scenario itself.
        at: Option<Point>,
        /// An execution that showed the one behaviour.
        first: usize,
        /// An execution that showed the other.
        second: usize,
        /// Whether faults were injected into an earlier request of the scenario
        /// in one of them: what they left undone may be what differs.
        #[serde(default, skip_serializing_if = "crate::json::is_default")]
        after_faults: bool,
    },
    /// A caller did something else although no call of its own went wrong
    /// otherwise than before: a callee's good-looking answer differed.
    Unexplained {
        /// The call whose service behaved so; `None` for the scenario itself.
        at: Option<Point>,
        /// An execution that showed the one behaviour.
        first: usize,
        /// An execution that showed the other.
        second: usize,
    },
    /// A successful answer had another body under the very same circumstances:
    /// answers of this interface are compared by their status alone.
    BodyVaries {
        /// The call that was answered so.
        at: Point,
        /// An execution that showed the one body.
        first: usize,
        /// An execution that showed the other.
        second: usize,
    },
    /// One point stood for several calls of one execution, so that a fault
    /// cannot be aimed at one of them alone.
    Ambiguous {
        /// The point.
        at: Point,
        /// An execution that showed it.
        execution: usize,
    },
    /// Equal calls were made at the same time: which of them is the first is
    /// luck.
    Twins {
        /// One of them.
        at: Point,
        /// An execution that showed it.
        execution: usize,
    },
    /// Who made the call was inferred, and there were several who could have.
    Guessed {
        /// The call, under the caller it was taken to have.
        at: Point,
        /// An execution that showed it.
        execution: usize,
    },
    /// Nothing says for which request the call is made, so it was never
    /// injected.
    Background {
        /// The service that makes it; nothing where several could.
        caller: Option<String>,
        /// The call, without who made it.
        at: Point,
    },
    /// The call comes and goes, or is not always answered alike, without
    /// faults, so it was left out with all that is called for it.
    Varies {
        /// The call.
        at: Point,
        /// How, as in "is called 2, then 3 times".
        how: String,
    },
    /// Nobody is known to have made the call, so it is taken for the
    /// scenario's own and never injected.
    Orphan {
        /// The call.
        at: Point,
        /// An execution that showed it.
        execution: usize,
    },
    /// A call was still under way when its execution was waited for no longer,
    /// although no fault held it up.
    Unfinished {
        /// The call.
        at: Point,
        /// An execution that showed it.
        execution: usize,
    },
    /// A call arrived while executions ran and belongs to none of them as far
    /// as can be told, so it was never injected.
    Unattributed {
        /// The call, without who made it.
        at: Point,
        /// How often it arrived.
        calls: usize,
        /// The execution after which it was first noticed.
        execution: usize,
    },
    /// No execution shows a call to a declared service.
    Uncalled {
        /// The service.
        service: String,
    },
    /// Calls arrived when their execution was over already.
    Late {
        /// How many.
        calls: usize,
    },
    /// Calls that had sufficed did not, although none of them failed.
    Contradicted {
        /// The execution in which they sufficed.
        first: usize,
        /// The execution in which they did not.
        second: usize,
    },
    /// More faults helped: what fails did not fail together with others.
    NotMonotone {
        /// What fails.
        faultload: Faultload,
        /// The execution in which it did not.
        execution: usize,
    },
    /// A call was made only in the first run without faults after the system
    /// was started, so it was not tested.
    FirstRun {
        /// The call.
        at: Point,
    },
    /// Executions ran, or may have run, on state that an earlier one had left
    /// behind.
    LeftBehind {
        /// The execution that left it, or the first that may have.
        first: usize,
        /// The last execution before that was noticed.
        last: usize,
    },
    /// Without faults the scenario failed, and passed when it was repeated.
    Flaky {
        /// The execution before it.
        execution: usize,
    },
    /// An execution failed in parallel with others and passed when it was
    /// repeated alone.
    Parallel {
        /// A call that was answered differently though no fault was injected
        /// into it, with the answer alone and the one in parallel.
        differs: Option<(Point, Reply, Reply)>,
        /// What was injected into that execution.
        faultload: Faultload,
    },
}

impl Flag {
    /// The call it is about; `None` for one about the scenario or executions.
    pub fn at(&self) -> Option<&Point> {
        match self {
            Flag::Nondeterminism { at, .. } | Flag::Unexplained { at, .. } => at.as_ref(),
            Flag::BodyVaries { at, .. }
            | Flag::Ambiguous { at, .. }
            | Flag::Twins { at, .. }
            | Flag::Guessed { at, .. }
            | Flag::Background { at, .. }
            | Flag::Varies { at, .. }
            | Flag::Orphan { at, .. }
            | Flag::Unfinished { at, .. }
            | Flag::Unattributed { at, .. }
            | Flag::FirstRun { at } => Some(at),
            _ => None,
        }
    }
}

/// The result of re-running a sample of skipped faultloads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// How many were re-run.
    pub sampled: usize,
    /// How many went as predicted.
    pub agreed: usize,
    /// Skipped faultloads that came up and could not be compared, because a
    /// reduction leaves open what exactly they would show.
    pub unpredicted: usize,
    /// The faultloads that did not, in text form.
    pub disagreed: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_written_with_all_that_is_known_of_it() {
        let written = |flag: Flag| serde_json::to_string(&flag).unwrap();
        assert_eq!(
            written(Flag::Late { calls: 3 }),
            r#"{"kind":"late","calls":3}"#
        );
        let unexplained = Flag::Unexplained {
            at: None,
            first: 1,
            second: 2,
        };
        assert_eq!(
            written(unexplained),
            r#"{"kind":"unexplained","at":null,"first":1,"second":2}"#
        );
    }

    #[test]
    fn why_a_search_is_not_complete_is_told_by_its_name() {
        let cases = [
            (Incomplete::Cases { waiting: 1 }, "max-cases"),
            (Incomplete::Stopped { waiting: 2 }, "stopped"),
            (Incomplete::Sampling, "sampling"),
            (Incomplete::Nondeterminism, "nondeterminism"),
            (Incomplete::BoundDepthFirst, "bound-depth-first"),
            (Incomplete::Audit, "audit"),
            (Incomplete::NoSuccess, "no-success"),
            (Incomplete::Contradicted, "contradicted"),
            (Incomplete::GaveUp, "gave-up"),
            (Incomplete::Orphans, "orphans"),
            (Incomplete::Late, "late"),
            (Incomplete::Twins, "twins"),
            (Incomplete::Guessed, "guessed"),
            (Incomplete::Background, "background"),
            (Incomplete::Varies, "varies"),
            (Incomplete::Unattributed, "unattributed"),
            (Incomplete::Uncalled, "uncalled"),
            (Incomplete::FirstRun, "first-run"),
            (Incomplete::LeftBehind, "left-behind"),
            (Incomplete::Flaky, "flaky"),
            (Incomplete::Replies, "replies"),
        ];
        for (why, name) in cases {
            assert_eq!(why.name(), name);
            let written = serde_json::to_value(&why).unwrap();
            assert_eq!(serde_json::from_value::<Incomplete>(written).unwrap(), why);
        }
    }
}

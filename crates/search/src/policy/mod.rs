//! Policies: reasons why a faultload need not be run.
//!
//! Each is a module of its own that says what it assumes and when it speaks.
//! A policy only judges; the strategy asks, counts and keeps the reason.

pub(crate) mod bound;
pub(crate) mod downstream;
pub(crate) mod encapsulation;
pub(crate) mod filter;
pub(crate) mod mode_classes;
pub(crate) mod propagation;
pub(crate) mod reachability;
pub(crate) mod retry;

use crate::options::Replies;

/// The policies, by the names that reports use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// A fault below a call that another fault keeps from running.
    Downstream,
    /// A fault at a call that a failed sibling keeps from being made.
    Exclusion,
    /// A fault at a call that is only made when something fails that does not.
    Inclusion,
    /// A fault below a call that is not made.
    Unreachable,
    /// A fault that shows a caller what it has already been shown by the
    /// callee itself.
    Propagation,
    /// Faults that show every service only what it has been shown before.
    Encapsulation,
    /// An attempt in the middle of a retry loop.
    Retry,
    /// A mode that acts like another one at the same point.
    Modes,
    /// More faults together than asked for.
    Bound,
    /// A point or a mode that was not asked for.
    Filter,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 10] = [
        Policy::Downstream,
        Policy::Exclusion,
        Policy::Inclusion,
        Policy::Unreachable,
        Policy::Propagation,
        Policy::Encapsulation,
        Policy::Retry,
        Policy::Modes,
        Policy::Bound,
        Policy::Filter,
    ];

    /// Whether what it skips cannot happen (rather than need not be run).
    pub fn says_impossible(self) -> bool {
        matches!(
            self,
            Policy::Downstream | Policy::Exclusion | Policy::Inclusion | Policy::Unreachable
        )
    }

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Downstream => "downstream",
            Policy::Exclusion => "exclusion",
            Policy::Inclusion => "inclusion",
            Policy::Unreachable => "unreachable",
            Policy::Propagation => "propagation",
            Policy::Encapsulation => "encapsulation",
            Policy::Retry => "retry",
            Policy::Modes => "modes",
            Policy::Bound => "bound",
            Policy::Filter => "filter",
        }
    }

    /// Why a faultload it speaks of need not be run, in one line.
    pub fn reason(self) -> &'static str {
        match self {
            Policy::Downstream => "a fault higher up keeps the call from being served",
            Policy::Exclusion => "the call is not made once the other faults are injected",
            Policy::Inclusion => "the call is only made after a failure that is not there",
            Policy::Unreachable => "the call it would be made from does not happen",
            Policy::Propagation => "the callee's own failure has shown its caller the same reply",
            Policy::Encapsulation => "every service gets only replies it was seen to get before",
            Policy::Retry => "one transient and one persistent failure stand for a retry loop",
            Policy::Modes => "another mode acts alike at that point and stands for it",
            Policy::Bound => "more faults at once than asked for",
            Policy::Filter => "a point or mode that was not asked for",
        }
    }

    /// What the policy takes for granted, if anything, where this is what a
    /// caller sees of a reply.
    pub fn assumption(self, replies: Replies) -> Option<&'static str> {
        match self {
            Policy::Downstream | Policy::Bound | Policy::Filter => None,
            Policy::Exclusion | Policy::Inclusion | Policy::Unreachable => {
                Some(reachability::ASSUMPTION)
            }
            Policy::Propagation => Some(propagation::assumption(replies)),
            Policy::Encapsulation => Some(encapsulation::ASSUMPTION),
            Policy::Retry => Some(retry::ASSUMPTION),
            Policy::Modes => Some(mode_classes::ASSUMPTION),
        }
    }
}

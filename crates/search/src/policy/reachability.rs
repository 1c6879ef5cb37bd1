//! Inclusion, exclusion, unreachability: faults at calls that are not made.
//!
//! When the model predicts an execution completely, a fault at a call that is
//! not part of it cannot be injected. Which of the three policies speaks depends on
//! why the call is missing.

use crate::catalogue::{Catalogue, FaultKey};
use crate::model::Model;
use crate::model::predict::Prediction;

use super::Policy;

/// What the three policies take for granted.
pub(crate) const ASSUMPTION: &str =
    "a service given the same replies makes the same calls (deterministic, no state between runs)";

/// Why the fault cannot be injected in the predicted execution.
pub(crate) fn why_idle(
    fault: FaultKey,
    prediction: &Prediction,
    catalogue: &Catalogue,
    model: &Model,
) -> Policy {
    let parent_made = match catalogue.entry(fault.point).ancestors.first() {
        None => true,
        Some(parent) => prediction.calls.iter().any(|call| call.point == *parent),
    };
    match (parent_made, model.reference.contains(&fault.point)) {
        (false, _) => Policy::Unreachable,
        (true, true) => Policy::Exclusion,
        (true, false) => Policy::Inclusion,
    }
}

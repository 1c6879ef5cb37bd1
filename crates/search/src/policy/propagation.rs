//! Upstream propagation: a failure below shows the same as a fault here.
//!
//! When a callee's own failure has shown its caller a reply, putting the same
//! reply there by a fault shows the caller nothing new.

use crate::model::predict::Prediction;

/// What the policy takes for granted.
pub(crate) const ASSUMPTION: &str = "replies of equal status are equal to their caller, whether injected or the callee's own, unless seen otherwise";

/// Whether some reply of the prediction is owed to a propagated failure.
pub(crate) fn speaks(prediction: &Prediction) -> bool {
    !prediction.propagated.is_empty()
}

//! Upstream propagation: a failure below shows the same as a fault here.
//!
//! When a callee's own failure has shown its caller a reply, putting the same
//! reply there by a fault shows the caller nothing new.

use crate::model::predict::Prediction;
use crate::options::Replies;

/// What the policy takes for granted.
pub(crate) fn assumption(replies: Replies) -> &'static str {
    match replies {
        Replies::Status => {
            "replies of equal status are equal to their caller, whether injected or the callee's own, unless seen otherwise"
        }
        Replies::Classes => {
            "to its caller a reply is its status and whether a successful answer has its usual body or a degraded one, unless seen otherwise"
        }
        Replies::Bodies => "to its caller a reply is its status and, if it is successful, its body",
    }
}

/// Whether some reply of the prediction is owed to a propagated failure.
pub(crate) fn speaks(prediction: &Prediction) -> bool {
    !prediction.propagated.is_empty()
}

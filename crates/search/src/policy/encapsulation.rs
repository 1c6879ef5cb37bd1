//! Service encapsulation: a service knows its callees by their replies alone.
//!
//! A faultload is redundant when every service in the predicted execution gets
//! replies that it has been seen to get before, each in any earlier execution.
//! A complete prediction is made of exactly such pieces, so completeness is
//! the test; [`super::propagation`] is the special case where a piece was
//! first seen as a callee's own failure.

/// What the policy takes for granted.
pub(crate) const ASSUMPTION: &str = "a service's behaviour depends on the replies of the calls it makes and on nothing else (service encapsulation)";

//! Which services may call which, as far as the user said so.
//!
//! Owns the answer to one question of inference: can a call in flight at one
//! service have led to a request to another? Where nothing was said it can.

use std::collections::{BTreeMap, BTreeSet};

/// The services that each service calls, for those of which it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph(BTreeMap<String, BTreeSet<String>>);

impl FromIterator<(String, BTreeSet<String>)> for CallGraph {
    fn from_iter<T: IntoIterator<Item = (String, BTreeSet<String>)>>(calls: T) -> Self {
        CallGraph(calls.into_iter().collect())
    }
}

impl CallGraph {
    /// Whether a service may call another; also where that is not known.
    pub(crate) fn may_call(&self, caller: &str, callee: &str) -> bool {
        let known = self.0.get(caller);
        known.is_none_or(|callees| callees.contains(callee))
    }

    /// Whether a service is known to call another.
    pub(crate) fn calls(&self, caller: &str, callee: &str) -> bool {
        let known = self.0.get(caller);
        known.is_some_and(|callees| callees.contains(callee))
    }
}

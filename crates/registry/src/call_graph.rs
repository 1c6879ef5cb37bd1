//! Which services may call which, as far as the user said so.
//!
//! Owns the answer to one question of inference: can a call in flight at one
//! service have led to a request to another? Where nothing was said it can.

use std::collections::{BTreeMap, BTreeSet};

/// The services that each service calls, for those of which it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph {
    calls: BTreeMap<String, BTreeSet<String>>,
    /// The services that nobody calls.
    uncalled: BTreeSet<String>,
}

impl FromIterator<(String, BTreeSet<String>)> for CallGraph {
    fn from_iter<T: IntoIterator<Item = (String, BTreeSet<String>)>>(calls: T) -> Self {
        CallGraph {
            calls: calls.into_iter().collect(),
            uncalled: BTreeSet::new(),
        }
    }
}

impl CallGraph {
    /// The same where nobody calls some services: what they call they call by
    /// themselves.
    pub fn with_uncalled(mut self, services: impl IntoIterator<Item = String>) -> Self {
        self.uncalled.extend(services);
        self
    }

    /// Whether nobody calls a service.
    pub(crate) fn is_uncalled(&self, service: &str) -> bool {
        self.uncalled.contains(service)
    }

    /// Whether a service may call another; also where that is not known.
    pub(crate) fn may_call(&self, caller: &str, callee: &str) -> bool {
        let known = self.calls.get(caller);
        known.is_none_or(|callees| callees.contains(callee))
    }

    /// Whether a service is known to call another.
    pub(crate) fn calls(&self, caller: &str, callee: &str) -> bool {
        let known = self.calls.get(caller);
        known.is_some_and(|callees| callees.contains(callee))
    }
}

//! The core of a faultload: the faults that callers were left with.
//!
//! Owns what an attempt is worth that was made again. Client libraries send a
//! request again when its connection breaks; the failure that the caller then
//! sees is that of the last attempt. So `x = reset, x #2 = 500` comes down to
//! `x = 500`: if that fails by itself, the former is no bug of its own.

use std::collections::{BTreeMap, BTreeSet};

use murphy_model::{CallId, Fault, Faultload, Frame, Point, Target, Trace};

use crate::attempts::retries;
use crate::reference::Reference;

/// What the faults that were injected come down to; `None` if to nothing less.
pub(crate) fn core(trace: &Trace, reference: &Reference) -> Option<Faultload> {
    let injected = trace.calls().iter().filter(|call| call.injected.is_some());
    if injected.count() < 2 {
        return None;
    }
    let core = Core::of(trace, reference);
    if core.made_up.is_empty() {
        return None;
    }
    let left = trace.ids().filter(|id| !core.is_made_up(*id));
    let faults: BTreeSet<Fault> = left.filter_map(|id| core.fault(id)).collect();
    // Two that fail differently and would be one cannot be written as one.
    let faults = Faultload::new(faults).ok()?;
    (faults.len() < trace.injected().len()).then_some(faults)
}

/// The part of attempts that callers were left with.
struct Core<'t> {
    trace: &'t Trace,
    /// Attempts that were followed by another that failed too.
    made_up: BTreeSet<CallId>,
    /// Last attempts, each with the first of its run, which it stands for.
    first_of: BTreeMap<CallId, CallId>,
}

impl<'t> Core<'t> {
    fn of(trace: &'t Trace, reference: &Reference) -> Self {
        let mut core = Core {
            trace,
            made_up: BTreeSet::new(),
            first_of: BTreeMap::new(),
        };
        for run in retries(trace, reference) {
            let (last, before) = run.split_last().expect("a run has attempts");
            if core.is_injected(*last) && before.iter().all(|id| core.is_injected(*id)) {
                core.made_up.extend(before);
                core.first_of.insert(*last, before[0]);
            }
        }
        core
    }

    /// Whether a fault was injected into a call, or one made to serve it.
    fn is_injected(&self, id: CallId) -> bool {
        let mut ids = self.trace.ids();
        ids.any(|other| {
            let is_below = || self.trace.ancestors(other).any(|above| above == id);
            self.trace.call(other).injected.is_some() && (other == id || is_below())
        })
    }

    fn is_made_up(&self, id: CallId) -> bool {
        let mut above = self.trace.ancestors(id);
        self.made_up.contains(&id) || above.any(|above| self.made_up.contains(&above))
    }

    fn fault(&self, id: CallId) -> Option<Fault> {
        let fault = self.trace.call(id).injected.clone()?;
        Some(match fault.target {
            Target::Call(_) => Fault::at(self.point(id), fault.mode),
            Target::Every(_) | Target::Matching(_) => fault,
        })
    }

    /// The point of a call, were the attempts before it not made.
    fn point(&self, id: CallId) -> Point {
        let call = self.trace.call(id);
        let first = self.first_of.get(&id).unwrap_or(&id);
        let frame: Frame = self.trace.call(*first).point.frame().clone();
        match call.parent.filter(|_| call.point.parent().is_some()) {
            Some(parent) => self.point(parent).child(frame),
            None => Point::entry(frame),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Story, call};

    fn core_of(calls: Vec<crate::testing::Told>) -> Option<String> {
        let usual = Story::new(vec![
            call("a GET /"),
            call("a GET / > b GET /"),
            call("a GET / > b GET / > c GET /"),
        ]);
        let reference = Reference::of([&usual.observed()]);
        let observed = Story::new(calls).observed();
        core(&observed.execution.trace, &reference).map(|faults| faults.to_string())
    }

    #[test]
    fn what_a_library_sends_again_comes_down_to_its_last_attempt() {
        let resent = core_of(vec![
            call("a GET /").answers("500"),
            call("a GET / > b GET /").injected("reset"),
            call("a GET / > b GET / #2").injected("500"),
        ]);
        assert_eq!(resent.as_deref(), Some("a GET / > b GET / = 500"));
    }

    #[test]
    fn the_faults_of_calls_below_count_with_their_attempt() {
        let resent = core_of(vec![
            call("a GET /").answers("500"),
            call("a GET / > b GET /").answers("502"),
            call("a GET / > b GET / > c GET /").injected("503"),
            call("a GET / > b GET / #2").answers("502"),
            call("a GET / > b GET / #2 > c GET /").injected("500"),
        ]);
        assert_eq!(resent.as_deref(), Some("a GET / > b GET / > c GET / = 500"));
    }

    #[test]
    fn a_fault_that_was_made_up_for_or_stands_alone_stays() {
        let recovered = core_of(vec![
            call("a GET /").answers("500"),
            call("a GET / > b GET /").injected("after:500"),
            call("a GET / > b GET / #2"),
            call("a GET / > d GET /").injected("500"),
        ]);
        assert_eq!(recovered, None);
        let another = core_of(vec![
            call("a GET /").answers("500"),
            call("a GET / > b GET /").injected("500"),
            call("a GET / > d GET /").injected("500"),
        ]);
        assert_eq!(another, None);
    }
}

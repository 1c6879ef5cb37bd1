//! Retry reduction (opt-in): one transient and one persistent failure stand
//! for all the ways a retry loop can go.
//!
//! Not sound in general: a loop that treats its third attempt differently
//! from its second is not covered. Hence opt-in.

use std::collections::{HashMap, HashSet};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, PointId};
use crate::model::Model;
use crate::model::observation::Observation;

/// What the policy takes for granted.
pub(crate) const ASSUMPTION: &str = "a retry loop treats every attempt alike, so that one transient and one persistent failure cover it (retry reduction)";

/// The retry loops found so far.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    /// Attempts after the first, with an execution that showed each.
    pub(crate) attempts: HashMap<PointId, usize>,
    /// First attempts of calls that are retried.
    pub(crate) retried: HashSet<PointId>,
}

impl Retries {
    /// Finds retries in an execution. For each, the faultload that makes the
    /// failure persistent: what was injected, with the transient failure replaced.
    pub(crate) fn learn(
        &mut self,
        seen: &Observation,
        number: usize,
        catalogue: &Catalogue,
        model: &Model,
    ) -> Vec<FaultSet> {
        let mut persistent = Vec::new();
        for call in &seen.calls {
            let Some(first) = first_attempt(call.point, seen, catalogue, model) else {
                continue;
            };
            self.attempts.entry(call.point).or_insert(number);
            self.retried.insert(first);
            persistent.extend(made_persistent(first, seen, catalogue));
        }
        persistent.dedup();
        persistent
    }

    /// A fault at an attempt after the first.
    pub(crate) fn reduced(&self, faults: &FaultSet) -> Option<(FaultKey, usize)> {
        let at_attempt = |key: &FaultKey| match key.every {
            true => None,
            false => self.attempts.get(&key.point).map(|number| (*key, *number)),
        };
        faults.keys().iter().find_map(at_attempt)
    }
}

/// The failed first attempt that the call at `point` repeats, if it is a
/// retry: not part of the reference, which shows the call exactly once.
fn first_attempt(
    point: PointId,
    seen: &Observation,
    catalogue: &Catalogue,
    model: &Model,
) -> Option<PointId> {
    let first = catalogue.entry(point).base;
    if first == point || model.reference.contains(&point) {
        return None;
    }
    let failed = |call: &crate::model::observation::Seen| {
        call.point == first && !call.label.reply.is_some_and(|reply| reply.is_ok())
    };
    let alike = |other: &&PointId| {
        let other = catalogue.point(**other);
        other.same_but_for_counts(catalogue.point(point))
    };
    let once_in_reference = model.reference.iter().filter(alike).count() == 1;
    (once_in_reference && seen.calls.iter().any(failed)).then_some(first)
}

fn made_persistent(first: PointId, seen: &Observation, catalogue: &Catalogue) -> Option<FaultSet> {
    let call = seen.calls.iter().find(|call| call.point == first)?;
    let mode = match call.injected {
        Some(fault) => fault.mode,
        None => {
            let reply = call.label.reply?;
            let shows = |mode: &&crate::catalogue::ModeId| {
                let mode = catalogue.mode(**mode);
                mode.is_blocking() && mode.reply() == Some(reply)
            };
            *catalogue.entry(first).modes.iter().find(shows)?
        }
    };
    let every = FaultKey {
        point: first,
        every: true,
        mode,
    };
    let hidden = |key: &FaultKey| {
        let ancestors = &catalogue.entry(key.point).ancestors;
        ancestors.iter().any(|above| catalogue.hits(every, *above))
    };
    let kept = seen.injected.keys().iter().copied().filter(|key| {
        let replaced = key.point == first || catalogue.hits(every, key.point);
        !replaced && !hidden(key)
    });
    Some(FaultSet::new(kept.chain([every]).collect()))
}

//! Mode equivalence (opt-in): modes that act alike at a point are one class,
//! and combinations use one representative of each.
//!
//! Whether two modes act alike is read off the executions in which the point
//! was first injected, each alone (or with no more than what makes the
//! point appear): same calls, same replies everywhere else, same verdict. Not
//! sound in general: two modes may differ only together with another fault.

use std::collections::HashMap;

use crate::catalogue::{Catalogue, FaultKey, FaultSet, ModeId, PointId};

/// What the policy takes for granted.
pub(crate) const ASSUMPTION: &str =
    "modes that act alike at a point alone act alike in combination (mode equivalence)";

/// What each mode was seen to do at each place (once, or persistently). Points
/// that differ in their predecessors only share their classes.
#[derive(Debug, Default)]
pub(crate) struct ModeClasses {
    effects: HashMap<(PointId, bool), Vec<(ModeId, Effect)>>,
}

/// What a fault did: all other calls with their replies, and whether the
/// scenario failed.
pub(crate) type Effect = (u64, bool);

impl ModeClasses {
    /// Notes what a fault did where its point was first injected.
    pub(crate) fn note(&mut self, fault: FaultKey, effect: Effect, catalogue: &Catalogue) {
        let place = catalogue.entry(fault.point).place;
        let effects = self.effects.entry((place, fault.every)).or_default();
        if !effects.iter().any(|(mode, _)| *mode == fault.mode) {
            effects.push((fault.mode, effect));
        }
    }

    /// The mode that stands for this one at its point: the first in the order
    /// of the options that was seen to do the same.
    pub(crate) fn representative(&self, fault: FaultKey, catalogue: &Catalogue) -> ModeId {
        let effects = match self
            .effects
            .get(&(catalogue.entry(fault.point).place, fault.every))
        {
            Some(effects) => effects,
            None => return fault.mode,
        };
        let effect = |mode: ModeId| effects.iter().find(|(m, _)| *m == mode).map(|(_, e)| *e);
        let Some(own) = effect(fault.mode) else {
            return fault.mode;
        };
        let modes = &catalogue.entry(fault.point).modes;
        let first = modes.iter().find(|mode| effect(**mode) == Some(own));
        first.copied().unwrap_or(fault.mode)
    }

    /// A fault that another mode stands for, leaving out the faults at the
    /// point whose classes this very faultload is to find out.
    pub(crate) fn reduced(
        &self,
        faults: &FaultSet,
        defines: Option<PointId>,
        catalogue: &Catalogue,
    ) -> Option<(FaultKey, ModeId)> {
        faults.keys().iter().find_map(|key| {
            let representative = self.representative(*key, catalogue);
            let stands_for_itself = representative == key.mode || defines == Some(key.point);
            (!stands_for_itself).then_some((*key, representative))
        })
    }
}

//! Downstream dependency: what a blocked callee would have called is not called.
//!
//! Follows from the chain of calls in a point and needs nothing to be learnt,
//! except that the blocked point stands for one call only. Faults that let the
//! callee run (delays, lost answers, duplicates) hide nothing.

use crate::catalogue::{Catalogue, FaultKey, FaultSet};
use crate::model::Model;

/// A fault that cannot be injected, with the fault above it.
pub(crate) fn hidden(
    faults: &FaultSet,
    catalogue: &Catalogue,
    model: &Model,
) -> Option<(FaultKey, FaultKey)> {
    faults.keys().iter().find_map(|below| {
        let ancestors = &catalogue.entry(below.point).ancestors;
        let above = ancestors.iter().find_map(|ancestor| {
            let fault = catalogue.fault_at(faults, *ancestor)?;
            let blocks = catalogue.mode(fault.mode).is_blocking();
            (blocks && !model.ambiguous.contains(ancestor)).then_some(fault)
        })?;
        Some((*below, above))
    })
}

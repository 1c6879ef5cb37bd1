//! User filters: points and modes that were not asked for.

use crate::catalogue::{Catalogue, FaultKey, FaultSet};

/// A fault whose point or mode was not asked for. A persistent fault is asked
/// for where its first attempt is.
pub(crate) fn unasked(faults: &FaultSet, catalogue: &Catalogue) -> Option<FaultKey> {
    let asked = |key: &FaultKey| catalogue.entry(key.point).modes.contains(&key.mode);
    faults.keys().iter().find(|key| !asked(key)).copied()
}

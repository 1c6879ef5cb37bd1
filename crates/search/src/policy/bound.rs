//! Size bound: no more faults together than asked for.

use crate::catalogue::FaultSet;

/// Whether the faultload is over the bound.
pub(crate) fn exceeded(faults: &FaultSet, most: Option<usize>) -> bool {
    most.is_some_and(|most| faults.len() > most)
}

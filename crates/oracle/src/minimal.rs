//! Minimal sets: which members of a family contain no smaller member.
//!
//! Owns the comparison, on plain numbers: thousands of failing faultloads are
//! compared with each other, and comparing their points each time would cost
//! more than the search that found them.

use std::collections::BTreeMap;

use murphy_model::{Fault, Faultload};

/// A set of numbered faults, in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Numbers(Vec<u32>);

impl Numbers {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn is_proper_subset(&self, other: &Numbers) -> bool {
        self.0.len() < other.0.len() && self.0.iter().all(|n| other.0.binary_search(n).is_ok())
    }
}

/// Numbers faults, equal ones alike.
#[derive(Debug, Default)]
pub(crate) struct Numbering(BTreeMap<Fault, u32>);

impl Numbering {
    pub(crate) fn of(&mut self, faultload: &Faultload) -> Numbers {
        let mut numbers: Vec<u32> = faultload.faults().map(|fault| self.number(fault)).collect();
        numbers.sort_unstable();
        Numbers(numbers)
    }

    fn number(&mut self, fault: Fault) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(fault).or_insert(next)
    }
}

/// The members that contain no other member as a proper subset, smallest
/// first. The empty set is left out: it would be part of every other.
pub(crate) fn minimal(family: impl IntoIterator<Item = Numbers>) -> Vec<Numbers> {
    let mut family: Vec<Numbers> = family.into_iter().filter(|set| !set.is_empty()).collect();
    family.sort_by(|a, b| (a.0.len(), a).cmp(&(b.0.len(), b)));
    family.dedup();
    let mut minimal: Vec<Numbers> = Vec::new();
    for set in family {
        if !minimal.iter().any(|smaller| smaller.is_proper_subset(&set)) {
            minimal.push(set);
        }
    }
    minimal
}

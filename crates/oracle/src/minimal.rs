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

/// What a member is among those taken in before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It contains a smaller one.
    Larger,
    /// It contains no other, and came before.
    Known,
    /// It contains no other; some that contain it may now be larger.
    New,
}

/// The members of a family that contain no other one, as they come in.
///
/// The empty set is minimal and stands apart: it would be part of every other.
#[derive(Debug, Default)]
pub(crate) struct Minimal(Vec<Numbers>);

impl Minimal {
    /// Takes in a member and says what it is.
    pub(crate) fn add(&mut self, member: &Numbers) -> Added {
        if self.holds(member) {
            return Added::Known;
        }
        if self.0.iter().any(|known| known.is_proper_subset(member)) {
            return Added::Larger;
        }
        self.0.retain(|known| !member.is_proper_subset(known));
        self.0.push(member.clone());
        Added::New
    }

    /// Whether a member that was taken in contains no other one.
    pub(crate) fn holds(&self, member: &Numbers) -> bool {
        member.is_empty() || self.0.contains(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_may_be_smaller() {
        let set = |numbers: &[u32]| Numbers(numbers.to_vec());
        let mut minimal = Minimal::default();
        let taken = [
            (&[1, 2, 3][..], Added::New),
            (&[], Added::Known),
            (&[2, 3], Added::New),
            (&[2, 3, 4], Added::Larger),
            (&[2, 3], Added::Known),
        ];
        for (member, expected) in taken {
            assert_eq!(minimal.add(&set(member)), expected, "{member:?}");
        }
        assert!(minimal.holds(&set(&[2, 3])) && minimal.holds(&set(&[])));
        assert!(!minimal.holds(&set(&[1, 2, 3])) && !minimal.holds(&set(&[2, 3, 4])));
    }
}

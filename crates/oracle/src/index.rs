//! An index of faultloads: what is known about the parts of one.
//!
//! Owns the lookup for reports, which ask of every execution which findings
//! its faults contain; there may be thousands of both.

use std::collections::BTreeSet;

use murphy_model::Faultload;

use crate::minimal::{Numbering, PrefixTree, SetId};

/// Faultloads with what they stand for, each a number of the caller's.
#[derive(Debug, Default)]
pub struct FaultloadIndex {
    numbering: Numbering,
    tree: PrefixTree,
}

impl FaultloadIndex {
    /// Takes note that a faultload stands for this.
    pub fn add(&mut self, faultload: &Faultload, what: usize) {
        let faults = self.numbering.of(faultload);
        self.tree.insert(&faults, SetId::at(what));
    }

    /// What the faultloads within this one stand for, itself included and the
    /// empty one left out.
    pub fn within(&self, faultload: &Faultload) -> BTreeSet<usize> {
        let (faults, _) = self.numbering.known(faultload);
        let found = self.tree.parts_of(&faults).into_iter();
        found.map(SetId::index).collect()
    }

    /// What this very faultload stands for.
    pub fn equal(&self, faultload: &Faultload) -> BTreeSet<usize> {
        let (faults, are_all_known) = self.numbering.known(faultload);
        let found = self.tree.ends(&faults).iter().copied();
        let found = found.filter(|_| are_all_known);
        found.map(SetId::index).collect()
    }
}

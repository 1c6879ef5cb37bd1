//! Minimal hitting sets, smaller ones first.
//!
//! Owns the order: one search per size, each for sets of exactly that size,
//! until a search shows that it cut nothing off.

use crate::bound::Bound;
use crate::{Minimal, Set};

/// An iterator over minimal hitting sets in order of size; see
/// [`Minimal::by_size`]. Sets of equal size keep the order of the search.
#[derive(Clone, Debug)]
pub struct BySize {
    search: Minimal,
    size: usize,
    largest: usize,
}

impl BySize {
    pub(crate) fn over(mut search: Minimal) -> Self {
        let possible = search.largest_possible();
        let largest = search
            .bound()
            .most()
            .map_or(possible, |most| most.min(possible));
        search.restart(Bound::exactly(0));
        BySize {
            search,
            size: 0,
            largest,
        }
    }

    fn can_grow(&self) -> bool {
        self.size < self.largest && self.search.bound().has_cut()
    }
}

impl Iterator for BySize {
    type Item = Set;

    fn next(&mut self) -> Option<Set> {
        loop {
            if let Some(set) = self.search.next() {
                return Some(set);
            }
            if !self.can_grow() {
                return None;
            }
            self.size += 1;
            self.search.restart(Bound::exactly(self.size));
        }
    }
}

impl std::iter::FusedIterator for BySize {}

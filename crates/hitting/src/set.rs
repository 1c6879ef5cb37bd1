//! Sets of small numbers, as bits.
//!
//! Owns the words and their bounds. The solvers' inner loops live on the few
//! operations here, so none of them allocates unless the result has to grow.

use std::fmt;

use crate::words::{self, BITS};

/// A set of small numbers.
///
/// ```
/// use murphy_hitting::Set;
///
/// let path = Set::from_iter([0, 3, 70]);
/// assert!(path.contains(70));
/// assert!(path.meets(&Set::from_iter([3, 4])));
/// assert_eq!(path.iter().collect::<Vec<_>>(), [0, 3, 70]);
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set {
    /// Without trailing zeros, so that equal sets have equal words.
    words: Vec<u64>,
}

impl Set {
    /// The empty set.
    pub const fn new() -> Self {
        Set { words: Vec::new() }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many elements are in it.
    pub fn len(&self) -> usize {
        words::count(&self.words)
    }

    /// Whether `element` is in it.
    pub fn contains(&self, element: usize) -> bool {
        let word = self.words.get(element / BITS);
        word.is_some_and(|word| word >> (element % BITS) & 1 == 1)
    }

    /// Puts `element` in; says whether it was not there.
    pub fn insert(&mut self, element: usize) -> bool {
        let at = element / BITS;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (element % BITS);
        let new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        new
    }

    /// Takes `element` out; says whether it was there.
    pub fn remove(&mut self, element: usize) -> bool {
        if !self.contains(element) {
            return false;
        }
        self.words[element / BITS] &= !(1 << (element % BITS));
        self.trim();
        true
    }

    /// Whether the two have an element in common.
    pub fn meets(&self, other: &Set) -> bool {
        words::meets(&self.words, &other.words)
    }

    /// How many elements the two have in common.
    pub fn shared(&self, other: &Set) -> usize {
        words::shared(&self.words, &other.words)
    }

    /// The element the two have in common, if it is exactly one.
    pub fn sole(&self, other: &Set) -> Option<usize> {
        let mut both = words::ones_of_both(&self.words, &other.words);
        both.next().filter(|_| both.next().is_none())
    }

    /// Whether every element is also in `other`.
    pub fn is_subset(&self, other: &Set) -> bool {
        self.words.len() <= other.words.len()
            && self
                .words
                .iter()
                .zip(&other.words)
                .all(|(a, b)| a & !b == 0)
    }

    /// Puts all of `other` in.
    pub fn add(&mut self, other: &Set) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    /// Takes all of `other` out.
    pub fn subtract(&mut self, other: &Set) {
        words::subtract(&mut self.words, &other.words);
        self.trim();
    }

    /// Keeps only what is also in `other`.
    pub fn keep(&mut self, other: &Set) {
        self.words.truncate(other.words.len());
        words::keep(&mut self.words, &other.words);
        self.trim();
    }

    /// The elements, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        words::ones(&self.words)
    }

    /// The smallest element.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    fn trim(&mut self) {
        let used = self.words.iter().rposition(|word| *word != 0);
        self.words.truncate(used.map_or(0, |last| last + 1));
    }
}

impl FromIterator<usize> for Set {
    fn from_iter<I: IntoIterator<Item = usize>>(elements: I) -> Self {
        let mut set = Set::new();
        set.extend(elements);
        set
    }
}

impl Extend<usize> for Set {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, elements: I) {
        for element in elements {
            self.insert(element);
        }
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Set;

    fn elements() -> impl Strategy<Value = BTreeSet<usize>> {
        prop::collection::btree_set(0..200usize, 0..12)
    }

    fn set(elements: &BTreeSet<usize>) -> Set {
        elements.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn a_set_does_what_a_tree_set_does(a in elements(), b in elements(), x in 0..200usize) {
            let (of_a, of_b) = (set(&a), set(&b));
            prop_assert_eq!(of_a.len(), a.len());
            prop_assert_eq!(of_a.is_empty(), a.is_empty());
            prop_assert_eq!(of_a.first(), a.first().copied());
            prop_assert_eq!(of_a.contains(x), a.contains(&x));
            prop_assert_eq!(of_a.meets(&of_b), !a.is_disjoint(&b));
            prop_assert_eq!(of_a.shared(&of_b), a.intersection(&b).count());
            let both: Vec<usize> = a.intersection(&b).copied().collect();
            prop_assert_eq!(of_a.sole(&of_b), both.first().copied().filter(|_| both.len() == 1));
            prop_assert_eq!(of_a.is_subset(&of_b), a.is_subset(&b));
            prop_assert!(of_a.iter().eq(a.iter().copied()));
            prop_assert_eq!(of_a == of_b, a == b);

            let changed = |change: fn(&mut Set, &Set)| {
                let mut changed = of_a.clone();
                change(&mut changed, &of_b);
                changed
            };
            prop_assert_eq!(changed(Set::add), set(&(&a | &b)));
            prop_assert_eq!(changed(Set::subtract), set(&(&a - &b)));
            prop_assert_eq!(changed(Set::keep), set(&(&a & &b)));

            let mut one_more = of_a.clone();
            prop_assert_eq!(one_more.insert(x), !a.contains(&x));
            prop_assert_eq!(one_more.remove(x), true);
            prop_assert_eq!(one_more.remove(x), false);
        }
    }
}

//! The minimal hitting sets of a formula that grows.
//!
//! Owns the sets themselves, for callers that ask again after every clause
//! (each observed path adds one). Where the sets are wanted once,
//! [`Formula::minimal`] finds them without holding them.

use crate::{EmptyClause, Formula, Set};

/// All minimal hitting sets of a growing formula, or all of up to a size.
///
/// Adding a clause does not start over (Berge's step). A minimal set of the
/// larger formula either was one of the smaller formula, or is one that
/// misses the new clause and one element of that clause. It exceeds the old
/// set by one element at most, so a bound on the size loses nothing either.
///
/// ```
/// use murphy_hitting::{Set, Transversals};
///
/// let mut sets = Transversals::at_most(2);
/// sets.add(Set::from_iter([0, 1]))?;
/// sets.add(Set::from_iter([1, 2]))?;
/// let found: Vec<&Set> = sets.iter().collect();
/// assert_eq!(found, [&Set::from_iter([1]), &Set::from_iter([0, 2])]);
/// # Ok::<(), murphy_hitting::EmptyClause>(())
/// ```
#[derive(Clone, Debug)]
pub struct Transversals {
    formula: Formula,
    most: Option<usize>,
    /// At each place the sets of that size.
    by_size: Vec<Vec<Set>>,
}

impl Default for Transversals {
    fn default() -> Self {
        Self::new()
    }
}

impl Transversals {
    /// Those of the formula without clauses: the empty set alone.
    pub fn new() -> Self {
        Transversals {
            formula: Formula::new(),
            most: None,
            by_size: vec![vec![Set::new()]],
        }
    }

    /// The same, but sets of more than `size` elements are not kept.
    pub fn at_most(size: usize) -> Self {
        Transversals {
            most: Some(size),
            ..Self::new()
        }
    }

    /// Demands that `clause` be hit as well; says whether that changed the
    /// formula.
    pub fn add(&mut self, clause: Set) -> Result<bool, EmptyClause> {
        if !self.formula.add(clause.clone())? {
            return Ok(false);
        }
        let missing = self.take_missing(&clause);
        for set in missing {
            self.extend(&set, &clause);
        }
        Ok(true)
    }

    /// The sets, smaller ones first.
    pub fn iter(&self) -> impl Iterator<Item = &Set> {
        self.by_size.iter().flatten()
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.by_size.iter().map(Vec::len).sum()
    }

    /// Whether there is no set: none hits all clauses within the bound.
    pub fn is_empty(&self) -> bool {
        self.by_size.iter().all(Vec::is_empty)
    }

    /// The clauses added so far.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    fn take_missing(&mut self, clause: &Set) -> Vec<Set> {
        let sizes = self.by_size.iter_mut();
        let missing = sizes.flat_map(|sets| sets.extract_if(.., |set| !set.meets(clause)));
        missing.collect()
    }

    /// Keeps every minimal set that is `set` and an element of `clause`. Two
    /// different sets never give the same one: it shares with the clause
    /// exactly the element that was put in.
    fn extend(&mut self, set: &Set, clause: &Set) {
        let size = set.len() + 1;
        if self.most.is_some_and(|most| size > most) {
            return;
        }
        for element in clause.iter() {
            let mut larger = set.clone();
            larger.insert(element);
            if self.formula.is_minimal(&larger) {
                self.keep(larger, size);
            }
        }
    }

    fn keep(&mut self, set: Set, size: usize) {
        if self.by_size.len() <= size {
            self.by_size.resize_with(size + 1, Vec::new);
        }
        self.by_size[size].push(set);
    }
}

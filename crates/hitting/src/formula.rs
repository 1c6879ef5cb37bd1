//! The clauses that have to be hit.
//!
//! Owns the list of clauses, kept free of those that say nothing new, and the
//! questions that need no search: is this set a hitting set, is it minimal.
//! Finding sets is left to [`Minimal`](crate::Minimal).

use crate::{Minimal, Set};

/// Clauses of which every one has to be hit: a formula in conjunctive normal
/// form without negations.
///
/// ```
/// use murphy_hitting::{Formula, Set};
///
/// let mut formula = Formula::new();
/// assert_eq!(formula.add(Set::from_iter([0, 1])), Ok(true));
/// assert_eq!(formula.add(Set::from_iter([0, 1, 2])), Ok(false)); // hit whenever {0, 1} is
/// assert!(formula.is_minimal(&Set::from_iter([1])));
/// assert!(!formula.is_minimal(&Set::from_iter([0, 1])));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formula {
    /// None of them is a subset of another.
    clauses: Vec<Set>,
}

/// A clause without elements, which nothing can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a clause without elements can not be hit by any set")]
pub struct EmptyClause;

impl Formula {
    /// No clauses: the empty set hits them all.
    pub const fn new() -> Self {
        Formula {
            clauses: Vec::new(),
        }
    }

    /// All of `clauses`.
    pub fn of(clauses: impl IntoIterator<Item = Set>) -> Result<Self, EmptyClause> {
        let mut formula = Formula::new();
        for clause in clauses {
            formula.add(clause)?;
        }
        Ok(formula)
    }

    /// Demands that `clause` be hit as well; says whether that changed
    /// anything. It does not where a subset of it is demanded already;
    /// supersets of it are dropped.
    pub fn add(&mut self, clause: Set) -> Result<bool, EmptyClause> {
        if clause.is_empty() {
            return Err(EmptyClause);
        }
        if self.clauses.iter().any(|known| known.is_subset(&clause)) {
            return Ok(false);
        }
        self.clauses.retain(|known| !clause.is_subset(known));
        self.clauses.push(clause);
        Ok(true)
    }

    /// The clauses that are left, in the order in which they were added.
    pub fn clauses(&self) -> &[Set] {
        &self.clauses
    }

    /// Whether `set` hits every clause.
    pub fn is_hit_by(&self, set: &Set) -> bool {
        self.clauses.iter().all(|clause| clause.meets(set))
    }

    /// Whether `set` hits every clause and no proper subset of it does: each
    /// of its elements is the only one to hit some clause.
    pub fn is_minimal(&self, set: &Set) -> bool {
        self.is_hit_by(set) && self.needed(set) == *set
    }

    /// A minimal hitting set inside `set`, always the same one. Larger
    /// elements are given up first. A set that misses a clause has no
    /// hitting set inside and comes back as it was.
    pub fn shrunk(&self, mut set: Set) -> Set {
        if !self.is_hit_by(&set) {
            return set;
        }
        let elements: Vec<usize> = set.iter().collect();
        for element in elements.into_iter().rev() {
            let needed = |clause: &Set| clause.sole(&set) == Some(element);
            if !self.clauses.iter().any(needed) {
                set.remove(element);
            }
        }
        set
    }

    /// Every minimal hitting set once, found as they are asked for.
    pub fn minimal(&self) -> Minimal {
        Minimal::of(self)
    }

    /// The elements that alone hit some clause.
    fn needed(&self, set: &Set) -> Set {
        let clauses = self.clauses.iter();
        clauses.filter_map(|clause| clause.sole(set)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<const N: usize>(elements: [usize; N]) -> Set {
        Set::from_iter(elements)
    }

    #[test]
    fn a_clause_with_a_known_subset_changes_nothing() {
        let mut formula = Formula::of([set([1, 2])]).unwrap();
        assert_eq!(formula.add(set([0, 1, 2])), Ok(false));
        assert_eq!(formula.add(set([1, 2])), Ok(false));
        assert_eq!(formula.clauses(), [set([1, 2])]);
    }

    #[test]
    fn a_clause_drives_out_its_supersets() {
        let mut formula = Formula::of([set([0, 1]), set([2, 3]), set([1, 4])]).unwrap();
        assert_eq!(formula.add(set([1])), Ok(true));
        assert_eq!(formula.clauses(), [set([2, 3]), set([1])]);
    }

    #[test]
    fn an_empty_clause_is_refused_and_changes_nothing() {
        let mut formula = Formula::of([set([1])]).unwrap();
        let error = formula.add(Set::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a clause without elements can not be hit by any set"
        );
        assert_eq!(formula.clauses(), [set([1])]);
        assert_eq!(Formula::of([Set::new()]), Err(EmptyClause));
    }

    #[test]
    fn a_minimal_set_hits_all_and_can_spare_nothing() {
        let formula = Formula::of([set([0, 1]), set([1, 2])]).unwrap();
        assert!(formula.is_hit_by(&set([0, 1])));
        assert!(!formula.is_minimal(&set([0, 1])));
        assert!(formula.is_minimal(&set([1])));
        assert!(formula.is_minimal(&set([0, 2])));
        assert!(!formula.is_minimal(&set([0])));
        assert!(!formula.is_minimal(&set([1, 9])));
    }

    #[test]
    fn shrinking_gives_up_the_larger_elements_first() {
        let formula = Formula::of([set([0, 1]), set([1, 2])]).unwrap();
        assert_eq!(formula.shrunk(set([0, 1, 2, 7])), set([1]));
        assert_eq!(formula.shrunk(set([0, 2, 70])), set([0, 2]));
    }

    #[test]
    fn what_misses_a_clause_is_not_shrunk() {
        let formula = Formula::of([set([0, 1]), set([1, 2])]).unwrap();
        assert_eq!(formula.shrunk(set([0, 7])), set([0, 7]));
    }

    #[test]
    fn without_clauses_the_empty_set_is_minimal() {
        assert!(Formula::new().is_minimal(&Set::new()));
        assert_eq!(Formula::new().shrunk(set([3])), Set::new());
    }
}

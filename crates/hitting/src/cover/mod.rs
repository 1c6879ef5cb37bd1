//! Which few elements to choose, when there is a budget.
//!
//! Owns the question, its answer and the rule for ties; the exact search is
//! [`search`]'s, its upper bounds are [`bound`]'s.

mod bound;
mod instance;
mod node;
mod search;

use std::collections::BTreeMap;

use crate::{Formula, Set};
use instance::Instance;

/// Clauses that must be hit, clauses that should be, and what each element
/// is ranked.
///
/// ```
/// use murphy_hitting::{Cover, Set};
///
/// let hard = vec![Set::from_iter([0, 1])];
/// let soft = [vec![0, 2], vec![0, 2], vec![1], vec![2]];
/// let soft = soft.map(|clause| (Set::from_iter(clause), 1)).into();
/// let cover = Cover::new(hard, soft, vec![])?;
///
/// // 0 hits most at once, but leaves nothing to gain: {0, 2} makes 3.
/// let best = cover.best(2)?;
/// assert_eq!((best.chosen, best.covered), (Set::from_iter([1, 2]), 4));
/// assert_eq!(cover.best(0).unwrap_err().smallest, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cover {
    hard: Formula,
    /// No clause twice, none of weight 0.
    soft: BTreeMap<Set, u64>,
    rank: Vec<u64>,
}

/// Why there is no such question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoverError {
    /// The hard clause at this place can not be hit.
    #[error("hard clause {0} has no elements, so no choice can hit it")]
    EmptyHard(usize),
    /// The soft clause at this place can not be hit.
    #[error("soft clause {0} has no elements, so no choice can hit it")]
    EmptySoft(usize),
    /// The sum of the weights is not a number of 64 bits.
    #[error("the weights of the soft clauses add up to more than 64 bits hold")]
    TooHeavy,
}

/// The best choice within a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The elements.
    pub chosen: Set,
    /// The weight of the soft clauses they hit.
    pub covered: u64,
}

/// The hard clauses can not all be hit within the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the hard clauses can not be hit with fewer than {smallest} elements")]
pub struct Infeasible {
    /// The smallest budget that would do.
    pub smallest: usize,
}

impl Cover {
    /// Clauses with weights, and the rank of element `n` at place `n`.
    /// Elements beyond the end have rank 0. Soft clauses that are equal count
    /// as one with the sum of their weights.
    pub fn new(hard: Vec<Set>, soft: Vec<(Set, u64)>, rank: Vec<u64>) -> Result<Self, CoverError> {
        let (hard, soft) = (all_of(hard)?, merged(soft)?);
        let clauses = hard.clauses().iter().chain(soft.keys());
        let spare = instance::spare_bits(soft.values().sum(), clauses.map(Set::len).sum());
        spare.ok_or(CoverError::TooHeavy)?;
        Ok(Cover { hard, soft, rank })
    }

    /// The choice of at most `budget` elements that hits every hard clause
    /// and, among those, soft clauses of the largest weight.
    ///
    /// Exactly one choice is the answer: of those that cover the same weight
    /// the one with fewer elements, then with the smaller sum of ranks, then
    /// the one whose elements in ascending order come first.
    pub fn best(&self, budget: usize) -> Result<Choice, Infeasible> {
        let feasible = self.hard.minimal().at_most(budget).next();
        let feasible = feasible.ok_or_else(|| self.infeasible(budget))?;
        let instance = Instance::of(self.hard.clauses(), &self.soft, &self.rank);
        let feasible: Vec<usize> = feasible
            .iter()
            .map(|element| instance.matrix.column(element))
            .collect();
        Ok(search::best(&instance, budget, &feasible))
    }

    fn infeasible(&self, budget: usize) -> Infeasible {
        let suffices = |size: &usize| self.hard.minimal().at_most(*size).next().is_some();
        let smallest = (budget + 1..).find(suffices);
        Infeasible {
            smallest: smallest.expect("clauses with elements can be hit"),
        }
    }
}

fn all_of(hard: Vec<Set>) -> Result<Formula, CoverError> {
    let mut formula = Formula::new();
    for (at, clause) in hard.into_iter().enumerate() {
        let added = formula.add(clause);
        added.map_err(|_| CoverError::EmptyHard(at))?;
    }
    Ok(formula)
}

fn merged(soft: Vec<(Set, u64)>) -> Result<BTreeMap<Set, u64>, CoverError> {
    let (mut merged, mut total) = (BTreeMap::new(), 0u64);
    for (at, (clause, weight)) in soft.into_iter().enumerate() {
        if clause.is_empty() {
            return Err(CoverError::EmptySoft(at));
        }
        total = total.checked_add(weight).ok_or(CoverError::TooHeavy)?;
        if weight > 0 {
            *merged.entry(clause).or_default() += weight;
        }
    }
    Ok(merged)
}

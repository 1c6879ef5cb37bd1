//! Minimal hitting sets, and exact cover under a budget.
//!
//! A clause is a set of elements; a set hits it if they share one. Knows
//! nothing of faults, calls or campaigns: pure, synchronous, without I/O, and
//! with the same answer in the same order every time. Elements are small
//! numbers; there is no limit on how many of them or of clauses there are.
//!
//! # All minimal hitting sets
//!
//! A hitting set is minimal if it can spare none of its elements, which is
//! more than having as few as possible: both sets below are minimal.
//!
//! ```
//! use murphy_hitting::{Formula, Set};
//!
//! let (a, b, c, y) = (0, 1, 2, 3);
//! let clauses = [vec![a, y], vec![b, y], vec![c]];
//! let formula = Formula::of(clauses.map(Set::from_iter))?;
//!
//! let found: Vec<Set> = formula.minimal().collect();
//! assert_eq!(found, [Set::from_iter([c, a, b]), Set::from_iter([c, y])]);
//! # Ok::<(), murphy_hitting::EmptyClause>(())
//! ```
//!
//! The sets are found as they are asked for, so a few of very many cost
//! little, and memory does not grow with their number:
//!
//! ```
//! # use murphy_hitting::{Formula, Set};
//! // 30 clauses of 30 elements that share nothing: 30^30 minimal sets.
//! let apart = (0..30).map(|at| (at * 30..at * 30 + 30).collect());
//! let formula = Formula::of(apart)?;
//! assert!(formula.minimal().take(1_000).all(|set| set.len() == 30));
//! // That none is smaller is proved without looking at them.
//! assert_eq!(formula.minimal().at_most(29).next(), None);
//! # Ok::<(), murphy_hitting::EmptyClause>(())
//! ```
//!
//! # The best choice within a budget
//!
//! ```
//! use murphy_hitting::{Cover, Set};
//!
//! let must = vec![Set::from_iter([0, 1])];
//! let should = vec![(Set::from_iter([0]), 2), (Set::from_iter([1, 2]), 3)];
//! let cover = Cover::new(must, should, vec![])?;
//! assert_eq!(cover.best(1)?.chosen, Set::from_iter([1]));
//! assert_eq!(cover.best(2)?.covered, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod cover;
mod formula;
mod matrix;
mod minimal;
mod set;
mod words;

pub use cover::{Choice, Cover, CoverError, Infeasible};
pub use formula::{EmptyClause, Formula};
pub use minimal::Minimal;
pub use set::Set;

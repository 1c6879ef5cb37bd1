//! Minimal hitting sets, and exact cover under a budget.
//!
//! A clause is a set of elements; a set hits it if they share one. Knows
//! nothing of faults, calls or campaigns: pure, synchronous, without I/O.

mod bound;
mod by_size;
mod formula;
mod matrix;
mod minimal;
mod set;
mod transversals;
mod words;

pub use by_size::BySize;
pub use formula::{EmptyClause, Formula};
pub use minimal::Minimal;
pub use set::Set;
pub use transversals::Transversals;

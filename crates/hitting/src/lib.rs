//! Minimal hitting sets, and exact cover under a budget.
//!
//! A clause is a set of elements; a set hits it if they share one. Knows
//! nothing of faults, calls or campaigns: pure, synchronous, without I/O.

mod set;

pub use set::Set;

//! Which call sites to harden first.
//!
//! Owns the way from what campaigns found to a choice of call sites: which
//! call sites fail together ([`Problem`]), the best choice among them within a
//! budget ([`Choice`]), and whether it keeps its promise when what is left is
//! injected again. Showing it is the report's job; bringing a system up to
//! verify it is the command line's.

mod choice;
mod files;
mod found;
mod priority;
mod problem;
mod sites;

pub use choice::Choice;
pub use files::read_files;
pub use found::Found;
pub use priority::{most_frequent, read_frequencies};
pub use problem::Problem;

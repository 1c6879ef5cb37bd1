//! Generated systems: random programs over the same `Net` as the examples.
//!
//! A search that is right about a dozen hand-written systems may be right by
//! accident. Owns what a random system looks like ([`program`]) and turns one
//! into a [`System`](crate::System) by interpreting it in ordinary handlers. What must hold
//! for every one of them is for the tests of `search` to say.
//!
//! Programs react to calls in every way there is; all one knows of them is
//! what running them shows. The simpler [`call_tree`]s come with what brings
//! them down.

pub mod call_tree;
mod interpret;
pub mod program;

pub use interpret::system;
pub use program::{Knobs, Program, generate, hard_dependencies};

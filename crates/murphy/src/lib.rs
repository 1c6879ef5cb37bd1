//! Murphy as a library: campaigns from Rust.
//!
//! The facade over the crates that do the work. [`campaign`] runs a scenario
//! under faultloads in any [`World`](campaign::World); [`demo`] offers the
//! example systems as worlds. The command line is the binary of this crate.

pub mod demo;

pub use murphy_campaign as campaign;

//! Combinations of faults: finding all of them, and choosing what to harden.
//!
//! Owns the instances, FastFI's algorithms as published and the side-by-side
//! runs; `bench/lineage` prints them.

pub mod bars;
pub mod families;
pub mod fastfi;
pub mod hardening;
pub mod injections;
pub mod instance;
pub mod loss;
pub mod procedures;
pub mod python;
pub mod replicas;
pub mod solver;
pub mod table_9;
pub mod timing;
pub mod two_stage;

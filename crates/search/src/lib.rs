//! What to try next, and what need not be tried.
//!
//! A [`Strategy`] proposes faultloads and learns from their executions. The
//! [`Tree`] strategy covers every distinct behaviour of every service; it
//! skips what its [`policy`]s show to be redundant and ends with a
//! certificate. Pure, synchronous and deterministic: no sockets, no clock, and
//! randomness only from a seed.

mod audit;
mod catalogue;
mod default_modes;
mod explain;
mod lineage;
mod model;
mod options;
pub mod policy;
mod random;
mod resolve;
mod strategy;
mod tree;

pub use audit::Sample;
pub use default_modes::{
    GRPC_MODES, HTTP_MODES, default_modes, mode_names, mode_names_at, mode_rules,
};
pub use explain::Explanation;
pub use lineage::Lineage;
pub use options::{Filter, ModeRules, Modes, Options, Order, Reduction, Replies};
pub use policy::Policy;
pub use random::Random;
pub use resolve::NeverSeen;
pub use strategy::{Step, Strategy, Ticket, explore};
pub use tree::Tree;

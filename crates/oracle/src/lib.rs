//! Judges executions and collects what is held against them.
//!
//! An oracle looks at one execution and says whether something is wrong; each
//! has a module of its own ([`scenario`] is the scenario's own word). What
//! they say is collected in [`Findings`], which boils many failing executions
//! down to few bugs, each with the smallest faultload that shows it. Pure:
//! running executions and printing findings are for others.

mod findings;
mod minimal;
pub mod scenario;

pub use findings::Findings;

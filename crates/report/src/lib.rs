//! What people and programs get to read of a campaign.
//!
//! One [`Summary`], one module per format: [`terminal`] for people, [`json`]
//! for programs; an [`Explained`] faultload likewise. Everything is written to
//! the writer that is given. Styled text holds ANSI sequences; taking them out
//! where they do not belong is the writer's job (`anstream`).

mod explained;
pub mod json;
pub mod redact;
pub mod shell;
mod summary;
pub mod terminal;

pub use explained::{Explained, Fate, Meaning};
pub use summary::{Summary, Timing};

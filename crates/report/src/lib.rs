//! What people and programs get to read of a campaign.
//!
//! One [`Summary`], made from the events of a campaign and nothing else
//! ([`Collector`]), and one module per format: [`terminal`] for people, [`json`]
//! for programs, [`junit`] and [`markdown`] for what shows the results of a
//! build; an [`Explained`] faultload and a [`Hardening`] likewise. Everything
//! is written to the writer that is given; what a system under test said goes
//! through [`redact`] before. Styled text holds ANSI sequences; taking them out
//! where they do not belong is the writer's job (`anstream`).

mod bugs;
mod collector;
mod explained;
pub mod hardening;
pub mod json;
pub mod junit;
mod label;
pub mod markdown;
pub mod number;
pub mod redact;
pub mod shell;
mod suggestions;
pub mod suite;
mod summary;
pub mod terminal;
pub mod unseen;
mod wording;

pub use bugs::{BugsFound, bug_name, with_complaints};
pub use collector::Collector;
pub use explained::{Explained, Fate, Meaning};
pub use hardening::Hardening;
pub use label::{CallNames, call_of, fault_text, faultload_text, point_text};
pub use suggestions::{Suggestion, suggestions};
pub use summary::{Case, Known, Summary, Timing};
pub use wording::{doubt, found, state_left};

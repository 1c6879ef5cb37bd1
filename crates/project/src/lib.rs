//! A user's project: what murphy.toml and the arguments mean together, its
//! system brought up, and the campaigns on record. An example system counts as
//! one where it stands in for it.
//!
//! Owns the way from what was typed to a campaign that can run, and from the
//! store to what came of earlier ones. Reading arguments, running commands,
//! printing results and exit codes are the binary's.

pub mod baseline_filter;
pub mod campaign_record;
pub mod context;
mod descriptors;
pub mod entrance;
pub mod error;
pub mod left;
pub mod messages;
pub mod own_project;
pub mod past_execution;
pub mod project;
pub mod replay_files;
pub mod replay_system;
pub mod settings;
pub mod stored;
pub mod suite;
pub mod typed;
pub mod unseen;
pub mod worlds;

//! A finding, seen again.
//!
//! Owns replay files, what is compared with what when a finding is replayed,
//! and the word on it; the binary and the facade share it. Bringing the system
//! up once more is theirs.

mod error;
mod file;
mod name;
mod reference_run;
mod replayed;

pub use error::ReplayError;
pub use file::{Replay, ReplayPlan, System, write_files};
pub use name::{NameError, find_name};
pub use reference_run::{Complaint, ReferenceRun};
pub use replayed::{ReplayResult, Replayed, missing};

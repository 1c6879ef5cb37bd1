//! Why there is nothing to replay.

use std::fmt;
use std::path::PathBuf;

use super::NameError;

/// Who writes replay files.
const WRITERS: &str = "`murphy run`, `murphy demo` and Rust campaigns with a `store`";

/// Why there is nothing to replay.
#[derive(Debug)]
pub enum ReplayError {
    /// Neither a file nor one finding's name.
    Unknown {
        /// What was asked for.
        what: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// What is wrong with the name.
        error: NameError,
    },
    /// A file that is none of ours.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file of ours that was changed.
    Damaged {
        /// The finding.
        id: String,
        /// What is wrong with it.
        why: String,
    },
}

impl ReplayError {
    /// What is wrong, in one line.
    pub fn message(&self) -> String {
        match self {
            ReplayError::Unknown { what, error, .. } => match error.is_ambiguous() {
                false => format!("there is no finding `{what}` to replay"),
                true => format!("`{what}` could be several findings"),
            },
            ReplayError::Unreadable { path, why } => {
                format!("cannot read {}: {why}", path.display())
            }
            ReplayError::Damaged { id, why } => {
                format!("the replay file of {id} is damaged: {why}")
            }
        }
    }

    /// The way out.
    pub fn hint(&self) -> String {
        match self {
            ReplayError::Unknown { folder, error, .. } => error.hint().unwrap_or_else(|| {
                format!("{} holds none: {WRITERS} write them", folder.display())
            }),
            ReplayError::Unreadable { .. } => format!("replay files are written by {WRITERS}"),
            ReplayError::Damaged { .. } => {
                "run the campaign again to have it written anew".to_owned()
            }
        }
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.message(), self.hint())
    }
}

impl std::error::Error for ReplayError {}

//! What can go wrong with a store, with the file named and a way out.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::CampaignId;

/// Why a store cannot be used, or not any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The file or its directory cannot be written.
    #[error("the store `{}` cannot be written: {reason}", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// There is no room left.
    #[error("there is no room left for the store `{}`", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged, or not ours.
    #[error("the store `{}` cannot be read: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An earlier version of Murphy wrote the file.
    #[error("the store `{}` was written by an earlier version of Murphy (format {found})", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: i64,
    },
    /// A later version of Murphy wrote the file.
    #[error("the store `{}` is of version {found}, and this Murphy knows versions up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: i64,
        /// The latest version known here.
        known: i64,
    },
    /// Another process has kept the file to itself for too long.
    #[error("another process keeps the store `{}` locked", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Reading or writing the file failed otherwise.
    #[error("the store `{}` failed: {reason}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// No campaign has this name.
    #[error("the store `{}` has no campaign `{campaign}`", path.display())]
    NoSuchCampaign {
        /// The file.
        path: PathBuf,
        /// The name.
        campaign: CampaignId,
    },
    /// The campaign is under way in another process.
    #[error("campaign `{campaign}` is still under way, in process {pid}")]
    UnderWay {
        /// The campaign.
        campaign: CampaignId,
        /// The process.
        pid: i32,
    },
    /// The campaign has come to its end.
    #[error("campaign `{campaign}` has ended; there is nothing to resume")]
    Ended {
        /// The campaign.
        campaign: CampaignId,
    },
    /// Several campaigns begin so.
    #[error("several campaigns begin with `{prefix}`: {}", names.join(", "))]
    AmbiguousCampaign {
        /// What was asked for.
        prefix: String,
        /// The campaigns.
        names: Vec<String>,
    },
}

impl StoreError {
    /// The way out, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            StoreError::NotWritable { path, .. } => format!(
                "make `{}` a directory that you may write to",
                path.parent().unwrap_or(path).display()
            ),
            StoreError::Full { .. } => {
                "free some space; the campaign can then be resumed".to_owned()
            }
            StoreError::Corrupt { path, .. } => format!(
                "move it out of the way (`mv {0} {0}.broken`); a new one is made, only the history is lost",
                path.display()
            ),
            StoreError::Older { path, .. } => format!(
                "delete it or move it away (`mv {0} {0}.old`); a new one is made, only the history is lost",
                path.display()
            ),
            StoreError::Newer { path, .. } => format!(
                "use that version of Murphy, or move `{}` out of the way",
                path.display()
            ),
            StoreError::Busy { .. } => {
                "wait for the other process, or end it if it is stuck".to_owned()
            }
            StoreError::Failed { path, .. } => format!(
                "check the disk that holds `{}`",
                path.parent().unwrap_or(path).display()
            ),
            StoreError::NoSuchCampaign { .. } => {
                "names of campaigns look like `20261116-031502-a1b2`; `murphy report --list` shows them"
                    .to_owned()
            }
            StoreError::UnderWay { pid, .. } => {
                format!("wait until process {pid} is done, or end it")
            }
            StoreError::Ended { .. } => "run it again without resuming".to_owned(),
            StoreError::AmbiguousCampaign { .. } => "write more of its digits".to_owned(),
        }
    }

    /// What an error of SQLite means for the store in this file.
    pub(super) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Corrupt { path, reason }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::NotWritable { path, reason }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            _ => StoreError::Failed { path, reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn errors_of_the_database_are_distinguished() {
        let path = Path::new(".murphy/store.db");
        let cases = [
            (ffi::SQLITE_FULL, "there is no room left", "free some space"),
            (ffi::SQLITE_CORRUPT, "cannot be read", "mv .murphy/store.db"),
            (ffi::SQLITE_NOTADB, "cannot be read", "mv .murphy/store.db"),
            (ffi::SQLITE_READONLY, "cannot be written", "make `.murphy`"),
            (ffi::SQLITE_CANTOPEN, "cannot be written", "make `.murphy`"),
            (ffi::SQLITE_BUSY, "another process", "wait for"),
            (ffi::SQLITE_IOERR, "failed", "check the disk"),
        ];
        for (code, says, way_out) in cases {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = StoreError::of(path, &error);
            assert!(error.to_string().contains(says), "{error}");
            assert!(error.to_string().contains(".murphy/store.db"), "{error}");
            assert!(error.hint().contains(way_out), "{}", error.hint());
        }
    }
}

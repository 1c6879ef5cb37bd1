//! Where a campaign keeps what it needs while it runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::Error;

/// A directory; taken away when dropped, unless the user named it.
pub(super) struct State {
    path: PathBuf,
    temporary: bool,
}

impl State {
    /// The given directory, or one of its own.
    pub(super) fn open(given: Option<&Path>) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (path, temporary) = match given {
            Some(path) => (path.to_owned(), false),
            None => {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                let name = format!("murphy-{}-{number}", std::process::id());
                (std::env::temp_dir().join(name), true)
            }
        };
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| Error::Directory(path.clone(), error))?;
        Ok(State { path, temporary })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

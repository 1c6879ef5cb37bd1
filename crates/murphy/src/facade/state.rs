//! Where a campaign keeps what it needs while it runs.
//!
//! Owns the place for campaigns that are to keep nothing: a directory of each
//! user's in which every such campaign has its own. A test that is interrupted
//! cannot stop the services it started; the next one finds them noted there.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use murphy_system::clean_up;

use super::Error;

/// How often a directory is made that somebody else takes away meanwhile, as
/// the last to leave does.
const TRIES: usize = 10;

/// A directory; taken away when dropped, unless the user named it.
pub(crate) struct State {
    path: PathBuf,
    temporary: bool,
}

impl State {
    /// The given directory, or one of its own. What broken-off campaigns
    /// without a directory have left running is stopped first.
    pub(crate) fn open(given: Option<&Path>) -> Result<Self, Error> {
        let name = format!("murphy-{}", rustix::process::getuid().as_raw());
        State::open_in(&std::env::temp_dir().join(name), given)
    }

    fn open_in(place: &Path, given: Option<&Path>) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sweep(place);
        let (path, temporary) = match given {
            Some(path) => (path.to_owned(), false),
            None => {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                let name = format!("{}-{number}", std::process::id());
                (place.join(name), true)
            }
        };
        let made = match temporary {
            true => make_own(place, &path),
            false => fs::create_dir_all(&path),
        };
        made.map_err(|error| Error::Directory(path.clone(), error))?;
        Ok(State { path, temporary })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.temporary {
            let _ = fs::remove_dir_all(&self.path);
            // Only if no other campaign has anything in it.
            let _ = self.path.parent().map(fs::remove_dir);
        }
    }
}

/// Makes a directory in the user's place, which nobody else may look into.
fn make_own(place: &Path, path: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        tries += 1;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(place)?;
        match is_ours(place).then(|| fs::create_dir(path)) {
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {}
            Some(made) => return made,
            None => return Err(not_ours(place)),
        }
    }
}

fn not_ours(place: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("{} is not this user's alone", place.display()),
    )
}

/// Stops what campaigns have left behind whose process is dead.
fn sweep(place: &Path) {
    // What another user has noted there must get nothing of ours stopped.
    if !is_ours(place) {
        return;
    }
    let campaigns = fs::read_dir(place).into_iter().flatten().flatten();
    for campaign in campaigns.map(|entry| entry.path()) {
        if !clean_up(&campaign).is_empty() {
            let _ = fs::remove_dir_all(&campaign);
        }
    }
}

/// Whether a directory is there and this user's own, and no link to another.
fn is_ours(place: &Path) -> bool {
    let own = rustix::process::getuid().as_raw();
    let found = fs::symlink_metadata(place);
    found.is_ok_and(|it| it.is_dir() && it.uid() == own && it.mode() & 0o022 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_a_broken_off_campaign_left_is_stopped_by_the_next() {
        let here = tempfile::tempdir().unwrap();
        let place = here.path().join("swept");
        let left = State::open_in(&place, None).unwrap();
        let mark = format!("left-{}", std::process::id());
        let mut service = Command::new("sleep");
        let mut service = service
            .arg("1000")
            .env(murphy_system::MARK, &mark)
            .spawn()
            .unwrap();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let (boot, pid) = (boot.trim(), std::process::id());
        // An earlier process with the number of this one: it is dead.
        let ledger = format!(
            r#"{{"boot":"{boot}","owner":{{"pid":{pid},"started":1}},"mark":"{mark}","groups":[]}}"#
        );
        let run = left.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::write(run.join("ledger-1-aa.json"), ledger).unwrap();
        let next = State::open_in(&place, None).unwrap();
        assert!(service.try_wait().unwrap().is_some());
        assert!(!left.path().exists() && next.path().is_dir());
        drop((left, next));
        assert!(!place.exists());
    }

    #[test]
    fn nobody_else_may_look_in_or_write() {
        let here = tempfile::tempdir().unwrap();
        let place = here.path().join("private");
        let state = State::open_in(&place, None).unwrap();
        assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
        drop(state);
        std::os::unix::fs::symlink("/tmp", &place).unwrap();
        let refused = State::open_in(&place, None).err().unwrap().to_string();
        assert!(refused.contains("is not this user's alone"), "{refused}");
    }
}

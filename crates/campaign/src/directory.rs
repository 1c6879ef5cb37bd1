//! The directory in which Murphy keeps what is its own.
//!
//! Owns who may read it: what services print, what tests are called with and
//! what requests hold stays with the user. Directories are 0700, files 0600,
//! whatever the umask.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// What marks a directory as ours, and keeps it out of version control.
const MARK: (&str, &str) = (".gitignore", "*\n");

/// Makes it if need be, closed to version control and to others. One that is
/// there already is closed too if it is ours; another is the user's to keep as
/// they like.
pub fn make(directory: &Path) -> io::Result<()> {
    let mark = directory.join(MARK.0);
    if directory.is_dir() {
        if fs::read_to_string(&mark).is_ok_and(|text| text == MARK.1) {
            // Best effort: it may be another user's.
            let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
        }
        return Ok(());
    }
    make_private(directory)?;
    write_private(&mark, MARK.1.as_bytes())
}

/// Makes a directory, and those above it, that only the user may look into.
pub fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(directory)
}

/// An empty file that only the user may read.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(path)?;
    // One that was there keeps its own permissions otherwise.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Writes a file that only the user may read.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut create_private(path)?, bytes)
}

/// Makes sure that there is a file which only the user may read; what is in it
/// stays.
pub fn close(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.append(true).create(true).mode(0o600);
    let file = options.open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))
}

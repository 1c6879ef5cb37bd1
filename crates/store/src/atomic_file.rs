//! Files that are put in place whole or not at all, also if the power goes.
//!
//! Owns the draft beside the file and the order of what is done. A draft that
//! a killed process left behind ends with [`DRAFT`] and bears its number.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use murphy_campaign::directory;

/// What the names of drafts end with.
pub const DRAFT: &str = "draft";

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable {
    /// The user alone, whatever the umask.
    Privately,
    /// Whoever the umask allows.
    AsUsual,
}

/// Puts a file in place of what is there, if anything.
pub fn replace(path: &Path, bytes: &[u8], readable: Readable) -> io::Result<()> {
    // In the same directory, so that it can take the file's place at once, and
    // ours alone: another may write it at the same time.
    let draft = path.with_added_extension(format!("{}.{DRAFT}", std::process::id()));
    let done = write(&draft, bytes, readable).and_then(|()| fs::rename(&draft, path));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
        return done;
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

fn write(draft: &Path, bytes: &[u8], readable: Readable) -> io::Result<()> {
    let mut file = match readable {
        Readable::Privately => directory::create_private(draft)?,
        Readable::AsUsual => File::create(draft)?,
    };
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_replaced_and_no_draft_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.toml");
        for (text, readable) in [("one", Readable::AsUsual), ("2", Readable::Privately)] {
            replace(&path, text.as_bytes(), readable).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::create_dir(folder.path().join("taken")).unwrap();
        assert!(replace(&folder.path().join("taken"), b"", Readable::AsUsual).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

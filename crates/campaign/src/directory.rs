//! The directory in which Murphy keeps what is its own.

use std::fs;
use std::io;
use std::path::Path;

/// Makes it if need be, closed to version control. One that is there already
/// is the user's to keep as they like.
pub fn make(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    fs::write(directory.join(".gitignore"), "*\n")
}

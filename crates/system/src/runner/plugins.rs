//! The files that make runners speak the worker protocol, written out of the
//! binary to where runners can load them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const PYTEST: (&str, &str) = (
    "murphy_worker.py",
    include_str!("../../../../sdk/python/murphy_worker.py"),
);
const NODE: (&str, &str) = (
    "murphy_worker.mjs",
    include_str!("../../../../sdk/node/murphy_worker.mjs"),
);

/// The files, in a folder of their own; taken away when dropped.
#[derive(Debug)]
pub(crate) struct Plugins(PathBuf);

impl Plugins {
    /// Writes them below a folder.
    pub(crate) fn write(below: &Path) -> io::Result<Self> {
        let folder = std::path::absolute(below.join("runner"))?;
        fs::create_dir_all(&folder)?;
        for (name, text) in [PYTEST, NODE] {
            fs::write(folder.join(name), text)?;
        }
        Ok(Plugins(folder))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    pub(super) fn node(&self) -> PathBuf {
        self.0.join(NODE.0)
    }
}

impl Drop for Plugins {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

//! The files that make runners speak the worker protocol, written out of the
//! binary to where runners can load them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::kind;
use crate::spec::CommandSpec;

const PYTEST: (&str, &str) = (
    "murphy_worker.py",
    include_str!("../../../../sdk/python/murphy_worker.py"),
);
const NODE: (&str, &str) = (
    "murphy_worker.mjs",
    include_str!("../../../../sdk/node/murphy_worker.mjs"),
);

/// The library that says which call of which test a request is of, and what
/// loads it in every interpreter that the tests start.
const SITE: [(&str, &str); 3] = [
    (
        "murphy_site.py",
        include_str!("../../../../sdk/python/murphy_site.py"),
    ),
    (
        "sitecustomize.py",
        include_str!("../../../../sdk/python/sitecustomize.py"),
    ),
    (
        "murphy_site.cjs",
        include_str!("../../../../sdk/node/murphy_site.cjs"),
    ),
];

/// The files, in a folder of their own; taken away when dropped.
#[derive(Debug)]
pub(crate) struct Plugins(PathBuf);

impl Plugins {
    /// Writes them below a folder.
    pub(crate) fn write(below: &Path) -> io::Result<Self> {
        let folder = std::path::absolute(below.join("runner"))?;
        fs::create_dir_all(&folder)?;
        for (name, text) in [PYTEST, NODE].into_iter().chain(SITE) {
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

    /// Lets every Python and Node process that a command starts load the site
    /// library.
    pub(crate) fn load_site_library(&self, command: &mut CommandSpec) {
        let folder = self.0.display().to_string();
        kind::add(command, "PYTHONPATH", &folder, ":", kind::Side::Before);
        let library = self.0.join("murphy_site.cjs");
        let option = format!("--require \"{}\"", library.display());
        kind::add(command, "NODE_OPTIONS", &option, " ", kind::Side::After);
        let on = "1".to_owned();
        command.environment.insert("MURPHY_SITE".to_owned(), on);
    }
}

impl Drop for Plugins {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

//! Files that Murphy wrote outside of its own directory: reports, the baseline.
//!
//! Owns the memory of them from one run to the next. A report that lies beside
//! a test is none of the test's files, also where the next run writes none: it
//! would count as a changed test, and `--resume` and `--since-last` would find
//! nothing to go by.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use murphy_campaign::directory;

use crate::atomic_file::{self, Readable};

/// Where they are noted, a line each.
const FILE: &str = "written";

/// These files and all that earlier runs wrote and are still there; takes note
/// of them in Murphy's directory. Where that fails they are forgotten, which
/// costs executions and no result.
pub fn with_earlier(state: &Path, now: Vec<PathBuf>) -> Vec<PathBuf> {
    let noted = fs::read_to_string(state.join(FILE)).unwrap_or_default();
    let earlier: BTreeSet<PathBuf> = noted.lines().map(PathBuf::from).collect();
    let there = earlier.iter().filter(|file| file.exists()).cloned();
    let now = now.into_iter().map(|file| absolute(&file).unwrap_or(file));
    let all: BTreeSet<PathBuf> = there.chain(now).collect();
    if all != earlier {
        note(state, &all);
    }
    all.into_iter().collect()
}

fn note(state: &Path, files: &BTreeSet<PathBuf>) {
    let lines = files.iter().filter_map(|file| file.to_str());
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    let file = state.join(FILE);
    let _ = directory::make(state)
        .and_then(|()| atomic_file::replace(&file, text.as_bytes(), Readable::Privately));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_remembered_while_it_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let state = directory.join(".murphy");
        let [junit, json] = ["junit.xml", "out.json"].map(|name| directory.join(name));
        let first = with_earlier(&state, vec![junit.clone()]);
        assert_eq!(first, std::slice::from_ref(&junit));
        fs::write(&junit, "").unwrap();
        let both = with_earlier(&state, vec![json.clone()]);
        assert_eq!(both, [junit.clone(), json]);
        // The other one was never written.
        let rest = with_earlier(&state, Vec::new());
        assert_eq!(rest, std::slice::from_ref(&junit));
        fs::remove_file(&junit).unwrap();
        assert!(with_earlier(&state, Vec::new()).is_empty());
        assert!(state.join(".gitignore").exists(), "closed to git");
    }

    #[test]
    fn where_nothing_can_be_noted_nothing_fails() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let report = PathBuf::from("/r.xml");
        assert_eq!(with_earlier(file.path(), vec![report.clone()]), [report]);
    }
}

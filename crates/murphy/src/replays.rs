//! Replay files: a finding, with all that is needed to see it again.
//!
//! Owns the file's form and where it is kept. A file is also the bug report:
//! readable, small, and good for as long as its system is where it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use murphy_campaign::codec;
use murphy_model::{Faultload, Finding, Identity};
use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// Within Murphy's own directory.
const FOLDER: &str = "replays";

/// A finding that can be seen again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replay {
    /// The version of Murphy that wrote it.
    pub(crate) murphy: String,
    /// The finding's name.
    pub(crate) id: String,
    /// The scenario that shows it.
    pub(crate) scenario: String,
    /// The oracle that spoke.
    pub(crate) oracle: String,
    /// What is wrong.
    pub(crate) summary: String,
    /// What must fail, fault by fault.
    pub(crate) faultload: Vec<String>,
    /// How calls are told apart.
    identity: serde_json::Value,
    /// The system it is in.
    pub(crate) system: System,
}

/// Where the system comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum System {
    /// An example system.
    Demo {
        /// Its name.
        app: String,
        /// Its switches.
        set: Vec<String>,
        /// Whether it was in memory.
        simulate: bool,
        /// Whether it kept its state between executions.
        keep_state: bool,
    },
    /// A system of a `murphy.toml`.
    Project {
        /// The file.
        config: PathBuf,
        /// The test that was typed instead of a scenario of the file.
        command: Vec<String>,
        /// Where it was typed.
        directory: PathBuf,
    },
}

impl Replay {
    /// A finding of a scenario in this system.
    pub(crate) fn new(
        finding: &Finding,
        scenario: &str,
        identity: &Identity,
        system: &System,
    ) -> Self {
        let identity = codec::write_identity(identity);
        Replay {
            murphy: env!("CARGO_PKG_VERSION").to_owned(),
            id: finding.id.clone(),
            scenario: scenario.to_owned(),
            oracle: finding.oracle.to_owned(),
            summary: finding.summary.clone(),
            faultload: finding.faultload.faults().map(|f| f.to_string()).collect(),
            identity: serde_json::from_str(&identity).expect("written just now"),
            system: system.clone(),
        }
    }

    /// Writes the file; where it is.
    pub(crate) fn save(&self, state: &Path) -> io::Result<PathBuf> {
        let folder = state.join(FOLDER);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.json", self.id));
        let mut text = serde_json::to_string_pretty(self).expect("texts only");
        text.push('\n');
        // As a whole or not at all, should the disk be full.
        let unfinished = path.with_extension("json.new");
        fs::write(&unfinished, text)?;
        fs::rename(&unfinished, &path)?;
        Ok(path)
    }

    /// The file that is meant: a path, or the name of a finding in `state`.
    pub(crate) fn find(what: &str, state: &Path) -> Result<Self, Usage> {
        let given = Path::new(what);
        let path = match given.is_file() {
            true => given.to_owned(),
            false => named(what, state)?,
        };
        let unreadable = |why: String| {
            Usage::new(format!("cannot read {}: {why}", path.display()))
                .hint("replay files are written by `murphy run` and `murphy demo`")
        };
        let text = fs::read_to_string(&path).map_err(|error| unreadable(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))
    }

    /// What must fail.
    pub(crate) fn faultload(&self) -> Result<Faultload, Usage> {
        let refused = |why: String| {
            Usage::new(format!("the replay file of {} is damaged: {why}", self.id))
                .hint("run the campaign again to have it written anew")
        };
        let faults: Result<Vec<_>, _> = self.faultload.iter().map(|text| text.parse()).collect();
        let faults =
            faults.map_err(|error: murphy_model::SyntaxError| refused(error.to_string()))?;
        Faultload::new(faults).map_err(|conflict| refused(conflict.to_string()))
    }

    /// How calls are told apart.
    pub(crate) fn identity(&self) -> Result<Identity, Usage> {
        codec::read_identity(&self.identity.to_string()).map_err(|error| {
            Usage::new(format!(
                "the replay file of {} is damaged: {error}",
                self.id
            ))
        })
    }
}

/// The file of the finding whose name begins so; `M-` may be left out.
fn named(what: &str, state: &Path) -> Result<PathBuf, Usage> {
    let folder = state.join(FOLDER);
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let name = |path: &PathBuf| {
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        stem.filter(|_| path.extension().is_some_and(|it| it == "json"))
    };
    let begins = |path: &&PathBuf| {
        name(path)
            .is_some_and(|name| name.starts_with(what) || name.starts_with(&format!("M-{what}")))
    };
    let found: Vec<&PathBuf> = files.iter().filter(begins).collect();
    let exact = |path: &&&PathBuf| name(path).as_deref() == Some(what);
    let whole = found.iter().find(exact).copied();
    if let Some(only) = whole.or(found.first().copied().filter(|_| found.len() == 1)) {
        return Ok(only.clone());
    }
    let known: Vec<String> = files.iter().filter_map(name).collect();
    let usage = match found.is_empty() {
        true => Usage::new(format!("there is no finding `{what}` to replay")),
        false => Usage::new(format!("`{what}` could be several findings")),
    };
    let usage = usage.at(
        "murphy replay",
        what,
        what,
        "neither a file nor one finding's name",
    );
    Err(usage.hint(match known.is_empty() {
        true => format!("{} holds none: `murphy run` writes them", folder.display()),
        false => format!("there are {}", known.join(", ")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_is_never_the_beginning_of_another() {
        let state = std::env::temp_dir().join(format!("murphy-replays-{}", std::process::id()));
        let folder = state.join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        for id in ["M-ab", "M-abc", "M-abd"] {
            fs::write(folder.join(format!("{id}.json")), "").unwrap();
        }
        let found = |what: &str| named(what, &state).ok();
        assert_eq!(found("M-ab"), Some(folder.join("M-ab.json")));
        assert_eq!(found("abd"), Some(folder.join("M-abd.json")));
        assert_eq!(found("a"), None);
        fs::remove_dir_all(&state).unwrap();
    }
}

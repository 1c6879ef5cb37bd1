//! Replay files: a finding, with all that is needed to see it again.
//!
//! Owns the file's form and where it is kept. A file is also the bug report:
//! readable, small, and good for as long as its system is where it was.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use murphy_campaign::STATE_LEFT_BEHIND;
use murphy_campaign::directory;
use murphy_model::{Faultload, Finding, Identity, Mode, SyntaxError};
use murphy_oracle::{Oracle, UnknownOracle};
use murphy_store::codec;
use serde::{Deserialize, Serialize};

use super::ReplayError;

/// Within Murphy's own directory.
const FOLDER: &str = "replays";

/// A finding that can be seen again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The version of Murphy that wrote it.
    pub murphy: String,
    /// The finding's name.
    pub id: String,
    /// The scenario that shows it.
    pub scenario: String,
    /// The oracle that spoke.
    pub oracle: String,
    /// What is wrong.
    pub summary: String,
    /// What must fail, fault by fault.
    pub faultload: Vec<String>,
    /// What else shows the same, likewise: other modes, mostly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Vec<String>>,
    /// For state left behind: the executions that are run first, in order,
    /// each fault by fault; the scenario is then run without faults. Empty
    /// where it cannot be replayed alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<Vec<String>>>,
    /// How calls are told apart.
    identity: serde_json::Value,
    /// The system it is in.
    pub system: System,
    /// Where it was read.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

/// Where the system comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum System {
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
    /// The services of a Rust program, which alone can run its scenario.
    Program,
}

/// The executions that show a finding again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayPlan {
    /// Those that come first, before each of the others.
    pub prefix: Vec<Faultload>,
    /// Every faultload that showed it, the smallest first.
    pub variants: Vec<Faultload>,
}

impl ReplayPlan {
    /// Every mode of every fault, once.
    pub fn modes(&self) -> BTreeSet<Mode> {
        let all = self.prefix.iter().chain(&self.variants);
        all.flat_map(Faultload::modes).collect()
    }
}

impl Replay {
    /// A finding of a scenario in this system.
    pub fn new(finding: &Finding, scenario: &str, identity: &Identity, system: &System) -> Self {
        let identity = codec::write_identity(identity);
        let is_state = finding.oracle == STATE_LEFT_BEHIND;
        Replay {
            murphy: env!("CARGO_PKG_VERSION").to_owned(),
            id: finding.id.clone(),
            scenario: scenario.to_owned(),
            oracle: finding.oracle.to_owned(),
            summary: finding.summary.clone(),
            faultload: texts(&finding.faultload),
            also: finding.also.iter().map(texts).collect(),
            after: is_state.then(Vec::new),
            identity: serde_json::from_str(&identity).expect("written just now"),
            system: system.clone(),
            path: None,
        }
    }

    /// The same, to be seen after these executions.
    pub fn after(mut self, prefix: Option<&Vec<Faultload>>) -> Self {
        if let Some(prefix) = prefix {
            self.after = Some(prefix.iter().map(texts).collect());
        }
        self
    }

    /// Writes the file; where it is.
    pub fn save(&self, state: &Path) -> io::Result<PathBuf> {
        let folder = state.join(FOLDER);
        directory::make(state)?;
        directory::make_private(&folder)?;
        let path = folder.join(format!("{}.json", self.id));
        let mut text = serde_json::to_string_pretty(self).expect("texts only");
        text.push('\n');
        // As a whole or not at all, should the disk be full or another write it.
        let unfinished = path.with_extension(format!("json.{}.new", std::process::id()));
        directory::write_private(&unfinished, text.as_bytes())?;
        fs::rename(&unfinished, &path)?;
        Ok(path)
    }

    /// The file that is meant: a path, or the name of a finding in `state`.
    pub fn find(what: &str, state: &Path) -> Result<Self, ReplayError> {
        let given = Path::new(what);
        match given.is_file() {
            true => Self::read(given),
            false => Self::read(&named(what, state)?),
        }
    }

    /// What stands in a file.
    pub fn read(path: &Path) -> Result<Self, ReplayError> {
        let unreadable = |why: String| ReplayError::Unreadable {
            path: path.to_owned(),
            why,
        };
        let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        let read = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        Ok(Replay {
            path: Some(path.to_owned()),
            ..read
        })
    }

    /// What is to be run.
    pub fn plan(&self) -> Result<ReplayPlan, ReplayError> {
        let all = |faults: &[Vec<String>]| -> Result<Vec<Faultload>, ReplayError> {
            faults.iter().map(|faults| self.parsed(faults)).collect()
        };
        if let Some(after) = &self.after {
            return Ok(ReplayPlan {
                prefix: all(after)?,
                variants: vec![Faultload::none()],
            });
        }
        let mut variants = vec![self.parsed(&self.faultload)?];
        variants.extend(all(&self.also)?);
        Ok(ReplayPlan {
            prefix: Vec::new(),
            variants,
        })
    }

    /// Whether nothing is known that would bring it about again: no faults,
    /// and no executions that come first.
    pub(super) fn is_lost(&self) -> bool {
        match &self.after {
            Some(after) => after.is_empty(),
            None => self.faultload.is_empty(),
        }
    }

    fn parsed(&self, faults: &[String]) -> Result<Faultload, ReplayError> {
        let faults: Result<Vec<_>, _> = faults.iter().map(|text| text.parse()).collect();
        let faults = faults.map_err(|error: SyntaxError| self.damaged(error.to_string()))?;
        Faultload::new(faults).map_err(|conflict| self.damaged(conflict.to_string()))
    }

    /// How calls are told apart.
    pub fn identity(&self) -> Result<Identity, ReplayError> {
        let identity = codec::read_identity(&self.identity.to_string());
        identity.map_err(|error| self.damaged(error.to_string()))
    }

    /// The oracle that spoke.
    pub(super) fn oracle(&self) -> Result<Oracle, ReplayError> {
        if self.oracle == STATE_LEFT_BEHIND {
            return Ok(Oracle::Scenario);
        }
        let oracle = self.oracle.parse();
        oracle.map_err(|error: UnknownOracle| self.damaged(error.to_string()))
    }

    fn damaged(&self, why: String) -> ReplayError {
        let id = self.id.clone();
        ReplayError::Damaged { id, why }
    }
}

fn texts(faultload: &Faultload) -> Vec<String> {
    faultload.faults().map(|fault| fault.to_string()).collect()
}

/// Says where replay files are.
pub fn write_files(files: &[PathBuf], out: &mut dyn Write) -> io::Result<()> {
    match files {
        [] => Ok(()),
        [only] => writeln!(out, "Replay file: {}", only.display()),
        [first, ..] => {
            let folder = first.parent().unwrap_or(first);
            writeln!(out, "Replay files: {}", folder.display())
        }
    }
}

/// The file of the finding whose name begins so; `M-` may be left out.
fn named(what: &str, state: &Path) -> Result<PathBuf, ReplayError> {
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
    Err(ReplayError::Unknown {
        what: what.to_owned(),
        known: files.iter().filter_map(name).collect(),
        several: !found.is_empty(),
        folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_is_never_the_beginning_of_another() {
        let state = tempfile::tempdir().unwrap();
        let state = state.path();
        let folder = state.join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        for id in ["M-ab", "M-abc", "M-abd"] {
            fs::write(folder.join(format!("{id}.json")), "").unwrap();
        }
        let found = |what: &str| named(what, state).ok();
        assert_eq!(found("M-ab"), Some(folder.join("M-ab.json")));
        assert_eq!(found("abd"), Some(folder.join("M-abd.json")));
        assert_eq!(found("a"), None);
    }

    #[test]
    fn a_directory_made_for_replays_is_closed_to_version_control() {
        let here = tempfile::tempdir().unwrap();
        let state = here.path().join(".murphy");
        let replay = Replay {
            murphy: String::new(),
            id: "M-ab".to_owned(),
            scenario: String::new(),
            oracle: String::new(),
            summary: String::new(),
            faultload: Vec::new(),
            also: Vec::new(),
            after: None,
            identity: serde_json::Value::Null,
            system: System::Program,
            path: None,
        };
        assert_eq!(
            replay.save(&state).unwrap(),
            state.join(FOLDER).join("M-ab.json")
        );
        assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "*\n");
    }
}

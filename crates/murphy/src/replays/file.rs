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
use murphy_model::{FORMAT, Faultload, Finding, Identity, Mode};
use murphy_oracle::{Oracle, UnknownOracle};
use murphy_store::atomic_file::{self, Readable};
use serde::{Deserialize, Serialize};

use super::{ReplayError, find_name};

/// Within Murphy's own directory.
const FOLDER: &str = "replays";

/// A finding that can be seen again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The version of the form, see [`FORMAT`].
    pub format: u32,
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
    /// What must fail.
    pub faultload: Faultload,
    /// What else shows the same: other modes, mostly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Faultload>,
    /// For state left behind: the executions that are run first, in order; the
    /// scenario is then run without faults. Empty where it cannot be replayed
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<Faultload>>,
    /// How calls are identified.
    pub identity: Identity,
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
        let is_state = finding.oracle == STATE_LEFT_BEHIND;
        Replay {
            format: FORMAT,
            murphy: env!("CARGO_PKG_VERSION").to_owned(),
            id: finding.id.clone(),
            scenario: scenario.to_owned(),
            oracle: finding.oracle.clone().into_owned(),
            summary: finding.summary.clone(),
            faultload: finding.faultload.clone(),
            also: finding.also.clone(),
            after: is_state.then(Vec::new),
            identity: identity.clone(),
            system: system.clone(),
            path: None,
        }
    }

    /// The same, to be seen after these executions.
    pub fn after(mut self, prefix: Option<&Vec<Faultload>>) -> Self {
        if let Some(prefix) = prefix {
            self.after = Some(prefix.clone());
        }
        self
    }

    /// Where the file of a finding is.
    pub fn file(id: &str, state: &Path) -> PathBuf {
        state.join(FOLDER).join(format!("{id}.json"))
    }

    /// Writes the file; where it is.
    pub fn save(&self, state: &Path) -> io::Result<PathBuf> {
        let folder = state.join(FOLDER);
        directory::make(state)?;
        directory::make_private(&folder)?;
        let path = Self::file(&self.id, state);
        let mut text = serde_json::to_string_pretty(self).expect("texts only");
        text.push('\n');
        atomic_file::replace(&path, text.as_bytes(), Readable::Privately)?;
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
        let form: Format =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        match form.format {
            Some(FORMAT) => {}
            Some(other) => {
                return Err(unreadable(format!(
                    "it has format {other}, and this Murphy reads format {FORMAT}; run the campaign again"
                )));
            }
            None => {
                let why = "missing field `format`: it is of an earlier version of Murphy, or no replay file";
                return Err(unreadable(why.to_owned()));
            }
        }
        let read = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        Ok(Replay {
            path: Some(path.to_owned()),
            ..read
        })
    }

    /// What is to be run.
    pub fn plan(&self) -> ReplayPlan {
        match &self.after {
            Some(after) => ReplayPlan {
                prefix: after.clone(),
                variants: vec![Faultload::none()],
            },
            None => ReplayPlan {
                prefix: Vec::new(),
                variants: [&self.faultload]
                    .into_iter()
                    .chain(&self.also)
                    .cloned()
                    .collect(),
            },
        }
    }

    /// Whether nothing is known that would bring it about again: no faults,
    /// and no executions that come first.
    pub(super) fn is_lost(&self) -> bool {
        match &self.after {
            Some(after) => after.is_empty(),
            None => self.faultload.is_empty(),
        }
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

/// Of a file, its version; those of before there was one have none.
#[derive(Deserialize)]
struct Format {
    format: Option<u32>,
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
    let names = entries.filter_map(|entry| name_of(&entry.path()));
    let names: Vec<String> = names.collect();
    match find_name(what, names.iter().map(String::as_str)) {
        Ok(id) => Ok(Replay::file(id, state)),
        Err(error) => Err(ReplayError::Unknown {
            what: what.to_owned(),
            folder,
            error,
        }),
    }
}

/// The finding that a file is of, by the file's name.
fn name_of(path: &Path) -> Option<String> {
    let is_replay = path.extension().is_some_and(|it| it == "json");
    let stem = path.file_stem().filter(|_| is_replay)?;
    Some(stem.to_string_lossy().into_owned())
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
            format: FORMAT,
            murphy: String::new(),
            id: "M-ab".to_owned(),
            scenario: String::new(),
            oracle: String::new(),
            summary: String::new(),
            faultload: Faultload::none(),
            also: Vec::new(),
            after: None,
            identity: Identity::default(),
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

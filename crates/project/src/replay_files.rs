//! The replay files of a campaign: which are written, and where they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use murphy::replays::{Replay, System};
use murphy_model::{Faultload, Finding, Identity};

use crate::messages::complain;

/// The replay files of a campaign.
pub struct Replays<'r> {
    /// The scenario's name.
    pub scenario: &'r str,
    /// What identifies its calls.
    pub identity: &'r Identity,
    /// The executions that come first, by finding.
    pub prefixes: &'r BTreeMap<String, Vec<Faultload>>,
    /// The system to replay them in.
    pub system: &'r System,
    /// Murphy's own directory.
    pub state: &'r Path,
}

impl Replays<'_> {
    /// Writes what can be replayed; where the files are.
    pub fn save(&self, findings: &[Finding]) -> Vec<PathBuf> {
        findings.iter().filter_map(|it| self.save_one(it)).collect()
    }

    /// The same, but for files that are there.
    pub fn keep(&self, findings: &[Finding]) -> Vec<PathBuf> {
        let file = |finding: &Finding| {
            let file = Replay::file(&finding.id, self.state);
            match file.exists() {
                true => Some(file),
                false => self.save_one(finding),
            }
        };
        findings.iter().filter_map(file).collect()
    }

    fn save_one(&self, finding: &Finding) -> Option<PathBuf> {
        let replay = Replay::new(finding, self.scenario, self.identity, self.system);
        let replay = replay.after(self.prefixes.get(&finding.id));
        let saved = replay.save(self.state).map_err(|error| {
            complain(format_args!(
                "the replay file of {} cannot be written to {}: {error}",
                finding.id,
                self.state.display()
            ));
        });
        saved.ok()
    }
}

/// The command that replays a finding, without its name, if there are files.
pub fn replay_command(files: &[PathBuf]) -> Option<String> {
    (!files.is_empty()).then(|| "murphy replay".to_owned())
}

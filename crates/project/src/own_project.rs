//! What belongs to the user's own project, and what a replay file from
//! elsewhere may therefore not name.
//!
//! Owns the border: a replay file is also a bug report, which is handed on and
//! replayed by others, and it can name a command and a configuration. Only
//! those that the user has anyway are used. Bringing the system up is for
//! [`crate::replay_system`].

use std::path::{Path, PathBuf};

use murphy::replays::{Replay, System};
use murphy_report::terminal::visible;
use murphy_report::{fault_text, redact};

use crate::context::Context;
use murphy_config::{Config, STORE, Usage};

/// The project that the user is in, or that was named.
pub struct OwnProject {
    /// Its murphy.toml; `None` where there is none.
    config: Option<PathBuf>,
    /// Where it keeps findings: as the file says, or here.
    store: PathBuf,
    /// Where example systems keep theirs, and commands without a project.
    here: PathBuf,
}

/// What a replay file names beyond scenario, faultload and options.
struct Foreign<'r> {
    config: Option<&'r Path>,
    command: Option<&'r [String]>,
}

impl OwnProject {
    /// The project of the file that was named, or else of the nearest
    /// murphy.toml.
    pub fn find(named: Option<&Path>, context: &Context) -> Self {
        let here = context.directory();
        let variables = |name: &str| context.variable(name);
        let loaded = Config::load(named, &here, &variables);
        OwnProject {
            config: named.map_or_else(
                || murphy_config::nearest(&here),
                |path| Some(here.join(path)),
            ),
            store: loaded.map_or_else(|_| PathBuf::from(STORE), |config| config.store.directory),
            here: here.join(STORE),
        }
    }

    /// Where findings are kept.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Refuses a replay file that would have Murphy run a command or read a
    /// configuration that is not the project's own.
    pub fn check(&self, replay: &Replay) -> Result<(), Usage> {
        let System::Project {
            config,
            command,
            directory,
        } = &replay.system
        else {
            return Ok(());
        };
        let store = self.store_of(replay);
        let then = directory.join(config);
        let foreign = Foreign {
            config: (!self.may_read(&then, store)).then_some(config),
            command: (!command.is_empty() && store.is_none()).then_some(command),
        };
        match (foreign.config, foreign.command) {
            (None, None) => Ok(()),
            _ => Err(foreign.refusal(replay)),
        }
    }

    /// The store of the project that the file was read from; its own campaigns
    /// wrote what is there.
    fn store_of(&self, replay: &Replay) -> Option<&Path> {
        let read = replay.path.as_ref()?.canonicalize().ok()?;
        let holds = |store: &&Path| store.canonicalize().is_ok_and(|it| read.starts_with(it));
        [&*self.store, &*self.here].into_iter().find(holds)
    }

    /// Whether this configuration is the project's, or is not there: then the
    /// project's is read in its place. One in the folder of the store is the
    /// project's too: `--config` chose it.
    fn may_read(&self, config: &Path, store: Option<&Path>) -> bool {
        let Ok(config) = config.canonicalize() else {
            return true;
        };
        let is_own = |own: &PathBuf| own.canonicalize().is_ok_and(|own| own == config);
        let beside = |store: &Path| {
            let store = store.canonicalize().ok();
            store.is_some_and(|store| store.parent() == config.parent())
        };
        self.config.as_ref().is_some_and(is_own) || store.is_some_and(beside)
    }
}

impl Foreign<'_> {
    fn refusal(&self, replay: &Replay) -> Usage {
        let what = match (self.config, self.command) {
            (Some(_), Some(_)) => "a command and a configuration",
            (Some(_), None) => "a configuration",
            _ => "a command",
        };
        let mut text = format!("this replay file names {what} that your project does not have");
        let mut add = |name: &str, value: &str| {
            text.push_str(&format!("\n  {name}: {}", visible(value)));
        };
        add("finding", &replay.id);
        add("scenario", &replay.scenario);
        for fault in replay.faultload.faults() {
            add("fault", &fault_text(&fault));
        }
        if let Some(config) = self.config {
            add("configuration", &config.display().to_string());
        }
        if let Some(command) = self.command {
            add("command", &redact::spoken(command));
        }
        Usage::new(text).hint(
            "if you trust whoever wrote it, add `--trust`; a configuration of yours is named with `--config`",
        )
    }
}

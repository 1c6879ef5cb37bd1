//! `murphy.toml`: a system, its scenarios and what to try, written down.
//!
//! Owns the way from the file to values that make sense. `raw` is what was
//! written, `resolve` checks it; what goes wrong is told with the place in the
//! file. What comes out are the words of the crates that do the work:
//! `campaign`'s system and scenarios, `proxy`'s settings, `search`'s filter.

mod file;
mod modes;
mod raw;
mod read;
mod resolve;
mod schema;
mod time_span;
mod typed;
mod usage;
mod variables;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use murphy_campaign::StrategyKind;
use murphy_model::Mode;
use murphy_search::{Filter, Order, Reduction, Replies};
use murphy_system::spec::{ScenarioSpec, SystemSpec};

pub use file::{File, NAME, nearest};
pub use modes::ModeRules;
pub use resolve::each::lists_tests;
pub use schema::schema;
pub use time_span::{read as read_time_span, time};
pub use typed::{Extended, TypedEach};
pub use usage::{FilePlace, Usage};
pub use variables::Variables;

/// Bytes of the file.
pub type Span = Range<usize>;

/// Every key, explained.
pub const REFERENCE: &str = include_str!("reference.toml");

/// How long a scenario may take unless it is set: long for a test, short for
/// somebody who waits for a stuck one.
pub const SCENARIO_TIMEOUT: Duration = Duration::from_secs(60);

/// Where runs are kept.
pub const STORE: &str = ".murphy";

/// How many runs are kept: some weeks of work on one system.
pub const KEEP: usize = 20;

/// The name of the scenario that was typed rather than written down.
pub const TYPED: &str = "command";

/// What the file says.
pub struct Config {
    /// The file itself, to point at.
    pub file: File,
    /// The services, and what is done around executions.
    pub system: SystemSpec,
    /// What everything that Murphy starts finds in its environment, unless its
    /// own says otherwise; services, scenarios and steps hold it already.
    pub environment: BTreeMap<String, String>,
    /// The versions of services, where they are told.
    pub versions: BTreeMap<String, String>,
    /// The tests, as they are written; maybe none.
    pub scenarios: Vec<ScenarioSpec>,
    /// How calls fail.
    pub modes: ModeRules,
    /// What to try, and how much of it.
    pub search: SearchRules,
    /// What identifies a call.
    pub identity: IdentityRules,
    /// How executions are distinguished.
    pub context: ContextRules,
    /// What the proxies are told, carriers and injected answers included.
    pub proxy: murphy_proxy::Settings,
    /// Complaints about an execution. Names are checked by who knows them.
    pub oracles: Vec<OracleRule>,
    /// What some of the oracles go by; their levels are in `oracles`.
    pub rules: murphy_oracle::Settings,
    /// Files to be written at the end.
    pub reports: Vec<ReportRule>,
    /// Where runs are kept.
    pub store: StoreRules,
    /// Which scenarios must not fail.
    pub harden: HardenRules,
}

/// What to try; `None` where the file says nothing.
#[derive(Debug, Default)]
pub struct SearchRules {
    /// Who decides what to try.
    pub strategy: Option<StrategyKind>,
    /// The most faults together.
    pub max_faults: Option<usize>,
    /// The most executions.
    pub max_cases: Option<usize>,
    /// After this time no execution begins.
    pub max_time: Option<Duration>,
    /// How many executions run at once.
    pub jobs: Option<usize>,
    /// Which faultloads come first.
    pub order: Option<Order>,
    /// Whether modes and bodies are all tried.
    pub exhaustive: bool,
    /// What of a reply its caller may act on.
    pub replies: Option<Replies>,
    /// Reductions that are switched on.
    pub reduce: Vec<Reduction>,
    /// Reductions that are switched off.
    pub no_reduce: Vec<Reduction>,
    /// Decides everything random.
    pub seed: Option<u64>,
    /// Which calls may fail.
    pub filter: Filter,
    /// How often the scenario is run without faults.
    pub references: usize,
}

/// Something that Murphy can find out by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// As it turns out.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Switch {
    /// All of them, with their names.
    pub const NAMES: [(&'static str, Switch); 3] = [
        ("auto", Switch::Auto),
        ("on", Switch::On),
        ("off", Switch::Off),
    ];
}

/// What identifies a call.
#[derive(Debug, Default)]
pub struct IdentityRules {
    /// The path of a request.
    pub path: Switch,
    /// Its query and body.
    pub payload: Switch,
    /// The calls that its caller made before.
    pub predecessors: Switch,
    /// The place in the caller's code.
    pub call_site: Switch,
    /// How many equal calls came before.
    pub count: Switch,
    /// What [`PathTemplates::with`](murphy_model::PathTemplates::with) takes.
    pub paths: Vec<String>,
    /// Fields that are left out of the payload.
    pub masked: Vec<String>,
}

/// How executions are distinguished.
#[derive(Debug, Default)]
pub struct ContextRules {
    /// One execution at a time, callers inferred.
    pub solo: Switch,
    /// How long an execution may stay quiet before it has ended; `None`: as
    /// it turns out.
    pub grace: Option<Duration>,
}

/// How serious it is what an oracle finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Not looked for.
    Off,
    /// Told, but no finding.
    Warn,
    /// A finding.
    Fail,
}

impl Level {
    /// All of them, with their names.
    pub const NAMES: [(&'static str, Level); 3] = [
        ("off", Level::Off),
        ("warn", Level::Warn),
        ("fail", Level::Fail),
    ];
}

impl From<Level> for murphy_oracle::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => murphy_oracle::Level::Off,
            Level::Warn => murphy_oracle::Level::Warn,
            Level::Fail => murphy_oracle::Level::Fail,
        }
    }
}

/// One line of `[oracles]`.
#[derive(Debug)]
pub struct OracleRule {
    /// The oracle's name, words separated by `-`.
    pub name: String,
    /// Where it stands.
    pub place: Span,
    /// How much its word counts.
    pub level: Level,
}

/// A file to be written.
#[derive(Debug)]
pub struct ReportRule {
    /// Its format: `junit`, `json`, `markdown` or `events`.
    pub format: &'static str,
    /// Where it goes.
    pub path: PathBuf,
}

/// Where runs are kept.
#[derive(Debug)]
pub struct StoreRules {
    /// The folder.
    pub directory: PathBuf,
    /// How many of each scenario.
    pub keep: usize,
}

/// Which scenarios must not fail. Their names are those of the file's
/// scenarios, or [`TYPED`].
#[derive(Clone, Debug, Default)]
pub struct HardenRules {
    /// Those of high priority.
    pub high: Vec<String>,
    /// How often each is asked for, in the order written.
    pub frequency: Vec<(String, u64)>,
}

impl Config {
    /// Reads the file at `given`, or the nearest one in `directory` or above.
    pub fn load(
        given: Option<&Path>,
        directory: &Path,
        variables: Variables<'_>,
    ) -> Result<Self, Vec<Usage>> {
        let file = File::open(given, directory).map_err(|error| vec![error])?;
        Config::of(file, variables)
    }

    /// The same where a file is welcome, not needed: `None` if there is none,
    /// unless it was asked for.
    pub fn load_if_any(
        given: Option<&Path>,
        directory: &Path,
        variables: Variables<'_>,
    ) -> Result<Option<Self>, Vec<Usage>> {
        match given.is_some() || file::is_near(directory) {
            true => Config::load(given, directory, variables).map(Some),
            false => Ok(None),
        }
    }

    /// What a file would say that is not written yet.
    pub fn of_new_file(
        path: &Path,
        text: &str,
        variables: Variables<'_>,
    ) -> Result<Self, Vec<Usage>> {
        Config::of(File::of_text(path, text), variables)
    }

    fn of(file: File, variables: Variables<'_>) -> Result<Self, Vec<Usage>> {
        let (raw, mut problems) = read::read(&file, variables)?;
        match resolve::resolve(file, raw) {
            Ok(config) if problems.is_empty() => Ok(config),
            Ok(_) => Err(problems),
            Err(more) => {
                problems.extend(more);
                Err(problems)
            }
        }
    }

    /// An error about a setting that only later turned out to be wrong.
    #[cfg_attr(not(test), allow(dead_code, reason = "for who knows the oracles"))]
    pub fn refusal(&self, place: &Span, message: &str, label: &str) -> Usage {
        self.file.refusal(place, message, label)
    }
}

/// Modes as they are written.
pub fn mode_names(modes: &[Mode]) -> String {
    let names: Vec<String> = modes.iter().map(Mode::to_string).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;

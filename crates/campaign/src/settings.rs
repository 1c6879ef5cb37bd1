//! What a campaign is asked to do.
//!
//! Owns the values, all of them checked where they were read; how each part
//! acts on them is its own business.

use std::time::Duration;

use murphy_model::Identity;
use murphy_search::Options;
use serde::{Deserialize, Serialize};

/// How many times a scenario is run without faults first: the fewest that can
/// tell what varies from what varied once.
pub const REFERENCES: usize = 3;

/// What a campaign is asked to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The scenario's name.
    pub scenario: String,
    /// Who decides what to try.
    pub strategy: StrategyKind,
    /// What the search may do.
    pub options: Options,
    /// How calls may fail, as it was asked for.
    pub modes: Vec<String>,
    /// Decides everything random.
    pub seed: u64,
    /// Executions under way at once; the world may allow fewer.
    pub jobs: u32,
    /// No execution begins after this time.
    pub max_time: Option<Duration>,
    /// How many skipped faultloads to run after all.
    pub audit: Option<usize>,
    /// How many times the scenario is run without faults first; at least 1.
    pub references: usize,
    /// How calls are identified.
    pub identity: IdentityChoice,
    /// Complaints about executions.
    pub oracles: murphy_oracle::Settings,
    /// What reports say besides.
    pub heading: Heading,
}

/// What reports say of a campaign that makes no difference to how it is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// What the scenario does, in one line.
    pub about: String,
    /// Why one execution runs at a time, whatever was asked for.
    pub solo: Option<String>,
    /// The command that explains a faultload, without the faultload; empty if
    /// there is none.
    pub explain_command: String,
    /// What follows the faultload in that command, with the blank before it.
    pub explain_ending: String,
    /// The command that runs the scenario again, without modes and what
    /// `explain_ending` holds; empty if there is none.
    pub rerun_command: String,
    /// Where a user declares which answers are right under faults; empty if
    /// nowhere.
    pub declared_in: String,
}

/// Who decides what to try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyKind {
    /// Every distinct behaviour.
    #[default]
    Tree,
    /// Every minimal failing combination, with far fewer executions.
    Lineage,
    /// A seeded sample, of a hundred executions unless more or fewer are asked
    /// for.
    Random,
}

impl StrategyKind {
    /// All of them, with the names used on the command line and in reports.
    pub const NAMES: [(&'static str, StrategyKind); 3] = [
        ("tree", StrategyKind::Tree),
        ("lineage", StrategyKind::Lineage),
        ("random", StrategyKind::Random),
    ];

    /// Whether faults are planned in the knowledge that many may not be
    /// injected: an execution then counts as one of those that were.
    pub(crate) fn counts_injected_only(self) -> bool {
        self == StrategyKind::Lineage
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(_, kind)| *kind == self);
        named.expect("every strategy has a name").0
    }
}

/// How calls are identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityChoice {
    /// Exactly so.
    Given(Identity),
    /// So, less whatever differs between reference executions and may be left
    /// out.
    Auto(Identity, Droppable),
}

/// What may be ignored when identifying calls; path segments that differ
/// always may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Droppable {
    /// Fields of what is sent, or all of it.
    pub payload: bool,
    /// The caller's completed calls.
    pub predecessors: bool,
    /// The place in the caller's code.
    pub call_site: bool,
}

impl Droppable {
    /// Whatever differs.
    pub const ANYTHING: Self = Droppable {
        payload: true,
        predecessors: true,
        call_site: true,
    };
}

impl IdentityChoice {
    /// What to begin with.
    pub fn start(&self) -> &Identity {
        match self {
            IdentityChoice::Given(identity) | IdentityChoice::Auto(identity, _) => identity,
        }
    }
}

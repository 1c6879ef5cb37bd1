//! What was typed, as plain values.
//!
//! Owns what commands can be told about a project, an example system and a
//! search; reading it from a command line is for the binary. Nothing is checked
//! here: that is for [`settings`](crate::settings).

use std::path::PathBuf;

use murphy_campaign::StrategyKind;
use murphy_search::{Order, Replies};
use serde::{Deserialize, Serialize};

/// Which system, and which of its scenarios.
#[derive(Clone, Debug, Default)]
pub struct TypedProject {
    /// This file instead of the nearest murphy.toml.
    pub config: Option<PathBuf>,
    /// Only these scenarios of the file.
    pub scenario: Vec<String>,
    /// A test, or more arguments for the one of the scenario.
    pub command: Vec<String>,
}

/// What was set about an example system.
#[derive(Clone, Debug, Default)]
pub struct TypedExample {
    /// Whether it is run in memory.
    pub simulate: bool,
    /// Its switches: `name=value`.
    pub set: Vec<String>,
    /// What identifies its calls: `component=on|off`.
    pub identity: Vec<String>,
    /// Whether every execution finds what the last one left behind.
    pub keep_state: bool,
}

/// What was typed about a search. It is stored with a campaign, so that an
/// explanation is about the same search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TypedSearch {
    /// How calls fail.
    pub modes: Option<String>,
    /// Patterns of the calls that may fail.
    pub only: Vec<String>,
    /// Patterns of those that never do.
    pub except: Vec<String>,
    /// How many faults are tried together.
    pub max_faults: Option<usize>,
    /// How many executions are made.
    pub max_cases: Option<usize>,
    /// After which time none begins.
    pub max_time: Option<String>,
    /// Whether nothing is left out that may be.
    pub exhaustive: bool,
    /// What of a reply counts.
    pub replies: Option<Replies>,
    /// Reductions to be switched on.
    pub reduce: Vec<String>,
    /// Reductions to be switched off.
    pub no_reduce: Vec<String>,
    /// Which faultloads come first.
    pub order: Option<Order>,
    /// Decides everything random.
    pub seed: Option<u64>,
    /// How many executions are under way at once.
    pub jobs: Option<u32>,
}

impl TypedSearch {
    /// Whether less is tried than the project says.
    pub fn is_narrowed(&self) -> bool {
        let patterns = self.only.iter().chain(&self.except);
        self.modes.is_some() || self.max_faults.is_some() || patterns.count() > 0
    }

    /// These, and where they say nothing, the others.
    pub fn or(self, other: Self) -> Self {
        let list = |this: Vec<String>, other| if this.is_empty() { other } else { this };
        TypedSearch {
            modes: self.modes.or(other.modes),
            only: list(self.only, other.only),
            except: list(self.except, other.except),
            max_faults: self.max_faults.or(other.max_faults),
            max_cases: self.max_cases.or(other.max_cases),
            max_time: self.max_time.or(other.max_time),
            exhaustive: self.exhaustive || (other.exhaustive && self.reduce.is_empty()),
            replies: self.replies.or(other.replies),
            reduce: list(self.reduce, other.reduce),
            no_reduce: list(self.no_reduce, other.no_reduce),
            order: self.order.or(other.order),
            seed: self.seed.or(other.seed),
            jobs: self.jobs.or(other.jobs),
        }
    }
}

/// What was typed about a campaign: its search, and how that is made.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    /// The search.
    pub search: TypedSearch,
    /// How faultloads are chosen.
    pub strategy: Option<StrategyKind>,
    /// How many of the skipped faultloads are run after all.
    pub audit: Option<usize>,
}

impl From<TypedSearch> for Typed {
    fn from(search: TypedSearch) -> Self {
        Typed {
            search,
            ..Typed::default()
        }
    }
}

/// What earlier campaigns are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// Nothing: everything is run.
    Ignored,
    /// The last one goes on where it stopped, if it did.
    Resumed,
    /// What still holds of the last one is not run again.
    Compared,
}

/// What a campaign was asked to do, kept with it: nobody should have to repeat
/// its arguments for an explanation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedArgs {
    /// The test; empty if it is a scenario of murphy.toml.
    pub test: Vec<String>,
    /// The search.
    pub search: TypedSearch,
    /// How faultloads are chosen.
    pub strategy: Option<StrategyKind>,
}

//! What a campaign was asked to do, kept with it.
//!
//! Owns which words of `murphy run` must be known to go through its search
//! once more: explanations are about the campaign that was run, and nobody
//! should have to repeat its arguments for them.

use serde::{Deserialize, Serialize};

use crate::args::{RunArgs, SearchArgs};
use murphy_campaign::StrategyKind;

/// What was typed about a campaign.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedArgs {
    /// The test; empty if it is a scenario of murphy.toml.
    pub(crate) test: Vec<String>,
    pub(crate) search: SearchArgs,
    pub(crate) strategy: Option<StrategyKind>,
}

impl SavedArgs {
    /// What these arguments ask for.
    pub(crate) fn of(args: &RunArgs) -> Self {
        SavedArgs {
            test: args.project.command.clone(),
            search: args.search.clone(),
            strategy: args.campaign.strategy,
        }
    }
}

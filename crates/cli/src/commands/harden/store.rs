//! What is in the store: the newest campaign of each scenario that ended.

use std::collections::BTreeSet;

use murphy_model::Finding;
use murphy_store::{CampaignEntry, Store};

use super::found::{Found, Kept};
use crate::error::Error;
use crate::output;
use murphy_config::Usage;
use murphy_config::{Config, TYPED};

/// Of scenarios that murphy.toml still has, and of tests that were typed.
pub(super) fn read(config: &Config) -> Result<Vec<Found>, Error> {
    let directory = &config.store.directory;
    let store = Store::open_existing(directory)?;
    let store = store.ok_or_else(|| {
        let message = format!("no campaign is kept in {}", directory.display());
        Usage::new(message).hint(HINT)
    })?;
    let (here, gone): (Vec<_>, Vec<_>) = newest(store.campaigns()?)
        .into_iter()
        .partition(|entry| is_here(&entry.scenario, config));
    say_gone(&gone, config);
    if here.is_empty() {
        let message = format!(
            "no campaign on a scenario of {} has ended, as far as {} knows",
            config.file.shown(),
            directory.display()
        );
        return Err(Usage::new(message).hint(HINT).into());
    }
    here.iter().map(|entry| found(&store, entry)).collect()
}

const HINT: &str = "run `murphy run` first, or name files that `--report json=PATH` wrote";

fn newest(newest_first: Vec<CampaignEntry>) -> Vec<CampaignEntry> {
    let mut seen = BTreeSet::new();
    let ended = newest_first
        .into_iter()
        .filter(|entry| entry.state.has_result());
    ended
        .filter(|entry| seen.insert(entry.scenario.clone()))
        .collect()
}

fn is_here(scenario: &str, config: &Config) -> bool {
    let mut written = config.scenarios.iter();
    scenario == TYPED || written.any(|it| it.name == scenario)
}

fn say_gone(gone: &[CampaignEntry], config: &Config) {
    for entry in gone {
        output::say(format_args!(
            "note: the campaigns on `{}` are left out: {} has no such scenario any more",
            entry.scenario,
            config.file.shown()
        ));
    }
}

fn found(store: &Store, entry: &CampaignEntry) -> Result<Found, Error> {
    let source = entry.campaign.as_str().to_owned();
    let mut found = Found::new(entry.scenario.clone(), source);
    if let Some(ended) = store.ended(&entry.campaign)? {
        ended
            .findings
            .into_iter()
            .for_each(|it| found.take(kept(it)));
        let minimal = ended.certificate.minimal.into_iter().flatten();
        minimal.for_each(|it| found.take_minimal(it));
    }
    Ok(found)
}

fn kept(finding: Finding) -> Kept {
    Kept {
        id: finding.id,
        class: finding.class,
        oracle: finding.oracle.into_owned(),
        severity: finding.severity,
        faultload: finding.faultload,
        also: finding.also,
    }
}

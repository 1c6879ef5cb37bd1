//! Campaigns that ended, and what they found.
//!
//! Owns how a campaign, and a finding of the last campaigns, is found in the
//! store of a project. Nothing is run: all of it comes from the events in the
//! store. What is made of it is for the commands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use murphy::replays::{System, find_name};
use murphy_config::{Config, STORE, Usage};
use murphy_model::Finding;
use murphy_report::Summary;
use murphy_store::{CampaignEntry, CampaignState, Store};

use crate::campaign_record;
use crate::context::Context;
use crate::error::Error;
use crate::replay_files::{Replays, replay_command};
use crate::suite::is_suite;

/// The store, and what is beside it.
pub struct Stored {
    /// What is kept.
    pub store: Store,
    state: PathBuf,
    /// Where murphy.toml is, or where Murphy was started.
    beside: PathBuf,
    /// The scenarios of murphy.toml; `None` without one.
    scenarios: Option<Vec<String>>,
}

/// Whether a campaign is of this scenario, or of one of its tests.
fn is_of(campaign: &str, scenario: &str) -> bool {
    let rest = campaign.strip_prefix(scenario);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A finding, and the campaign that found it.
pub struct Found {
    /// The campaign.
    pub entry: CampaignEntry,
    /// The finding.
    pub finding: Finding,
}

impl Stored {
    /// Where murphy.toml says; without one, in this directory.
    pub fn open(given: Option<&Path>, context: &Context) -> Result<Self, Error> {
        Stored::look(given, context)?.map_err(|state| no_store(&state).into())
    }

    /// The same; `None` where nothing was stored yet.
    pub fn open_if_any(given: Option<&Path>, context: &Context) -> Result<Option<Self>, Error> {
        Ok(Stored::look(given, context)?.ok())
    }

    /// The store, or where it would be.
    fn look(given: Option<&Path>, context: &Context) -> Result<Result<Self, PathBuf>, Error> {
        let directory = context.directory();
        let variables = |name: &str| context.variable(name);
        let config = Config::load_if_any(given, &directory, &variables).map_err(Error::Config)?;
        let (state, beside) = match &config {
            Some(config) => (
                config.store.directory.clone(),
                config.file.directory().to_owned(),
            ),
            None => (directory.join(STORE), directory),
        };
        let Some(store) = Store::open_existing(&state)? else {
            return Ok(Err(state));
        };
        let names = |config: &Config| {
            let scenarios = config.scenarios.iter();
            scenarios.map(|scenario| scenario.name.clone()).collect()
        };
        Ok(Ok(Stored {
            scenarios: config.as_ref().map(names),
            store,
            beside,
            state,
        }))
    }

    /// Where known findings are.
    pub fn baseline(&self, given: Option<&Path>) -> PathBuf {
        let beside = || self.beside.join(murphy_store::baseline::FILE);
        given.map_or_else(beside, Path::to_owned)
    }

    /// The campaign that is meant, which must have a result.
    pub fn find(&self, name: Option<&str>) -> Result<CampaignEntry, Error> {
        let found = self.store.named(name)?;
        let entry = found.ok_or_else(|| match name {
            Some(name) => Usage::new(format!("no campaign has the name `{name}`"))
                .hint("`murphy report --list` shows all that are stored"),
            None => none_ended(),
        })?;
        match entry.state.has_result() {
            true => Ok(entry),
            false => Err(no_result(&entry).into()),
        }
    }

    /// The newest campaign with a result of every scenario, and of every test
    /// that was typed in place of one; the newest first. What murphy.toml no
    /// longer has is left out.
    pub fn last(&self) -> Result<Vec<CampaignEntry>, Error> {
        let mut known = BTreeSet::new();
        let mut is_newest = |entry: &CampaignEntry| {
            let test = campaign_record::asked(&entry.settings).test;
            let scenarios = self.scenarios.as_ref();
            let is_of = |name: &String| is_of(&entry.scenario, name);
            let is_gone = scenarios.is_some_and(|it| !it.iter().any(is_of));
            let is_there = !test.is_empty() || !is_gone;
            is_there && entry.state.has_result() && known.insert((entry.scenario.clone(), test))
        };
        let mut all = self.store.campaigns()?;
        // A suite is judged by itself, and has findings of its own kind.
        all.retain(|entry| !is_suite(entry) && is_newest(entry));
        Ok(all)
    }

    /// The campaigns of the last run: of every scenario the last one, or, if
    /// the test was typed, that one alone.
    pub fn last_run(&self) -> Result<Vec<CampaignEntry>, Error> {
        let all = self.last()?;
        let is_typed =
            |entry: &CampaignEntry| !campaign_record::asked(&entry.settings).test.is_empty();
        let newest = all.first().ok_or_else(none_ended)?;
        match is_typed(newest) {
            true => Ok(all.into_iter().take(1).collect()),
            false => Ok(all.into_iter().filter(|entry| !is_typed(entry)).collect()),
        }
    }

    /// What these campaigns found.
    pub fn findings(&self, campaigns: Vec<CampaignEntry>) -> Result<Vec<Found>, Error> {
        let mut all = Vec::new();
        for entry in campaigns {
            let ended = self.store.ended(&entry.campaign)?;
            let findings = ended.map(|it| it.findings).unwrap_or_default();
            all.extend(findings.into_iter().map(|finding| Found {
                entry: entry.clone(),
                finding,
            }));
        }
        Ok(all)
    }

    /// The finding of the last campaigns that is meant: one for each scenario
    /// that shows it. `command` is the command that looks for it.
    pub fn named(&self, typed: &str, command: &str) -> Result<Vec<Found>, Error> {
        let campaigns = self.last()?;
        if campaigns.is_empty() {
            return Err(none_ended().into());
        }
        let mut all = self.findings(campaigns)?;
        let known = all.iter().map(|found| found.finding.id.as_str());
        let id = find_name(typed, known).map(str::to_owned);
        let id = id.map_err(|error| {
            let (message, label) = match error.is_ambiguous() {
                true => ("could be several findings", "not enough digits"),
                false => (
                    "is no finding of the last campaigns",
                    "no finding has this name",
                ),
            };
            Usage::new(format!("`{typed}` {message}"))
                .at(command, typed, typed, label)
                .hint(error.hint().unwrap_or_else(|| {
                    "the last campaigns found nothing; `murphy report --list` shows them".to_owned()
                }))
        })?;
        all.retain(|found| found.finding.id == id);
        Ok(all)
    }

    /// What is reported, and where the replay files are: one that a killed run
    /// could not write any more is written now.
    pub fn summary(&self, entry: &CampaignEntry) -> Result<(Summary, Vec<PathBuf>), Error> {
        let summary = Summary::of_events(&self.store.events(&entry.campaign)?);
        let ended = self.store.ended(&entry.campaign)?;
        let identity = self.store.identity(&entry.campaign)?;
        let (mut summary, (ended, (identity, _))) = summary
            .zip(ended.zip(identity))
            .ok_or_else(|| no_result(entry))?;
        let system = campaign_record::system(&entry.settings).unwrap_or(System::Program);
        let replays = Replays {
            scenario: &summary.scenario,
            identity: &identity,
            prefixes: &ended.prefixes,
            system: &system,
            state: &self.state,
        };
        let files: Vec<PathBuf> = replays.keep(&summary.findings);
        summary.replay_command = match system {
            System::Program => None,
            _ => replay_command(&files),
        };
        Ok((summary, files))
    }
}

fn none_ended() -> Usage {
    Usage::new("no campaign has ended yet")
        .hint("run `murphy run` first; `murphy report --list` shows what was begun")
}

fn no_store(state: &Path) -> Usage {
    Usage::new(format!("no campaign is stored in {}", state.display()))
        .hint("run `murphy run` first, or name the project with `--config`")
}

fn no_result(entry: &CampaignEntry) -> Usage {
    let refused = Usage::new(format!("campaign {} has no result", entry.campaign));
    match entry.state {
        CampaignState::UnderWay => refused.hint("it is still running; wait for its end"),
        _ if is_suite(entry) => {
            refused.hint("it was interrupted; `murphy suite run --resume` goes on with it")
        }
        _ => refused.hint("it was interrupted; `murphy run --resume` goes on with it"),
    }
}

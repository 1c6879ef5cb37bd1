//! `murphy report`: show the result of a stored campaign once more.
//!
//! Nothing is run and nothing is judged again: a report is made from the events
//! in the store alone. Only the baseline counts as it is now.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use murphy::replays::{System, write_files};
use murphy_config::{Config, STORE, Usage};
use murphy_model::Sink;
use murphy_report::{Collector, Summary, json, junit, markdown, terminal};
use murphy_store::{CampaignEntry, CampaignState, Store};

use crate::args::{ReportArgs, ReportFormat};
use crate::baseline_filter::BaselineFilter;
use crate::context::Context;
use crate::error::Error;
use crate::reporting::{self, Replays};
use crate::{campaign_record, exit, output};

pub(crate) fn run(args: &ReportArgs, context: &Context) -> Result<u8, Error> {
    let stored = Stored::open(args, context)?;
    let Some(format) = args.format else {
        let campaigns = stored.store.campaigns()?;
        output::write(|out| write_list(&campaigns, out))?;
        return Ok(exit::OK);
    };
    let entry = stored.find(args.campaign.as_deref())?;
    let (mut summary, replays) = stored.summary(&entry)?;
    let known = BaselineFilter::open_file(stored.baseline, args.baseline.as_deref())?;
    let search = campaign_record::asked(&entry.settings).search;
    summary.known = known.map(|known| known.of(&summary, &search));
    output::write(|out| match format {
        ReportFormat::Json => json::write(&summary, out),
        ReportFormat::Junit => junit::write(&summary, out),
        ReportFormat::Markdown => markdown::write(&summary, out),
        ReportFormat::Human => {
            terminal::write(&summary, out)?;
            write_files(&replays, out)
        }
    })?;
    if let Some(broken) = &summary.broken {
        output::note(format_args!("the search ended early: {broken}"));
    }
    Ok(reporting::exit_code(&summary, false))
}

/// The store, and what is beside it.
struct Stored {
    store: Store,
    state: PathBuf,
    baseline: PathBuf,
}

impl Stored {
    /// Where murphy.toml says; without one, in this directory.
    fn open(args: &ReportArgs, context: &Context) -> Result<Self, Error> {
        let (given, directory) = (args.config.as_deref(), context.directory());
        let variables = |name: &str| context.variable(name);
        let config = Config::load_if_any(given, &directory, &variables).map_err(Error::Config)?;
        let (state, beside) = match &config {
            Some(config) => (
                config.store.directory.clone(),
                config.file.directory().to_owned(),
            ),
            None => (directory.join(STORE), directory),
        };
        let store = Store::open_existing(&state)?.ok_or_else(|| no_store(&state))?;
        let baseline = beside.join(murphy_store::baseline::FILE);
        Ok(Stored {
            store,
            baseline: args.baseline.clone().unwrap_or(baseline),
            state,
        })
    }

    /// The campaign that is meant, which must have a result.
    fn find(&self, name: Option<&str>) -> Result<CampaignEntry, Error> {
        let found = self.store.named(name)?;
        let entry = found.ok_or_else(|| match name {
            Some(name) => Usage::new(format!("no campaign has the name `{name}`"))
                .hint("`murphy report --list` shows all that are stored"),
            None => Usage::new("no campaign has ended yet")
                .hint("run `murphy run` first; `murphy report --list` shows what was begun"),
        })?;
        match entry.state.has_result() {
            true => Ok(entry),
            false => Err(no_result(&entry).into()),
        }
    }

    /// What is reported, and where the replay files are: one that a killed run
    /// could not write any more is written now.
    fn summary(&self, entry: &CampaignEntry) -> Result<(Summary, Vec<PathBuf>), Error> {
        let mut collector = Collector::default();
        for event in self.store.events(&entry.campaign)? {
            collector.note(&event);
        }
        let summary = collector.summary();
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
            _ => reporting::replay_command(&files),
        };
        Ok((summary, files))
    }
}

fn no_store(state: &Path) -> Usage {
    Usage::new(format!("no campaign is stored in {}", state.display()))
        .hint("run `murphy run` first, or name the project with `--config`")
}

fn no_result(entry: &CampaignEntry) -> Usage {
    let refused = Usage::new(format!("campaign {} has no result", entry.campaign));
    match entry.state {
        CampaignState::UnderWay => refused.hint("it is still running; wait for its end"),
        _ => refused.hint("it was interrupted; `murphy run --resume` goes on with it"),
    }
}

/// A line for each campaign.
fn write_list(campaigns: &[CampaignEntry], out: &mut dyn Write) -> io::Result<()> {
    let scenarios = campaigns.iter().map(|entry| entry.scenario.chars().count());
    let width = scenarios.max().unwrap_or(0).max("scenario".len());
    writeln!(
        out,
        "{:20}  {:width$}  {:19}  {:>10}  {:>8}  result",
        "campaign", "scenario", "begun (UTC)", "executions", "findings"
    )?;
    for entry in campaigns {
        let begun = humantime::format_rfc3339_seconds(entry.begun).to_string();
        let begun = begun.replace('T', " ").replace('Z', "");
        writeln!(
            out,
            "{:20}  {:width$}  {begun:19}  {:>10}  {:>8}  {}",
            entry.campaign.as_str(),
            terminal::visible(&entry.scenario),
            entry.executions,
            entry.findings,
            result(entry)
        )?;
    }
    Ok(())
}

fn result(entry: &CampaignEntry) -> String {
    match (entry.state, &entry.incomplete) {
        (CampaignState::UnderWay, _) => "running".to_owned(),
        (CampaignState::Interrupted, _) => "interrupted".to_owned(),
        (_, Some(why)) => format!("not complete: {why}"),
        (_, None) => "complete".to_owned(),
    }
}

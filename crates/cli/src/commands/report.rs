//! `murphy report`: show the result of a stored campaign once more.
//!
//! Nothing is run and nothing is judged again: a report is made from the events
//! in the store alone. Only the baseline counts as it is now.

use std::io::{self, Write};

use murphy::replays::write_files;
use murphy_project::suite::stored_report;
use murphy_report::{json, junit, markdown, suite, terminal};
use murphy_store::{CampaignEntry, CampaignState};
use murphy_suite::SuiteReport;

use crate::args::{ReportArgs, ReportFormat};
use crate::baseline_filter::BaselineFilter;
use crate::context::Context;
use crate::error::Error;
use crate::stored::Stored;
use crate::{campaign_record, exit, output, reporting};

pub(crate) fn run(args: &ReportArgs, context: &Context) -> Result<u8, Error> {
    let stored = Stored::open(args.config.as_deref(), context)?;
    let Some(format) = args.format else {
        let campaigns = stored.store.campaigns()?;
        output::write(|out| write_list(&campaigns, out))?;
        return Ok(exit::OK);
    };
    let entry = stored.find(args.campaign.as_deref())?;
    if let Some(report) = stored_report(&stored.store.events(&entry.campaign)?) {
        return suite(&report, format);
    }
    let (mut summary, replays) = stored.summary(&entry)?;
    let baseline = stored.baseline(args.baseline.as_deref());
    let known = BaselineFilter::open_file(baseline, args.baseline.as_deref())?;
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

/// The result of a test suite over cloud services.
fn suite(report: &SuiteReport, format: ReportFormat) -> Result<u8, Error> {
    output::write(|out| match format {
        ReportFormat::Json => suite::write_json(report, out),
        ReportFormat::Junit => suite::junit::write(report, out),
        ReportFormat::Markdown => suite::markdown::write(report, out),
        ReportFormat::Human => suite::write(report, out),
    })?;
    Ok(super::suite::exit_code(report))
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

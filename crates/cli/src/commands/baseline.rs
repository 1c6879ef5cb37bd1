//! `murphy baseline`: the findings that are known.
//!
//! Owns what is done to the baseline by hand: listing its entries, adding and
//! removing single findings, and taking all that the last campaigns found as
//! known. What the entries mean for a run is [`crate::baseline_filter`]'s.

mod list;

use std::collections::BTreeSet;
use std::path::Path;

use murphy::replays::find_name;
use murphy_model::Finding;
use murphy_report::{bug_name, call_of, with_complaints};
use murphy_store::Store;
use murphy_store::baseline::{Baseline, Date, Excuse, ToKnow};

use crate::args::{
    BaselineAddArgs, BaselineArgs, BaselineCommand, BaselineFileArgs, BaselineRemoveArgs,
    BaselineWriteArgs,
};
use crate::context::Context;
use crate::error::Error;
use crate::project::Project;
use crate::stored::Stored;
use crate::{baseline_filter, campaign_record, exit, output};
use murphy_config::Usage;

pub(crate) fn run(args: &BaselineArgs, context: &Context) -> Result<u8, Error> {
    match &args.command {
        None => list::run(&args.list, context),
        Some(BaselineCommand::List(args)) => list::run(args, context),
        Some(BaselineCommand::Add(args)) => add(args, context),
        Some(BaselineCommand::Remove(args)) => remove(args, context),
        Some(BaselineCommand::Write(args)) => write(args, context),
    }
}

/// Takes all that the last campaigns found as known.
fn write(args: &BaselineWriteArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.project, context)?;
    let excuse = Excuse {
        reason: args.reason.clone(),
        expires: args.expires.as_deref().map(date).transpose()?,
    };
    let file = project.baseline(args.baseline.as_deref());
    let mut baseline = baseline_filter::load(&file)?;
    let store = Store::open_existing(project.state())?;
    let store =
        store.ok_or_else(|| Usage::new("nothing was found yet").hint("run `murphy run` first"))?;
    let (mut added, mut seen, mut ended) = (0, 0, 0);
    for scenario in &project.scenarios {
        let Some(last) = campaign_record::last_result(&store, &project, scenario)? else {
            continue;
        };
        let result = store.ended(&last.campaign)?;
        let findings = result.map(|it| it.findings).unwrap_or_default();
        ended += 1;
        seen += findings.len();
        let findings = findings.iter().map(to_know);
        added += baseline.add(&scenario.name, findings, &excuse, &baseline_filter::today());
    }
    if ended == 0 {
        return Err(none_ended(&project).into());
    }
    save(&baseline, &file)?;
    output::write(|out| {
        writeln!(
            out,
            "{}: {added} of {seen} findings are new to it; they do not fail the build any more",
            file.display()
        )
    })?;
    Ok(exit::OK)
}

/// Takes single findings of the last campaigns as known.
fn add(args: &BaselineAddArgs, context: &Context) -> Result<u8, Error> {
    let excuse = Excuse {
        reason: args.reason.clone().unwrap_or_default(),
        expires: args.expires.as_deref().map(date).transpose()?,
    };
    let stored = Stored::open(args.file.config.as_deref(), context)?;
    let file = stored.baseline(args.file.baseline.as_deref());
    let mut baseline = baseline_filter::load(&file)?;
    let today = baseline_filter::today();
    let mut lines = Vec::new();
    for typed in &args.ids {
        let mut found = stored.named(typed, "murphy baseline add")?;
        if let Some(scenario) = &args.scenario {
            let scenarios: BTreeSet<String> =
                found.iter().map(|it| it.entry.scenario.clone()).collect();
            found.retain(|it| it.entry.scenario == *scenario);
            if found.is_empty() {
                return Err(not_in_scenario(typed, scenario, &scenarios).into());
            }
        }
        for one in &found {
            let scenario = &one.entry.scenario;
            let (summary, _) = stored.summary(&one.entry)?;
            for finding in with_complaints(&summary, &one.finding.id) {
                let is_new = baseline.put(scenario, &to_know(finding), &excuse, &today);
                let what = match is_new {
                    true => "added",
                    false => "renewed",
                };
                lines.push(format!(
                    "{what} {} ({scenario}) {}: {}",
                    finding.id,
                    finding.class.name(),
                    call_of(finding)
                ));
            }
        }
    }
    save(&baseline, &file)?;
    tell(&lines, &file, "findings in it do not fail the build")
}

/// Takes findings out.
fn remove(args: &BaselineRemoveArgs, context: &Context) -> Result<u8, Error> {
    let file = file_of(&args.file, context)?;
    let mut baseline = baseline_filter::load(&file)?;
    let mut lines = Vec::new();
    for typed in &args.ids {
        let known = baseline.entries().iter().map(|entry| entry.id.as_str());
        let id = find_name(typed, known).map(str::to_owned);
        let id = id.map_err(|error| {
            let (message, label) = match error.is_ambiguous() {
                true => ("could be several findings".to_owned(), "not enough digits"),
                false => (format!("is not in {}", file.display()), "no such entry"),
            };
            Usage::new(format!("`{typed}` {message}"))
                .at("murphy baseline remove", typed, typed, label)
                .hint(
                    error
                        .hint()
                        .unwrap_or_else(|| "there are no entries to remove".to_owned()),
                )
        })?;
        let with_id = baseline.entries().iter().filter(|entry| entry.id == id);
        let scenarios: BTreeSet<String> = with_id.map(|entry| entry.scenario.clone()).collect();
        let removed = baseline.remove(&id, args.scenario.as_deref());
        if let (true, Some(scenario)) = (removed.is_empty(), &args.scenario) {
            return Err(not_in_scenario(typed, scenario, &scenarios).into());
        }
        let line =
            |entry: &murphy_store::baseline::Entry| format!("removed {id} ({})", entry.scenario);
        lines.extend(removed.iter().map(line));
    }
    save(&baseline, &file)?;
    tell(
        &lines,
        &file,
        "what was removed fails the build if it is found again",
    )
}

/// Where the baseline is, whether or not there is a store.
fn file_of(args: &BaselineFileArgs, context: &Context) -> Result<std::path::PathBuf, Error> {
    if let Some(given) = &args.baseline {
        return Ok(given.clone());
    }
    let directory = context.directory();
    let variables = |name: &str| context.variable(name);
    let config = murphy_config::Config::load_if_any(args.config.as_deref(), &directory, &variables)
        .map_err(Error::Config)?;
    let beside = config.map_or(directory, |config| config.file.directory().to_owned());
    Ok(beside.join(murphy_store::baseline::FILE))
}

fn tell(lines: &[String], file: &Path, so: &str) -> Result<u8, Error> {
    output::write(|out| {
        lines
            .iter()
            .try_for_each(|line| writeln!(out, "{}", murphy_report::terminal::visible(line)))?;
        writeln!(out, "{}: {so}", file.display())
    })?;
    Ok(exit::OK)
}

fn save(baseline: &Baseline, file: &Path) -> Result<(), Usage> {
    let saved = baseline.save(file);
    saved.map_err(|error| Usage::new(error.to_string()).hint("name another file with `--baseline`"))
}

fn to_know(finding: &Finding) -> ToKnow<'_> {
    ToKnow {
        id: &finding.id,
        class: finding.class.name(),
        call: call_of(finding),
        bug: bug_name(finding),
        summary: &finding.summary,
        modes: finding.modes(),
    }
}

fn not_in_scenario(typed: &str, scenario: &str, scenarios: &BTreeSet<String>) -> Usage {
    let scenarios: Vec<&str> = scenarios.iter().map(String::as_str).collect();
    Usage::new(format!("`{typed}` is not of the scenario `{scenario}`"))
        .at("--scenario", scenario, scenario, "not this one")
        .hint(format!("it is of {}", scenarios.join(", ")))
}

fn none_ended(project: &Project) -> Usage {
    let refused = match &project.scenarios[..] {
        [only] => campaign_record::none_ended(project, only),
        _ => Usage::new("no campaign on any of the scenarios has ended yet"),
    };
    refused.hint("run `murphy run` first; what it finds can then be taken as known")
}

fn date(text: &str) -> Result<Date, Usage> {
    let date: Date = text
        .parse()
        .map_err(|error: murphy_store::baseline::NotADate| {
            Usage::new(error.to_string())
                .at("--expires", text, text, "a day is expected")
                .hint("write for example `--expires 2027-01-31`")
        })?;
    match date < baseline_filter::today() {
        true => Err(Usage::new("this would excuse nothing: the day is past")
            .at("--expires", text, text, "before today")
            .hint("name the last day on which the findings may stay, or leave it out")),
        false => Ok(date),
    }
}

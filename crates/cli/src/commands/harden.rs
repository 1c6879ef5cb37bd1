//! `murphy harden`: which call sites to harden, when there is a budget.
//!
//! What is chosen, and why, is `murphy::harden`'s. Here is what the arguments
//! mean: which results are looked at, and which scenarios must not fail.

mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use murphy::harden::{self, Choice, Found, Problem};
use murphy_config::{Config, TYPED, Usage};
use murphy_model::nearest;
use murphy_report::hardening::Examined;
use murphy_report::{Hardening, json, terminal};
use murphy_store::{CampaignEntry, Store};

use crate::args::{Format, HardenArgs};
use crate::campaign_record::asked;
use crate::context::Context;
use crate::error::Error;
use crate::{exit, output};

pub(crate) fn run(args: &HardenArgs, context: &Context) -> Result<u8, Error> {
    let config = config(args, context)?;
    let found = found(args, config.as_ref())?;
    let high = high(args, config.as_ref(), &found)?;
    let problem = Problem::of(&found, &high, args.warnings);
    let choice = Choice::of(&problem, args.budget)
        .map_err(|infeasible| too_small(args, infeasible.smallest, &problem))?;
    let (verified, stopped) = match args.verify && !problem.combinations.is_empty() {
        true => {
            let done = verify::verify(args, &problem, &choice, config.as_ref(), context)?;
            (Some(done.0), done.1)
        }
        false => (None, Vec::new()),
    };
    let hardening = Hardening {
        campaigns: found.iter().map(|it| examined(it, &high)).collect(),
        sites: problem.sites().to_vec(),
        left_out: problem.left_out,
        budget: args.budget,
        steps: choice.steps,
        curve: choice.curve,
        combinations: problem.combinations,
        verified,
    };
    output::write(|out| match args.format {
        Format::Human => terminal::write_hardening(&hardening, out),
        Format::Json => json::write_hardening(&hardening, out),
    })?;
    let code = match hardening.surprises().is_empty() {
        true => exit::OK,
        false => exit::FINDINGS,
    };
    let codes = stopped.into_iter().map(|it| it.with_result(code));
    Ok(exit::worst(&codes.chain([code]).collect::<Vec<u8>>()))
}

/// murphy.toml, which results in files can do without.
fn config(args: &HardenArgs, context: &Context) -> Result<Option<Config>, Error> {
    let variables = |name: &str| context.variable(name);
    let (given, directory) = (args.config.as_deref(), context.directory());
    let config = match args.files.is_empty() {
        true => Config::load(given, &directory, &variables).map(Some),
        false => Config::load_if_any(given, &directory, &variables),
    };
    config.map_err(Error::Config)
}

/// What was found, in the order of the scenarios' names.
fn found(args: &HardenArgs, config: Option<&Config>) -> Result<Vec<Found>, Error> {
    let mut found = match config {
        Some(config) if args.files.is_empty() => in_store(config)?,
        _ => harden::read_files(&args.files)?,
    };
    found.sort_by(|a, b| (&a.scenario, &a.source).cmp(&(&b.scenario, &b.source)));
    check_known("--scenario", &args.scenario, &found)?;
    if !args.scenario.is_empty() {
        found.retain(|it| args.scenario.contains(&it.scenario));
    }
    Ok(found)
}

const NO_CAMPAIGN: &str = "run `murphy run` first, or name files that `--report json=PATH` wrote";

/// The newest campaign that ended of each scenario that murphy.toml still has,
/// and of tests that were typed.
fn in_store(config: &Config) -> Result<Vec<Found>, Error> {
    let directory = &config.store.directory;
    let store = Store::open_existing(directory)?.ok_or_else(|| {
        let message = format!("no campaign is kept in {}", directory.display());
        Usage::new(message).hint(NO_CAMPAIGN)
    })?;
    let mut seen = BTreeSet::new();
    let mut newest_first = store.campaigns()?;
    // What was run with more arguments is only a part of the scenario.
    newest_first.sort_by_key(|it| !asked(&it.settings).test.is_empty());
    let newest = newest_first
        .into_iter()
        .filter(|entry| entry.state.has_result() && seen.insert(entry.scenario.clone()));
    let is_here = |entry: &CampaignEntry| {
        let mut written = config.scenarios.iter();
        entry.scenario == TYPED || written.any(|it| it.name == entry.scenario)
    };
    let (here, gone): (Vec<_>, Vec<_>) = newest.partition(is_here);
    for entry in gone {
        output::note(format_args!(
            "the campaigns on `{}` are left out: {} has no such scenario any more",
            entry.scenario,
            config.file.shown()
        ));
    }
    if here.is_empty() {
        let message = format!(
            "no campaign on a scenario of {} has ended, as far as {} knows",
            config.file.shown(),
            directory.display()
        );
        return Err(Usage::new(message).hint(NO_CAMPAIGN).into());
    }
    let found = here.iter().map(|entry| Found::in_store(&store, entry));
    Ok(found.collect::<Result<_, _>>()?)
}

/// The scenarios of high priority. What was typed counts instead of what is in
/// murphy.toml.
fn high(
    args: &HardenArgs,
    config: Option<&Config>,
    found: &[Found],
) -> Result<BTreeSet<String>, Usage> {
    check_known("--high", &args.high, found)?;
    let rules = config
        .map(|config| config.harden.clone())
        .unwrap_or_default();
    let named = match args.high.is_empty() {
        true => rules.high,
        false => args.high.clone(),
    };
    let counts = match &args.frequency {
        Some(path) => frequencies(path, found)?,
        None => rules.frequency.into_iter().collect(),
    };
    let frequent = harden::most_frequent(&counts);
    Ok(named.into_iter().chain(frequent).collect())
}

/// Requests that no campaign is about are part of the traffic too; but it may
/// be a slip.
fn frequencies(path: &Path, found: &[Found]) -> Result<BTreeMap<String, u64>, Usage> {
    let counts = harden::read_frequencies(path)?;
    let known = scenarios(found);
    for name in counts.keys().filter(|name| !known.contains(name.as_str())) {
        let meant = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("; did you mean `{meant}`?"),
            None => String::new(),
        };
        output::note(format_args!(
            "{} names `{name}`, on which no campaign is known: only its number counts{meant}",
            path.display()
        ));
    }
    Ok(counts)
}

fn scenarios(found: &[Found]) -> BTreeSet<&str> {
    found.iter().map(|it| it.scenario.as_str()).collect()
}

/// Refuses a scenario that nothing is known of.
fn check_known(argument: &str, names: &[String], found: &[Found]) -> Result<(), Usage> {
    let known = scenarios(found);
    let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) else {
        return Ok(());
    };
    let all = known.iter().copied().collect::<Vec<_>>().join(", ");
    let hint = match nearest(name, known) {
        Some(meant) => format!("did you mean `{meant}`? there are {all}"),
        None => format!("there are {all}"),
    };
    Err(
        Usage::new(format!("there is no result on scenario `{name}`"))
            .at(argument, name, name, "no campaign on it has ended")
            .hint(hint),
    )
}

fn examined(found: &Found, high: &BTreeSet<String>) -> Examined {
    Examined {
        scenario: found.scenario.clone(),
        source: found.source.clone(),
        findings: found.findings,
        high: high.contains(&found.scenario),
    }
}

fn too_small(args: &HardenArgs, smallest: usize, problem: &Problem) -> Usage {
    let budget = args.budget.unwrap_or_default().to_string();
    let high = problem.combinations.iter().filter(|it| it.high);
    let names: BTreeSet<&str> = high.clone().map(|it| it.scenario.as_str()).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let combinations = match high.count() {
        1 => "the combination that brings".to_owned(),
        count => format!("the {count} combinations that bring"),
    };
    let sites = match smallest {
        1 => "1 call site".to_owned(),
        sites => format!("{sites} call sites"),
    };
    Usage::new(format!(
        "it takes {sites} to cover {combinations} {names} down"
    ))
    .at("--budget", &budget, &budget, "too small for what is of high priority")
    .hint(format!(
        "allow `--budget {smallest}`, or make fewer scenarios of high priority; without `--budget` every choice is shown"
    ))
}

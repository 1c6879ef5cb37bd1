//! `murphy harden`: which call sites to harden, when there is a budget.
//!
//! The findings of campaigns come from [`store`] or [`files`]; what of them
//! fails together is [`problem`]'s, which call sites those are [`sites`]', who
//! must not fail [`priority`]'s, the best choice [`choice`]'s. Whether the
//! choice holds what it promises is tried out by [`verify`].

mod choice;
mod files;
mod found;
mod priority;
mod problem;
mod sites;
mod store;
mod verify;

use std::collections::BTreeSet;

use murphy_model::nearest;
use murphy_report::hardening::Examined;
use murphy_report::{Hardening, json, terminal};

use crate::args::{Format, HardenArgs};
use crate::context::Context;
use crate::error::Error;
use crate::{exit, output};
use choice::Choice;
use found::Found;
use murphy_config::Config;
use murphy_config::Usage;
use problem::Problem;

pub(crate) fn run(args: &HardenArgs, context: &Context) -> Result<u8, Error> {
    let config = config(args, context)?;
    let found = found(args, config.as_ref())?;
    let high = priority::high(args, config.as_ref(), &found)?;
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
        sites: problem.sites.names().to_vec(),
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
        Some(config) if args.files.is_empty() => store::read(config)?,
        _ => files::read(&args.files)?,
    };
    found.sort_by(|a, b| (&a.scenario, &a.source).cmp(&(&b.scenario, &b.source)));
    for name in &args.scenario {
        check_known("--scenario", name, &found)?;
    }
    if !args.scenario.is_empty() {
        found.retain(|it| args.scenario.contains(&it.scenario));
    }
    Ok(found)
}

/// Refuses a scenario that nothing is known of.
fn check_known(argument: &str, name: &str, found: &[Found]) -> Result<(), Usage> {
    let known: BTreeSet<&str> = found.iter().map(|it| it.scenario.as_str()).collect();
    if known.contains(name) {
        return Ok(());
    }
    let all = known.iter().copied().collect::<Vec<_>>().join(", ");
    let hint = match nearest(name, known.iter().copied()) {
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

//! The last campaign on a scenario, gone through once more, and its executions
//! by number.
//!
//! Owns how an execution is found by the number that reports give it, and how
//! it is shown. Nothing is run: all of it comes from the store.

use std::io::{self, Write};

use murphy_campaign::{Retraced, Settings as Campaign, retrace};
use murphy_model::{Faultload, Observed, Verdict};
use murphy_report::{fault_text, terminal};
use murphy_store::{CampaignEntry, Store};
use murphy_system::spec::ScenarioSpec;

use crate::campaign_record;
use crate::error::Error;
use crate::project::Project;
use crate::typed::{Typed, TypedSearch};
use murphy_config::Usage;

/// An execution that was made.
pub struct PastExecution {
    number: usize,
    scenario: String,
    faultload: Faultload,
    observed: Observed,
}

impl PastExecution {
    /// The one with this number in the last campaign on the scenario.
    pub fn find(number: usize, project: &Project, scenario: &ScenarioSpec) -> Result<Self, Error> {
        let (store, last) = last_campaign(project, scenario)?;
        let typed = Typed::default();
        let (_, mut retraced) = search_of(&store, &last, project, scenario, &typed)?;
        let most = retraced.faultloads.keys().max().copied();
        let faultload = retraced.faultloads.remove(&number);
        let found = match &faultload {
            Some(faultload) => store.executions(&last.campaign)?.remove(faultload),
            None => None,
        };
        let (faultload, observed) = faultload
            .zip(found)
            .ok_or_else(|| no_such_execution(number, scenario, most.unwrap_or(0)))?;
        Ok(PastExecution {
            number,
            scenario: scenario.name.clone(),
            faultload,
            observed,
        })
    }

    /// Shows it, with what was printed if that is wanted.
    pub fn write(&self, out: &mut dyn Write, printed: bool) -> io::Result<()> {
        writeln!(out, "{}: execution {}", self.scenario, self.number)?;
        match self.faultload.is_empty() {
            true => writeln!(out, "  without faults")?,
            false => self
                .faultload
                .faults()
                .try_for_each(|fault| writeln!(out, "  with {}", fault_text(&fault)))?,
        }
        match &self.observed.execution.verdict {
            Verdict::Passed => writeln!(out, "passed")?,
            Verdict::Failed { why } => write_complaint("failed", why, out)?,
            Verdict::Refused { why } => write_complaint("refused honestly", why, out)?,
            Verdict::NotExercised { missing } => {
                writeln!(out, "passed, but these faults were not injected")?;
                missing
                    .iter()
                    .try_for_each(|fault| writeln!(out, "  {}", fault_text(fault)))?;
            }
        }
        writeln!(out, "\nCalls")?;
        terminal::write_injected_calls(&self.observed.execution.trace, out)?;
        match printed {
            true => write_printed(&self.observed, out),
            false => Ok(()),
        }
    }
}

/// What the scenario complained about.
fn write_complaint(verdict: &str, why: &str, out: &mut dyn Write) -> io::Result<()> {
    let lines: Vec<String> = why.lines().map(terminal::visible).collect();
    writeln!(out, "{verdict}: {}", lines.join("\n"))
}

/// What the scenario and the services printed in an execution, if anything.
pub fn write_printed(observed: &Observed, out: &mut dyn Write) -> io::Result<()> {
    let Some(text) = observed.printed() else {
        return Ok(());
    };
    writeln!(out, "\nWhat was printed")?;
    text.lines()
        .try_for_each(|line| writeln!(out, "  | {}", terminal::visible(line)))
}

fn no_such_execution(number: usize, scenario: &ScenarioSpec, most: usize) -> Usage {
    Usage::new(format!(
        "the last campaign on `{}` has no execution {number}",
        scenario.name
    ))
    .hint(match most {
        0 => "run `murphy run` first".to_owned(),
        most => format!("its executions are 1 to {most}"),
    })
}

/// The last campaign on a scenario, gone through once more from what was kept
/// of it. What was typed counts in place of what it was asked to do.
pub fn last_search(
    project: &Project,
    scenario: &ScenarioSpec,
    typed: &Typed,
) -> Result<(Campaign, Retraced), Error> {
    let (store, last) = last_campaign(project, scenario)?;
    search_of(&store, &last, project, scenario, typed)
}

fn last_campaign(
    project: &Project,
    scenario: &ScenarioSpec,
) -> Result<(Store, CampaignEntry), Error> {
    let store = Store::open_existing(project.state())?;
    let last = store
        .as_ref()
        .map(|store| campaign_record::last_result(store, project, scenario));
    let last = last.transpose()?.flatten();
    Ok(store
        .zip(last)
        .ok_or_else(|| none_ended(project, scenario))?)
}

fn search_of(
    store: &Store,
    last: &CampaignEntry,
    project: &Project,
    scenario: &ScenarioSpec,
    typed: &Typed,
) -> Result<(Campaign, Retraced), Error> {
    let campaign = as_it_was_run(project, scenario, typed, last)?;
    let executions = store.executions(&last.campaign)?;
    let kept = executions.len();
    let retraced = retrace(&campaign, executions);
    // Where nothing fits but what happens without faults, it is not the same
    // search interrupted early.
    let is_other = kept > 1 && retraced.verdicts.len() <= 1;
    if retraced.is_cut_off && (is_other || !last.is_short()) {
        return Err(another_search(project, scenario).into());
    }
    Ok((campaign, retraced))
}

/// What the campaign was asked to do; what was typed counts instead.
fn as_it_was_run(
    project: &Project,
    scenario: &ScenarioSpec,
    typed: &Typed,
    last: &CampaignEntry,
) -> Result<Campaign, Error> {
    let asked = campaign_record::asked(&last.settings);
    let search = TypedSearch {
        // How many ran at once changes no result, and nothing is run now.
        jobs: Some(1),
        ..typed.search.clone().or(asked.search)
    };
    let typed = Typed {
        strategy: typed.strategy.or(asked.strategy),
        ..Typed::from(search)
    };
    project.campaign(scenario, &typed)
}

fn none_ended(project: &Project, scenario: &ScenarioSpec) -> Usage {
    campaign_record::none_ended(project, scenario)
        .hint("run `murphy run` first; explanations are about what it did")
}

fn another_search(project: &Project, scenario: &ScenarioSpec) -> Usage {
    Usage::new(format!(
        "the last campaign on `{}` was another search",
        scenario.name
    ))
    .hint(format!(
        "give no arguments about the search, or those that `murphy run` was given; if {} has changed since, run it again",
        project.config.file.shown()
    ))
}

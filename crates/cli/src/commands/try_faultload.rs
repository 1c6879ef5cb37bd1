//! `murphy try`: one run of a test with chosen calls failing.
//!
//! Owns what a faultload means here, where it is typed before anything was
//! seen: every target is a pattern, and one call alone is meant whoever makes
//! it. What it says is about this one execution.

use std::io::{self, Write};
use std::sync::Arc;

use murphy::replays::missing;
use murphy_campaign::{Event, Settings as Campaign, Sink, World};
use murphy_model::{Attempts, Fault, Faultload, Observed, Pattern, Point, Severity, Target};
use murphy_oracle::{Oracle, Reference, judge};
use murphy_report::number::counted;
use murphy_report::{fault_text, point_text, terminal};
use murphy_system::spec::ScenarioSpec;

use super::explain;
use crate::args::TryArgs;
use crate::context::Context;
use crate::error::Error;
use crate::past_execution::write_printed;
use crate::project::Project;
use crate::runtime::{self, Stopped};
use crate::{exit, observe, output};
use murphy_config::Usage;
use murphy_project::typed::Typed;

/// More calls than this are not read.
const MOST_CALLS: usize = 20;

pub(crate) fn run(args: &TryArgs, context: &Context) -> Result<u8, Error> {
    let faultload = read(&args.faultload)?;
    let project = Project::open(&args.project, context)?;
    let scenario = explain::only(&project)?;
    let campaign = project.campaign(scenario, &Typed::default())?;
    let work = tried(&project, scenario, &campaign, &faultload);
    let (tried, stopped) = runtime::block_on(work)??;
    output::write(|out| tried.write(&scenario.name, out))?;
    Ok(stopped.with_result(tried.code()))
}

/// What was typed; at least one fault.
fn read(text: &str) -> Result<Faultload, Usage> {
    let typed: Faultload = text
        .parse()
        .map_err(|error| Usage::syntax("FAULTLOAD", &error))?;
    if typed.is_empty() {
        return Err(Usage::new("without a fault there is nothing to try")
            .hint("name a call and how it fails, as in `murphy try \"cart GET * = 503\"`"));
    }
    let faults = typed.faults().map(|fault| Fault {
        target: Target::Matching(wherever_it_is_made(fault.target)),
        mode: fault.mode,
    });
    Faultload::new(faults).map_err(|conflict| {
        Usage::new(conflict.to_string()).hint("name each call once, or its attempts with `#`")
    })
}

/// The calls that a target means. The scenario's own requests mostly never
/// fail, so that one call alone is meant whoever makes it; those that can fail
/// are named by a pattern with `^`.
fn wherever_it_is_made(target: Target) -> Pattern {
    let mut pattern = match target {
        Target::Call(point) => Pattern::from(&point),
        Target::Every(point) => every_attempt(&point),
        Target::Matching(pattern) => return pattern,
    };
    pattern.anywhere |= pattern.frames.len() == 1;
    pattern
}

fn every_attempt(point: &Point) -> Pattern {
    let mut pattern = Pattern::from(point);
    if let Some(last) = pattern.frames.last_mut() {
        last.count = Attempts::Any;
    }
    pattern
}

/// What came of it.
struct Tried {
    observed: Observed,
    /// Complaints about it, without the faults that were not injected.
    complaints: Vec<String>,
    /// The faults that were not injected.
    missing: Vec<Fault>,
}

/// Brings the system up, runs the scenario without faults and then once with
/// these.
async fn tried(
    project: &Project,
    scenario: &ScenarioSpec,
    campaign: &Campaign,
    faultload: &Faultload,
) -> Result<(Tried, Stopped), Error> {
    let (world, _) = project.bring_up(scenario, 1, "try").await?;
    let done = under_faults(&world, campaign, faultload).await;
    let stopped = runtime::stop(world.stop(), false).await;
    Ok((done?, stopped))
}

async fn under_faults(
    world: &dyn World,
    campaign: &Campaign,
    faultload: &Faultload,
) -> Result<Tried, Error> {
    let references = murphy_campaign::references(world, campaign, &mut Nobody).await;
    let references = references.map_err(|failed| Error::of_campaign(failed, observe::HINT))?;
    observe::note_left_out(&references.chosen);
    let identity = Arc::new(references.chosen.identity);
    let observed = world.run(0, faultload, &identity).await?;
    let reference = Reference::of([&references.observed]);
    let complaints = judge(&observed, &reference, &campaign.oracles)
        .into_iter()
        .filter(|(oracle, severity, _)| {
            *severity == Severity::Fail && *oracle != Oracle::NotExercised
        })
        .map(|(_, _, complaint)| complaint.summary);
    Ok(Tried {
        complaints: complaints.collect(),
        missing: missing(&observed),
        observed,
    })
}

impl Tried {
    /// Whether no fault was injected at all.
    fn nothing_injected(&self) -> bool {
        self.missing.len() == self.observed.execution.faultload.len()
    }

    fn code(&self) -> u8 {
        match (self.nothing_injected(), self.complaints.is_empty()) {
            (true, _) => exit::NOTHING_INJECTED,
            (false, false) => exit::FINDINGS,
            (false, true) if self.missing.is_empty() => exit::OK,
            (false, true) => exit::NOTHING_INJECTED,
        }
    }

    fn write(&self, scenario: &str, out: &mut dyn Write) -> io::Result<()> {
        self.write_result(scenario, out)?;
        self.write_injected(out)?;
        if !self.missing.is_empty() {
            self.write_missing(out)?;
        }
        writeln!(out, "\nCalls")?;
        terminal::write_injected_calls(&self.observed.execution.trace, out)?;
        write_printed(&self.observed, out)
    }

    fn write_result(&self, scenario: &str, out: &mut dyn Write) -> io::Result<()> {
        match (self.nothing_injected(), self.complaints.first()) {
            (true, None) => writeln!(out, "NOT REACHED: no fault was injected"),
            (true, Some(complaint)) => writeln!(
                out,
                "NOT REACHED: no fault was injected, and `{scenario}` failed all the same: {}",
                shown(complaint)
            ),
            (false, Some(_)) => {
                let lines: Vec<String> = self.complaints.iter().map(|it| shown(it)).collect();
                writeln!(out, "FAILED: {}", lines.join("\n"))
            }
            (false, None) if self.missing.is_empty() => writeln!(out, "PASSED: `{scenario}`"),
            (false, None) => writeln!(out, "NOT REACHED: not every fault was injected"),
        }
    }

    /// Which calls each fault was injected into.
    fn write_injected(&self, out: &mut dyn Write) -> io::Result<()> {
        let calls = self.observed.execution.trace.calls();
        for fault in self.observed.execution.faultload.faults() {
            let hit: Vec<&Point> = calls
                .iter()
                .filter(|call| call.injected.as_ref() == Some(&fault))
                .map(|call| &call.point)
                .collect();
            if self.missing.contains(&fault) {
                continue;
            }
            writeln!(
                out,
                "  {}: injected into {}",
                fault_text(&fault),
                counted(hit.len(), "call")
            )?;
            write_points(&hit, out)?;
        }
        Ok(())
    }

    /// What was not injected, and what there was instead.
    fn write_missing(&self, out: &mut dyn Write) -> io::Result<()> {
        for fault in &self.missing {
            writeln!(out, "  {}: not injected", fault_text(fault))?;
        }
        let calls = self.observed.execution.trace.calls().iter();
        let below = calls.filter(|call| call.parent.is_some());
        let seen: Vec<&Point> = below.map(|call| &call.point).collect();
        match seen.is_empty() {
            true => writeln!(out, "  no call was seen that could fail"),
            false => {
                writeln!(out, "  these calls were seen")?;
                write_points(&seen, out)
            }
        }
    }
}

fn write_points(points: &[&Point], out: &mut dyn Write) -> io::Result<()> {
    for point in points.iter().take(MOST_CALLS) {
        writeln!(out, "    {}", point_text(point))?;
    }
    match points.len().saturating_sub(MOST_CALLS) {
        0 => Ok(()),
        more => writeln!(out, "    … and {}", counted(more, "more call")),
    }
}

/// A complaint in one piece, without what a terminal would obey.
fn shown(complaint: &str) -> String {
    let lines: Vec<String> = complaint.lines().map(terminal::visible).collect();
    lines.join("\n")
}

/// Who does not want to know.
struct Nobody;

impl Sink for Nobody {
    fn note(&mut self, _: &Event) {}
}

//! A scenario without faults, for commands that only look.

use std::time::{Duration, Instant};

use murphy_campaign::{Event, ReferenceRuns, ResolvedIdentity, Settings as Campaign, Sink, World};
use murphy_model::{Flag, Observed};
use murphy_system::LiveWorld;
use murphy_system::spec::ScenarioSpec;

use crate::entrance::FirstReference;
use crate::error::Error;
use crate::output;
use crate::project::Project;
use crate::runtime::{self, Stopped};
use crate::unseen::Unseen;

pub(crate) use murphy_project::error::HINT;

/// What was seen.
pub(crate) struct Seen {
    pub(crate) observed: Observed,
    pub(crate) chosen: ResolvedIdentity,
    /// The query of each call, where it is known.
    pub(crate) queries: Vec<String>,
    /// How long one execution takes from its start to the start of the next:
    /// with what is reset before it and what is waited for after it.
    pub(crate) each: Duration,
    /// How long the services take to restart, where that is part of it.
    pub(crate) restart: Option<Duration>,
    /// How many executions can run at once, of those that were asked for.
    pub(crate) at_once: u32,
    /// What they show nothing of.
    pub(crate) unseen: Unseen,
}

/// Brings the system up for so many executions at once, runs the references
/// and stops it again. What was seen is to be shown whatever came of that.
pub(crate) fn references(
    project: &Project,
    scenario: &ScenarioSpec,
    campaign: &Campaign,
    jobs: u32,
) -> Result<(Seen, Stopped), Error> {
    runtime::block_on(async {
        let (world, _) = project.bring_up(scenario, jobs, "look").await?;
        let seen = in_world(&world, project, scenario, campaign, jobs).await;
        let stopped = runtime::stop(world.stop(), false).await;
        Ok((seen?, stopped))
    })?
}

/// The same in a system that is up, and stays so.
pub(crate) async fn in_world(
    world: &LiveWorld,
    project: &Project,
    scenario: &ScenarioSpec,
    campaign: &Campaign,
    jobs: u32,
) -> Result<Seen, Error> {
    let mut count = Count::default();
    let began = Instant::now();
    let done = murphy_campaign::references(world, campaign, &mut count).await;
    let each = began.elapsed() / count.number.max(1);
    let at_once = world.workers().min(jobs);
    let restart = world.system().restart_took();
    let done = done.map(|runs| {
        let unseen = Unseen::of(world, &runs.observed, Some(&runs.chosen.identity));
        (runs, unseen)
    });
    let missed = count.first.missed(world, &project.config.system, scenario);
    let (runs, unseen) = done.map_err(|failed| {
        let error = Error::of_campaign(failed, HINT);
        match &missed {
            Some(missed) => missed.explain(error),
            None => error,
        }
    })?;
    if let Some(missed) = missed {
        output::say(missed.note());
    }
    let ReferenceRuns {
        observed,
        chosen,
        queries,
        ..
    } = runs;
    note_left_out(&chosen);
    for at in &chosen.first_run {
        let flag = Flag::FirstRun { at: at.clone() };
        output::note(format_args!("{}", murphy_report::doubt(&flag)));
    }
    Ok(Seen {
        observed,
        chosen,
        queries,
        each,
        restart,
        at_once,
        unseen,
    })
}

/// Says which calls vary by themselves.
pub(crate) fn note_left_out(chosen: &ResolvedIdentity) {
    for flag in murphy_campaign::left_out_flags(&chosen.identity) {
        output::note(format_args!("{}", murphy_report::doubt(&flag)));
    }
}

/// Counts the references, and keeps the first.
#[derive(Default)]
struct Count {
    number: u32,
    first: FirstReference,
}

impl Sink for Count {
    fn note(&mut self, event: &Event) {
        self.number += u32::from(matches!(event, Event::ReferenceRan { .. }));
        self.first.note(event);
    }
}

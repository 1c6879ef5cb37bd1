//! `murphy doctor`: is all wired as it should be?
//!
//! Owns the page that answers the questions before the first campaign: is every
//! service up, how is each call attributed and how certain is that, what is not
//! seen, are the references stable, what would be injected, and what to change.
//! It brings the system up as a campaign would, runs the test as often and
//! compares these runs in the same way; nothing is injected. Which carriers
//! came back is noted by [`Sightings`]. Where the system does not come up, or
//! there is no test yet, every service is looked at by itself.

mod advice;
mod attribution;
mod changes;
mod egress;
mod services;
mod stability;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use murphy_campaign::{Event, Failed, ReferenceRuns, Refused, SetupError, Sink};
use murphy_model::{CallId, Identity, Observed, Trace};
use murphy_report::CallNames;
use murphy_system::Correlation;
use murphy_system::sightings::Sightings;
use murphy_system::spec::ScenarioSpec;

use self::changes::Changes;
use crate::args::DoctorArgs;
use crate::context::Context;
use crate::entrance::MissedEntry;
use crate::error::{self, Error};
use crate::progress::Progress;
use crate::project::Project;
use crate::unseen::Unseen;
use crate::{exit, observe, output, runtime};
use murphy_project::typed::Typed;

/// How long a service is waited for unless the file says how long it may take:
/// whoever asks the doctor has a wrong port more often than a slow service.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// A page, as it is pasted into a chat.
    Page,
    /// All of it.
    All,
}

/// So many calls are shown on a page, where there are many more.
const MOST_CALLS: usize = 12;

/// So few more than that are shown all the same.
const FEW_MORE: usize = 4;

impl Room {
    /// How many of so many things are shown.
    fn of(self, all: usize) -> usize {
        match self {
            Room::Page if all > MOST_CALLS + FEW_MORE => MOST_CALLS,
            _ => all,
        }
    }
}

pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<u8, Error> {
    let room = if args.verbose { Room::All } else { Room::Page };
    let mut project = Project::open_services(&args.project, context)?;
    project.wait_at_most(PATIENCE);
    if project.scenarios.is_empty() {
        return services_alone(&project, room, context);
    }
    let mut codes = Vec::new();
    let mut changes = Changes::default();
    for (number, scenario) in (1..).zip(&project.scenarios) {
        // Every scenario has the same services.
        let with_services = number == 1;
        codes.push(
            match examine(
                &project,
                scenario,
                with_services,
                room,
                &mut changes,
                context,
            ) {
                // The next scenario would meet the same services.
                Err(Error::Broken(broken)) => return why_broken(&project, broken, room, context),
                Err(error @ (Error::Unstable { .. } | Error::Flaky { .. })) => {
                    error::report(&error)
                }
                done => done?,
            },
        );
    }
    output::write_within(context.width, |out| {
        changes.write(!project.command.is_empty(), room, out)
    })?;
    Ok(exit::worst(&codes))
}

/// Without a test there are only the services to look at.
fn services_alone(project: &Project, room: Room, context: &Context) -> Result<u8, Error> {
    let progress = starting(project, context);
    let states = runtime::block_on(project.survey(NAME, None))??;
    progress.clear();
    output::write_within(context.width, |out| {
        services::write(project, &states, room, out)?;
        writeln!(
            out,
            "\nNo scenario, so nothing was run: whether context survives and what would be\ninjected is not known.\n  Give the test after `--`, as in `murphy doctor -- pytest -q`, or write a\n  `[scenario.NAME]`."
        )
    })?;
    Ok(match services::complain(&states) {
        true => exit::REFERENCE_FAILED,
        false => exit::OK,
    })
}

/// Tells of every service that is down, not only of the one at which it was
/// found that the system is broken; or, if all are up, what else is wrong.
fn why_broken(
    project: &Project,
    broken: SetupError,
    room: Room,
    context: &Context,
) -> Result<u8, Error> {
    let mut progress = Progress::new(context);
    progress.step("the system did not come up: looking at every service");
    let looked = runtime::block_on(project.survey(NAME, Some(&broken)))?;
    progress.clear();
    let Ok(states) = looked else {
        return Err(broken.into());
    };
    output::write_within(context.width, |out| {
        services::write(project, &states, room, out)
    })?;
    match services::complain(&states) {
        true => Ok(exit::REFERENCE_FAILED),
        false => Err(broken.into()),
    }
}

fn starting(project: &Project, context: &Context) -> Progress {
    let services = project.config.system.services.iter();
    let awaited = services.filter(|it| !it.is_started_by_test());
    let names: Vec<&str> = awaited.map(|it| it.name.as_str()).collect();
    let mut progress = Progress::new(context);
    if !names.is_empty() {
        progress.step(&format!("waiting for {}", names.join(", ")));
    }
    progress
}

/// The name under which the logs of services are kept.
const NAME: &str = "doctor";

/// Keeps the references to be shown, and says how far it is.
struct References<'s> {
    progress: Progress,
    sightings: &'s Sightings,
    runs: Vec<Arc<Observed>>,
}

impl Sink for References<'_> {
    fn note(&mut self, event: &Event) {
        self.progress.note(event);
        if let Event::ReferenceRan { observed, .. } = event {
            self.runs.push(observed.clone());
            // What is shown is one run.
            self.sightings.close();
        }
    }
}

fn examine(
    project: &Project,
    scenario: &ScenarioSpec,
    with_services: bool,
    room: Room,
    changes: &mut Changes,
    context: &Context,
) -> Result<u8, Error> {
    let campaign = project.campaign(scenario, &Typed::default())?;
    runtime::block_on(async {
        let sightings = Sightings::of(&project.config.proxy.carriers);
        let witness = Some(sightings.witness());
        let mut progress = starting(project, context);
        let system = project
            .start(slice::from_ref(scenario), 1, NAME, witness)
            .await?;
        progress.step(&format!(
            "trying out how calls of `{}` are attributed",
            scenario.name
        ));
        let (world, correlation) = project.correlate(system, scenario, 1).await?;
        // What was seen until now was only tried out, and calls without
        // context may have been missed or taken for the test's own.
        sightings.forget();
        progress.step(&format!("running `{}` without faults", scenario.name));
        let mut references = References {
            progress,
            sightings: &sightings,
            runs: Vec::new(),
        };
        // The same runs, compared in the same way, as before a campaign.
        let settled = murphy_campaign::references(&world, &campaign, &mut references).await;
        references.progress.clear();
        let shown = match shown(&settled, &references.runs) {
            Some(observed) => {
                let report = Report {
                    unseen: Unseen::of(&world, observed, identity(&settled)),
                    missed: MissedEntry::of(&world, &project.config.system, scenario, observed),
                    scenario,
                    room,
                    correlation: &correlation,
                    sightings: &sightings,
                    runs: &references.runs,
                    settled: settled.as_ref(),
                    observed,
                    campaign: &campaign,
                };
                changes.add(&report);
                output::write_within(context.width, |out| {
                    if with_services {
                        let states = services::of(&world, project);
                        services::write(project, &states, room, out)?;
                    }
                    report.write(out)?;
                    egress::write(world.system(), out)
                })
            }
            None => Ok(()),
        };
        for refused in world.system().refused_handshakes() {
            error::warn(format_args!("{}", murphy_project::left::about(&refused)));
        }
        let stopped = world.stop().await;
        shown?;
        match settled {
            Ok(_) => {}
            // Its line says so.
            Err(Failed::Refused(Refused::Fails { .. })) => return Ok(exit::REFERENCE_FAILED),
            Err(failed) => return Err(Error::of_campaign(failed, observe::HINT)),
        }
        stopped?;
        Ok(exit::OK)
    })?
}

/// The run that is shown: named as calls will be, if that is settled.
fn shown<'o>(
    settled: &'o Result<ReferenceRuns, Failed>,
    runs: &'o [Arc<Observed>],
) -> Option<&'o Observed> {
    match settled {
        Ok(settled) => Some(&settled.observed),
        Err(_) => runs.first().map(|first| &**first),
    }
}

/// How calls are identified, if that is settled.
fn identity(settled: &Result<ReferenceRuns, Failed>) -> Option<&Identity> {
    let settled = settled.as_ref().ok();
    settled.map(|settled| &settled.chosen.identity)
}

struct Report<'r> {
    scenario: &'r ScenarioSpec,
    room: Room,
    correlation: &'r Correlation,
    sightings: &'r Sightings,
    /// All runs without faults.
    runs: &'r [Arc<Observed>],
    /// What they show, or why they are no references.
    settled: Result<&'r ReferenceRuns, &'r Failed>,
    /// The one that is shown.
    observed: &'r Observed,
    unseen: Unseen,
    missed: Option<MissedEntry>,
    campaign: &'r murphy_campaign::Settings,
}

impl Report<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nScenario {}", self.scenario.name)?;
        stability::write(self, out)?;
        if let Some(missed) = &self.missed {
            missed.write(out)?;
        }
        attribution::write(self, out)?;
        self.write_context(out)?;
        self.unseen.write(out)?;
        self.write_faults(out)
    }

    fn trace(&self) -> &Trace {
        &self.observed.execution.trace
    }

    /// Names for its calls, with their queries where these are known.
    fn names(&self) -> CallNames<'_> {
        let queries = self.settled.map_or(&[][..], |settled| &settled.queries);
        CallNames::new(self.trace(), queries)
    }

    /// Per service: what came back with the calls to it.
    fn write_context(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nContext that arrives with the calls to each service")?;
        let rows = self.sightings.rows();
        if rows.is_empty() {
            return writeln!(out, "  no calls between services were seen");
        }
        table::write(&self.sightings.columns(), &rows, &self.callers(), out)?;
        let meaning = advice::Meaning {
            solo: self.correlation.solo,
            is_all_seen: self.unseen.calls.is_empty(),
        };
        advice::write_meaning(meaning, &rows, &self.suspects(), out)
    }

    /// The services whose own calls lack our mark.
    fn suspects(&self) -> BTreeSet<&str> {
        let callers = self.callers();
        let mut suspects: BTreeSet<&str> = BTreeSet::new();
        for row in self.sightings.rows().iter().filter(|row| !row.is_certain()) {
            suspects.extend(callers.get(row.service.as_str()).into_iter().flatten());
        }
        suspects
    }

    /// Who calls each service, as far as that is known or inferred.
    fn callers(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let trace = self.trace();
        for call in trace.calls() {
            let Some(parent) = call.parent else { continue };
            let caller = &*trace.call(parent).point.frame().destination;
            let callee = &*call.point.frame().destination;
            callers.entry(callee).or_default().insert(caller);
        }
        callers
    }

    fn write_faults(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nWould be injected")?;
        let names = self.names();
        let by_modes = self.faults();
        for (modes, calls) in &by_modes {
            writeln!(out, "  {modes} into")?;
            let most = self.room.of(calls.len());
            for id in calls.iter().take(most) {
                writeln!(out, "    {}", names.path(*id))?;
            }
            let more = calls.len() - most;
            if more > 0 {
                writeln!(out, "    … and {more} more calls (`--verbose` shows all)")?;
            }
        }
        match by_modes.is_empty() {
            false => Ok(()),
            true => writeln!(
                out,
                "  nothing: the test leads to no call between services that a proxy sees.\n  Do the services call each other where their environment says (`{{NAME.url}}`)?"
            ),
        }
    }

    /// The calls that would be injected, by how; those that come first, first.
    fn faults(&self) -> Vec<(String, Vec<CallId>)> {
        let trace = self.trace();
        let options = &self.campaign.options;
        let mut by_modes: Vec<(String, Vec<CallId>)> = Vec::new();
        let may_fail = |id: &CallId| self.scenario.entries || trace.call(*id).parent.is_some();
        for id in trace.ids().filter(may_fail) {
            let point = &trace.call(id).point;
            let modes = options.modes.of(point);
            if modes.is_empty() || !options.filter.allows(point) {
                continue;
            }
            let modes: Vec<String> = modes.iter().map(|mode| mode.to_string()).collect();
            let modes = modes.join(", ");
            match by_modes.iter_mut().find(|(other, _)| *other == modes) {
                Some((_, calls)) => calls.push(id),
                None => by_modes.push((modes, vec![id])),
            }
        }
        by_modes
    }
}

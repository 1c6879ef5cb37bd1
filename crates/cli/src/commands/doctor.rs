//! `murphy doctor`: is all wired as it should be?
//!
//! Owns the questions a newcomer has before the first campaign: is every
//! service up, does context survive on the way to each, what would be made to
//! fail. It brings the system up as a campaign would, runs the test as often and
//! compares these runs in the same way; nothing is made to fail. Which carriers
//! came back is noted by [`Sightings`]. Where the system does not come up, or
//! there is no test yet, every service is looked at by itself.

mod advice;
mod services;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use murphy_campaign::{Event, Failed, Refused, SetupError, Sink};
use murphy_model::{Flag, Link, Observed, Verdict};
use murphy_system::sightings::{self, Sightings};
use murphy_system::spec::ScenarioSpec;
use murphy_system::{Correlation, LiveWorld};

use crate::args::{DoctorArgs, SearchArgs};
use crate::context::Context;
use crate::entrance::MissedEntry;
use crate::error::Error;
use crate::progress::Progress;
use crate::project::Project;
use crate::settings::Typed;
use crate::unseen::Unseen;
use crate::{exit, observe, output, runtime};

pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open_services(&args.project, context)?;
    if project.scenarios.is_empty() {
        return services_alone(&project);
    }
    let mut codes = Vec::new();
    for scenario in &project.scenarios {
        codes.push(match examine(&project, scenario, context) {
            // The next scenario would meet the same services.
            Err(Error::Broken(broken)) => return why_broken(&project, broken),
            Err(error @ (Error::Unstable { .. } | Error::Flaky { .. })) => error.report(),
            done => done?,
        });
    }
    Ok(exit::worst(&codes))
}

/// Without a test there are only the services to look at.
fn services_alone(project: &Project) -> Result<u8, Error> {
    let states = runtime::block_on(project.survey(NAME))??;
    output::write(|out| {
        services::write(project, &states, out)?;
        writeln!(
            out,
            "\nNo scenario, so nothing was run: whether context survives and what would be injected is not known.\n  Give the test after `--`, as in `murphy doctor -- pytest -q`, or write a `[scenario.NAME]`."
        )
    })?;
    Ok(match services::complain(&states) {
        true => exit::REFERENCE_FAILED,
        false => exit::OK,
    })
}

/// Tells of every service that is down, not only of the one at which it was
/// found that the system is broken; or, if all are up, what else is wrong.
fn why_broken(project: &Project, broken: SetupError) -> Result<u8, Error> {
    let Ok(states) = runtime::block_on(project.survey(NAME))? else {
        return Err(broken.into());
    };
    output::write(|out| services::write(project, &states, out))?;
    match services::complain(&states) {
        true => Ok(exit::REFERENCE_FAILED),
        false => Err(broken.into()),
    }
}

/// The name under which the logs of services are kept.
const NAME: &str = "doctor";

/// Keeps the first reference to be shown, and says how far it is.
struct References<'s> {
    progress: Progress,
    sightings: &'s Sightings,
    first: Option<Arc<Observed>>,
}

impl Sink for References<'_> {
    fn note(&mut self, event: &Event) {
        self.progress.note(event);
        if let Event::ReferenceRan { observed, .. } = event {
            self.first.get_or_insert_with(|| observed.clone());
            // What is shown is one run.
            self.sightings.close();
        }
    }
}

fn examine(project: &Project, scenario: &ScenarioSpec, context: &Context) -> Result<u8, Error> {
    let campaign = project.campaign(scenario, Typed::search(&SearchArgs::default()))?;
    runtime::block_on(async {
        let sightings = Sightings::of(&project.config.proxy.carriers);
        let witness = Some(sightings.witness());
        let up = project.bring_up_watched(scenario, 1, NAME, witness);
        let (world, correlation) = up.await?;
        // What was seen until now was only tried out, and calls without
        // context may have been missed or taken for the test's own.
        sightings.forget();
        let mut references = References {
            progress: Progress::new(context),
            sightings: &sightings,
            first: None,
        };
        // The same runs, compared in the same way, as before a campaign.
        let settled = murphy_campaign::references(&world, &campaign, &mut references).await;
        references.progress.clear();
        let shown = match references.first.as_deref() {
            Some(observed) => {
                let report = Report {
                    unseen: Unseen::of(&world, observed),
                    missed: MissedEntry::of(&world, &project.config.system, scenario, observed),
                    project,
                    scenario,
                    world: &world,
                    correlation: &correlation,
                    sightings: &sightings,
                    observed,
                    campaign: &campaign,
                };
                output::write(|out| report.write(out))
            }
            None => Ok(()),
        };
        let stopped = world.stop().await;
        shown?;
        let chosen = match settled {
            Ok((_, chosen)) => chosen,
            // Its line says so.
            Err(Failed::Refused(Refused::Fails { .. })) => return Ok(exit::REFERENCE_FAILED),
            Err(failed) => return Err(Error::of_campaign(failed, observe::HINT)),
        };
        stopped?;
        for at in &chosen.first_run {
            let flag = Flag::FirstRun { at: at.clone() };
            output::note(format_args!("{}", murphy_report::doubt(&flag)));
        }
        Ok(exit::OK)
    })?
}

struct Report<'r> {
    project: &'r Project,
    scenario: &'r ScenarioSpec,
    world: &'r LiveWorld,
    correlation: &'r Correlation,
    sightings: &'r Sightings,
    observed: &'r Observed,
    unseen: Unseen,
    missed: Option<MissedEntry>,
    campaign: &'r murphy_campaign::Settings,
}

impl Report<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        services::write(self.project, &services::of(self.world, self.project), out)?;
        self.write_scenario(out)?;
        if let Some(missed) = &self.missed {
            missed.write(out)?;
        }
        self.write_context(out)?;
        self.unseen.write(out)?;
        self.write_faults(out)
    }

    fn write_scenario(&self, out: &mut dyn Write) -> io::Result<()> {
        let calls = self.observed.execution.trace.calls().len();
        writeln!(out, "\nScenario {}", self.scenario.name)?;
        match &self.observed.execution.verdict {
            Verdict::Failed { why } => writeln!(out, "  FAILS without any fault: {why}")?,
            _ => writeln!(
                out,
                "  passes without faults in {:.0?}, {calls} calls",
                self.observed.took
            )?,
        }
        match self.correlation.late {
            Some(late) => writeln!(
                out,
                "  calls arrive up to {late:.0?} after its end, which is waited for"
            ),
            None => Ok(()),
        }
    }

    /// Per service: what came back with the calls to it.
    fn write_context(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nContext that arrives with the calls to each service")?;
        let callers = self.callers();
        let rows = self.sightings.rows();
        if rows.is_empty() {
            return writeln!(out, "  no calls between services were seen");
        }
        table::write(&self.sightings.columns(), &rows, &callers, out)?;
        self.write_callers(out)?;
        let broken = |row: &&sightings::Row| !row.is_certain();
        let mut suspects: BTreeSet<&str> = BTreeSet::new();
        for row in rows.iter().filter(broken) {
            suspects.extend(callers.get(row.service.as_str()).into_iter().flatten());
        }
        let meaning = advice::Meaning {
            solo: self.correlation.solo,
            is_all_seen: self.unseen.calls.is_empty(),
        };
        advice::write(meaning, &rows, &suspects, out)
    }

    /// How sure it is who calls whom, where our own mark does not tell.
    fn write_callers(&self, out: &mut dyn Write) -> io::Result<()> {
        for (service, links) in self.links() {
            if let Some(how) = of_links(&links) {
                writeln!(out, "  {service}: {how}")?;
            }
        }
        Ok(())
    }

    /// Who calls each service, as far as that is known or inferred.
    fn callers(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let trace = &self.observed.execution.trace;
        for call in trace.calls() {
            let Some(parent) = call.parent else { continue };
            let caller = &*trace.call(parent).point.frame().destination;
            let callee = &*call.point.frame().destination;
            callers.entry(callee).or_default().insert(caller);
        }
        callers
    }

    fn links(&self) -> BTreeMap<&str, BTreeSet<u8>> {
        let mut links: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
        let trace = &self.observed.execution.trace;
        for id in trace.ids() {
            let call = trace.call(id);
            if call.parent.is_none() {
                continue;
            }
            let link = self.observed.detail(id).map(|detail| detail.link);
            let row = links.entry(&call.point.frame().destination).or_default();
            row.extend(link.map(rank));
        }
        links
    }

    fn write_faults(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nWould be injected")?;
        let trace = &self.observed.execution.trace;
        let options = &self.campaign.options;
        let mut any = false;
        for call in trace.calls().iter().filter(|call| call.parent.is_some()) {
            let modes = options.modes.of(&call.point);
            if modes.is_empty() || !options.filter.allows(&call.point) {
                continue;
            }
            any = true;
            let modes: Vec<String> = modes.iter().map(|mode| mode.to_string()).collect();
            writeln!(out, "  {}: {}", call.point, modes.join(", "))?;
        }
        match any {
            true => Ok(()),
            false => writeln!(
                out,
                "  nothing: the test leads to no call between services that a proxy sees.\n  Do the services call each other where their environment says (`{{NAME.url}}`)?"
            ),
        }
    }
}

/// From sure to unsure.
fn rank(link: Link) -> u8 {
    match link {
        Link::Certain => 0,
        Link::Spans => 1,
        Link::Inferred => 2,
        Link::Ambiguous => 3,
        Link::Orphan => 4,
    }
}

fn of_links(links: &BTreeSet<u8>) -> Option<&'static str> {
    match links.last() {
        Some(0) => None,
        Some(1) => Some("callers are told by spans"),
        Some(2) => Some("callers are inferred from what is in flight"),
        Some(3) => Some("AMBIGUOUS: several calls in flight could be the caller"),
        _ => Some("no caller can be told"),
    }
}

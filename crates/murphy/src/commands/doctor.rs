//! `murphy doctor`: is all wired as it should be?
//!
//! Owns the questions a newcomer has before the first campaign: is every
//! service up, does context survive on the way to each, what would be made to
//! fail. It brings the system up as a campaign would and runs the test once or
//! twice; nothing is made to fail.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use murphy_campaign::World;
use murphy_campaign::live::spec::{ScenarioSpec, Source};
use murphy_campaign::live::{Correlation, LiveWorld};
use murphy_model::{Identity, Link, Observed, Verdict};

use crate::args::{DoctorArgs, SearchArgs};
use crate::context::Context;
use crate::error::Error;
use crate::project::Project;
use crate::{exit, output, runtime};

pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.project, context)?;
    let mut codes = Vec::new();
    for scenario in &project.scenarios {
        codes.push(examine(&project, scenario)?);
    }
    Ok(exit::worst(&codes))
}

fn examine(project: &Project, scenario: &ScenarioSpec) -> Result<u8, Error> {
    let campaign = project.campaign(scenario, &SearchArgs::default(), None)?;
    runtime::block_on(async {
        let (world, correlation) = project.bring_up(scenario, 1, "doctor").await?;
        let identity = std::sync::Arc::new(Identity::default());
        let seen = world.reference(&identity).await;
        let shown = match &seen {
            Ok((observed, _)) => {
                let report = Report {
                    project,
                    scenario,
                    world: &world,
                    correlation: &correlation,
                    observed,
                    campaign: &campaign,
                };
                output::write(|out| report.write(out))
            }
            Err(_) => Ok(()),
        };
        let stopped = world.stop().await;
        let (observed, _) = seen?;
        shown?;
        stopped?;
        Ok(match observed.execution.verdict {
            Verdict::Failed { .. } => exit::REFERENCE_FAILED,
            _ => exit::OK,
        })
    })?
}

struct Report<'r> {
    project: &'r Project,
    scenario: &'r ScenarioSpec,
    world: &'r LiveWorld,
    correlation: &'r Correlation,
    observed: &'r Observed,
    campaign: &'r murphy_campaign::Settings,
}

impl Report<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_services(out)?;
        self.write_scenario(out)?;
        self.write_context(out)?;
        self.write_faults(out)
    }

    fn write_services(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Services")?;
        for service in &self.project.config.system.services {
            let name = &service.name;
            let place = |place: Option<String>| place.unwrap_or_else(|| "-".to_owned());
            let source = match &service.source {
                Source::Running { .. } => "runs already",
                Source::Managed(_) => "started by Murphy",
            };
            writeln!(
                out,
                "  {name:<20} up, {source}, at {}; its proxy for others at {}, for the test at {}",
                place(self.world.direct(name)),
                place(self.world.proxied(name)),
                place(self.world.entry(0, name)),
            )?;
        }
        Ok(())
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

    /// Per service: how its calls were known to belong to the execution.
    fn write_context(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nContext, by the service that is called")?;
        let lost: BTreeSet<&str> = self
            .correlation
            .lost
            .iter()
            .map(|point| &*point.frame().destination)
            .collect();
        for (service, links) in self.links() {
            let how = match lost.contains(service) {
                true => "LOST: no trace context of ours arrives with these calls",
                false => of_links(&links),
            };
            writeln!(out, "  {service:<20} {how}")?;
        }
        match self.correlation.solo {
            false => writeln!(out, "  Executions can run side by side (`--jobs`)."),
            true => writeln!(
                out,
                "  One execution runs at a time, and callers are inferred.\n  To change that, instrument the callers of those services: OpenTelemetry hands `tracestate` on."
            ),
        }
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
        writeln!(out, "\nWould be made to fail")?;
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

fn of_links(links: &BTreeSet<u8>) -> &'static str {
    match links.last() {
        Some(0) => "our own mark comes back (tracestate or baggage): certain",
        Some(1) => "trace and span ids come back: callers are told by spans",
        Some(2) => "callers are inferred from what is in flight",
        Some(3) => "AMBIGUOUS: several calls in flight could be the caller",
        _ => "no caller can be told",
    }
}

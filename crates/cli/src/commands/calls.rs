//! `murphy list`: the calls a test leads to without faults, which are what can
//! be injected.

use std::io::{self, Write};

use murphy_campaign::Settings as Campaign;
use murphy_model::Point;
use murphy_report::{CallNames, terminal};
use murphy_system::spec::ScenarioSpec;
use serde_json::json;

use super::explain;
use crate::args::{Format, ListArgs};
use crate::context::Context;
use crate::error::Error;
use crate::observe::{self, Seen};
use crate::past_execution::PastExecution;
use crate::project::Project;
use crate::{exit, output};

pub(crate) fn run(args: &ListArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.project, context)?;
    if let Some(number) = args.execution {
        let found = PastExecution::find(number, &project, explain::only(&project)?)?;
        output::write(|out| found.write(out, false))?;
        return Ok(exit::OK);
    }
    let (mut listed, mut codes) = (Vec::new(), Vec::new());
    for scenario in &project.scenarios {
        let campaign = project.campaign(scenario, &args.search.typed().into())?;
        let (seen, stopped) = observe::references(&project, scenario, &campaign, 1)?;
        match args.search.format {
            Format::Human => output::write(|out| write(scenario, &campaign, &seen, out))?,
            Format::Json => listed.push(object(scenario, &campaign, &seen)),
        }
        let interrupted = stopped.interrupted;
        codes.push(stopped.with_result(exit::OK));
        if interrupted {
            break;
        }
    }
    if args.search.format == Format::Json {
        let text = serde_json::to_string_pretty(&json!({ "scenarios": listed }));
        output::write(|out| writeln!(out, "{}", text.expect("texts and lists")))?;
    }
    Ok(exit::worst(&codes))
}

fn write(
    scenario: &ScenarioSpec,
    campaign: &Campaign,
    seen: &Seen,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", scenario.name)?;
    let trace = &seen.observed.execution.trace;
    let names = CallNames::new(trace, &seen.queries);
    terminal::write_calls(trace, &names, &|_| String::new(), out)?;
    writeln!(out, "\nWhat can be injected, and how")?;
    for id in trace.ids().filter(|id| trace.call(*id).parent.is_some()) {
        let point = &trace.call(id).point;
        let modes: Vec<String> = campaign
            .options
            .modes
            .of(point)
            .iter()
            .map(|m| m.to_string())
            .collect();
        let how = match campaign.options.filter.allows(point) && !modes.is_empty() {
            true => modes.join(", "),
            false => "never".to_owned(),
        };
        writeln!(out, "  {}\n      {how}", names.path(id))?;
    }
    seen.unseen.write(out)?;
    if !seen.chosen.masked.is_empty() {
        writeln!(out, "\nIgnored when identifying calls")?;
        for line in &seen.chosen.masked {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// The scenario's own requests are observed, never failed.
fn points(seen: &Seen) -> impl Iterator<Item = &Point> {
    let calls = seen.observed.execution.trace.calls().iter();
    calls
        .filter(|call| call.parent.is_some())
        .map(|call| &call.point)
}

fn object(scenario: &ScenarioSpec, campaign: &Campaign, seen: &Seen) -> serde_json::Value {
    let point = |point: &Point| {
        let modes = campaign.options.modes.of(point);
        let modes = modes.iter().map(|mode| mode.to_string());
        let modes: Vec<String> = match campaign.options.filter.allows(point) {
            true => modes.collect(),
            false => Vec::new(),
        };
        json!({ "point": point.to_string(), "modes": modes })
    };
    json!({
        "scenario": scenario.name,
        "points": points(seen).map(point).collect::<Vec<_>>(),
        "masked": seen.chosen.masked,
        "unseen": seen.unseen.object(),
    })
}

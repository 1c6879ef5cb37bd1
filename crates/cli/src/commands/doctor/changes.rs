//! What to change before a campaign, most urgent first.

use std::io::{self, Write};

use murphy_campaign::{Failed, Refused};
use murphy_model::Link;
use murphy_report::point_text;

use super::{Report, advice};

/// Writes the changes by number, or that there are none to make.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nWhat to change")?;
    let changes = changes(report);
    if changes.is_empty() {
        let next = match report.project.command.is_empty() {
            true => "`murphy run`",
            false => "`murphy run -- …` with the same test",
        };
        return writeln!(out, "  nothing: {next} can begin");
    }
    for (number, change) in (1..).zip(&changes) {
        let mut lines = change.lines();
        writeln!(out, "  {number}. {}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(out, "     {line}"))?;
    }
    Ok(())
}

fn changes(report: &Report<'_>) -> Vec<String> {
    let mut changes = Vec::new();
    match report.settled {
        Err(Failed::Refused(Refused::Fails { .. })) => changes.push(
            "Make the test pass without faults: they tell nothing about what is broken\nwithout them."
                .to_owned(),
        ),
        Err(Failed::Refused(Refused::Flaky { .. })) => {
            changes.push("Make the test pass every time without faults.".to_owned());
        }
        Err(Failed::Refused(Refused::Unstable { .. })) => {
            changes.push("Make the test lead to the same calls every time (see the error).".to_owned());
        }
        _ => {}
    }
    if !report.unseen.calls.is_empty() {
        changes.push("Let calls say who made them (see NOT seen).".to_owned());
    }
    if !report.unseen.services.is_empty() {
        changes.push(format!(
            "Let Murphy see the calls to {}, or say that there are none (see NOT seen).",
            report.unseen.services.join(", ")
        ));
    }
    if report.faults().is_empty() {
        changes.push(
            "Let services call each other by their proxies: `{NAME.url}` in `env` or\n`command`, or a `listen` address."
                .to_owned(),
        );
    }
    let suspects = report.suspects();
    if !suspects.is_empty() {
        changes.push(advice::how_to_propagate(&suspects));
    }
    if report
        .observed
        .details
        .iter()
        .any(|it| it.link == Link::Ambiguous)
    {
        changes.push(
            "Where who made a call is a guess, say whom each service calls: `calls = [\"…\"]`\nin `[services.NAME]`."
                .to_owned(),
        );
    }
    let first_run = report.settled.map_or(&[][..], |it| &it.chosen.first_run);
    for at in first_run {
        changes.push(format!(
            "`{}` is made only in the first run after a\nstart: `[system] restart = \"execution\"` tests it, and a `setup` request that makes\nit leaves it out on purpose.",
            point_text(at)
        ));
    }
    changes
}

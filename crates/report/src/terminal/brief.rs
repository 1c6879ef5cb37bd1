//! What a run shows unless more is asked for: one screen.
//!
//! Owns what comes first and what is left out. All scenarios in a table, or the
//! one there is in three lines; why a search is not complete; the first bug with
//! its calls, the others in a line each; and in the last lines how many there are
//! and what to do next. Everything else is in the full report.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use murphy_model::Severity;

use super::findings::{self, tally};
use super::label::Labels;
use super::number::{counted, grouped, span};
use super::prose::prose;
use super::style::{CAREFUL, GOOD, QUIET, TITLE};
use super::{Detail, heading, suggestions, visible};
use crate::bugs::{self, Bug};
use crate::wording::{self, Claim};
use crate::{Known, Summary};

/// So many bugs are shown with their calls where there are no more than that;
/// else the first one is.
const MOST_IN_FULL: usize = 2;

/// So many of the others have a line.
const MOST_IN_A_LINE: usize = 20;

/// So many warnings, or doubts, have a line of their own.
const MOST_LINES: usize = 3;

/// A table of more scenarios shows those that have something to tell.
const MOST_ROWS: usize = 12;

/// What came of a scenario.
pub enum RunResult {
    /// It was searched.
    Ran(Box<Summary>),
    /// It could not be: it fails without faults, is not stable, or a service
    /// is down.
    NotRun {
        /// Its name.
        scenario: String,
        /// Why, in one line.
        why: String,
    },
}

impl RunResult {
    /// What was found, if it was searched.
    fn summary(&self) -> Option<&Summary> {
        match self {
            RunResult::Ran(summary) => Some(summary),
            RunResult::NotRun { .. } => None,
        }
    }

    /// What a baseline says of what was found.
    pub fn known(&mut self) -> Option<&mut Known> {
        match self {
            RunResult::Ran(summary) => summary.known.as_mut(),
            RunResult::NotRun { .. } => None,
        }
    }
}

pub(super) fn write(
    results: &[RunResult],
    detail: Detail,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let summaries: Vec<&Summary> = results.iter().filter_map(RunResult::summary).collect();
    let bugs = bugs::of(summaries.iter().copied());
    let labels = labels(&summaries);
    match (detail, results) {
        (Detail::Quiet, _) => {}
        (Detail::Usual, [RunResult::Ran(only)]) => scenario(only, width, out)?,
        (Detail::Full, [_]) => return Ok(()),
        (Detail::Usual, _) => table(results, width, out)?,
        (Detail::Full, _) => {
            writeln!(out)?;
            table(results, width, out)?;
        }
    }
    match detail {
        // Every scenario has had its own report.
        Detail::Full => {}
        Detail::Usual => usual(&bugs, &labels, width, out)?,
        Detail::Quiet => {
            for bug in &bugs {
                findings::write_shortly(bug, label(bug, &labels), out)?;
            }
        }
    }
    if detail == Detail::Usual {
        for summary in &summaries {
            findings::stale(summary, out)?;
        }
        suggestions::write(&summaries, out)?;
        let took: Duration = summaries.iter().map(|it| it.timing.total).sum();
        writeln!(out, "\n{QUIET}Took {}{QUIET:#}", span(took))?;
    }
    let executions: usize = summaries.iter().map(|it| it.certificate.explored).sum();
    let executions = counted(executions, "execution");
    match results.len() {
        1 => writeln!(out, "{} in {executions}", tally(&bugs))?,
        all => {
            let scenarios = counted(all, "scenario");
            writeln!(out, "{} in {executions} of {scenarios}", tally(&bugs))?;
        }
    }
    match detail {
        Detail::Quiet => Ok(()),
        Detail::Usual | Detail::Full => next(&bugs, detail, out),
    }
}

/// Short names for the calls of each scenario.
fn labels<'s>(summaries: &[&'s Summary]) -> HashMap<&'s str, Labels> {
    let labels = summaries.iter().map(|summary| {
        let scenario = summary.scenario.as_str();
        (scenario, Labels::new(&summary.points))
    });
    labels.collect()
}

fn label<'l>(bug: &Bug<'_>, labels: &'l HashMap<&str, Labels>) -> &'l Labels {
    let (summary, _) = bug.shown();
    &labels[summary.scenario.as_str()]
}

/// The only scenario.
fn scenario(summary: &Summary, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let certificate = &summary.certificate;
    let about = format!("{}: {}", summary.scenario, visible(&summary.about));
    let (name, rest) = about.split_at(summary.scenario.len());
    writeln!(out, "{TITLE}{name}{TITLE:#}{rest}")?;
    let mut facts = vec![format!(
        "{}, {} failed",
        counted(certificate.explored, "execution"),
        grouped(summary.failed_executions)
    )];
    facts.extend(wording::refused(summary));
    facts.push(format!(
        "{} can fail, in modes {}",
        counted(certificate.points, "call"),
        summary.modes.join(", ")
    ));
    prose(&facts.join("; "), "  ", width, out)?;
    claim(summary, "", width, out)?;
    doubts(summary, width, out)
}

/// How far the result of a scenario can be trusted.
fn claim(summary: &Summary, scenario: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let claim = Claim::of(&summary.certificate);
    let under = match claim.assumptions.len() {
        0 => String::new(),
        number => format!(" (under {})", counted(number, "assumption")),
    };
    let colour = if claim.complete { GOOD } else { CAREFUL };
    let text = format!("{scenario}{}: {}{under}", claim.title, claim.text);
    let mut lines = Vec::new();
    prose(&text, "  ", width, &mut lines)?;
    let text = String::from_utf8_lossy(&lines);
    let (first, rest) = text.split_at("  ".len() + scenario.len() + claim.title.len());
    let (before, title) = first.split_at(first.len() - claim.title.len());
    write!(out, "{before}{colour}{title}{colour:#}{rest}")
}

/// What may be otherwise than it seems: the first doubts.
fn doubts(summary: &Summary, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let labels = Labels::new(&summary.points);
    let flags = &summary.certificate.flags;
    for flag in flags.iter().take(MOST_LINES) {
        let text = format!("! {}", wording::flag(flag, &labels));
        prose(&text, "  ", width, out)?;
    }
    match flags.len().saturating_sub(MOST_LINES) {
        0 => Ok(()),
        more => writeln!(
            out,
            "  {QUIET}… and {}{QUIET:#}",
            counted(more, "more doubt")
        ),
    }
}

/// All scenarios, a row each, and below it why some are not complete.
fn table(results: &[RunResult], width: usize, out: &mut dyn Write) -> io::Result<()> {
    let shown = rows_shown(results);
    let rows: Vec<[String; 4]> = shown.iter().map(|result| row(result)).collect();
    let head = ["scenario", "executions", "findings", "complete"].map(str::to_owned);
    let wide = |column: usize| {
        let cells = rows
            .iter()
            .chain([&head])
            .map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths = [wide(0), wide(1), wide(2)];
    let line = |row: &[String; 4]| {
        let [name, executions, findings, complete] = row;
        let [a, b, c] = widths;
        format!("  {name:a$}  {executions:>b$}  {findings:>c$}  {complete}")
    };
    writeln!(out, "{QUIET}{}{QUIET:#}", line(&head))?;
    for row in &rows {
        writeln!(out, "{}", line(row))?;
    }
    let rest = results.len() - rows.len();
    if rest > 0 {
        writeln!(
            out,
            "  {QUIET}… and {}{QUIET:#}",
            counted(rest, "more scenario")
        )?;
    }
    for result in results {
        match result {
            RunResult::NotRun { scenario, why } => {
                let text = format!("{scenario}: not run: {}", visible(why));
                prose(&text, "  ", width, out)?;
            }
            RunResult::Ran(summary) if !summary.certificate.is_complete() => {
                claim(summary, &format!("{}: ", summary.scenario), width, out)?;
            }
            RunResult::Ran(_) => {}
        }
    }
    Ok(())
}

/// The scenarios that have a row: all, or where that is no table any more the
/// first of those that something came of.
fn rows_shown(results: &[RunResult]) -> Vec<&RunResult> {
    let is_quiet = |result: &&RunResult| match result {
        RunResult::NotRun { .. } => false,
        RunResult::Ran(summary) => summary.findings.is_empty() && summary.certificate.is_complete(),
    };
    if results.len() <= MOST_ROWS {
        return results.iter().collect();
    }
    let (quiet, telling): (Vec<_>, Vec<_>) = results.iter().partition(is_quiet);
    telling.into_iter().chain(quiet).take(MOST_ROWS).collect()
}

fn row(result: &RunResult) -> [String; 4] {
    match result {
        RunResult::NotRun { scenario, .. } => {
            [scenario.as_str(), "-", "-", "not run"].map(str::to_owned)
        }
        RunResult::Ran(summary) => {
            let is_failure = |bug: &&Bug<'_>| bug.shown().1.severity == Severity::Fail;
            let bugs = bugs::of([&**summary]);
            [
                summary.scenario.clone(),
                grouped(summary.certificate.explored),
                grouped(bugs.iter().filter(is_failure).count()),
                match summary.certificate.is_complete() {
                    true => "yes".to_owned(),
                    false => "no".to_owned(),
                },
            ]
        }
    }
}

/// The bugs, the first in full, and the warnings, a line each.
fn usual(
    bugs: &[Bug<'_>],
    labels: &HashMap<&str, Labels>,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_failure = |bug: &&Bug<'_>| bug.shown().1.severity == Severity::Fail;
    let (failures, warnings): (Vec<_>, Vec<_>) = bugs.iter().partition(is_failure);
    if !failures.is_empty() {
        heading("Findings", out)?;
    }
    let (first, rest) = failures.split_at(in_full(failures.len()));
    for (i, bug) in first.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        let is_only = failures.len() == 1;
        findings::write_on_screen(bug, label(bug, labels), is_only, width, out)?;
    }
    if !rest.is_empty() {
        writeln!(out)?;
    }
    lines(rest, labels, MOST_IN_A_LINE, "more finding", out)?;
    if let Some(id) = rest.first().and_then(|bug| kept(bug)) {
        writeln!(
            out,
            "  {QUIET}`murphy explain {id}` shows one of these in full, `--verbose` all{QUIET:#}"
        )?;
    }
    if !warnings.is_empty() {
        heading("Warnings", out)?;
    }
    lines(&warnings, labels, MOST_LINES, "more warning", out)
}

/// How many of so many bugs are shown with their calls.
fn in_full(bugs: usize) -> usize {
    match bugs {
        few if few <= MOST_IN_FULL => few,
        _ => 1,
    }
}

/// The first of these, a line each.
fn lines(
    bugs: &[&Bug<'_>],
    labels: &HashMap<&str, Labels>,
    most: usize,
    more: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    for bug in bugs.iter().take(most) {
        findings::write_in_a_line(bug, label(bug, labels), out)?;
    }
    match bugs.len().saturating_sub(most) {
        0 => Ok(()),
        rest => writeln!(out, "  {QUIET}… and {}{QUIET:#}", counted(rest, more)),
    }
}

/// Its finding, if `murphy explain` knows it: those of the examples are kept
/// nowhere.
fn kept<'b>(bug: &Bug<'b>) -> Option<&'b str> {
    let (summary, finding) = bug.shown();
    let is_kept = summary.explain_command.starts_with("murphy explain")
        && !summary.explain_command.contains(" --app ");
    is_kept.then_some(finding.id.as_str())
}

/// One line: what to do next.
fn next(bugs: &[Bug<'_>], detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    let failing = bugs.iter().map(Bug::shown);
    let failing = failing.filter(|(summary, finding)| summary.fails_by(finding));
    let replay = failing
        .take(1)
        .filter_map(|(summary, it)| summary.replay(it));
    let mut steps: Vec<String> = replay
        .map(|command| format!("fix it, then `{command}`"))
        .collect();
    if detail == Detail::Usual {
        steps.push("`--verbose` shows everything".to_owned());
    }
    match steps.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{QUIET}next: {}{QUIET:#}", steps.join("; ")),
    }
}

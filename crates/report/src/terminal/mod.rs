//! Text for people.
//!
//! Owns the order in which a campaign is told: what the scenario does, what
//! was tried, what was skipped and why, how far that can be trusted, what the
//! services do about failures, and last, next to the prompt, the findings. Each
//! part has a module of its own. What a run shows unless more is asked for is
//! [`write_run`]: it fits on a screen.

mod brief;
mod calls;
mod coverage;
mod explained;
mod explained_finding;
mod findings;
mod hardening;
mod printed;
mod profile;
mod prose;
mod style;
mod suggestions;

pub use brief::RunResult;
pub use prose::page as write_page;

use std::io::{self, Write};

use crate::{Explained, Hardening, Summary, label, number, redact, unseen};
use label::{CallNames, Labels};
use style::{CAREFUL, TITLE};

/// Writes the summary of a campaign.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    unseen::write_escaped(out, |out| write_parts(summary, out))
}

fn write_parts(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let labels = Labels::new(&summary.points);
    writeln!(
        out,
        "{TITLE}{}{TITLE:#}: {}",
        summary.scenario, summary.about
    )?;
    calls::write(summary, out)?;
    coverage::write(summary, &labels, out)?;
    profile::write(&summary.profile, out)?;
    findings::write(summary, &labels, out)
}

/// How much is told of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// A line for each finding.
    Quiet,
    /// What fits on a screen.
    #[default]
    Usual,
    /// All of it.
    Full,
}

/// Writes what came of the scenarios of a run.
///
/// Sentences are broken at `width`; what may have to be copied is not.
pub fn write_run(
    results: &[RunResult],
    detail: Detail,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    unseen::write_escaped(out, |out| brief::write(results, detail, width, out))
}

/// Writes the calls of an execution as a tree, each with its query where that
/// is known, and with a remark.
pub fn write_calls(
    trace: &murphy_model::Trace,
    names: &CallNames<'_>,
    remark: &dyn Fn(murphy_model::CallId) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_most_calls(trace, names, remark, calls::MOST_CALLS, out)
}

/// The same, with so many of them and the number of the others.
pub fn write_most_calls(
    trace: &murphy_model::Trace,
    names: &CallNames<'_>,
    remark: &dyn Fn(murphy_model::CallId) -> String,
    most: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    calls::write_named(trace, names, remark, &|_| false, most, "  ", out)
}

/// Writes the calls of an execution as a tree, with what was injected.
pub fn write_injected_calls(trace: &murphy_model::Trace, out: &mut dyn Write) -> io::Result<()> {
    let remark = |id| match trace.call(id).mode() {
        Some(mode) => format!("  {CAREFUL}injected {mode}{CAREFUL:#}"),
        None => String::new(),
    };
    let most = calls::MOST_CALLS;
    calls::write_trace(trace, &remark, &|_| false, most, "  ", out)
}

/// Writes what became of a faultload.
pub fn write_explained(explained: &Explained, out: &mut dyn Write) -> io::Result<()> {
    explained::write(explained, out)
}

/// Writes all that is known of one finding of a campaign.
pub fn write_finding(
    summary: &Summary,
    finding: &murphy_model::Finding,
    out: &mut dyn Write,
) -> io::Result<()> {
    unseen::write_escaped(out, |out| explained_finding::write(summary, finding, out))
}

/// Writes what to harden.
pub fn write_hardening(hardening: &Hardening, out: &mut dyn Write) -> io::Result<()> {
    hardening::write(hardening, out)
}

/// A line that a test or a service printed, without what cannot be seen: it
/// may hold orders to a terminal that are not meant for this one.
pub fn visible(line: &str) -> String {
    let seen = |c: &char| !c.is_control() || *c == '\t';
    let visible: String = redact::plain(line).chars().filter(seen).collect();
    unseen::escaped(&visible).into_owned()
}

/// Writes the heading of a part.
fn heading(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{TITLE}{text}{TITLE:#}")
}

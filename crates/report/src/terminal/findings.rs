//! The findings, and the last line.

use std::io::{self, Write};

use murphy_model::{BugClass, Faultload, Finding, Mode};

use super::label::Labels;
use super::number::{counted, grouped};
use super::style::{BAD, GOOD, QUIET, TITLE};
use super::{coverage, heading};
use crate::Summary;
use crate::shell::quoted;

/// More ways to fail the same calls than this are only counted.
const MOST_WAYS: usize = 8;

pub(super) fn write(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    if !summary.findings.is_empty() {
        heading("Findings", out)?;
    }
    for (i, finding) in summary.findings.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        write_finding(finding, summary, labels, out)?;
    }
    writeln!(out)?;
    coverage::took(summary, out)?;
    let executions = counted(summary.certificate.explored, "execution");
    match summary.findings.len() {
        0 => writeln!(out, "{GOOD}No findings{GOOD:#} in {executions}"),
        n => writeln!(out, "{BAD}{}{BAD:#} in {executions}", counted(n, "finding")),
    }
}

fn write_finding(
    finding: &Finding,
    summary: &Summary,
    labels: &Labels,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (id, class) = (&finding.id, finding.class.name());
    writeln!(
        out,
        "  {BAD}{id}{BAD:#} {TITLE}{class}{TITLE:#}: {}",
        class_text(finding.class)
    )?;
    for line in finding.summary.lines() {
        writeln!(out, "    {line}")?;
    }
    let number = finding.execution;
    match finding.faultload.is_empty() {
        true => writeln!(out, "    without any fault, in execution {number}")?,
        false => writeln!(out, "    when (execution {number}):")?,
    }
    for fault in finding.faultload.faults() {
        writeln!(out, "      {}", labels.fault(&fault))?;
    }
    if !finding.also.is_empty() {
        writeln!(out, "    also with {}", ways(&finding.also))?;
    }
    writeln!(out, "    seen in {}", counted(finding.seen, "execution"))?;
    let faultload = quoted(&labels.faultload(&finding.faultload));
    writeln!(
        out,
        "    {QUIET}explain: {} {faultload}{QUIET:#}",
        summary.explain_command
    )
}

fn class_text(class: BugClass) -> &'static str {
    match class {
        BugClass::NoHandling => "an error or no answer reached the scenario",
        BugClass::SilentViolation => "the answer looked well and was wrong",
        BugClass::Unclassified => "the scenario was not content",
    }
}

/// Faultloads over the same calls, told by their modes alone.
fn ways(also: &[Faultload]) -> String {
    let way = |faultload: &Faultload| {
        let modes: Vec<String> = faultload
            .iter()
            .map(|(_, m): (_, Mode)| m.to_string())
            .collect();
        modes.join(" + ")
    };
    let mut ways: Vec<String> = also.iter().take(MOST_WAYS).map(way).collect();
    if also.len() > MOST_WAYS {
        ways.push(format!("{} more", grouped(also.len() - MOST_WAYS)));
    }
    match ways.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => ways.concat(),
    }
}

//! What was tried, what was skipped and why, and how far that goes.

use std::io::{self, Write};

use murphy_model::{Audit, Certificate};

use super::heading;
use super::label::Labels;
use super::number::{counted, grouped, pace, span};
use super::style::{BAD, CAREFUL, GOOD, QUIET, TITLE};
use crate::Summary;
use crate::wording::{self, Claim};

/// More examples of the same thing than this tell nothing new.
const MOST_EXAMPLES: usize = 5;

pub(super) fn write(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    explored(summary, out)?;
    skipped(summary, out)?;
    certificate(&summary.certificate, out)?;
    masked(&summary.masked, out)?;
    flags(&summary.certificate, labels, out)?;
    match &summary.certificate.audit {
        Some(result) => audit(result, out),
        None => Ok(()),
    }
}

fn explored(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let certificate = &summary.certificate;
    heading("Explored", out)?;
    writeln!(
        out,
        "  {TITLE}{}{TITLE:#}, {} failed (strategy {}, seed {})",
        counted(certificate.explored, "execution"),
        grouped(summary.failed_executions),
        summary.strategy,
        summary.seed
    )?;
    if let Some(refused) = wording::refused(summary) {
        writeln!(out, "  {refused}")?;
    }
    writeln!(
        out,
        "  {} can fail, {} only after a failure, in modes {}",
        counted(certificate.points, "call"),
        grouped(certificate.conditional),
        summary.modes.join(", ")
    )?;
    let possible = match &certificate.skips {
        Some(skips) => format!(
            "; in {} of them every fault can be injected",
            grouped(&skips.possible)
        ),
        None => String::new(),
    };
    writeln!(
        out,
        "  {} over these calls{possible}",
        counted(&certificate.space, "faultload")
    )?;
    if certificate.not_exercised > 0 {
        let executions = counted(certificate.not_exercised, "execution");
        writeln!(
            out,
            "  {CAREFUL}in {executions} a planned fault was not injected{CAREFUL:#}"
        )?;
    }
    if let Some(besides) = wording::besides(&summary.besides) {
        writeln!(out, "  {QUIET}besides: {besides}{QUIET:#}")?;
    }
    if certificate.speculative > 0 {
        let executions = counted(certificate.speculative, "execution");
        writeln!(out, "  {QUIET}{executions} speculative, discarded{QUIET:#}")?;
    }
    Ok(())
}

fn skipped(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let (all, rows) = wording::skipped(&summary.certificate);
    let title = match all {
        true => "Skipped",
        false => "Skipped, of those looked at",
    };
    if rows.is_empty() {
        return Ok(());
    }
    heading(title, out)?;
    let wide = |texts: &mut dyn Iterator<Item = &str>| texts.map(str::len).max().unwrap_or(0);
    let policy_width = wide(&mut rows.iter().map(|(policy, _)| *policy)).max("policy".len());
    let number_width =
        wide(&mut rows.iter().map(|(_, number)| number.as_str())).max("faultloads".len());
    writeln!(
        out,
        "  {QUIET}{:policy_width$}  {:>number_width$}  why they are skipped{QUIET:#}",
        "policy", "faultloads"
    )?;
    for (policy, number) in &rows {
        let why = summary.reasons.get(*policy).copied().unwrap_or_default();
        writeln!(
            out,
            "  {policy:policy_width$}  {number:>number_width$}  {why}"
        )?;
    }
    Ok(())
}

/// What does not identify calls, because it is never the same.
fn masked(masked: &[String], out: &mut dyn Write) -> io::Result<()> {
    if masked.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nIgnored when identifying calls:")?;
    masked.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

fn certificate(certificate: &Certificate, out: &mut dyn Write) -> io::Result<()> {
    let claim = Claim::of(certificate);
    let colour = if claim.complete { GOOD } else { CAREFUL };
    write!(out, "\n{colour}{}:{colour:#} {}", claim.title, claim.text)?;
    if claim.assumptions.is_empty() {
        return writeln!(out, ".");
    }
    writeln!(out, ", assuming that")?;
    for assumption in claim.assumptions {
        writeln!(out, "  - {assumption}")?;
    }
    Ok(())
}

fn flags(certificate: &Certificate, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let told = wording::flags(certificate);
    if told.first.is_empty() {
        return Ok(());
    }
    heading("Doubts", out)?;
    for flag in &told.first {
        writeln!(
            out,
            "  {CAREFUL}!{CAREFUL:#} {}",
            wording::flag(flag, labels)
        )?;
    }
    more(told.rest(), out)
}

fn audit(audit: &Audit, out: &mut dyn Write) -> io::Result<()> {
    heading("Audit", out)?;
    let colour = if audit.agreed == audit.sampled {
        GOOD
    } else {
        BAD
    };
    writeln!(
        out,
        "  {colour}{} of {}{colour:#} skipped faultloads that were run after all went as predicted",
        grouped(audit.agreed),
        grouped(audit.sampled)
    )?;
    if audit.unpredicted > 0 {
        writeln!(
            out,
            "  {} could not be compared: a reduction leaves open what exactly they show",
            counted(audit.unpredicted, "more skipped faultload")
        )?;
    }
    for faultload in audit.disagreed.iter().take(MOST_EXAMPLES) {
        writeln!(out, "  {BAD}not so:{BAD:#} {faultload}")?;
    }
    more(audit.disagreed.len().saturating_sub(MOST_EXAMPLES), out)
}

fn more(rest: usize, out: &mut dyn Write) -> io::Result<()> {
    match rest {
        0 => Ok(()),
        more => writeln!(out, "  {QUIET}… and {} more{QUIET:#}", grouped(more)),
    }
}

/// The line about time, the only one that differs between equal campaigns.
pub(super) fn took(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let took = summary.timing.total;
    let pace = pace(summary.certificate.explored, took);
    let pace = pace.map_or(String::new(), |pace| format!(", {pace}"));
    writeln!(out, "{QUIET}Took {}{pace}{QUIET:#}", span(took))
}

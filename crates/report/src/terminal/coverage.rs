//! What was tried, what was skipped and why, and how far that goes.

use std::io::{self, Write};

use murphy_model::{Audit, Certificate, Flag, Incomplete, Point};

use super::heading;
use super::label::Labels;
use super::number::{counted, grouped, span};
use super::style::{BAD, CAREFUL, GOOD, QUIET, TITLE};
use crate::Summary;

/// More examples of the same thing than this tell nothing new.
const MOST_EXAMPLES: usize = 5;

pub(super) fn write(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    explored(summary, out)?;
    skipped(summary, out)?;
    certificate(&summary.certificate, out)?;
    flags(&summary.certificate.flags, labels, out)?;
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
    writeln!(
        out,
        "  {} can fail, {} only after a failure, in modes {}",
        counted(certificate.points, "call"),
        grouped(certificate.conditional),
        summary.modes.join(", ")
    )?;
    let possible = match &certificate.skips {
        Some(skips) => format!(
            "; in {} of them every fault can strike",
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
            "  {CAREFUL}in {executions} a planned fault never struck{CAREFUL:#}"
        )?;
    }
    if certificate.speculative > 0 {
        let executions = counted(certificate.speculative, "execution");
        writeln!(
            out,
            "  {QUIET}{executions} made ahead of time and thrown away{QUIET:#}"
        )?;
    }
    Ok(())
}

/// Rows of policy and number of faultloads: of the whole space where that is
/// known, of those looked at otherwise.
fn skipped(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let certificate = &summary.certificate;
    let (title, mut rows): (&str, Vec<(&str, String)>) = match &certificate.skips {
        Some(skips) => {
            let rows = skips.by_policy.iter();
            (
                "Skipped",
                rows.map(|(policy, n)| (*policy, grouped(n))).collect(),
            )
        }
        None => {
            let rows = certificate.pruned.iter();
            (
                "Skipped, of those looked at",
                rows.map(|(policy, n)| (*policy, grouped(n))).collect(),
            )
        }
    };
    rows.retain(|(_, number)| number != "0");
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
        "  {QUIET}{:policy_width$}  {:>number_width$}  why they need not be run{QUIET:#}",
        "policy", "faultloads"
    )?;
    for (policy, number) in &rows {
        let why = summary.reasons.get(policy).copied().unwrap_or_default();
        writeln!(
            out,
            "  {policy:policy_width$}  {number:>number_width$}  {why}"
        )?;
    }
    Ok(())
}

fn certificate(certificate: &Certificate, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    if certificate.points == 0 {
        return writeln!(
            out,
            "{CAREFUL}Nothing to inject:{CAREFUL:#} no call can be made to fail."
        );
    }
    let Some(incomplete) = &certificate.incomplete else {
        return complete(certificate, out);
    };
    let why = match incomplete {
        Incomplete::Cases { waiting } => format!(
            "the allowed executions are used up; {} not looked at",
            waiting_text(*waiting)
        ),
        Incomplete::Stopped { waiting } => {
            format!("it was stopped; {} not looked at", waiting_text(*waiting))
        }
        Incomplete::Sampling => {
            "faultloads were drawn at random; nothing is claimed about the rest".to_owned()
        }
        Incomplete::Nondeterminism => {
            "the system contradicted itself, so what was skipped may not be redundant".to_owned()
        }
        Incomplete::BoundDepthFirst => {
            "depth first, a call may be come by with more faults than needed, so the bound may have cut off cases; use --order bfs".to_owned()
        }
        Incomplete::Audit => {
            "skipped faultloads that were run after all did not go as predicted".to_owned()
        }
    };
    writeln!(out, "{CAREFUL}Not complete:{CAREFUL:#} {why}.")
}

fn waiting_text(waiting: usize) -> String {
    let verb = if waiting == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(waiting, "faultload"))
}

fn complete(certificate: &Certificate, out: &mut dyn Write) -> io::Result<()> {
    let which = match certificate.bound {
        Some(most) => format!("every faultload of at most {}", counted(most, "fault")),
        None => "every faultload".to_owned(),
    };
    write!(
        out,
        "{GOOD}Complete:{GOOD:#} {which} over these calls was run or shown to be redundant"
    )?;
    if certificate.assumptions.is_empty() {
        return writeln!(out, ".");
    }
    writeln!(out, ", assuming that")?;
    for assumption in &certificate.assumptions {
        writeln!(out, "  - {assumption}")?;
    }
    Ok(())
}

fn flags(flags: &[Flag], labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    if flags.is_empty() {
        return Ok(());
    }
    heading("Warnings", out)?;
    for flag in flags.iter().take(MOST_EXAMPLES) {
        writeln!(out, "  {CAREFUL}!{CAREFUL:#} {}", flag_text(flag, labels))?;
    }
    more(flags.len(), out)
}

fn flag_text(flag: &Flag, labels: &Labels) -> String {
    let who = |at: &Option<Point>| match at {
        Some(point) => format!("`{}`", labels.point(point)),
        None => "the scenario".to_owned(),
    };
    match flag {
        Flag::Nondeterminism { at, first, second } => format!(
            "{} did different things in the same circumstances (executions {first} and {second})",
            who(at)
        ),
        Flag::Unexplained { at, first, second } => format!(
            "{} did something else although none of its calls failed differently (executions {first} and {second})",
            who(at)
        ),
        Flag::Ambiguous { at, execution } => format!(
            "`{}` stood for several calls of execution {execution}; a fault cannot be aimed at one of them",
            labels.point(at)
        ),
    }
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
    more(audit.disagreed.len(), out)
}

fn more(all: usize, out: &mut dyn Write) -> io::Result<()> {
    match all.saturating_sub(MOST_EXAMPLES) {
        0 => Ok(()),
        more => writeln!(out, "  {QUIET}… and {} more{QUIET:#}", grouped(more)),
    }
}

/// The line about time, the only one that differs between equal campaigns.
pub(super) fn took(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let rate = summary
        .timing
        .executions_per_second(summary.certificate.explored);
    writeln!(
        out,
        "{QUIET}Took {}, {} executions a second{QUIET:#}",
        span(summary.timing.total),
        grouped(rate.round() as u64)
    )
}

//! Markdown, for the summary of a CI job or a comment on a change.
//!
//! Owns what is told and in which order: the verdict first, the findings with
//! how to replay them, how much was covered; what only the curious read is
//! folded away. Everything that others wrote is escaped, see `escape`.

pub(crate) mod escape;

use std::io::{self, Write};

use murphy_model::{Finding, Severity, Verdict};

use crate::bugs::{self, Bug};
use crate::label::Labels;
use crate::number::{counted, grouped, span};
use crate::summary::FindingIndex;
use crate::wording::{self, Claim, Count};
use crate::{Case, Summary, suggestions};
use escape::{block, cell_code, code, text};

/// More failing executions than this bury the rest, and job summaries have a
/// limit.
const MOST_CASES: usize = 50;

/// Lines shown of what a failing execution printed: the last ones.
const MOST_LINES: usize = 20;

/// All that is told of failing executions, in bytes: a job's summary may have
/// a megabyte, and the scenarios of a run share it.
const MOST_BYTES: usize = 300_000;

/// Writes the summary of a campaign.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let labels = Labels::new(&summary.points);
    verdict(summary, out)?;
    findings(summary, &labels, out)?;
    coverage(summary, out)?;
    skipped(summary, out)?;
    doubts(summary, &labels, out)?;
    failing_cases(summary, &labels, out)?;
    what_else(summary, out)
}

fn verdict(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let executions = counted(summary.certificate.explored, "execution");
    let found = found(summary);
    let scenario = text(&summary.scenario);
    writeln!(out, "## Murphy: {scenario}: {found} in {executions}\n")?;
    let claim = Claim::of(&summary.certificate);
    writeln!(out, "**{}:** {}.", claim.title, text(&claim.text))?;
    match wording::refused(summary) {
        Some(refused) => writeln!(out, "\n{}.", text(&refused)),
        None => Ok(()),
    }
}

/// Whether the build fails, and by how much, as in `❌ 1 finding, 2 warnings`.
fn found(summary: &Summary) -> String {
    let mark = match summary.fails() {
        true => "❌",
        false => "✅",
    };
    let text = |count: &Count| count.text() + &count.known_part();
    let bugs = bugs::of([summary]);
    let failures = text(&Count::of(Severity::Fail, &bugs));
    let warnings = Count::of(Severity::Warn, &bugs);
    match warnings.all {
        0 => format!("{mark} {failures}"),
        _ => format!("{mark} {failures}, {}", text(&warnings)),
    }
}

fn findings(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    if summary.findings.is_empty() {
        return stale(summary, out);
    }
    writeln!(out, "\n### Findings\n")?;
    writeln!(
        out,
        "| finding | what is wrong | smallest faultload | replay |"
    )?;
    writeln!(out, "| --- | --- | --- | --- |")?;
    let bugs = bugs::of([summary]);
    let told = wording::bugs(&bugs);
    for bug in &told.first {
        let (_, finding) = bug.shown();
        let smallest = match finding.faultload.is_empty() {
            true => "none".to_owned(),
            false => cell_code(&labels.faultload(&finding.faultload)),
        };
        let replay = summary.replay(finding).map(|replay| cell_code(&replay));
        writeln!(
            out,
            "| {} {}{}{}{} | {}{} | {smallest} | {} |",
            cell_code(&finding.id),
            severity(finding),
            finding.class.name(),
            standing(finding, summary),
            same(bug),
            text(&finding.summary),
            also(bug),
            replay.unwrap_or_default()
        )?;
    }
    for more in wording::more_warnings(&told) {
        writeln!(out, "\n{more}")?;
    }
    stale(summary, out)
}

/// What fails the build needs no word.
fn severity(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Fail => "",
        Severity::Warn => "**warning** ",
    }
}

/// The findings that are the same bug.
fn same(bug: &Bug<'_>) -> String {
    let others = bug.others().iter();
    let ids: Vec<String> = others.map(|(_, other)| cell_code(&other.id)).collect();
    match ids.is_empty() {
        true => String::new(),
        false => format!("<br>same bug: {}", ids.join(", ")),
    }
}

/// What else is said of the same executions, or of the same caller.
fn also(bug: &Bug<'_>) -> String {
    let also = bug.also().iter().map(|(_, other)| {
        let (id, oracle) = (cell_code(&other.id), &other.oracle);
        format!("<br>also {id} ({oracle}): {}", text(&other.summary))
    });
    also.collect()
}

/// What the baseline says of a finding.
fn standing(finding: &Finding, summary: &Summary) -> String {
    let Some(known) = &summary.known else {
        return String::new();
    };
    let through = known.through.get(&finding.id);
    let through = through.map_or_else(String::new, |it| format!(", as {}", text(it)));
    match summary.excuse(&finding.id) {
        Some(reason) => format!("<br>known{through}: {}", text(reason)),
        None if known.expired.contains(&finding.id) => "<br>**known, but expired**".to_owned(),
        None => "<br>**new**".to_owned(),
    }
}

fn stale(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(known) = summary
        .known
        .as_ref()
        .filter(|known| !known.stale.is_empty())
    else {
        return Ok(());
    };
    let ids: Vec<String> = known.stale.iter().map(|id| code(id)).collect();
    writeln!(
        out,
        "\nNot found any more, and can go from {}: {}",
        code(&known.file),
        ids.join(", ")
    )
}

fn coverage(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let certificate = &summary.certificate;
    let mut rows = vec![
        ("executions", grouped(certificate.explored)),
        ("of them failed", grouped(summary.failed_executions)),
        (
            "of them a planned fault was not injected",
            grouped(certificate.not_exercised),
        ),
        ("calls that can fail", grouped(certificate.points)),
        (
            "of them only made after a failure",
            grouped(certificate.conditional),
        ),
        ("faultloads over these calls", grouped(&certificate.space)),
    ];
    if let Some(skips) = &certificate.skips {
        rows.push(("of them possible", grouped(&skips.possible)));
    }
    if let Some(audit) = &certificate.audit {
        let agreed = format!("{} of {}", grouped(audit.agreed), grouped(audit.sampled));
        rows.push(("skipped ones that went as predicted when run", agreed));
    }
    if let Some(besides) = wording::besides(&summary.besides) {
        rows.push(("besides the executions", besides));
    }
    if let Some(why) = &summary.solo {
        rows.push(("one execution at a time", text(why)));
    }
    rows.extend([
        ("modes", text(&summary.modes.join(", "))),
        ("strategy", summary.strategy.clone()),
        ("seed", summary.seed.to_string()),
        ("took", span(summary.timing.total)),
    ]);
    writeln!(out, "\n### Coverage\n\n| | |\n| --- | ---: |")?;
    for (what, value) in rows {
        writeln!(out, "| {what} | {value} |")?;
    }
    Ok(())
}

fn skipped(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let (all, rows) = wording::skipped(&summary.certificate);
    if rows.is_empty() {
        return Ok(());
    }
    let title = match all {
        true => "What was skipped, and why",
        false => "What was skipped of the faultloads looked at, and why",
    };
    folded(title, out, |out| {
        writeln!(out, "| policy | faultloads | why they are skipped |")?;
        writeln!(out, "| --- | ---: | --- |")?;
        for (policy, number) in &rows {
            let why = summary.reasons.get(*policy).copied().unwrap_or_default();
            writeln!(out, "| {policy} | {number} | {} |", text(why))?;
        }
        Ok(())
    })
}

/// What the claim rests on, and what speaks against it.
fn doubts(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let certificate = &summary.certificate;
    list("Assumptions", &certificate.assumptions, out)?;
    list("Ignored when identifying calls", &summary.masked, out)?;
    let told = wording::flags(certificate);
    let flags = told.first.iter().map(|flag| wording::flag(flag, labels));
    let more = (told.rest() > 0).then(|| format!("… and {} more", grouped(told.rest())));
    let flags: Vec<String> = flags.chain(more).collect();
    list("Doubts", &flags, out)?;
    let disagreed = certificate.audit.as_ref().map(|audit| &*audit.disagreed);
    list(
        "Skipped, and did not go as predicted when run",
        disagreed.unwrap_or(&[]),
        out,
    )
}

fn list(title: &str, sentences: &[String], out: &mut dyn Write) -> io::Result<()> {
    if sentences.is_empty() {
        return Ok(());
    }
    folded(title, out, |out| {
        for sentence in sentences {
            writeln!(out, "- {}", text(sentence))?;
        }
        Ok(())
    })
}

fn failing_cases(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let findings = FindingIndex::new(&summary.findings);
    let fails = |case: &&Case| case.verdict.is_failure() || shows_failure(case, &findings);
    let failing: Vec<&Case> = summary.cases.iter().filter(fails).collect();
    if failing.is_empty() {
        return Ok(());
    }
    folded("Failing executions", out, |out| {
        let (mut shown, mut bytes) = (0, 0);
        for case in failing.iter().take(MOST_CASES) {
            let mut text = Vec::new();
            failing_case(case, labels, &mut text)?;
            bytes += text.len();
            if bytes > MOST_BYTES {
                break;
            }
            out.write_all(&text)?;
            shown += 1;
        }
        match failing.len() - shown {
            0 => Ok(()),
            more => writeln!(out, "… and {} more", grouped(more)),
        }
    })
}

/// Whether a case shows more than warnings.
fn shows_failure(case: &Case, findings: &FindingIndex<'_>) -> bool {
    let mut shown = findings.shown_by(case).into_iter();
    shown.any(|finding| finding.severity == Severity::Fail)
}

fn failing_case(case: &Case, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let faultload = match case.faultload.is_empty() {
        true => "without faults".to_owned(),
        false => code(&labels.faultload(&case.faultload)),
    };
    let ids: Vec<String> = case.findings.iter().map(|id| code(id)).collect();
    writeln!(out, "**{}** {faultload} {}\n", case.number, ids.join(" "))?;
    if let Verdict::Failed { why } = &case.verdict {
        writeln!(out, "{}\n", block(why))?;
    }
    match &case.output {
        Some(output) => writeln!(out, "{}\n", block(last_lines(output))),
        None => Ok(()),
    }
}

fn last_lines(output: &str) -> &str {
    let output = output.trim_end();
    let mut ends = output.rmatch_indices('\n').map(|(at, _)| at + 1);
    &output[ends.nth(MOST_LINES - 1).unwrap_or(0)..]
}

fn what_else(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let all = suggestions(summary);
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### What else to try\n")?;
    for suggestion in &all {
        let what = suggestion.command.as_ref().unwrap_or(&suggestion.modes);
        writeln!(out, "- {}: {}", code(what), text(&suggestion.why))?;
    }
    Ok(())
}

/// A part that is folded away. Renderers want blank lines around what is
/// Markdown inside of HTML.
fn folded(
    title: &str,
    out: &mut dyn Write,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut inside = Vec::new();
    content(&mut inside)?;
    writeln!(out, "\n<details><summary>{title}</summary>\n")?;
    out.write_all(inside.trim_ascii_end())?;
    writeln!(out, "\n\n</details>")
}

//! The result of a test suite as Markdown, for pull requests.

use std::io::{self, Write};

use murphy_suite::{SuiteFinding, SuiteReport};

use super::{headline, meaning, told, verdict};
use crate::markdown::escape;
use crate::redact;

/// Writes the verdict, a table of what was found, and the attempts of each.
pub fn write(report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## Murphy: {}\n", escape::text(&verdict(report)))?;
    writeln!(
        out,
        "{} tests, {} pass without faults; {} faults injected.\n",
        report.suite.tests, report.suite.passing, report.executed.landed
    )?;
    let all = || report.findings.iter().chain(&report.warnings);
    if all().next().is_some() {
        writeln!(out, "| id | what | policies | tests |")?;
        writeln!(out, "|---|---|---|---|")?;
    }
    for finding in all() {
        let policies: Vec<&str> = finding.policy.iter().map(|it| it.name()).collect();
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            escape::cell_code(&finding.id),
            escape::text(&headline(finding)),
            policies.join(", "),
            finding.tests.len()
        )?;
    }
    for finding in all() {
        write_finding(finding, out)?;
    }
    Ok(())
}

fn write_finding(finding: &SuiteFinding, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n### {} {}\n",
        finding.id,
        escape::text(&headline(finding))
    )?;
    writeln!(out, "{}.\n", escape::text(meaning(finding.oracle)))?;
    let mut lines = String::new();
    if !finding.message.is_empty() {
        lines.push_str(&format!("{}\n", redact::text(&finding.message)));
    }
    for rung in &finding.evidence {
        lines.push_str(&format!("attempt {}: {}\n", rung.attempt, told(rung)));
    }
    lines.push_str(&format!("murphy suite replay {}\n", finding.id));
    write!(out, "{}", escape::block(&lines))
}

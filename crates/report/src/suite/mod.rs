//! What people and programs read of a test suite over cloud services.
//!
//! Owns the words for what a [`SuiteReport`] holds: a finding with what failed,
//! what the application saw and the ladder of attempts; what was left out, and
//! why. The JSON form is the report's own.

pub mod junit;
pub mod markdown;

use std::collections::BTreeMap;
use std::io::{self, Write};

use murphy_model::{Mode, Outcome, Phase};
use murphy_suite::{
    Excluded, PlanSummary, Policy, Reason, Rung, SuiteFinding, SuiteOracle, SuiteReport,
};
use serde_json::json;

use crate::redact;

/// So many tests of a finding are named; the others are counted.
const NAMED: usize = 3;

/// The result, for people.
pub fn write(report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    write_tests(report, out)?;
    let executed = &report.executed;
    writeln!(
        out,
        "{} faults injected in {} executions, {} rounds, {}",
        executed.landed,
        executed.cases,
        executed.rounds,
        seconds(executed.wall_ms)
    )?;
    let outcomes = &report.outcomes;
    writeln!(
        out,
        "calls with a fault: {} succeeded in the end, {} were refused by the service, {} failed, {} were given up; {} errors reached the test as they are",
        outcomes.masked,
        outcomes.transformed,
        outcomes.failed,
        outcomes.abandoned,
        report.propagated
    )?;
    for finding in &report.findings {
        writeln!(out)?;
        write_finding(finding, "", out)?;
    }
    // What stands with a bug already is not told twice.
    let is_told = |warning: &&SuiteFinding| {
        let mut findings = report.findings.iter();
        findings.any(|it| it.operation == warning.operation && it.stack == warning.stack)
    };
    for warning in report.warnings.iter().filter(|it| !is_told(it)) {
        writeln!(out)?;
        write_finding(warning, "warning ", out)?;
    }
    writeln!(out)?;
    write_rest(report, out)?;
    writeln!(out, "{}", verdict(report))
}

fn write_tests(report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    let suite = &report.suite;
    let by = match suite.runner.is_empty() {
        true => String::new(),
        false => format!(" ({})", suite.runner),
    };
    let reference = &report.reference;
    writeln!(
        out,
        "{} tests{by}, {} pass without faults; they make {} calls to the cloud from {} places",
        suite.tests, suite.passing, reference.calls, reference.sites
    )
}

/// What is left out, what is assumed, and how that was checked.
fn write_rest(report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    if !report.smells.is_empty() {
        let count = report.smells.len();
        writeln!(
            out,
            "{} made the test pass all the same, without any harm that was seen: {}",
            counted(count, "failed call", "failed calls"),
            list(report.smells.iter().map(place_of).collect())
        )?;
    }
    let suite = &report.suite;
    for (what, tests) in [
        ("fail without faults", &suite.baseline_failures),
        ("fail at times without faults", &suite.flaky),
    ] {
        if !tests.is_empty() {
            writeln!(out, "{what}: {}", tests.join(", "))?;
        }
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for excluded in &report.excluded {
        *reasons.entry(why(excluded)).or_default() += excluded.count;
    }
    if !reasons.is_empty() {
        writeln!(out, "left out:")?;
        for (why, count) in reasons {
            writeln!(out, "  {count:>4}  {why}")?;
        }
    }
    for assumption in &report.assumptions {
        writeln!(out, "assumed: {assumption}")?;
    }
    if let Some(audit) = &report.audit {
        writeln!(
            out,
            "checked: {} of {} places that passed together passed alone",
            audit.agreed, audit.sampled
        )?;
    }
    Ok(())
}

fn verdict(report: &SuiteReport) -> String {
    let stopped = match report.stopped {
        true => "; stopped before everything was run: `--resume` goes on",
        false => "",
    };
    let warnings = match report.warnings.len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "warning", "warnings")),
    };
    match report.findings.len() {
        0 => format!("no bugs found{warnings}{stopped}"),
        count => format!("{}{warnings}{stopped}", counted(count, "bug", "bugs")),
    }
}

/// What came of running a finding once more.
pub fn write_replay(
    finding: &SuiteFinding,
    is_reached: bool,
    is_failure: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let test = &finding.replay.test;
    let result = match (is_reached, is_failure) {
        (false, _) => format!("NOT REACHED: `{test}` made no call that matches"),
        (true, true) => format!("FAILED: `{test}` shows it again"),
        (true, false) => format!("FIXED: the fault was injected, and `{test}` does not show it"),
    };
    writeln!(out, "{}  {}", finding.id, headline(finding))?;
    writeln!(out, "{result}")
}

/// A finding in one line.
pub fn headline(finding: &SuiteFinding) -> String {
    format!("{}: {}", finding.class.name(), place_of(finding))
}

fn place_of(finding: &SuiteFinding) -> String {
    format!("{} at {}", finding.operation, finding.site)
}

fn write_finding(finding: &SuiteFinding, kind: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}  {kind}{}", finding.id, headline(finding))?;
    writeln!(out, "  {}", meaning(finding.oracle))?;
    if let Some(exception) = &finding.exception {
        writeln!(out, "  raised: {}", redact::text(exception))?;
    }
    let shown = match finding.example.is_empty() {
        true => &finding.message,
        false => &finding.example,
    };
    // What these oracles say is all there is; no test failed that could fail again.
    let is_note = matches!(finding.oracle, SuiteOracle::O6 | SuiteOracle::O7);
    if !shown.is_empty() && !is_note {
        writeln!(out, "  failed: {}", redact::text(shown))?;
    }
    for rung in &finding.evidence {
        writeln!(out, "    attempt {}: {}", rung.attempt, told(rung))?;
    }
    if finding.stack.len() > 1 {
        writeln!(out, "  called from {}", finding.stack.join(" < "))?;
    }
    let policies = finding.policy.iter().map(|policy| explained(*policy));
    writeln!(
        out,
        "  seen with {} in {}: {}",
        list(policies.collect()),
        counted(finding.runs, "execution", "executions"),
        tests(finding)
    )?;
    if let Some(reason) = finding.reason {
        writeln!(out, "  only a warning: {}", reason_text(reason))?;
    }
    if !finding.confirmed && !is_note {
        writeln!(out, "  not run alone to confirm it")?;
    }
    writeln!(out, "  again: murphy suite replay {}", finding.id)
}

fn tests(finding: &SuiteFinding) -> String {
    let named: Vec<&str> = finding
        .tests
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect();
    match finding.tests.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn explained(policy: Policy) -> String {
    format!("{} ({})", policy.name(), policy.meaning())
}

/// What an oracle holds against the application, in one sentence.
fn meaning(oracle: SuiteOracle) -> &'static str {
    match oracle {
        SuiteOracle::O1 => {
            "the SDK tried again, the service refused the second attempt, and the test fails"
        }
        SuiteOracle::O2 => {
            "the SDK tried again, the call succeeded, and the test fails all the same"
        }
        SuiteOracle::O3 => "the call failed, and the test fails for something else",
        SuiteOracle::O4 => "the call failed, and its error reached the test unhandled",
        SuiteOracle::O6 => {
            "the second attempt was answered otherwise than the first, whose answer was lost: the effect happened twice, or what was delivered is gone"
        }
        SuiteOracle::O7 => "the call failed, the test passes, and what it writes later differs",
        SuiteOracle::O8 => "the test crashed or did not end",
    }
}

/// One attempt, as the application and the service saw it.
fn told(rung: &Rung) -> String {
    let answered = rung
        .status
        .map(|status| format!("the service answered {status}"));
    match (rung.injected, answered) {
        (None, Some(answered)) => answered,
        (None, None) => match rung.reply {
            Some(reply) => format!("the caller saw {reply}"),
            None => "the test ended first".to_owned(),
        },
        (Some(mode), Some(answered)) => format!("{answered}, and {}", lost(mode)),
        (Some(mode), None) if mode.phase() == Phase::Before => {
            format!("not sent on, and {}", lost(mode))
        }
        (Some(mode), None) => lost(mode),
    }
}

/// What the caller saw instead of an answer.
fn lost(mode: Mode) -> String {
    match mode.outcome() {
        Outcome::Hang => "the caller saw a time-out".to_owned(),
        Outcome::Close => "the connection was closed".to_owned(),
        Outcome::Status(status) => format!("the caller saw {status}"),
        _ => format!("injected {mode}"),
    }
}

fn why(excluded: &Excluded) -> &'static str {
    reason_text(excluded.reason)
}

fn reason_text(reason: Reason) -> &'static str {
    match reason {
        Reason::BaselineFailing => "tests that fail without faults",
        Reason::Flaky => "tests that fail at times without faults",
        Reason::Skipped => "tests that are skipped, or declare that they fail",
        Reason::Phase => {
            "calls in fixtures that tests share, in tear-down or outside tests (`--phases` turns them on)"
        }
        Reason::TestCode => "calls that the tests make themselves",
        Reason::ReferenceError => "faults at calls that the service answers with an error anyway",
        Reason::NotRetried => {
            "faults that come to the same as others, as the call is not tried again"
        }
        Reason::SameAsP1 => "faults that come to the same as p1",
        Reason::EmulatorSuspect => {
            "the request carries an idempotency token: the service would have known it again, the emulator does not"
        }
        Reason::EmulatorDifference => "the emulator is known to answer otherwise than the service",
        Reason::NotConfirmed => "failures that did not show again when the test ran alone",
        Reason::Known => "known findings",
    }
}

/// What would be run, for people.
pub fn write_plan(plan: &PlanSummary, report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    write_tests(report, out)?;
    writeln!(
        out,
        "{} faults to inject with --cover {}, {} of them in one round; about {} rounds, {}",
        plan.cases,
        plan.coverage.name(),
        plan.group_cases,
        plan.rounds,
        seconds(plan.estimate_ms)
    )?;
    for (policy, cases) in &plan.by_policy {
        writeln!(out, "  {cases:>4}  {}", explained(*policy))?;
    }
    write_rest(report, out)
}

/// The same for programs.
pub fn write_plan_json(
    plan: &PlanSummary,
    report: &SuiteReport,
    out: &mut dyn Write,
) -> io::Result<()> {
    let all = json!({
        "suite": report.suite,
        "reference": report.reference,
        "plan": plan,
        "excluded": report.excluded,
    });
    writeln!(out, "{}", serde_json::to_string_pretty(&all)?)
}

/// The result, for programs.
pub fn write_json(report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(report)?;
    writeln!(out, "{}", redact::text(&text))
}

fn list(items: Vec<String>) -> String {
    match &items[..] {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

fn seconds(ms: u64) -> String {
    match ms {
        0..60_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
    }
}

//! JUnit XML, for whatever shows test results of a build.
//!
//! Owns what is a failure to a build: a suite is a scenario, a case an
//! execution under a faultload. A case fails if it shows a finding that no
//! baseline excuses and that is more than a warning; one whose faults were
//! never injected, or whose findings are all known, is skipped, because it says nothing
//! for or against the build. The format knows no warnings: they are in what a
//! case printed.

use std::io::{self, Write};

use murphy_model::{Fault, Finding, Severity, Verdict};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::label::Labels;
use crate::summary::FindingIndex;
use crate::wording::{self, Claim};
use crate::{Case, Summary, redact, unseen};

/// Of what a case printed, the end says most; more than this is left out.
const MOST_OUTPUT: usize = 16 * 1024;

/// Writes the executions of a campaign as one suite.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let labels = Labels::new(&summary.points);
    let mut suite = TestSuite::new(xml(&summary.scenario));
    suite.set_time(summary.timing.total);
    for (name, value) in properties(summary) {
        suite.add_property(Property::new(name, xml(&value)));
    }
    let campaign = Campaign {
        summary,
        labels: &labels,
        findings: FindingIndex::new(&summary.findings),
        fails: summary.fails(),
    };
    for case in &summary.cases {
        suite.add_test_case(test_case(case, &campaign));
    }
    let mut report = Report::new("murphy");
    report.set_time(summary.timing.total);
    report.add_test_suite(suite);
    report.serialize(&mut *out).map_err(io::Error::other)
}

/// What is looked up for every case, and found out once.
struct Campaign<'s> {
    summary: &'s Summary,
    labels: &'s Labels,
    findings: FindingIndex<'s>,
    /// Whether the build fails.
    fails: bool,
}

fn properties(summary: &Summary) -> Vec<(&'static str, String)> {
    let claim = Claim::of(&summary.certificate);
    let mut properties = vec![
        ("strategy", summary.strategy.clone()),
        ("modes", summary.modes.join(",")),
        ("seed", summary.seed.to_string()),
        ("explored", summary.certificate.explored.to_string()),
        ("certificate", format!("{}: {}", claim.title, claim.text)),
    ];
    if !summary.masked.is_empty() {
        properties.push(("masked", summary.masked.join("; ")));
    }
    let besides = wording::besides(&summary.besides);
    properties.extend(besides.map(|besides| ("besides", besides)));
    let labels = Labels::new(&summary.points);
    let flags = summary.certificate.flags.iter();
    properties.extend(flags.map(|flag| ("doubt", wording::flag(flag, &labels))));
    properties.extend(summary.solo.clone().map(|why| ("solo", why)));
    properties
}

fn test_case(case: &Case, campaign: &Campaign<'_>) -> TestCase {
    let name = match case.faultload.is_empty() {
        true => "no faults".to_owned(),
        false => campaign.labels.faultload(&case.faultload),
    };
    let shown = campaign.findings.shown_by(case);
    let mut test = TestCase::new(xml(&name), status(case, &shown, campaign));
    test.set_classname(xml(&campaign.summary.scenario));
    test.set_time(case.took);
    if let Some(text) = printed(case, &shown, campaign) {
        test.set_system_out(xml(&text));
    }
    test
}

/// The warnings about a case, and the end of what it printed.
fn printed(case: &Case, shown: &[&Finding], campaign: &Campaign<'_>) -> Option<String> {
    let is_warning = |finding: &&Finding| finding.severity == Severity::Warn;
    let warnings: Vec<&Finding> = shown.iter().copied().filter(is_warning).collect();
    let warnings = (!warnings.is_empty()).then(|| description(&warnings, campaign));
    let output = case.output.as_deref().map(end_of);
    match (warnings, output) {
        (Some(warnings), Some(output)) => Some(format!("{warnings}\n\n{output}")),
        (warnings, output) => warnings.or(output.map(str::to_owned)),
    }
}

fn status(case: &Case, shown: &[&Finding], campaign: &Campaign<'_>) -> TestCaseStatus {
    let summary = campaign.summary;
    let (news, others): (Vec<&Finding>, Vec<&Finding>) =
        shown.iter().partition(|finding| summary.fails_by(finding));
    if let Some(first) = news.first() {
        return failed(
            &first.summary,
            first.class.name(),
            &description(&news, campaign),
        );
    }
    let known = others.iter().filter(|f| f.severity == Severity::Fail);
    let known: Vec<String> = known.filter_map(|f| excuse(f, summary)).collect();
    match &case.verdict {
        _ if !known.is_empty() => skipped(&known.join("; ")),
        // Nothing is known of it but that it failed; what fails no build fails
        // no case either.
        Verdict::Failed { why } if case.findings.is_empty() && campaign.fails => {
            failed(why, "failed", why)
        }
        Verdict::NotExercised { missing } => skipped(&never_injected(missing, campaign.labels)),
        Verdict::Passed | Verdict::Refused { .. } | Verdict::Failed { .. } => {
            TestCaseStatus::success()
        }
    }
}

fn failed(message: &str, kind: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let message = message.lines().next().unwrap_or_default();
    status.set_message(xml(message));
    status.set_type(kind);
    status.set_description(xml(description));
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(xml(message));
    status
}

/// Every one of these findings, with its smallest faultload and how to replay
/// it.
fn description(findings: &[&Finding], campaign: &Campaign<'_>) -> String {
    let mut lines = Vec::new();
    for finding in findings {
        let severity = match finding.severity {
            Severity::Fail => "",
            Severity::Warn => "warning ",
        };
        lines.push(format!(
            "{severity}{} {}: {}",
            finding.id,
            finding.class.name(),
            finding.summary
        ));
        let smallest = campaign.labels.faultload(&finding.faultload);
        lines.push(format!("  smallest faultload: {smallest}"));
        lines.extend(
            campaign
                .summary
                .replay(finding)
                .map(|replay| format!("  replay: {replay}")),
        );
    }
    lines.join("\n")
}

fn excuse(finding: &Finding, summary: &Summary) -> Option<String> {
    let reason = summary.excuse(&finding.id)?;
    Some(format!("known: {} ({reason})", finding.id))
}

fn never_injected(missing: &[Fault], labels: &Labels) -> String {
    let faults: Vec<String> = missing.iter().map(|fault| labels.fault(fault)).collect();
    format!("not exercised: {} not injected", faults.join(", "))
}

/// Text for XML: without colours and secrets, and without the two characters that no XML
/// can hold and the writer lets through.
pub(crate) fn xml(text: &str) -> String {
    let text = redact::text(&redact::plain(text)).replace(['\u{fffe}', '\u{ffff}'], "");
    unseen::escaped(&text).into_owned()
}

fn end_of(output: &str) -> &str {
    let mut start = output.len().saturating_sub(MOST_OUTPUT);
    while !output.is_char_boundary(start) {
        start += 1;
    }
    &output[start..]
}

//! JUnit XML, for whatever shows test results of a build.
//!
//! Owns what is a failure to a build: a suite is a scenario, a case an
//! execution under a faultload. A case fails if it shows a finding that no
//! baseline excuses; one whose faults never struck, or whose findings are all
//! known, is skipped, because it says nothing for or against the build.

use std::io::{self, Write};

use murphy_model::{Fault, Finding, Verdict};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::label::Labels;
use crate::wording::Claim;
use crate::{Case, Summary, redact};

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
    for case in &summary.cases {
        suite.add_test_case(test_case(case, summary, &labels));
    }
    let mut report = Report::new("murphy");
    report.set_time(summary.timing.total);
    report.add_test_suite(suite);
    report.serialize(&mut *out).map_err(io::Error::other)
}

fn properties(summary: &Summary) -> Vec<(&'static str, String)> {
    let claim = Claim::of(&summary.certificate);
    vec![
        ("strategy", summary.strategy.to_owned()),
        ("modes", summary.modes.join(",")),
        ("seed", summary.seed.to_string()),
        ("explored", summary.certificate.explored.to_string()),
        ("certificate", format!("{}: {}", claim.title, claim.text)),
    ]
}

fn test_case(case: &Case, summary: &Summary, labels: &Labels) -> TestCase {
    let name = match case.faultload.is_empty() {
        true => "no faults".to_owned(),
        false => labels.faultload(&case.faultload),
    };
    let mut test = TestCase::new(xml(&name), status(case, summary, labels));
    test.set_classname(xml(&summary.scenario));
    test.set_time(case.took);
    if let Some(output) = &case.output {
        test.set_system_out(xml(end_of(output)));
    }
    test
}

fn status(case: &Case, summary: &Summary, labels: &Labels) -> TestCaseStatus {
    let shows = |finding: &&Finding| case.findings.contains(&finding.id);
    let news: Vec<&Finding> = summary.news().filter(shows).collect();
    if let Some(first) = news.first() {
        return failed(
            &first.summary,
            first.class.name(),
            &description(&news, summary, labels),
        );
    }
    match &case.verdict {
        Verdict::Failed { why } if case.findings.is_empty() => failed(why, "failed", why),
        _ if !case.findings.is_empty() => skipped(&known(case, summary)),
        Verdict::NotExercised { missing } => skipped(&never_struck(missing, labels)),
        Verdict::Passed | Verdict::Failed { .. } => TestCaseStatus::success(),
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

/// Every finding that the case shows, with its smallest faultload and how to
/// replay it.
fn description(news: &[&Finding], summary: &Summary, labels: &Labels) -> String {
    let mut lines = Vec::new();
    for finding in news {
        lines.push(format!(
            "{} {}: {}",
            finding.id,
            finding.class.name(),
            finding.summary
        ));
        let smallest = labels.faultload(&finding.faultload);
        lines.push(format!("  smallest faultload: {smallest}"));
        lines.extend(
            summary
                .replay(finding)
                .map(|replay| format!("  replay: {replay}")),
        );
    }
    lines.join("\n")
}

fn known(case: &Case, summary: &Summary) -> String {
    let reason = |id: &String| match summary.excuse(id) {
        Some(reason) => format!("known: {id} ({reason})"),
        None => format!("known: {id}"),
    };
    let reasons: Vec<String> = case.findings.iter().map(reason).collect();
    reasons.join("; ")
}

fn never_struck(missing: &[Fault], labels: &Labels) -> String {
    let faults: Vec<String> = missing.iter().map(|fault| labels.fault(fault)).collect();
    format!("not exercised: {} never struck", faults.join(", "))
}

/// Text for XML: without colours and secrets, and without the two characters that no XML
/// can hold and the writer lets through.
fn xml(text: &str) -> String {
    redact::text(&redact::plain(text)).replace(['\u{fffe}', '\u{ffff}'], "")
}

fn end_of(output: &str) -> &str {
    let mut start = output.len().saturating_sub(MOST_OUTPUT);
    while !output.is_char_boundary(start) {
        start += 1;
    }
    &output[start..]
}

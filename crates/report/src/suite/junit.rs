//! The result of a test suite as JUnit XML: a case for every bug, which fails,
//! and one that passes where there is none.

use std::io::{self, Write};

use murphy_suite::{SuiteFinding, SuiteReport};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{headline, meaning, told};
use crate::junit::xml;

/// Writes one suite.
pub fn write(report: &SuiteReport, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new("murphy suite");
    for finding in &report.findings {
        suite.add_test_case(failed(finding));
    }
    if report.findings.is_empty() {
        let name = format!("{} faults injected, no bug", report.executed.landed);
        suite.add_test_case(TestCase::new(name, TestCaseStatus::success()));
    }
    let mut all = Report::new("murphy");
    all.add_test_suite(suite);
    all.serialize(&mut *out).map_err(io::Error::other)
}

fn failed(finding: &SuiteFinding) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(finding.class.name());
    status.set_message(xml(meaning(finding.oracle)));
    let rungs = finding.evidence.iter();
    let ladder = rungs.map(|rung| format!("attempt {}: {}", rung.attempt, told(rung)));
    let lines = std::iter::once(finding.message.clone())
        .chain(ladder)
        .chain([format!("murphy suite replay {}", finding.id)]);
    status.set_description(xml(&lines.collect::<Vec<_>>().join("\n")));
    let name = format!("{} {}", finding.id, headline(finding));
    let mut case = TestCase::new(xml(&name), status);
    case.set_classname("murphy suite");
    case
}

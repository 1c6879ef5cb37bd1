//! What JUnit and Markdown show of a campaign, word for word, and what JSON
//! says of how calls were identified.
//!
//! The campaign has a bit of everything: a new finding and a known one, a case
//! that was not exercised, texts that mean something in XML or Markdown, and a
//! secret that must not get through.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{
    Audit, Besides, BugClass, Certificate, Edge, EdgeProfile, Fault, Faultload, Finding, Flag,
    Incomplete, Point, Severity, Skips, Trace, Verdict,
};
use murphy_report::{Case, Known, Summary, Timing, json, junit, markdown, terminal};
use quick_junit::{Report, TestCaseStatus};

const CART: &str = "shop POST /checkout > cart GET /cart|all";
const PAY: &str = "shop POST /checkout > pay POST /pay";
const BODY: &str = "{body=00000000000000000000000000000001}";

fn point(text: &str) -> Point {
    format!("{text} {BODY}").parse().unwrap()
}

fn fault(text: &str, mode: &str) -> Fault {
    Fault::at(point(text), mode.parse().unwrap())
}

fn faultload(faults: &[(&str, &str)]) -> Faultload {
    let faults = faults.iter().map(|(point, mode)| fault(point, mode));
    Faultload::new(faults).unwrap()
}

/// An edge on which one attempt was followed by another.
fn retried(caller: &str, callee: &str) -> EdgeProfile {
    EdgeProfile {
        edge: Edge {
            caller: Some(caller.parse().unwrap()),
            callee: callee.parse().unwrap(),
        },
        calls: 6,
        failed: 2,
        attempts: 2,
        backoff: None,
        timeout: None,
        recovered: 1,
        fallbacks: 0,
        propagated: 0,
        hedged: 0,
    }
}

fn finding(id: &str, summary: &str, faultload: Faultload) -> Finding {
    Finding {
        id: id.to_owned(),
        severity: Severity::Fail,
        class: BugClass::NoHandling,
        oracle: "scenario".into(),
        faultload,
        summary: summary.to_owned(),
        edge: None,
        execution: 2,
        shown: Arc::default(),
        seen: 2,
        also: Vec::new(),
    }
}

fn case(number: usize, faults: &[(&str, &str)], verdict: Verdict, findings: &[&str]) -> Case {
    Case {
        number,
        faultload: faultload(faults),
        verdict,
        took: Duration::from_millis(12),
        findings: findings.iter().map(|id| (*id).to_owned()).collect(),
        output: None,
    }
}

fn failed(why: &str) -> Verdict {
    Verdict::Failed {
        why: why.to_owned(),
    }
}

fn certificate() -> Certificate {
    Certificate {
        points: 2,
        conditional: 0,
        space: 9_u32.into(),
        explored: 5,
        considered: 6,
        pruned: BTreeMap::new(),
        skips: Some(Skips {
            possible: 8_u32.into(),
            by_policy: [
                ("bound".into(), 0_u32.into()),
                ("exclusion".into(), 4_u32.into()),
            ]
            .into(),
        }),
        not_exercised: 1,
        speculative: 0,
        bound: None,
        incomplete: None,
        assumptions: vec!["services answer alike".to_owned()],
        flags: vec![Flag::Ambiguous {
            at: point(PAY),
            execution: 3,
        }],
        audit: Some(Audit {
            sampled: 3,
            agreed: 3,
            unpredicted: 0,
            disagreed: Vec::new(),
        }),
        minimal: None,
    }
}

fn summary() -> Summary {
    let mut shown = case(
        2,
        &[(CART, "503")],
        failed("got <500> & \"x\""),
        &["M-aa0001"],
    );
    shown.output =
        Some("GET /cart?token=s3cr3t\n\u{1b}[31mred\u{1b}[0m \u{1}]]>\n```\n".to_owned());
    let missing = vec![fault(PAY, "reset")];
    Summary {
        scenario: "check_out".to_owned(),
        about: "buys something".to_owned(),
        strategy: "tree".to_owned(),
        modes: vec!["503".to_owned(), "reset".to_owned()],
        seed: 7,
        certificate: certificate(),
        reasons: [("exclusion", "the call is not made")].into(),
        findings: vec![
            finding("M-aa0001", "got <500> | `x`", faultload(&[(CART, "503")])),
            finding("M-bb0002", "paid twice", faultload(&[(PAY, "503")])),
        ],
        failed_executions: 2,
        reference: Trace::default(),
        points: vec![point(CART), point(PAY)],
        timing: Timing {
            total: Duration::from_millis(1500),
            reference: Duration::from_millis(10),
        },
        profile: vec![retried("shop POST /checkout", "pay POST /pay")],
        explain_command: "murphy explain".to_owned(),
        explain_ending: " -- pytest -q".to_owned(),
        rerun_command: "murphy run".to_owned(),
        declared_in: String::new(),
        replay_command: Some("murphy replay".to_owned()),
        cases: vec![
            case(1, &[], Verdict::Passed, &[]),
            shown,
            case(3, &[(PAY, "503")], failed("paid twice"), &["M-bb0002"]),
            case(4, &[(CART, "reset")], Verdict::Passed, &[]),
            case(
                5,
                &[(CART, "reset"), (PAY, "reset")],
                Verdict::NotExercised { missing },
                &[],
            ),
        ],
        known: Some(Known {
            file: "murphy-baseline.toml".to_owned(),
            reasons: [("M-bb0002".to_owned(), "fixed in v2".to_owned())].into(),
            through: Default::default(),
            expired: Vec::new(),
            other_modes: Default::default(),
            stale: vec!["M-cc0003".to_owned()],
        }),
        masked: vec!["`token=s3cr3t` in what is sent: differs".to_owned()],
        solo: Some("no trace context arrives with the calls to pay".to_owned()),
        besides: Besides::default(),
        injected: true,
        broken: None,
    }
}

fn written(
    write: impl FnOnce(&Summary, &mut dyn std::io::Write) -> std::io::Result<()>,
    summary: &Summary,
) -> String {
    let mut out = Vec::new();
    write(summary, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn junit_shows_a_suite_of_faultloads() {
    let expected = include_str!("expected/junit.xml");
    let text = written(junit::write, &summary());
    assert_eq!(text, expected);
}

/// Read back by a parser, so that escaping is checked by someone else.
#[test]
fn junit_is_well_formed_and_says_what_was_meant() {
    let text = written(junit::write, &summary());
    let report = Report::deserialize_from_str(&text).unwrap();
    let suite = &report.test_suites[0];
    assert_eq!((suite.tests, suite.failures, suite.skipped), (5, 1, 2));
    let status = |case: &quick_junit::TestCase| match &case.status {
        TestCaseStatus::Success { .. } => "passed".to_owned(),
        TestCaseStatus::NonSuccess { message, .. } => message.as_ref().unwrap().as_str().to_owned(),
        TestCaseStatus::Skipped { message, .. } => message.as_ref().unwrap().as_str().to_owned(),
    };
    let statuses: Vec<String> = suite.test_cases.iter().map(status).collect();
    assert_eq!(
        statuses,
        [
            "passed",
            "got <500> | `x`",
            "known: M-bb0002 (fixed in v2)",
            "passed",
            "not exercised: shop POST /checkout > pay POST /pay = reset not injected",
        ]
    );
    // The parser takes off white space at the ends.
    let output = suite.test_cases[1].system_out.as_ref().unwrap().as_str();
    assert_eq!(output, "GET /cart?token=[redacted]\nred ]]>\n```");
}

/// What the exit code lets pass, no report may call a failure.
#[test]
fn warnings_are_told_and_fail_nothing() {
    let mut summary = summary();
    summary.known = None;
    for finding in &mut summary.findings {
        finding.severity = Severity::Warn;
    }
    summary.cases[3].findings.push("M-bb0002".to_owned());
    // Failed, and none of the findings is about it.
    summary.cases[2].findings.clear();
    assert!(!summary.fails());
    let report = Report::deserialize_from_str(&written(junit::write, &summary)).unwrap();
    let suite = &report.test_suites[0];
    assert_eq!((suite.failures, suite.skipped), (0, 1));
    let said = |case: usize| suite.test_cases[case].system_out.as_ref().unwrap().as_str();
    assert_eq!(
        said(1),
        "warning M-aa0001 no-handling: got <500> | `x`
  smallest faultload: shop POST /checkout > cart GET /cart|all = 503
  replay: murphy replay M-aa0001

GET /cart?token=[redacted]\nred ]]>\n```"
    );
    assert!(said(3).starts_with("warning M-bb0002"), "{}", said(3));
    let text = written(markdown::write, &summary);
    let title = "## Murphy: check\\_out: ✅ No findings, 2 warnings in 5 executions\n";
    assert!(text.starts_with(title), "{text}");
    assert!(text.contains("| `M-aa0001` **warning** no-handling |"));
    assert!(
        !text.contains("**4** `"),
        "a warning is no failing execution"
    );
}

#[test]
fn a_failure_among_warnings_is_distinguished() {
    let mut summary = summary();
    summary.known = None;
    summary.findings[1].severity = Severity::Warn;
    assert!(summary.fails());
    let text = written(junit::write, &summary);
    let report = Report::deserialize_from_str(&text).unwrap();
    assert_eq!(report.test_suites[0].failures, 1);
    let text = written(markdown::write, &summary);
    let title = "## Murphy: check\\_out: ❌ 1 finding, 1 warning in 5 executions\n";
    assert!(text.starts_with(title), "{text}");
}

#[test]
fn json_says_how_calls_were_identified_and_how_grave_a_finding_is() {
    let mut summary = summary();
    summary.findings[1].severity = Severity::Warn;
    let text = written(json::write, &summary);
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        object["masked"],
        serde_json::json!(["`token=[redacted]` in what is sent: differs"])
    );
    assert_eq!(
        object["solo"],
        "no trace context arrives with the calls to pay"
    );
    let severities = [0, 1].map(|i| object["findings"][i]["severity"].clone());
    assert_eq!(severities, ["fail", "warn"]);
    summary.solo = None;
    let text = written(json::write, &summary);
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(object["solo"].is_null());
}

#[test]
fn junit_holds_whatever_was_printed() {
    let mut summary = summary();
    let all: String = (0..0x1_0000_u32).filter_map(char::from_u32).collect();
    summary.scenario = all.clone();
    summary.cases[1].output = Some(all.clone());
    summary.cases[1].verdict = failed(&all);
    summary.cases[1].findings.clear();
    let text = written(junit::write, &summary);
    Report::deserialize_from_str(&text).unwrap();
    // A second opinion, where there is one to be had.
    let parse = "import sys, xml.etree.ElementTree as t; t.parse(sys.stdin.buffer)";
    let python = std::process::Command::new("python3")
        .args(["-c", parse])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let Ok(mut python) = python else {
        return;
    };
    use std::io::Write;
    python
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let done = python.wait_with_output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn markdown_tells_the_verdict_first_and_folds_the_rest_away() {
    let expected = include_str!("expected/summary.md");
    assert_eq!(written(markdown::write, &summary()), expected);
}

#[test]
fn markdown_of_a_campaign_without_findings_is_short() {
    let mut summary = summary();
    summary.findings.clear();
    summary.cases.clear();
    summary.profile.clear();
    summary.known = None;
    (summary.masked, summary.solo) = (Vec::new(), None);
    summary.certificate = Certificate {
        skips: None,
        incomplete: Some(Incomplete::Stopped { waiting: 2 }),
        assumptions: Vec::new(),
        flags: Vec::new(),
        audit: None,
        minimal: None,
        ..certificate()
    };
    let text = written(markdown::write, &summary);
    let expected = include_str!("expected/no-findings.md");
    assert_eq!(text, expected);
}

#[test]
fn markdown_stays_within_what_a_job_may_show() {
    let mut summary = summary();
    let one = summary.cases[1].clone();
    let line = format!("{}\n", "x".repeat(3_000));
    summary.cases = (0..60)
        .map(|number| Case {
            number,
            output: Some(line.repeat(25)),
            ..one.clone()
        })
        .collect();
    let text = written(markdown::write, &summary);
    assert!(text.len() < 400_000, "{} bytes", text.len());
    assert!(text.contains("x…\n"), "long lines are cut");
    let shown = text.matches("**\u{20}`").count();
    let more = text.split("… and ").nth(1).unwrap();
    let more: usize = more.split(' ').next().unwrap().parse().unwrap();
    assert!(more >= 10 && shown + more >= 60, "{shown} and {more}");
}

/// A campaign in which so many executions fail, each with a finding of its own
/// and a warning.
fn many_findings(count: usize) -> Summary {
    let mut summary = summary();
    summary.known = None;
    let ids = |at: usize| [format!("M-{at:06}"), format!("W-{at:06}")];
    let both = |at: usize| {
        let [id, warning] = ids(at);
        let fails = finding(&id, "got 500", faultload(&[(CART, "503")]));
        let warns = Finding {
            severity: Severity::Warn,
            ..finding(&warning, "made again", faultload(&[(CART, "503")]))
        };
        [fails, warns]
    };
    summary.findings = (0..count).flat_map(both).collect();
    let case = |at: usize| Case {
        findings: ids(at).into(),
        ..case(at + 1, &[(CART, "503")], failed("got 500"), &[])
    };
    summary.cases = (0..count).map(case).collect();
    summary
}

/// Compared with itself, so that a slow machine fails nothing: four times the
/// findings take four times as long, and sixteen times where each execution
/// is compared with every finding.
#[test]
fn junit_takes_time_in_proportion_to_the_findings() {
    let fastest = |summary: &Summary| {
        let time = |_| {
            let began = std::time::Instant::now();
            written(junit::write, summary);
            began.elapsed()
        };
        (0..3).map(time).min().unwrap()
    };
    let few = fastest(&many_findings(2_500));
    let many = fastest(&many_findings(10_000));
    assert!(many < few * 8, "{few:?} for 2,500 and {many:?} for 10,000");
}

/// What fails the build is always told; of what only warns, the first of every
/// kind. One other kind after 602 of one kind must not get lost.
#[test]
fn at_most_twenty_warnings_of_one_kind_are_printed() {
    let mut summary = summary();
    summary.known = None;
    let warning = |oracle: &'static str, at: usize| Finding {
        severity: Severity::Warn,
        oracle: oracle.into(),
        ..finding(
            &format!("W-{oracle}-{at}"),
            "made again",
            faultload(&[(&format!("shop POST /checkout > cart GET /{at}"), "503")]),
        )
    };
    let many = (0..602).map(|at| warning("retry-at-once", at));
    let failures = (0..25).map(|at| finding(&format!("M-{at}"), "got 500", Faultload::none()));
    let other = warning("wrong-status", 0);
    summary.findings = failures.chain(many).chain([other]).collect();
    let twins = (0..602).map(|execution| Flag::Twins {
        at: point(CART),
        execution,
    });
    let late = Flag::Late { calls: 3 };
    summary.certificate.flags = twins.chain([late]).collect();
    for (name, text) in [
        ("terminal", written(terminal::write, &summary)),
        ("markdown", written(markdown::write, &summary)),
    ] {
        let lines = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        assert!(
            text.contains("… and 582 more warnings of `retry-at-once`"),
            "{name}: {text}"
        );
        assert!(text.contains("W-retry-at-once-19") && !text.contains("W-retry-at-once-20"));
        assert!(
            text.contains("W-wrong-status-0") && text.contains("M-24"),
            "{name}"
        );
        assert_eq!(lines("was made several times at once"), 20, "{name}");
        assert_eq!(lines("3 calls arrived after"), 1, "{name}");
        assert_eq!(lines("… and 582 more"), 2, "{name}: {text}");
    }
}

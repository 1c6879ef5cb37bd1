//! What a run shows on a screen, word for word: one scenario with one finding,
//! and three with twelve, on a narrow and on a wide terminal.
//!
//! `UPDATE_EXPECTED=1` writes the texts anew.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{
    Besides, BugClass, Call, CallId, Certificate, Faultload, Finding, Flag, Incomplete, Point,
    Reply, Severity, Shown, Trace, Verdict,
};
use murphy_report::terminal::{self, Detail, RunResult};
use murphy_report::{Case, Summary, Timing};

const WHY: &str = "AssertionError: expected the order to be confirmed, but the shop answered 500: {\"error\": \"cart is None\"}\nFAILED tests/test_checkout.py::test_buys";

fn call(point: &Point, parent: Option<u32>, status: u16) -> Call {
    Call {
        point: point.clone(),
        parent: parent.map(CallId),
        arrived: 0,
        finished: Some(1),
        reply: Some(Reply::Status(status)),
        injected: None,
        body: None,
    }
}

/// A test of five requests; the call at `point` failed below the third.
fn trace(point: &Point, faultload: &Faultload, answer: u16) -> Trace {
    let mut calls = Vec::new();
    for number in 1..=5 {
        let entry: Point = format!("shop GET /health #{number}").parse().unwrap();
        match number {
            3 => {
                let buys = point.parent().expect("a call of the shop").clone();
                let at = calls.len() as u32;
                calls.push(call(&buys, None, answer));
                for sku in 1..=14 {
                    let price = format!("{buys} > price GET /price #{sku}");
                    calls.push(call(&price.parse().unwrap(), Some(at), 200));
                }
                let mut failed = call(point, Some(at), 503);
                failed.injected = faultload.faults().next();
                calls.push(failed);
            }
            _ => calls.push(call(&entry, None, 200)),
        }
    }
    Trace::new(calls)
}

fn finding(id: usize, point: &str, class: BugClass, severity: Severity) -> Finding {
    let point: Point = point.parse().unwrap();
    let faultload: Faultload = format!("{point} = 503").parse().unwrap();
    let answer = if class == BugClass::NoHandling {
        500
    } else {
        200
    };
    Finding {
        id: format!("M-{id:06}"),
        severity,
        class,
        oracle: "scenario".into(),
        summary: WHY.to_owned(),
        edge: Some(point.clone()),
        execution: 1 + id,
        shown: Arc::new(Shown {
            trace: trace(&point, &faultload, answer),
            details: Vec::new(),
        }),
        faultload,
        seen: 4,
        also: vec![format!("{point} = reset").parse().unwrap()],
    }
}

fn scenario(name: &str, findings: Vec<Finding>, incomplete: Option<Incomplete>) -> Summary {
    let cases = findings.iter().map(|finding| Case {
        number: finding.execution,
        faultload: finding.faultload.clone(),
        verdict: Verdict::Failed {
            why: WHY.to_owned(),
        },
        took: Duration::from_millis(420),
        findings: vec![finding.id.clone()],
        output: Some(
            (0..40)
                .map(|line| format!("line {line} of the test\n"))
                .collect(),
        ),
    });
    Summary {
        scenario: name.to_owned(),
        about: format!("pytest -q tests/test_{name}.py"),
        strategy: "tree".to_owned(),
        modes: vec!["503".to_owned(), "reset".to_owned()],
        seed: 0,
        certificate: Certificate {
            points: 6,
            conditional: 1,
            space: 4096_u32.into(),
            explored: 37,
            considered: 60,
            pruned: BTreeMap::new(),
            skips: None,
            not_exercised: 0,
            speculative: 0,
            bound: None,
            flags: incomplete
                .iter()
                .map(|_| Flag::Uncalled {
                    service: "mail".to_owned(),
                })
                .collect(),
            incomplete,
            assumptions: vec!["services answer alike".to_owned()],
            audit: None,
            minimal: None,
        },
        reasons: BTreeMap::new(),
        failed_executions: 4,
        reference: Trace::default(),
        points: Vec::new(),
        timing: Timing {
            total: Duration::from_millis(15_540),
            reference: Duration::from_millis(420),
        },
        profile: Vec::new(),
        explain_command: "murphy explain".to_owned(),
        explain_ending: String::new(),
        rerun_command: format!("murphy run {name}"),
        declared_in: format!("[scenario.{name}]"),
        replay_command: Some("murphy replay".to_owned()),
        cases: cases.collect(),
        known: None,
        masked: Vec::new(),
        solo: None,
        besides: Besides::default(),
        injected: true,
        broken: None,
        findings,
    }
}

fn one() -> Vec<RunResult> {
    let cart = "shop POST /checkout > cart GET /cart";
    let findings = vec![finding(1, cart, BugClass::NoHandling, Severity::Fail)];
    let only = scenario("checkout", findings, Some(Incomplete::Uncalled));
    vec![RunResult::Ran(Box::new(only))]
}

/// Eleven call sites, one of which two scenarios show, and three warnings.
fn twelve() -> Vec<RunResult> {
    let at = |number: usize| format!("shop POST /checkout > service-{number} GET /");
    let failing = |number| finding(number, &at(number), BugClass::NoHandling, Severity::Fail);
    let silent = |number| finding(number, &at(1), BugClass::SilentViolation, Severity::Fail);
    let warning = |number| finding(number, &at(number), BugClass::NoHandling, Severity::Warn);
    let mut first: Vec<Finding> = (1..=10).map(failing).collect();
    first.push(silent(11));
    first.extend((12..=16).map(warning));
    let again = finding(20, &at(1), BugClass::NoHandling, Severity::Fail);
    let other = finding(
        21,
        "shop GET /list > stock GET /",
        BugClass::NoHandling,
        Severity::Fail,
    );
    vec![
        RunResult::Ran(Box::new(scenario("checkout", first, None))),
        RunResult::Ran(Box::new(scenario(
            "browse",
            vec![again, other],
            Some(Incomplete::Late),
        ))),
        RunResult::NotRun {
            scenario: "refund".to_owned(),
            why: "it is flaky: it fails at times without any fault".to_owned(),
        },
    ]
}

fn written(results: &[RunResult], detail: Detail, width: usize) -> String {
    let mut out = Vec::new();
    terminal::write_run(results, detail, width, &mut out).unwrap();
    let text = anstream::adapter::strip_bytes(&out).into_vec();
    String::from_utf8(text).unwrap()
}

fn check(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, expected, "{name}");
}

#[test]
fn one_and_twelve_findings_on_a_narrow_and_on_a_wide_terminal() {
    for width in [80, 140] {
        for (name, results) in [("one", one()), ("twelve", twelve())] {
            let text = written(&results, Detail::Usual, width);
            check(&format!("screen-{name}-{width}.txt"), &text);
            // What must be copied is never broken; everything else keeps the border.
            let is_whole = |line: &str| {
                ["when ", "explain: ", "shop ", "M-"]
                    .iter()
                    .any(|it| line.trim().starts_with(it))
            };
            for line in text.lines().filter(|line| !is_whole(line)) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            assert!(text.lines().count() <= 50, "{}", text.lines().count());
        }
    }
}

#[test]
fn no_finding_has_more_than_thirty_lines() {
    let text = written(&one(), Detail::Usual, 80);
    let findings = text.split("\nFindings\n").nth(1).unwrap();
    let finding = findings.split("\n\n").next().unwrap();
    assert!(finding.lines().count() <= 30, "{finding}");
    assert!(
        finding.contains("cart GET /cart  503  injected"),
        "{finding}"
    );
    assert!(finding.contains("4 other requests"), "{finding}");
}

#[test]
fn quietly_there_are_two_lines_for_each_finding() {
    let text = written(&twelve(), Detail::Quiet, 80);
    assert_eq!(text.lines().count(), 2 * 17 + 1, "{text}");
    assert!(text.ends_with("12 findings, 5 warnings in 74 executions of 3 scenarios\n"));
}

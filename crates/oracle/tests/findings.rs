//! What the collection of findings promises: only minimal faultloads, every
//! one of them, merged by target and complaint, whatever the order of judging.
//! Without the merge the table below would show one finding per mode; without
//! minimality one per failing execution.

use std::sync::Arc;
use std::time::Duration;

use murphy_model::{
    BugClass, Call, CallId, Execution, Fault, Faultload, Finding, Frame, Interface, Mode, Observed,
    Point, Reply, Severity, Trace, Verdict,
};
use murphy_oracle::{Findings, Settings};
use proptest::prelude::*;

fn entry() -> Point {
    Point::entry(Frame::new("shop", Interface::http("GET", "/")))
}

fn callee(name: &str) -> Point {
    entry().child(Frame::new(name, Interface::http("GET", "/")))
}

fn fault((name, status): (&str, u16)) -> Fault {
    Fault::at(callee(name), Mode::status(status))
}

fn call(point: Point, parent: Option<u32>, reply: u16, injected: Option<Fault>) -> Call {
    Call {
        point,
        parent: parent.map(CallId),
        arrived: 0,
        finished: Some(1),
        reply: Some(Reply::Status(reply)),
        injected,
        body: None,
    }
}

/// An execution in which `planned` was planned and `injected` was injected.
fn execution(
    planned: &[Fault],
    injected: &[Fault],
    reply: u16,
    word: Result<(), &str>,
) -> Execution {
    let mut calls = vec![call(entry(), None, reply, None)];
    for fault in injected {
        let murphy_model::Target::Call(point) = &fault.target else {
            unreachable!("only calls are injected here")
        };
        calls.push(call(point.clone(), Some(0), 500, Some(fault.clone())));
    }
    let trace = Trace::new(calls);
    let faultload = Faultload::new(planned.iter().cloned()).unwrap();
    let verdict = Verdict::of(word.map_err(str::to_owned), &faultload, &trace);
    Execution {
        faultload,
        trace,
        verdict,
    }
}

fn failing(faults: &[(&str, u16)], why: &str) -> Execution {
    let faults: Vec<Fault> = faults.iter().copied().map(fault).collect();
    execution(&faults, &faults, 500, Err(why))
}

fn bare(execution: Execution) -> Observed {
    Observed::bare(execution, Duration::ZERO)
}

fn findings(executions: &[Execution]) -> Vec<Finding> {
    let mut findings = Findings::new("shop");
    for (i, execution) in executions.iter().enumerate() {
        findings.judge(i + 1, &bare(execution.clone()));
        assert_eq!(findings.bugs(), failures(&findings.findings()));
    }
    findings.into_findings()
}

fn failures(findings: &[Finding]) -> usize {
    let fails = |finding: &&Finding| finding.severity == Severity::Fail;
    findings.iter().filter(fails).count()
}

fn texts(findings: &[Finding]) -> Vec<String> {
    let text = |f: &Finding| format!("{} ({})", f.faultload, f.seen);
    findings.iter().map(text).collect()
}

#[test]
fn modes_with_the_same_complaint_are_one_bug_and_supersets_count_to_it() {
    let found = findings(&[
        failing(&[("cart", 502)], "no cart"),
        failing(&[("cart", 503)], "no cart"),
        failing(&[("cart", 503), ("pay", 500)], "no cart"),
        failing(&[("pay", 500), ("mail", 500)], "not paid"),
    ]);
    assert_eq!(
        texts(&found),
        [
            "shop GET / > cart GET / = 502 (3)",
            "shop GET / > mail GET / = 500, shop GET / > pay GET / = 500 (1)",
        ]
    );
    assert_eq!(found[0].also.len(), 1);
    assert_eq!(found[0].execution, 1);
    assert_eq!(found[0].oracle, "scenario");
}

#[test]
fn other_complaints_are_other_bugs() {
    let found = findings(&[
        failing(&[("cart", 502)], "no cart"),
        failing(&[("cart", 503)], "wrong cart"),
    ]);
    assert_eq!(found.len(), 2);
    assert_ne!(found[0].id, found[1].id);
}

#[test]
fn a_fault_that_was_never_injected_is_not_blamed() {
    let planned = [fault(("cart", 500)), fault(("pay", 500))];
    let found = findings(&[execution(&planned, &planned[..1], 500, Err("no cart"))]);
    assert_eq!(texts(&found), ["shop GET / > cart GET / = 500 (1)"]);
}

#[test]
fn content_scenarios_are_no_findings() {
    let planned = [fault(("cart", 500))];
    let found = findings(&[execution(&planned, &planned, 200, Ok(()))]);
    assert!(found.is_empty());
}

#[test]
fn a_failure_without_any_fault_does_not_swallow_the_others() {
    let found = findings(&[
        failing(&[("cart", 500)], "no cart"),
        execution(&[], &[], 200, Err("flaky")),
    ]);
    assert_eq!(
        texts(&found),
        ["none (1)", "shop GET / > cart GET / = 500 (1)"]
    );
    assert_eq!(found[0].class, BugClass::SilentViolation);
    assert_eq!(found[1].class, BugClass::NoHandling);
}

#[test]
fn identifiers_are_short_and_stable() {
    let found = findings(&[failing(&[("cart", 502)], "no cart")]);
    let again = findings(&[
        failing(&[("pay", 500)], "not paid"),
        failing(&[("cart", 503)], "no cart"),
    ]);
    assert_eq!(found[0].id, again[1].id, "modes and numbers do not matter");
    assert_eq!(found[0].id.len(), "M-3fa9c1".len());
}

#[test]
fn identifiers_do_not_change_with_a_limit() {
    let id = |why: &str| findings(&[failing(&[("cart", 502)], why)])[0].id.clone();
    assert_eq!(id("no answer within 60s"), id("no answer within 3s"));
    assert_ne!(id("no answer within 60s"), id("no page within 60s"));
}

/// `shop` gives up on `cart` while that waits for a stock that is slow.
fn inverted(mode: &str, beside: &[(&str, u16)]) -> Execution {
    let cart = callee("cart");
    let stock = cart.child(Frame::new("stock", Interface::http("GET", "/")));
    let slow = Fault::at(stock.clone(), mode.parse().unwrap());
    let at = |arrived, finished, call: Call| Call {
        arrived,
        finished: Some(finished),
        ..call
    };
    let mut calls = vec![
        at(0, 90, call(entry(), None, 503, None)),
        at(1, 3, call(cart, Some(0), 200, None)),
        at(2, 4, call(stock, Some(1), 200, Some(slow))),
    ];
    calls[1].reply = Some(Reply::TimedOut);
    for (i, beside) in beside.iter().enumerate() {
        let fault = fault(*beside);
        let arrived = 10 + 2 * i as u32;
        let injected = call(callee(beside.0), Some(0), beside.1, Some(fault));
        calls.push(at(arrived, arrived + 1, injected));
    }
    let trace = Trace::new(calls);
    Execution {
        faultload: trace.injected(),
        trace,
        verdict: Verdict::Passed,
    }
}

#[test]
fn an_edge_is_one_bug_whatever_brings_it_out() {
    let found = findings(&[
        inverted("delay:2s", &[("mail", 500)]),
        inverted("delay:2s", &[]),
        inverted("hang", &[]),
    ]);
    let stock = "shop GET / > cart GET / > stock GET /";
    assert_eq!(texts(&found), [format!("{stock} = delay:2s (3)")]);
    let bug = &found[0];
    assert_eq!(
        (&*bug.oracle, bug.class),
        ("timeout-inversion", BugClass::Timeout)
    );
    assert_eq!(bug.edge, Some(callee("cart")));
    assert_eq!(bug.execution, 2);
    assert_eq!(
        bug.shown.trace,
        inverted("delay:2s", &[]).trace,
        "the calls of execution 2"
    );
    assert_eq!(bug.also.len(), 1);
    let elsewhere = findings(&[inverted("hang", &[])]);
    assert_eq!(elsewhere[0].id, bug.id, "the faultload does not matter");
}

#[test]
fn warnings_come_after_failures_however_small() {
    let planned = [fault(("cart", 500))];
    let idle = execution(&planned, &[], 200, Ok(()));
    let broken = failing(&[("pay", 500), ("mail", 500)], "not paid");
    let mut judged = Findings::new("shop");
    judged.judge(1, &bare(idle));
    judged.judge(2, &bare(broken));
    assert_eq!(judged.bugs(), 1, "a warning is no failure");
    let found = judged.into_findings();
    let severities: Vec<Severity> = found.iter().map(|f| f.severity).collect();
    assert_eq!(severities, [Severity::Fail, Severity::Warn]);
    assert_eq!(found[1].class, BugClass::Untested);
    assert_eq!(
        found[1].faultload.to_string(),
        "shop GET / > cart GET / = 500"
    );
}

#[test]
fn an_oracle_that_is_off_says_nothing_and_one_that_warns_fails_nothing() {
    let judged = |level: &str| {
        let mut settings = Settings::default();
        settings.set("scenario", level).unwrap();
        let mut findings = Findings::with("shop", settings, Arc::default());
        findings.judge(1, &bare(failing(&[("cart", 500)], "no cart")));
        let severities = findings.findings().into_iter().map(|f| f.severity);
        (findings.bugs(), severities.collect::<Vec<_>>())
    };
    assert_eq!(judged("off"), (0, vec![]));
    assert_eq!(judged("warn"), (0, vec![Severity::Warn]));
    assert_eq!(judged("fail"), (1, vec![Severity::Fail]));
}

/// `shop` asks `cart` until it answers or nothing is injected into it any more.
fn attempts(modes: &[&str], why: Option<&str>) -> Execution {
    let mut calls = vec![call(entry(), None, 500, None)];
    for (n, mode) in modes.iter().enumerate() {
        let point = callee("cart").with_count(n as u32 + 1);
        let fault = Fault::at(point.clone(), mode.parse().unwrap());
        let reply = fault.mode.reply();
        calls.push(Call {
            arrived: 2 * n as u32 + 1,
            finished: Some(2 * n as u32 + 2),
            reply,
            ..call(point, Some(0), 0, Some(fault))
        });
    }
    if modes.is_empty() {
        calls.push(call(callee("cart"), Some(0), 200, None));
    }
    calls[0].finished = Some(99);
    let trace = Trace::new(calls);
    let faultload = trace.injected();
    let word = why.map_or(Ok(()), |why| Err(why.to_owned()));
    let verdict = Verdict::of(word, &faultload, &trace);
    Execution {
        faultload,
        trace,
        verdict,
    }
}

/// A client library sends a request again when its connection breaks. Without
/// the core of a faultload the second and third would be bugs of their own.
#[test]
fn one_bug_one_finding_where_a_library_retries_resets() {
    let reference = Arc::new(murphy_oracle::Reference::of([&bare(attempts(&[], None))]));
    let executions = [
        attempts(&["500"], Some("no cart")),
        attempts(&["reset", "500"], Some("no cart")),
        attempts(&["reset", "500"], Some("the page is empty")),
        attempts(&["reset", "reset"], Some("no cart")),
    ];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
        let mut settings = Settings::default();
        settings.set("retry-at-once", "off").unwrap();
        let mut found = Findings::with("shop", settings, reference.clone());
        for at in order {
            found.judge(at + 1, &bare(executions[at].clone()));
        }
        let found = found.into_findings();
        assert_eq!(texts(&found), ["shop GET / > cart GET / = 500 (4)"]);
        let also: Vec<String> = found[0].also.iter().map(Faultload::to_string).collect();
        assert_eq!(
            also,
            ["shop GET / > cart GET / = reset, shop GET / > cart GET / #2 = reset"]
        );
    }
}

#[test]
fn attempts_of_one_call_with_the_same_symptom_are_one_finding() {
    let second = |mode: &str| {
        let point = callee("cart").with_count(2);
        let fault = Fault::at(point, mode.parse().unwrap());
        execution(
            std::slice::from_ref(&fault),
            std::slice::from_ref(&fault),
            500,
            Err("no cart"),
        )
    };
    let found = findings(&[failing(&[("cart", 502)], "no cart"), second("502")]);
    assert_eq!(texts(&found), ["shop GET / > cart GET / = 502 (2)"]);
    assert_eq!(found[0].also.len(), 1);
    let elsewhere = findings(&[failing(&[("cart", 502)], "no cart")]);
    assert_eq!(found[0].id, elsewhere[0].id);
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A status for some of five calls, and a complaint.
type Member = (Vec<Option<u16>>, u8);

/// Random families of failing executions.
fn families() -> impl Strategy<Value = Vec<Member>> {
    let statuses = proptest::option::of(500u16..503);
    let member = (proptest::collection::vec(statuses, NAMES.len()), 0u8..2);
    proptest::collection::vec(member, 0..14)
}

fn member((statuses, complaint): &Member) -> Execution {
    let named = NAMES.iter().zip(statuses);
    let faults: Vec<(&str, u16)> = named.filter_map(|(n, s)| Some((*n, (*s)?))).collect();
    failing(&faults, &format!("complaint {complaint}"))
}

proptest! {
    #[test]
    fn minimal_faultloads_are_those_of_brute_force(family in families()) {
        let executions: Vec<Execution> = family.iter().map(member).collect();
        let failing: Vec<&Faultload> = executions.iter().map(|e| &e.faultload).collect();
        let has_smaller = |load: &Faultload| {
            failing.iter().any(|o| !o.is_empty() && *o != load && o.is_subset(load))
        };
        let mut expected: Vec<Faultload> =
            failing.iter().filter(|load| !has_smaller(load)).map(|load| (*load).clone()).collect();
        let found = findings(&executions);
        let shown = found.iter().flat_map(|f| f.also.iter().chain([&f.faultload]));
        let mut shown: Vec<Faultload> = shown.cloned().collect();
        for list in [&mut expected, &mut shown] {
            list.sort();
            list.dedup();
        }
        prop_assert_eq!(shown, expected);
        for execution in &executions {
            let explained = found.iter().any(|f| {
                f.also.iter().chain([&f.faultload]).any(|load| load.is_subset(&execution.faultload))
            });
            prop_assert!(explained, "every failure is explained by some finding");
        }
        for finding in &found {
            prop_assert!(finding.seen > finding.also.len());
        }
    }

    #[test]
    fn the_order_of_judging_decides_nothing(
        (given, shuffled) in families().prop_flat_map(|family| {
            let numbered: Vec<_> = family.into_iter().enumerate().collect();
            (Just(numbered.clone()), Just(numbered).prop_shuffle())
        }),
    ) {
        let judge = |family: &[(usize, Member)]| {
            let mut findings = Findings::new("shop");
            for (number, m) in family {
                findings.judge(number + 1, &bare(member(m)));
            }
            findings.into_findings()
        };
        prop_assert_eq!(judge(&given), judge(&shuffled));
    }
}

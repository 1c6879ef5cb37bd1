//! What the oracles say of single executions, story by story.

use std::collections::BTreeSet;
use std::time::Duration;

use murphy_model::Reply;

use super::*;
use crate::attempt::{Caller, End, Lost, Request};
use crate::case::{Assertion, CaseId, Exception, TestOutcome};
use crate::policy::{Injection, Policy};
use crate::shot::Shot;
use crate::site::{SiteKey, TestPhase};

/// The attempts of the call at which the fault is aimed, as `lost 200`, `503!`
/// (injected) or the status that the service answers with.
fn run(policy: Policy, attempts: &[&str], later: &[(&str, u16)], result: TestOutcome) -> CaseRun {
    let mut shot = Shot::new(vec![aim(policy)], Injection::default());
    for attempt in attempts {
        answer(&mut shot, "put", "1-1", attempt);
    }
    for (number, (operation, status)) in later.iter().enumerate() {
        let call = format!("1-{}", number + 2);
        answer(&mut shot, operation, &call, &status.to_string());
    }
    CaseRun {
        case: CaseId(1),
        result,
        record: shot.record(),
        took: Duration::ZERO,
    }
}

fn answer(shot: &mut Shot, operation: &str, call: &str, attempt: &str) {
    let request = Request {
        method: "PUT".to_owned(),
        path: format!("/{operation}"),
        token: operation == "pay",
        caller: Caller {
            call: Some(call.to_owned()),
            operation: Some(operation.to_owned()),
            stack: vec![format!("store.py:1:{operation}")],
            ..Caller::default()
        },
        ..Request::default()
    };
    let (id, _) = shot.arrive(request);
    let status = |text: &str| text.parse::<u16>().expect("a status");
    let (reply, lost, landed) = match (attempt.strip_prefix("lost "), attempt.strip_suffix('!')) {
        (Some(lost), _) => {
            let status = status(lost);
            assert!(shot.answered(id, status));
            (
                Reply::Closed,
                Some(Lost {
                    status,
                    body: Some(1),
                }),
                true,
            )
        }
        (_, Some(injected)) => (Reply::Status(status(injected)), None, true),
        _ => (Reply::Status(status(attempt)), None, false),
    };
    let end = End {
        at: Duration::ZERO,
        reply,
        body: Some(1),
        lost,
        code: landed.then(|| "SlowDown".to_owned()),
        landed,
        gave_up: false,
    };
    shot.finish(id, end);
}

fn aim(policy: Policy) -> Aim {
    Aim {
        site: SiteKey {
            service: String::new(),
            operation: "put".to_owned(),
            stack: vec!["store.py:1:put".to_owned()],
        },
        phase: TestPhase::Call,
        ordinal: 1,
        policy,
        line: None,
    }
}

/// A test that failed with these exceptions, outermost first.
fn raised(exceptions: &[Exception]) -> TestOutcome {
    TestOutcome {
        outcome: TestEnd::Failed,
        exceptions: exceptions.to_vec(),
        ..TestOutcome::default()
    }
}

fn asserted(text: &str) -> TestOutcome {
    TestOutcome {
        assertion: Some(Assertion {
            text: text.to_owned(),
            ..Assertion::default()
        }),
        ..raised(&[])
    }
}

fn plain(kind: &str, message: &str) -> Exception {
    Exception {
        kind: kind.to_owned(),
        message: message.to_owned(),
        ..Exception::default()
    }
}

fn from_sdk(status: u16, code: &str, call: &str) -> Exception {
    Exception {
        status: Some(status),
        code: Some(code.to_owned()),
        call: Some(call.to_owned()),
        ..plain("ClientError", "")
    }
}

/// What is said, in a word: `passed`, `propagated`, or oracle and class.
fn ruling(run: &CaseRun) -> String {
    let reference = TestReference {
        took: Duration::ZERO,
        calls: Vec::new(),
        errors: BTreeSet::new(),
        changes: BTreeSet::new(),
        volatile_paths: BTreeSet::new(),
    };
    let (aim, place) = run.record.landed().next().expect("the fault is injected");
    let evidence = Evidence {
        aim,
        place,
        run,
        reference: &reference,
        frames: &Frames::default(),
        settings: &SuiteSettings::default(),
    };
    match evidence.judge().ruling {
        Ruling::Passed => "passed".to_owned(),
        Ruling::Propagated => "propagated".to_owned(),
        Ruling::Failed(complaint) => {
            format!("{:?} {}", complaint.oracle, complaint.class.name())
        }
        Ruling::Suspect(complaint) => format!("suspect {:?}", complaint.reason),
    }
}

#[test]
fn the_injected_error_is_known_by_structure_and_by_text_only_without_any() {
    let refused = &["503!", "503!"][..];
    let silent = "O3 silent-violation";
    let unrelated = "O3 unrelated-exception";
    let ours = Exception {
        request_id: Some("murphy-17".to_owned()),
        ..plain("Error", "")
    };
    let cases = [
        (
            "status and code of its call",
            refused,
            raised(&[from_sdk(503, "SlowDown", "1-1")]),
            "propagated",
        ),
        (
            "of another call",
            refused,
            raised(&[from_sdk(503, "SlowDown", "1-9")]),
            unrelated,
        ),
        (
            "another status",
            refused,
            raised(&[from_sdk(404, "NoSuchKey", "1-9")]),
            unrelated,
        ),
        ("our request id", refused, raised(&[ours]), "propagated"),
        (
            "it is the cause of the application's own",
            refused,
            raised(&[
                plain("NotSaved", "cannot save"),
                from_sdk(503, "SlowDown", "1-1"),
            ]),
            "propagated",
        ),
        (
            "the code in a text",
            refused,
            raised(&[plain("Error", "got SlowDown")]),
            "propagated",
        ),
        (
            "the status in a text",
            refused,
            raised(&[plain("Error", "answered 503.")]),
            "propagated",
        ),
        (
            "a number that holds it",
            refused,
            raised(&[plain("Error", "1503 rows")]),
            unrelated,
        ),
        (
            "words like aborted",
            refused,
            raised(&[plain("Error", "aborted, timed out")]),
            unrelated,
        ),
        (
            "a text beside a structure that says something else",
            refused,
            raised(&[Exception {
                message: "503".to_owned(),
                ..from_sdk(404, "x", "1-9")
            }]),
            unrelated,
        ),
        (
            "an assertion that shows it",
            refused,
            asserted("'SlowDown' == 'done'"),
            "propagated",
        ),
        (
            "an assertion that does not",
            refused,
            asserted("False is True"),
            silent,
        ),
    ];
    for (what, attempts, result, expected) in cases {
        assert_eq!(
            ruling(&run(Policy::P3, attempts, &[], result)),
            expected,
            "{what}"
        );
    }
}

#[test]
fn a_lost_answer_is_known_by_what_clients_raise_for_it() {
    let lost = &["lost 200", "lost 200"][..];
    let tagged = Exception {
        injected: true,
        ..plain("ReadTimeoutError", "")
    };
    let socket = Exception {
        code: Some("ECONNRESET".to_owned()),
        ..plain("Error", "")
    };
    let of_call = Exception {
        call: Some("1-1".to_owned()),
        ..plain("Weird", "")
    };
    let cases = [
        ("the library raised it", tagged, "propagated"),
        (
            "a client's type",
            plain("botocore.exceptions.ConnectionClosedError", ""),
            "propagated",
        ),
        ("a socket's code", socket, "propagated"),
        ("anything that its call raises", of_call, "propagated"),
        (
            "what a client says",
            plain("Error", "socket hang up"),
            "propagated",
        ),
        (
            "something else",
            plain("Error", "not found"),
            "O3 unrelated-exception",
        ),
    ];
    for (what, exception, expected) in cases {
        let result = raised(&[exception]);
        assert_eq!(
            ruling(&run(Policy::P2, lost, &[], result)),
            expected,
            "{what}"
        );
    }
}

#[test]
fn the_outcome_of_the_call_and_what_follows_give_the_class() {
    let fails = || raised(&[plain("Broken", "")]);
    let end = |outcome| TestOutcome { outcome, ..fails() };
    let none: &[(&str, u16)] = &[];
    let later: &[(&str, u16)] = &[("list", 404)];
    let (p1, p3) = (Policy::P1, Policy::P3);
    let cases = [
        (
            "it passes",
            p1,
            &["lost 200", "409"][..],
            none,
            TestOutcome::default(),
            "passed",
        ),
        (
            "a retry refused",
            p1,
            &["lost 200", "409"],
            none,
            fails(),
            "O1 unrelated-exception",
        ),
        (
            "and later calls, too",
            p1,
            &["lost 200", "409"],
            later,
            fails(),
            "O1 state-divergence",
        ),
        (
            "but the refusal itself is raised",
            p1,
            &["lost 200", "409"],
            later,
            raised(&[from_sdk(409, "Conflict", "1-1")]),
            "O1 unrelated-exception",
        ),
        (
            "a retry that succeeded",
            p1,
            &["lost 200", "200"],
            none,
            fails(),
            "O2 silent-violation",
        ),
        (
            "and later calls are refused",
            p1,
            &["lost 200", "200"],
            later,
            fails(),
            "O2 state-divergence",
        ),
        (
            "swallowed, and later calls are refused",
            p3,
            &["503!", "503!"],
            later,
            fails(),
            "O3 state-divergence",
        ),
        (
            "it crashes",
            p3,
            &["503!"],
            none,
            end(TestEnd::Crashed),
            "O8 no-handling",
        ),
        (
            "it hangs",
            p1,
            &["lost 200", "200"],
            none,
            end(TestEnd::Hung),
            "O8 no-handling",
        ),
    ];
    for (what, policy, attempts, later, result, expected) in cases {
        assert_eq!(
            ruling(&run(policy, attempts, later, result)),
            expected,
            "{what}"
        );
    }
}

#[test]
fn what_is_shown_of_a_message_is_what_stays_the_same() {
    let cases = [
        ("no key 'a b' in 3fa9c1d2", "no key … in …"),
        ("took 17 s", "took … s"),
        ("it's added", "it's added"),
        ("naïve \"x\" façade", "naïve … façade"),
        ("", ""),
    ];
    for (message, expected) in cases {
        assert_eq!(masked(message), expected);
    }
}

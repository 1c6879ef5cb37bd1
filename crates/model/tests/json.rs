//! What is written as JSON reads back as the same, whatever was seen.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{
    AnswerMask, AnswerMasks, Audit, BackgroundCall, Began, Besides, BugClass, Call, CallId,
    Certificate, Detail, Edge, EdgeProfile, Ended, Event, Execution, FORMAT, Fault, Faultload,
    Finding, Flag, Frame, GrpcCode, Identity, Incomplete, Interface, LeftBehind, LeftOutCall, Link,
    Mode, Observed, Organic, PathTemplates, PayloadHash, Place, Point, Reply, Severity, Shown,
    Skips, Span, Standing, TlsFault, Trace, Verdict,
};
use num_bigint::BigUint;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn frames() -> impl Strategy<Value = Frame> {
    let interface = prop_oneof![
        "[a-z/{}]{0,8}".prop_map(|path| Interface::http("GET", &format!("/{path}"))),
        "[a-z.]{1,8}".prop_map(|service| Interface::grpc(&service, "Get")),
    ];
    let word = prop_oneof!["[a-z-]{1,8}", "[ -~é→\"]{1,6}"];
    (
        word,
        interface,
        option::of(any::<[u8; 16]>()),
        option::of("[a-z:]{1,6}"),
        1_u32..5,
    )
        .prop_map(|(destination, interface, payload, site, count)| Frame {
            payload: payload.map(PayloadHash),
            site: site.map(Into::into),
            count,
            ..Frame::new(&destination, interface)
        })
}

fn points() -> impl Strategy<Value = Point> {
    vec(frames(), 1..4).prop_map(|frames| Point::from_frames(frames).unwrap())
}

fn modes() -> impl Strategy<Value = Mode> {
    let texts = [
        "503",
        "after:500",
        "grpc:UNAVAILABLE",
        "reset",
        "close",
        "hang",
        "after:hang",
        "delay:1s5ns",
        "truncate:7",
        "slow:9",
        "malformed",
        "duplicate",
    ];
    select(texts.to_vec()).prop_map(|text| text.parse().unwrap())
}

fn faults() -> impl Strategy<Value = Fault> {
    (points(), modes(), 0..4).prop_map(|(point, mode, kind)| match kind {
        0 => Fault::every(&point, mode),
        1 => format!("** > cart GET /x* #..2 = {mode}").parse().unwrap(),
        _ => Fault::at(point, mode),
    })
}

fn replies() -> impl Strategy<Value = Reply> {
    prop_oneof![
        any::<u16>().prop_map(Reply::Status),
        (1_u8..=16).prop_map(|n| Reply::Grpc(GrpcCode::new(n).unwrap())),
        select(vec![
            Reply::GrpcOk,
            Reply::Reset,
            Reply::Closed,
            Reply::TimedOut,
            Reply::Broken,
            Reply::NoTls(TlsFault::Name),
        ]),
    ]
}

fn spans() -> impl Strategy<Value = Duration> {
    any::<u64>().prop_map(Duration::from_nanos)
}

fn details() -> impl Strategy<Value = Detail> {
    let organic = select(vec![
        Organic::Refused,
        Organic::Unreachable,
        Organic::ConnectTimedOut,
        Organic::Reset,
        Organic::BrokenAnswer,
        Organic::NotHttp,
    ]);
    let link = select(vec![
        Link::Certain,
        Link::Spans,
        Link::Inferred,
        Link::Ambiguous,
        Link::Background,
        Link::Orphan,
    ]);
    (
        spans(),
        option::of(spans()),
        option::of(spans()),
        option::of(organic),
        option::of(any::<bool>()),
        any::<bool>(),
        option::of(any::<[u8; 16]>().prop_map(PayloadHash)),
        link,
    )
        .prop_map(
            |(arrived, finished, gave_up, organic, landed, body_cut, idempotency_key, link)| {
                Detail {
                    arrived,
                    finished,
                    gave_up,
                    organic,
                    landed,
                    body_cut,
                    idempotency_key,
                    link,
                }
            },
        )
}

/// Parents come before their calls: one of those before, or none.
fn traces() -> impl Strategy<Value = Trace> {
    let call = (
        points(),
        any::<u32>(),
        any::<u32>(),
        option::of(any::<u32>()),
        option::of(replies()),
        option::of(faults()),
    );
    vec(call, 0..6).prop_map(|calls| {
        let call = |(i, (point, parent, arrived, finished, reply, injected)): (
            usize,
            (_, u32, _, _, _, _),
        )| Call {
            point,
            parent: (parent as usize % (i + 1))
                .checked_sub(1)
                .map(|p| CallId(p as u32)),
            arrived,
            finished,
            reply,
            injected,
            body: None,
        };
        Trace::new(calls.into_iter().enumerate().map(call).collect())
    })
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        Just(Verdict::Passed),
        any::<String>().prop_map(|why| Verdict::Failed { why }),
        vec(faults(), 0..3).prop_map(|missing| Verdict::NotExercised { missing }),
    ]
}

fn observed() -> impl Strategy<Value = Observed> {
    let execution = (vec(faults(), 0..4), traces(), verdicts());
    let execution = execution.prop_map(|(faults, trace, verdict)| Execution {
        // Two for one target are no faultload; the first one alone is.
        faultload: Faultload::new(faults.clone())
            .or_else(|_| Faultload::new(faults.into_iter().take(1)))
            .unwrap(),
        trace,
        verdict,
    });
    (
        execution,
        vec(details(), 0..6),
        any::<bool>(),
        spans(),
        option::of(any::<String>()),
        option::of(any::<String>()),
    )
        .prop_map(
            |(execution, details, quiet, took, output, logged)| Observed {
                execution,
                details,
                quiet,
                took,
                output,
                logged,
            },
        )
}

/// Calls are mostly made below their parents, and faults aimed at them.
fn nested(trace: Trace) -> Trace {
    let mut calls: Vec<Call> = Vec::new();
    for (i, mut call) in trace.calls().to_vec().into_iter().enumerate() {
        if let Some(parent) = call.parent.filter(|_| i % 3 > 0) {
            let frame = call.point.frame().clone();
            call.point = calls[parent.0 as usize].point.child(frame);
        }
        if let Some(fault) = &mut call.injected
            && i % 2 == 0
        {
            *fault = Fault::at(call.point.clone(), fault.mode);
        }
        calls.push(call);
    }
    Trace::new(calls)
}

fn faultloads() -> impl Strategy<Value = Faultload> {
    vec(faults(), 0..3).prop_map(|faults| {
        // Two for one target are no faultload; the first one alone is.
        Faultload::new(faults.clone())
            .or_else(|_| Faultload::new(faults.into_iter().take(1)))
            .unwrap()
    })
}

fn findings() -> impl Strategy<Value = Finding> {
    (
        faultloads(),
        traces(),
        vec(details(), 0..3),
        any::<String>(),
        option::of(points()),
        0_usize..9,
    )
        .prop_map(
            |(faultload, trace, details, summary, edge, number)| Finding {
                id: format!("M-{number:06x}"),
                severity: [Severity::Warn, Severity::Fail][number % 2],
                class: [
                    BugClass::NoHandling,
                    BugClass::StateDivergence,
                    BugClass::Waste,
                ][number % 3],
                oracle: format!("oracle-{number}").into(),
                also: vec![faultload.clone(); number % 3],
                faultload,
                summary,
                edge,
                execution: number,
                shown: Arc::new(Shown { trace, details }),
                seen: number,
            },
        )
}

fn flags() -> impl Strategy<Value = Flag> {
    (points(), faultloads(), replies(), 0..8).prop_map(|(at, faultload, reply, kind)| {
        let (first, second, execution) = (1, 2, 3);
        match kind {
            0 => Flag::Nondeterminism {
                at: Some(at),
                first,
                second,
                after_faults: true,
            },
            1 => Flag::Unexplained {
                at: None,
                first,
                second,
            },
            2 => Flag::BodyVaries { at, first, second },
            3 => Flag::Unattributed {
                at,
                calls: 4,
                execution,
            },
            4 => Flag::Uncalled {
                service: "cart".to_owned(),
            },
            5 => Flag::NotMonotone {
                faultload,
                execution,
            },
            6 => Flag::Parallel {
                differs: Some((at, reply, Reply::Reset)),
                faultload,
            },
            _ => Flag::Parallel {
                differs: None,
                faultload,
            },
        }
    })
}

fn certificates() -> impl Strategy<Value = Certificate> {
    let numbers = (any::<u8>(), any::<u128>());
    (
        numbers,
        vec(flags(), 0..3),
        option::of(vec(faultloads(), 0..3)),
        vec(any::<String>(), 0..2),
    )
        .prop_map(|((small, large), flags, minimal, texts)| {
            let small = usize::from(small);
            // More than 64 bits are common.
            let large = BigUint::from(large) * BigUint::from(u64::MAX);
            Certificate {
                points: small,
                conditional: small + 1,
                space: large.clone(),
                explored: small,
                considered: small,
                pruned: [("downstream".into(), small)].into(),
                skips: (small % 2 == 0).then(|| Skips {
                    possible: large.clone(),
                    by_policy: [("bound".into(), large)].into(),
                }),
                not_exercised: small,
                speculative: small,
                bound: (small % 3 == 0).then_some(small),
                incomplete: match small % 4 {
                    0 => None,
                    1 => Some(Incomplete::Cases { waiting: small }),
                    2 => Some(Incomplete::Stopped { waiting: small }),
                    _ => Some(Incomplete::LeftBehind),
                },
                assumptions: texts.clone(),
                flags,
                audit: (small % 5 == 0).then_some(Audit {
                    sampled: small,
                    agreed: small,
                    unpredicted: small,
                    disagreed: texts,
                }),
                minimal,
            }
        })
}

fn profiles() -> impl Strategy<Value = EdgeProfile> {
    (points(), option::of(points()), spans(), any::<u8>()).prop_map(|(to, from, time, count)| {
        let count = usize::from(count);
        let span = Span {
            least: Duration::ZERO,
            most: time,
        };
        EdgeProfile {
            edge: Edge {
                caller: from.as_ref().map(Place::of),
                callee: Place::of(&to),
            },
            calls: count,
            failed: count,
            attempts: count,
            backoff: (count % 2 == 0).then_some(span),
            timeout: (count % 3 == 0).then_some(span),
            recovered: count,
            fallbacks: count,
            propagated: count,
            hedged: count,
        }
    })
}

fn ends() -> impl Strategy<Value = Ended> {
    let parts = (
        vec(points(), 0..3),
        vec(profiles(), 0..3),
        faultloads(),
        option::of(any::<String>()),
    );
    (certificates(), vec(findings(), 0..3), spans(), parts).prop_map(
        |(certificate, findings, took, (points, profile, faultload, broken))| Ended {
            failed: findings.len(),
            injected: findings.is_empty(),
            modes: vec!["503".to_owned()],
            besides: Besides {
                references: 2,
                checks: points.len(),
                repeated: 0,
            },
            prefixes: match findings.first() {
                Some(finding) => BTreeMap::from([(finding.id.clone(), vec![faultload])]),
                None => BTreeMap::new(),
            },
            certificate,
            findings,
            took,
            points,
            profile,
            broken,
        },
    )
}

fn beginnings() -> impl Strategy<Value = Began> {
    (any::<String>(), any::<u64>(), option::of(any::<String>())).prop_map(|(text, seed, solo)| {
        Began {
            format: FORMAT,
            scenario: "checkout".to_owned(),
            about: text.clone(),
            strategy: "tree".to_owned(),
            modes: vec!["503".to_owned()],
            seed,
            jobs: 2,
            resumed: 0,
            injected_only: solo.is_some(),
            solo,
            explain_command: text.clone(),
            explain_ending: text.clone(),
            rerun_command: text.clone(),
            declared_in: text,
        }
    })
}

fn events() -> impl Strategy<Value = Event> {
    let seen = observed().prop_map(Arc::new);
    prop_oneof![
        beginnings().prop_map(|began| Event::Began(Box::new(began))),
        ends().prop_map(|ended| Event::Ended(Box::new(ended))),
        flags().prop_map(Event::FailedInParallel),
        faultloads().prop_map(|faultload| Event::Counted {
            number: 3,
            faultload
        }),
        (observed(), faultloads()).prop_map(|(observed, faultload)| {
            Event::StateLeft(Arc::new(LeftBehind {
                by: vec![(7, faultload.clone())],
                prefix: vec![faultload],
                observed,
            }))
        }),
        Just(Event::Learned(Standing {
            explored: 1,
            skipped: Some(2),
            ..Standing::default()
        })),
        Just(Event::Restarted {
            executions: 3,
            masked: vec!["`at`".to_owned()]
        }),
        Just(Event::IdentityChosen {
            identity: Identity::default(),
            masked: Vec::new()
        }),
        (seen, 0..5, any::<bool>()).prop_map(|(observed, kind, is)| match kind {
            0 => Event::ReferenceRan {
                number: 1,
                observed
            },
            1 => Event::ExecutionEnded {
                ticket: u64::MAX,
                observed,
                stored: is
            },
            2 => Event::Audited {
                number: 1,
                observed,
                agreed: !is,
                stored: is
            },
            3 => Event::Checked {
                number: 1,
                observed,
                passed: is
            },
            _ => Event::Repeated {
                number: 1,
                observed,
                counts_as: is.then_some(9)
            },
        }),
    ]
}

/// Written on one line, and read back.
fn read_back<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: &T) -> String {
    let line = serde_json::to_string(value).unwrap();
    assert!(!line.contains('\n'));
    assert_eq!(serde_json::from_str::<T>(&line).unwrap(), *value, "{line}");
    line
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn executions_read_back_as_they_were(mut observed in observed(), is_nested in any::<bool>()) {
        if is_nested {
            observed.execution.trace = nested(observed.execution.trace);
        }
        read_back(&observed);
    }

    #[test]
    fn certificates_read_back_as_they_were(certificate in certificates()) {
        read_back(&certificate);
    }

    #[test]
    fn findings_read_back_as_they_were(finding in findings()) {
        read_back(&finding);
    }

    #[test]
    fn events_read_back_as_they_were(event in events()) {
        let line = read_back(&event);
        let name = format!("{{\"event\":\"{}\"", event.name());
        prop_assert!(line.starts_with(&name), "{line}");
    }

    #[test]
    fn identities_read_back_as_they_were(
        switches in any::<[bool; 5]>(),
        templates in vec("(/[a-z{}]{0,5}){1,3}", 0..3),
        masked in vec(any::<String>(), 0..3),
        caller in option::of("[a-z-]{1,8}"),
    ) {
        let [path, payload, predecessors, call_site, count] = switches;
        let templates = PathTemplates::with(templates);
        let mask = match masked.as_slice() {
            [] => AnswerMask::Everything,
            fields => AnswerMask::Fields(fields.to_vec()),
        };
        let place = Place::of(&"cart GET /cart/{}".parse().unwrap());
        let answers = AnswerMasks::new([(place.clone(), mask)]);
        let background = vec![BackgroundCall { caller: caller.map(Into::into), callee: place.clone(), makes: vec![place] }];
        let at = "shop GET / #2 > cart GET /cart/{} #3".parse().unwrap();
        let left_out = vec![LeftOutCall { at, how: "is called 2, then 3 times".to_owned() }];
        read_back(&Identity {
            path, payload, predecessors, call_site, count, templates, masked, answers, background, left_out,
        });
    }

    #[test]
    fn whatever_is_read_nothing_panics(text in ".{0,60}") {
        let _ = serde_json::from_str::<Event>(&text);
        let quoted = serde_json::to_string(&text).unwrap();
        let _ = serde_json::from_str::<Point>(&quoted);
        let _ = serde_json::from_str::<Fault>(&quoted);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let observed = |calls: &str, faults: &str| {
        let text = format!(
            "{{\"execution\":{{\"faultload\":[{faults}],\"verdict\":\"passed\",\"calls\":[{calls}]}},\"took_ns\":1,\"quiet\":true}}"
        );
        match serde_json::from_str::<Observed>(&text) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let cases = [
        (observed("", ""), ""),
        (
            observed("{\"call\":\"a GET /\",\"parent\":0,\"arrived\":0}", ""),
            "a call arrives before the call it was made from",
        ),
        (
            observed("{\"point\":\"a\",\"arrived\":0}", ""),
            "`a` is not a point",
        ),
        (
            observed("{\"call\":\"a GET / > b GET /\",\"arrived\":0}", ""),
            "`a GET / > b GET /` is not a call",
        ),
        (
            observed("{\"arrived\":0}", ""),
            "a call has either `call` or `point`",
        ),
        (
            observed("", "\"a GET / = 500\",\"a GET / = 503\""),
            "two faults for one target",
        ),
        (observed("", "7"), "invalid type"),
    ];
    for (error, expected) in cases {
        assert!(
            error.starts_with(expected) && error.is_empty() == expected.is_empty(),
            "{error}"
        );
    }
}

/// The lines are read by others: their shape is a contract.
#[test]
fn a_line_is_short_and_fields_that_are_not_known_are_ignored() {
    let entry: Point = "shop POST /checkout".parse().unwrap();
    let cart: Point = "shop POST /checkout > cart GET /cart #2".parse().unwrap();
    let call = |point: &Point, parent: Option<u32>| Call {
        point: point.clone(),
        parent: parent.map(CallId),
        arrived: 0,
        finished: Some(1),
        reply: Some(Reply::Status(503)),
        injected: None,
        body: None,
    };
    let fault = Fault::at(cart.clone(), "503".parse().unwrap());
    let injected = Call {
        injected: Some(fault.clone()),
        ..call(&cart, Some(0))
    };
    let elsewhere = Call {
        injected: Some(fault.clone()),
        ..call(&cart, None)
    };
    let execution = Execution {
        faultload: Faultload::new([fault]).unwrap(),
        trace: Trace::new(vec![call(&entry, None), injected, elsewhere]),
        verdict: Verdict::Failed {
            why: "got 500".to_owned(),
        },
    };
    let event = Event::ExecutionEnded {
        ticket: 5,
        observed: Arc::new(Observed::bare(execution, Duration::from_millis(2))),
        stored: false,
    };
    let expected = r#"{"event":"execution_ended","ticket":5,"observed":{"execution":{"faultload":["shop POST /checkout > cart GET /cart #2 = 503"],"calls":[{"call":"shop POST /checkout","arrived":0,"finished":1,"reply":"503"},{"call":"cart GET /cart #2","parent":0,"arrived":0,"finished":1,"reply":"503","injected":"503"},{"point":"shop POST /checkout > cart GET /cart #2","arrived":0,"finished":1,"reply":"503","injected":"503"}],"verdict":{"failed":{"why":"got 500"}}},"quiet":true,"took_ns":2000000},"stored":false}"#;
    assert_eq!(read_back(&event), expected);
    let later = expected.replacen("{\"event\"", "{\"colour\":\"red\",\"event\"", 1);
    assert_eq!(serde_json::from_str::<Event>(&later).unwrap(), event);
}

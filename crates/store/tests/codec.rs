//! What is written as JSON reads back as the same, whatever was seen.

mod support;

use std::time::Duration;

use std::sync::Arc;

use murphy_campaign::{Event, Standing, redacted};
use murphy_model::{
    AnswerMask, AnswerMasks, Call, CallId, Detail, Execution, Fault, Faultload, Frame, GrpcCode,
    Identity, Interface, Link, Mode, Observed, Organic, PathTemplates, PayloadHash, Place, Point,
    Reply, Severity, Trace, Verdict,
};
use murphy_search::Ticket;
use murphy_store::codec::{self, CodecError, Name, Naming, Spelled};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use support::{end, execution};

/// Numbers points, as the store does.
#[derive(Default)]
struct Numbered(Vec<Point>);

impl Naming for Numbered {
    fn name(&mut self, point: &Point) -> Name {
        let known = self.0.iter().position(|known| known == point);
        let number = known.unwrap_or_else(|| {
            self.0.push(point.clone());
            self.0.len() - 1
        });
        Name::Number(number as u32)
    }
}

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
            Reply::Broken
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

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn executions_read_back_as_they_were(observed in observed()) {
        let text = codec::write_observed(&observed, &mut Spelled);
        prop_assert!(!text.contains('\n'));
        prop_assert_eq!(codec::read_observed(&text, &[]).unwrap(), redacted(observed));
    }

    #[test]
    fn so_they_do_with_numbered_points(observed in observed()) {
        let mut numbered = Numbered::default();
        let text = codec::write_observed(&observed, &mut numbered);
        prop_assert_eq!(codec::read_observed(&text, &numbered.0).unwrap(), redacted(observed));
    }

    #[test]
    fn identities_read_back_as_they_were(
        switches in any::<[bool; 5]>(),
        templates in vec("(/[a-z{}]{0,5}){1,3}", 0..3),
        masked in vec(any::<String>(), 0..3),
    ) {
        let [path, payload, predecessors, call_site, count] = switches;
        let templates = PathTemplates::with(templates);
        let mask = match masked.as_slice() {
            [] => AnswerMask::Everything,
            fields => AnswerMask::Fields(fields.to_vec()),
        };
        let place = Place::of(&"cart GET /cart/{}".parse().unwrap());
        let answers = AnswerMasks::new([(place, mask)]);
        let identity =
            Identity { path, payload, predecessors, call_site, count, templates, masked, answers };
        let text = codec::write_identity(&identity);
        prop_assert_eq!(codec::read_identity(&text).unwrap(), identity);
    }

    #[test]
    fn whatever_is_read_nothing_panics(text in ".{0,60}") {
        let _ = codec::read_observed(&text, &[]);
        let _ = codec::read_identity(&text);
        let _ = codec::read_finding(&text);
    }
}

#[test]
fn a_finding_that_was_kept_without_a_severity_counts() {
    let with = |severity: &str| {
        let text = format!(
            "{{\"id\":\"M-1\",{severity}\"class\":\"waste\",\"oracle\":\"scenario\",\"faultload\":[],\"summary\":\"\",\"execution\":1,\"seen\":1,\"also\":[]}}"
        );
        codec::read_finding(&text).unwrap().severity
    };
    assert_eq!(with(""), Severity::Fail);
    assert_eq!(with("\"severity\":\"warn\","), Severity::Warn);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let observed = |calls: &str, faults: &str| {
        let text = format!(
            "{{\"faultload\":[{faults}],\"verdict\":\"passed\",\"took_ns\":1,\"quiet\":true,\"calls\":[{calls}]}}"
        );
        codec::read_observed(&text, &[]).map(drop)
    };
    assert_eq!(observed("", ""), Ok(()));
    let cases = [
        observed("{\"point\":\"a GET /\",\"parent\":0,\"arrived\":0}", ""),
        observed("{\"point\":3,\"arrived\":0}", ""),
        observed("{\"point\":\"a\",\"arrived\":0}", ""),
        observed("", "\"a GET / = 500\",\"a GET / = 503\""),
        observed("", "[0]"),
    ];
    let expected = [
        CodecError::Contradiction("a call arrives before the call it was made from"),
        CodecError::NoSuchPoint(3),
        CodecError::Text {
            what: "point",
            text: "a".to_owned(),
        },
        CodecError::Contradiction("two faults for one target"),
    ];
    for (case, expected) in cases.iter().zip(expected) {
        assert_eq!(*case, Err(expected));
    }
    assert!(matches!(cases[4], Err(CodecError::Json(_))));
}

/// The lines are read by others: their shape is a contract.
#[test]
fn every_event_has_its_line() {
    let mut seen = execution(4, 2);
    seen.execution.verdict = Verdict::Failed {
        why: "login with token=abc123 failed".to_owned(),
    };
    let events = [
        Event::Began {
            scenario: "checkout".to_owned(),
            strategy: "tree".to_owned(),
            modes: vec!["503".to_owned()],
            seed: 7,
            jobs: 2,
            resumed: 0,
        },
        Event::IdentityChosen {
            identity: Identity::default(),
            masked: vec!["`time` varies, as in session=4711".to_owned()],
        },
        Event::ExecutionEnded {
            ticket: Ticket(5),
            observed: Arc::new(seen),
            stored: false,
        },
        Event::Learned(Standing {
            explored: 1,
            skipped: Some(2),
            waiting: None,
            failed: 4,
            findings: 1,
        }),
        end(&["M-aa0001"]),
    ];
    let lines: Vec<String> = events.iter().map(codec::event).collect();
    let body = "00000000000000000000000000000001";
    let expected = [
        r#"{"event":"began","scenario":"checkout","strategy":"tree","modes":["503"],"seed":7,"jobs":2,"resumed":0}"#.to_owned(),
        r#"{"event":"identity_chosen","identity":{"path":true,"payload":true,"predecessors":false,"call_site":true,"count":true,"templates":[],"masked":[]},"masked":["`time` varies, as in session=[redacted]"]}"#.to_owned(),
        r#"{"event":"execution_ended","ticket":5,"observed":{"faultload":["shop POST /checkout > service-5 GET /items/{} #2 {body=00000000000000000000000000000005} = 504","a GET /4x #* = reset"],"verdict":{"failed":{"why":"login with token=[redacted] failed"}},"took_ns":4,"quiet":true,"calls":[{"point":"shop POST /checkout","arrived":0,"finished":5,"reply":"204"},{"point":"shop POST /checkout > service-1 GET /items/{} #2 {body=BODY}","parent":0,"arrived":2,"finished":3,"reply":"timed out","injected":"shop POST /checkout > service-5 GET /items/{} #2 {body=00000000000000000000000000000005} = 504"}],"details":[{"arrived_ns":4000,"finished_ns":8000},{"arrived_ns":4001,"finished_ns":8000,"gave_up_ns":4000,"landed":true,"link":"inferred"}],"output":"output of 4\n"},"stored":false}"#.replace("BODY", body),
        r#"{"event":"learned","explored":1,"skipped":2,"waiting":null,"failed":4,"findings":1}"#.to_owned(),
        r#"{"event":"ended","certificate":{"points":4,"conditional":1,"space":"81","explored":9,"considered":12,"pruned":{"downstream":3},"skips":null,"not_exercised":1,"speculative":0,"bound":2,"complete":true,"incomplete":null,"assumptions":["services are deterministic"],"flags":[],"audit":null},"findings":[{"id":"M-aa0001","severity":"fail","class":"no-handling","oracle":"scenario","faultload":["shop POST /checkout > cart GET /cart = 503"],"summary":"expected 200, got 500","execution":3,"seen":7,"also":[["shop POST /checkout > cart GET /cart = reset"]]}],"took_ns":1500000000}"#.to_owned(),
    ];
    for (line, expected) in lines.iter().zip(&expected) {
        assert_eq!(line, expected);
    }
}

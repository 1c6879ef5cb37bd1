//! What is stamped is read back, whatever a stack does to it on the way.
//!
//! Each stack here changes headers as a real one was seen to do. A carrier
//! that looked at a fixed place, compared whole headers or trusted one line
//! would pass with the first stack and fail with the others.

mod lines;

use std::sync::Arc;

use bytes::Bytes;
use lines::Lines;
use murphy_model::{CallId, Faultload, Identity, Interface};
use murphy_proxy::Headers;
use murphy_proxy::carriers::{Carriers, Stamp};
use murphy_registry::{
    Arrival, CallKey, ContextHint, Control, Decision, ExecutionId, Origin, Owner, Parent, Plan,
    Registry, Settings, TraceKey, WorkerId,
};

const FIRST: Stamp = Stamp {
    key: CallKey {
        execution: ExecutionId(0x0123_4567_89ab_cdef),
        call: Some(CallId(0)),
    },
    trace: TraceKey(0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c),
    entry: true,
};

const SECOND: Stamp = Stamp {
    key: CallKey {
        call: Some(CallId(0x1f)),
        ..FIRST.key
    },
    entry: false,
    ..FIRST
};

/// What a stack sends on, given what it got.
type Stack = fn(&str, &str) -> Vec<String>;

/// Stacks that hand `tracestate` and `baggage` on, each in its own way. The
/// first argument is the header's name, the second its value.
const STACKS: [(&str, Stack); 11] = [
    ("byte by byte", |_, value| vec![value.to_owned()]),
    ("another vendor's member first", |name, value| match name {
        "tracestate" => vec![format!("dd=s:1;o:rum;p:00f067aa0ba902b7,{value}")],
        _ => vec![format!("dd.origin=rum,{value}")],
    }),
    ("another vendor's member last", |_, value| {
        vec![format!("{value},last=1")]
    }),
    ("white space removed", |_, value| {
        vec![value.replace([' ', '\t'], "")]
    }),
    ("white space added", |_, value| {
        vec![format!(" {} ", value.replace(',', " ,\t"))]
    }),
    ("a line for each member", |_, value| {
        value.split(',').map(str::to_owned).collect()
    }),
    ("an older line of another vendor kept", |_, value| {
        vec!["older=1".to_owned(), value.to_owned()]
    }),
    ("empty members", |_, value| {
        vec![format!(",{},,", value.replace(',', ",,"))]
    }),
    ("properties escaped", |name, value| match name {
        "baggage" => vec![value.replace(";p=1", "%3Bp%3D1")],
        _ => vec![value.to_owned()],
    }),
    ("everything escaped that may be", |name, value| match name {
        "baggage" => vec![value.replace('-', "%2D").replace(':', "%3a")],
        _ => vec![value.to_owned()],
    }),
    ("properties added", |name, value| match name {
        "baggage" => vec![value.replace(',', ";meta,") + ";meta"],
        _ => vec![value.to_owned()],
    }),
];

fn sent_by_the_test() -> Lines {
    let lines = [
        ("host", "shop"),
        ("tracestate", "congo=t61rcWkgMzE , rojo=00f067aa0ba902b7"),
        ("baggage", "user=alice;p=1"),
        ("tracestate", "fi=ab:c"),
        ("baggage", "tier=gold"),
    ];
    Lines(
        lines
            .map(|(name, value)| (name.to_owned(), value.into()))
            .into(),
    )
}

/// The headers of the call that a service makes, whatever its stack does.
fn sent_by(stack: Stack, got: &Lines) -> Lines {
    let mut sent = Vec::new();
    for (name, value) in &got.0 {
        let value = String::from_utf8(value.clone()).unwrap();
        let values = match name.as_str() {
            "tracestate" | "baggage" => stack(name, &value),
            "host" => vec!["cart".to_owned()],
            _ => vec![value],
        };
        sent.extend(values.into_iter().map(|value| (name.clone(), value.into())));
    }
    Lines(sent)
}

fn carriers(text: &str) -> Carriers {
    text.parse().unwrap()
}

fn members(headers: &dyn Headers, name: &str) -> Vec<String> {
    let mut members = Vec::new();
    headers.each(name, &mut |line| {
        let line = std::str::from_utf8(line).unwrap();
        members.extend(line.split(',').map(|member| member.trim().to_owned()));
    });
    members.retain(|member| !member.is_empty());
    members
}

#[test]
fn a_stamp_comes_back_through_every_stack() {
    for (name, stack) in STACKS {
        for names in ["tracestate", "baggage"] {
            let carriers = carriers(names);
            let mut got = sent_by_the_test();
            carriers.stamp(&mut got, &FIRST);
            let mut sent = sent_by(stack, &got);
            assert_eq!(
                carriers.read(&sent),
                [ContextHint::Stamp(FIRST.key)],
                "{name}: {sent:?}"
            );
            // The next hop moves the mark on, and only the mark.
            let before = members(&sent, names);
            carriers.stamp(&mut sent, &SECOND);
            assert_eq!(
                carriers.read(&sent),
                [ContextHint::Stamp(SECOND.key)],
                "{name}"
            );
            let (after, others) = (
                members(&sent, names),
                before.iter().filter(|member| !member.starts_with("murphy")),
            );
            assert_eq!(after[0], format!("murphy={}", SECOND.key));
            assert!(after[1..].iter().eq(others), "{name}: {after:?}");
        }
    }
}

#[test]
fn lines_and_header_maps_are_stamped_alike() {
    let all = carriers(
        "tracestate,baggage,traceparent,b3,uber-trace-id,x-request-id,header:x-id,header:ctx-*",
    );
    for (name, stack) in STACKS {
        let mut lines = sent_by(stack, &sent_by_the_test());
        let mut map = lines.to_map().unwrap();
        for stamp in [FIRST, SECOND] {
            all.stamp(&mut lines, &stamp);
            all.stamp(&mut map, &stamp);
            assert_eq!(lines.to_map().unwrap(), map, "{name}");
            assert_eq!(all.read(&lines), all.read(&map), "{name}");
        }
    }
}

#[test]
fn the_usual_carriers_give_their_clues_in_order_of_trust() {
    let usual = Carriers::default();
    let mut headers = Lines::default();
    usual.stamp(&mut headers, &FIRST);
    let stamp = ContextHint::Stamp(FIRST.key);
    let [first, second, ContextHint::Trace(trace, spans)] = usual.read(&headers)[..] else {
        panic!("three hints in {headers:?}");
    };
    assert_eq!((first, second, trace), (stamp, stamp, FIRST.trace));
    assert!(spans.own.is_some() && spans.parent.is_none());
}

/// Some frameworks look at the first line of a header only.
#[test]
fn all_members_are_on_one_line_once_stamped() {
    let mut headers = sent_by_the_test();
    Carriers::default().stamp(&mut headers, &FIRST);
    for name in ["tracestate", "baggage"] {
        let lines = headers.0.iter().filter(|(known, _)| known == name);
        assert_eq!(lines.count(), 1, "{headers:?}");
    }
    assert_eq!(members(&headers, "tracestate").len(), 4);
    assert_eq!(members(&headers, "baggage").len(), 3);
}

#[test]
fn no_carrier_reads_and_stamps_nothing() {
    let none = carriers("none");
    let mut headers = sent_by_the_test();
    none.stamp(&mut headers, &FIRST);
    assert_eq!(headers, sent_by_the_test());
    assert_eq!(none.read(&headers), []);
}

/// A registry with one worker's execution, and what happens at its proxies.
struct World {
    registry: Registry,
    execution: ExecutionId,
    carriers: Carriers,
}

const WORKER: WorkerId = WorkerId(3);

impl World {
    fn new(names: &str) -> Self {
        let registry = Registry::new(Settings::default());
        let plan = Plan {
            faultload: Faultload::none(),
            identity: Arc::new(Identity::default()),
            worker: Some(WORKER),
            solo: false,
            entries: false,
            injector: None,
        };
        World {
            execution: registry.begin(plan).unwrap(),
            registry,
            carriers: carriers(names),
        }
    }

    fn recognise(&self, headers: &Lines, origin: &Origin) -> Option<(Owner, Vec<ContextHint>)> {
        let hints = self.carriers.read(headers);
        let claim = self.registry.recognise(&hints, origin)?;
        Some((claim, hints))
    }

    /// What a proxy does with a request; the headers are what it sends on.
    fn through_proxy(&self, headers: &mut Lines, origin: &Origin) -> Owner {
        let (claim, hints) = self.recognise(headers, origin).expect("one of ours");
        let arrival = Arrival {
            claim: claim.clone(),
            destination: "shop".into(),
            interface: Interface::http("GET", "/"),
            query: String::new(),
            body: Bytes::new(),
            body_cut: false,
            idempotency_key: None,
            site: None,
            hints,
            over_tls: None,
            noted: Vec::new(),
        };
        let decision = self.registry.arrive(arrival);
        let Decision { key, trace, .. } = decision.expect("the execution is live");
        let entry = claim.parent == Parent::Entry;
        let stamp = Stamp { key, trace, entry };
        self.carriers.stamp(headers, &stamp);
        claim
    }
}

fn service() -> Origin {
    Origin::Service { caller: None }
}

#[test]
fn every_carrier_alone_ties_what_a_service_calls_to_the_execution() {
    let names = [
        ("tracestate", true),
        ("baggage", true),
        ("traceparent", false),
        ("b3", false),
        ("uber-trace-id", false),
        ("x-request-id", false),
        ("header:x-correlation-id", true),
        ("header:uberctx-*", true),
    ];
    for (name, certain) in names {
        let world = World::new(name);
        let mut headers = Lines::default();
        let entry = world.through_proxy(&mut headers, &Origin::Entry(WORKER));
        assert_eq!(
            (entry.execution, entry.parent),
            (world.execution, Parent::Entry)
        );
        // The service hands on what it got; so does the next.
        for hop in 0..2 {
            let claim = world.through_proxy(&mut headers, &service());
            assert_eq!(claim.execution, world.execution, "{name}");
            match certain {
                true => assert_eq!(claim.parent, Parent::Known(CallId(hop)), "{name}"),
                false => assert!(matches!(claim.parent, Parent::Infer { .. }), "{name}"),
            }
        }
        world.registry.end(world.execution);
        assert_eq!(world.recognise(&headers, &service()), None, "{name}");
    }
}

#[test]
fn ids_that_the_test_itself_sends_are_remembered() {
    let uuid = "7b5e1c1e-7c3d-4f4e-9a55-0c7a6f6b9d11";
    let cases = [
        (
            "traceparent",
            "traceparent",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
        (
            "b3",
            "b3",
            "80f198879ff39da6e457902e4bf92f35-e457b5a2e4d86bd1-1",
        ),
        ("uber-trace-id", "uber-trace-id", "2a%3Ab%3A0%3A1"),
        ("x-request-id", "x-request-id", uuid),
        ("header:x-correlation-id", "x-correlation-id", uuid),
        (
            "header:x-correlation-id",
            "x-correlation-id",
            "80f198879ff39da6",
        ),
    ];
    for (names, header, value) in cases {
        let world = World::new(names);
        let sent = Lines(vec![(header.to_owned(), value.into())]);
        assert_eq!(world.recognise(&sent, &service()), None, "{names}");
        let mut headers = sent.clone();
        world.through_proxy(&mut headers, &Origin::Entry(WORKER));
        assert_eq!(headers, sent, "{names}: a valid id is not altered");
        let claim = world.through_proxy(&mut headers, &service());
        assert_eq!(claim.execution, world.execution, "{names}");
    }
}

//! Calls are named, tied to the call they were made from, and injected.
//!
//! Without stamps all parents would have to be inferred, and those of the
//! concurrent calls here would come out wrong; with inference that never
//! doubts itself, the ambiguous ones would pass for certain.

mod world;

use std::collections::HashSet;
use std::sync::Arc;

use murphy_model::{BackgroundCall, CallId, Identity, LeftOutCall, Reply};
use murphy_registry::{
    CallKey, ContextHint, Control, Decision, ExecutionId, Link, Origin, Parent, Plan, Recorded,
    Settings, TraceKey, Unclaimed,
};
use world::{Run, called_by, ending, place, plan, registry, service, solo_plan, spans, worker};

/// Each call as `point < parent`, with how the parent was found.
fn tree(recorded: &Recorded) -> Vec<(String, Option<u32>, Link)> {
    let calls = recorded.trace.calls().iter().zip(&recorded.details);
    calls
        .map(|(call, detail)| {
            let frame = call.point.frame();
            let name = match frame.count {
                1 => frame.destination.to_string(),
                count => format!("{} #{count}", frame.destination),
            };
            (name, call.parent.map(|id| id.0), detail.link)
        })
        .collect()
}

fn expected(calls: &[(&str, Option<u32>, Link)]) -> Vec<(String, Option<u32>, Link)> {
    let own = |(name, parent, link): &(&str, _, _)| (name.to_string(), *parent, *link);
    calls.iter().map(own).collect()
}

#[track_caller]
fn assert_tree(recorded: &Recorded, calls: &[(&str, Option<u32>, Link)]) {
    assert_eq!(tree(recorded), expected(calls));
}

#[tokio::test(start_paused = true)]
async fn equal_calls_are_counted_and_one_attempt_can_be_injected() {
    let registry = registry();
    let faults = "shop GET / > cart GET /x #2 = 503";
    let run = Run::begin(&registry, plan(faults));
    let entry = run.enter("shop");
    let mut modes = Vec::new();
    for to in ["cart /x", "cart /x", "cart /y", "cart /x"] {
        let call = run.call(entry, to);
        modes.push(call.fault.map(|mode| mode.to_string()));
        run.finish(call, 200);
    }
    run.finish(entry, 200);
    assert_eq!(modes, [None, Some("503".to_owned()), None, None]);
    let recorded = run.collect().await;
    let points: Vec<String> = recorded
        .trace
        .calls()
        .iter()
        .map(|call| call.point.to_string())
        .collect();
    assert_eq!(
        points,
        [
            "shop GET /",
            "shop GET / > cart GET /x",
            "shop GET / > cart GET /x #2",
            "shop GET / > cart GET /y",
            "shop GET / > cart GET /x #3",
        ]
    );
    let injected = registry.injected(run.id).unwrap();
    assert_eq!(injected.len(), 1);
    assert_eq!(injected[0].0.to_string(), points[2]);
}

#[tokio::test(start_paused = true)]
async fn the_scenarios_own_requests_are_never_injected() {
    let registry = registry();
    let run = Run::begin(&registry, plan("** > * #* = 500"));
    let entry = run.enter("shop");
    assert_eq!(entry.fault, None);
    let call = run.call(entry, "cart");
    assert!(call.fault.is_some());
    run.finish(call, 500);
    run.finish(entry, 500);
    let recorded = run.collect().await;
    assert_eq!(recorded.trace.final_reply(), Some(Reply::Status(500)));
}

#[tokio::test(start_paused = true)]
async fn a_stamp_tells_the_parent_however_many_calls_are_open() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let (a, b) = (run.call(entry, "a"), run.call(entry, "b"));
    let below_a = run.call(a, "c");
    let below_b = run.call(b, "c");
    let recorded = run.end_all([below_b, a, below_a, b, entry]).await;
    assert_tree(
        &recorded,
        &[
            ("shop", None, Link::Certain),
            ("a", Some(0), Link::Certain),
            ("b", Some(0), Link::Certain),
            ("c", Some(1), Link::Certain),
            ("c", Some(2), Link::Certain),
        ],
    );
    assert_eq!(recorded.doubtful().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_parent_span_tells_the_parent_where_it_is_sent() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let trace = |own, parent| ContextHint::Trace(TraceKey(7), spans(own, parent));
    let entry = run.arrive(Parent::Entry, "shop", vec![trace(1, 0)]);
    let a = run.stray(entry, &service(), spans(2, 1), "a");
    let b = run.stray(entry, &service(), spans(3, 1), "b");
    // Both are open; only the span says which.
    let below_a = run.stray(entry, &service(), spans(4, 2), "c");
    let below_b = run.stray(entry, &service(), spans(5, 3), "c");
    for call in [below_a, below_b, a, b, entry] {
        run.finish(call, 200);
    }
    // Nothing is open any more, but the span is still known.
    let late = run.stray(entry, &service(), spans(6, 2), "d");
    run.finish(late, 200);
    assert_tree(
        &run.collect().await,
        &[
            ("shop", None, Link::Certain),
            ("a", Some(0), Link::Spans),
            ("b", Some(0), Link::Spans),
            ("c", Some(1), Link::Spans),
            ("c", Some(2), Link::Spans),
            ("d", Some(1), Link::Spans),
        ],
    );
}

/// A request that enters without spans is given one by the proxy.
#[tokio::test(start_paused = true)]
async fn a_span_that_was_made_on_entry_tells_the_parent_too() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let made = entry.key.span().0;
    let a = run.stray(entry, &service(), spans(2, made), "a");
    let b = run.stray(entry, &service(), spans(3, made), "b");
    let recorded = run.end_all([a, b, entry]).await;
    assert_tree(
        &recorded,
        &[
            ("shop", None, Link::Certain),
            ("a", Some(0), Link::Spans),
            ("b", Some(0), Link::Spans),
        ],
    );
}

#[test]
fn the_calls_of_an_execution_have_different_spans() {
    let execution = ExecutionId(7);
    let calls = (0..1000).map(|n| Some(CallId(n))).chain([None]);
    let spans: HashSet<u64> = calls
        .map(|call| CallKey { execution, call }.span().0)
        .collect();
    assert_eq!(spans.len(), 1001);
    assert!(!spans.contains(&0), "zero is no span");
}

#[tokio::test(start_paused = true)]
async fn a_span_that_two_calls_carried_tells_nothing() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let a = run.stray(entry, &service(), spans(9, 0), "a");
    let b = run.stray(entry, &service(), spans(9, 0), "b");
    let c = run.stray(entry, &service(), spans(10, 9), "c");
    let recorded = run.end_all([a, b, c, entry]).await;
    assert_eq!(recorded.detail(place(c)).link, Link::Inferred);
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_open_calls_leaves_one_possible_parent() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let a = run.stray(entry, &service(), spans(0, 0), "a");
    let b = run.stray(entry, &service(), spans(0, 0), "b");
    run.finish(b, 200);
    let c = run.stray(entry, &service(), spans(0, 0), "c");
    run.finish(c, 200);
    run.finish(a, 200);
    let d = run.stray(entry, &service(), spans(0, 0), "d");
    run.finish(d, 200);
    run.finish(entry, 200);
    let recorded = run.collect().await;
    assert_tree(
        &recorded,
        &[
            ("shop", None, Link::Certain),
            ("a", Some(0), Link::Inferred),
            ("b", Some(1), Link::Inferred),
            ("c", Some(1), Link::Inferred),
            ("d", Some(0), Link::Inferred),
        ],
    );
    assert_eq!(recorded.doubtful().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_known_caller_narrows_the_possible_parents_down() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let a = run.stray(entry, &called_by("shop"), spans(0, 0), "a");
    let b = run.stray(entry, &called_by("shop"), spans(0, 0), "b");
    let c = run.stray(entry, &called_by("a"), spans(0, 0), "c");
    let d = run.stray(entry, &called_by("b"), spans(0, 0), "d");
    let recorded = run.end_all([c, d, a, b, entry]).await;
    assert_tree(
        &recorded,
        &[
            ("shop", None, Link::Certain),
            ("a", Some(0), Link::Inferred),
            ("b", Some(0), Link::Inferred),
            ("c", Some(1), Link::Inferred),
            ("d", Some(2), Link::Inferred),
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn several_possible_parents_are_reported_as_ambiguous() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let (a, b) = (run.call(entry, "a"), run.call(entry, "b"));
    let c = run.stray(entry, &service(), spans(0, 0), "c");
    let recorded = run.end_all([c, a, b, entry]).await;
    assert_eq!(
        tree(&recorded)[3],
        ("c".to_owned(), Some(2), Link::Ambiguous)
    );
    assert_eq!(recorded.doubtful().collect::<Vec<_>>(), [place(c)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_no_open_call_could_have_made_is_an_orphan() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    run.finish(entry, 200);
    // The only caller it could have had never ran, nor does anybody else.
    let early = run.stray(entry, &called_by("cart"), spans(0, 0), "a");
    run.finish(early, 200);
    let late = run.stray(entry, &service(), spans(0, 0), "b");
    run.finish(late, 200);
    // A stamp of a call that never was.
    let forged = run.arrive(Parent::Known(CallId(99)), "c", vec![]);
    run.finish(forged, 200);
    let recorded = run.collect().await;
    let orphans: Vec<CallId> = recorded.doubtful().collect();
    assert_eq!(orphans, [place(early), place(late), place(forged)]);
    for orphan in orphans {
        assert_eq!(recorded.detail(orphan).link, Link::Orphan);
        assert_eq!(recorded.trace.call(orphan).parent, None);
    }
}

/// A service that knows an address may pass it on: who calls there is then
/// whoever is in flight.
#[tokio::test(start_paused = true)]
async fn an_address_that_was_passed_on_is_called_by_whoever_is_in_flight() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let cart = run.stray(entry, &called_by("shop"), spans(0, 0), "cart");
    let below = run.stray(entry, &called_by("mail"), spans(0, 0), "stock");
    let recorded = run.end_all([below, cart, entry]).await;
    let expected = ("stock".to_owned(), Some(1), Link::Inferred);
    assert_eq!(tree(&recorded)[2], expected);
}

#[tokio::test(start_paused = true)]
async fn what_a_service_does_after_its_answer_is_its_own() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    run.finish(entry, 200);
    let mail = run.stray(entry, &called_by("shop"), spans(0, 0), "mail");
    run.finish(mail, 200);
    // Twice served, it may be at work for either.
    let again = run.enter("shop");
    run.finish(again, 200);
    let guess = run.stray(entry, &called_by("shop"), spans(0, 0), "mail");
    run.finish(guess, 200);
    let recorded = run.collect().await;
    let mails = [
        ("mail", Some(0), Link::Inferred),
        ("mail", Some(2), Link::Background),
    ];
    let tree = tree(&recorded);
    assert_eq!([tree[1].clone(), tree[3].clone()][..], expected(&mails)[..]);
}

/// At an address that anybody may have been given, without any context.
fn anybody(run: &Run<'_>, to: &str) -> Decision {
    let fixed = Origin::Fixed { worker: None };
    let claim = run.registry.recognise(&[], &fixed).expect("it is alone");
    run.arrive(claim.parent, to, vec![])
}

#[tokio::test(start_paused = true)]
async fn at_a_fixed_address_whoever_is_in_flight_calls_or_else_the_test() {
    let registry = registry();
    let run = Run::begin(&registry, solo_plan());
    let first = anybody(&run, "shop");
    let below = anybody(&run, "cart");
    run.finish(below, 200);
    // Rather the test's next one than one of the shop to itself.
    let beside = anybody(&run, "shop /2");
    run.finish(first, 200);
    run.finish(beside, 200);
    let last = anybody(&run, "cart /2");
    run.finish(last, 200);
    let recorded = run.collect().await;
    assert_tree(
        &recorded,
        &[
            ("shop", None, Link::Inferred),
            ("cart", Some(0), Link::Inferred),
            ("shop", None, Link::Inferred),
            ("cart", None, Link::Inferred),
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn whom_services_are_said_to_call_settles_doubts() {
    let callees = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    let graph = [
        ("cart".to_owned(), callees(&["stock"])),
        ("ads".to_owned(), callees(&[])),
    ];
    for (graph, parent, link) in [(None, 2, Link::Ambiguous), (Some(graph), 1, Link::Inferred)] {
        let registry = registry();
        registry.calling(graph.into_iter().flatten().collect());
        let run = Run::begin(&registry, solo_plan());
        let shop = run.enter("shop");
        let (cart, ads) = (run.call(shop, "cart"), run.call(shop, "ads"));
        let stock = anybody(&run, "stock");
        let recorded = run.end_all([stock, cart, ads, shop]).await;
        assert_eq!(tree(&recorded)[3], ("stock".to_owned(), Some(parent), link));
    }
}

/// Neither what enters at a worker's listener nor what brings a mark.
#[test]
fn calls_that_belong_to_nobody_are_counted() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let pass = |hints: &[ContextHint], origin: &Origin| {
        assert_eq!(registry.recognise(hints, origin), None);
        registry.unclaimed(&Unclaimed {
            hints,
            origin,
            destination: &"rates".into(),
            interface: &murphy_model::Interface::http("GET", "/item"),
        });
    };
    let gone = ContextHint::Stamp(CallKey {
        execution: ExecutionId(run.id.0.wrapping_add(1)),
        call: None,
    });
    let foreign = ContextHint::Trace(TraceKey(1), spans(0, 0));
    pass(&[], &worker(3));
    pass(&[gone], &service());
    assert_eq!(registry.unattributed(), []);
    pass(&[], &service());
    pass(&[foreign], &called_by("shop"));
    let counted = registry.take_unattributed();
    assert_eq!((counted.len(), counted[0].calls), (1, 2));
    assert_eq!(counted[0].at.to_string(), "rates GET /item");
    assert_eq!(registry.unattributed(), []);
}

/// It says whose it is: taking it for the next one's would be a lie.
#[test]
fn a_late_call_is_not_the_next_solo_executions() {
    let registry = registry();
    let run = Run::begin(&registry, solo_plan());
    let mark = [ContextHint::Stamp(run.enter("shop").key)];
    registry.end(run.id);
    let _next = Run::begin(&registry, solo_plan());
    assert_eq!(registry.recognise(&mark, &service()), None);
    assert_eq!(registry.late(), 1);
    assert!(registry.recognise(&[], &service()).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_callee_that_never_saw_its_call_made_none() {
    let registry = registry();
    let run = Run::begin(&registry, plan("shop GET / > a GET / = hang"));
    let entry = run.enter("shop");
    let a = run.call(entry, "a");
    assert!(a.fault.is_some());
    let b = run.stray(entry, &service(), spans(0, 0), "b");
    run.finish(b, 200);
    run.finish(a, 504);
    run.finish(entry, 200);
    let recorded = run.collect().await;
    assert_eq!(
        tree(&recorded)[2],
        ("b".to_owned(), Some(0), Link::Inferred)
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_of_two_endings_is_the_one() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    run.finish(entry, 200);
    run.finish(entry, 500);
    // Neither of a call that never was.
    let nobody = CallKey {
        call: Some(CallId(7)),
        ..entry.key
    };
    run.end(nobody, ending(500));
    let recorded = run.collect().await;
    assert_eq!(recorded.trace.final_reply(), Some(Reply::Status(200)));
    assert!(recorded.quiet);
}

#[test]
fn what_enters_at_a_worker_belongs_to_its_execution() {
    let registry = registry();
    let one = Run::begin(&registry, world::plan_for(1));
    let two = Run::begin(&registry, world::plan_for(2));
    for (origin, run) in [(worker(1), &one), (worker(2), &two)] {
        let claim = registry.recognise(&[], &origin).expect("the worker's");
        assert_eq!((claim.execution, claim.parent), (run.id, Parent::Entry));
    }
    assert_eq!(registry.recognise(&[], &worker(3)), None);
    assert_eq!(registry.recognise(&[], &service()), None);
}

#[test]
fn a_stamp_wins_over_the_place_and_the_first_known_clue_over_the_others() {
    let registry = registry();
    let one = Run::begin(&registry, world::plan_for(1));
    let two = Run::begin(&registry, world::plan_for(2));
    let (in_one, in_two) = (one.enter("shop"), two.enter("shop"));
    let claim = |hints: &[ContextHint]| registry.recognise(hints, &worker(1)).unwrap();
    let foreign = ContextHint::Trace(TraceKey(1), spans(0, 0));
    let stamp = ContextHint::Stamp(in_two.key);
    let trace = ContextHint::Trace(in_one.trace, spans(0, 0));
    assert_eq!(claim(&[foreign, stamp, trace]).execution, two.id);
    assert_eq!(claim(&[stamp]).parent, Parent::Known(place(in_two)));
    assert_eq!(claim(&[trace, stamp]).execution, one.id);
    assert_eq!(claim(&[foreign]).execution, one.id);
    // A stamp without a call: the scenario named its execution itself.
    let named = CallKey {
        execution: two.id,
        call: None,
    };
    assert_eq!(claim(&[ContextHint::Stamp(named)]).parent, Parent::Entry);
}

#[test]
fn trace_ids_that_entry_calls_bring_are_known_from_then_on() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let own = ContextHint::Trace(TraceKey(42), spans(0, 0));
    assert_eq!(registry.recognise(&[own], &service()), None);
    run.arrive(Parent::Entry, "shop", vec![own]);
    let claim = registry.recognise(&[own], &service()).unwrap();
    assert_eq!(claim.execution, run.id);
    // The same id in a later execution means the later one.
    let later = Run::begin(&registry, plan("none"));
    later.arrive(Parent::Entry, "shop", vec![own]);
    let claim = registry.recognise(&[own], &service()).unwrap();
    assert_eq!(claim.execution, later.id);
    registry.end(run.id);
    assert!(registry.recognise(&[own], &service()).is_some());
    registry.end(later.id);
    assert_eq!(registry.recognise(&[own], &service()), None);
}

/// A plan that knows these calls of `jobs` to be made in the background.
fn knowing_background(calls: &[&str]) -> Plan {
    let calls = calls.iter().map(|callee| BackgroundCall {
        caller: Some("jobs".into()),
        callee: callee.parse().unwrap(),
        makes: Vec::new(),
    });
    let identity = Identity {
        background: calls.collect(),
        ..Identity::default()
    };
    Plan {
        identity: Arc::new(identity),
        ..plan("none")
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_made_beside_a_call_in_the_background_is_not_made_for_it() {
    let registry = registry();
    let run = Run::begin(&registry, knowing_background(&["shop GET /pending"]));
    let entry = run.enter("shop");
    let poll = run.stray(entry, &called_by("jobs"), spans(0, 0), "shop /pending");
    let cart = run.stray(entry, &called_by("shop"), spans(0, 0), "cart");
    let recorded = run.end_all([cart, poll, entry]).await;
    assert_tree(
        &recorded,
        &[
            ("shop", None, Link::Certain),
            ("cart", Some(0), Link::Inferred),
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_in_the_background_is_not_waited_for() {
    for (known, expected) in [(&["jobs GET /next"][..], true), (&[], false)] {
        let registry = registry();
        let run = Run::begin(&registry, knowing_background(known));
        let entry = run.enter("shop");
        run.finish(entry, 200);
        let _open = run.stray(entry, &called_by("jobs"), spans(0, 0), "jobs /next");
        assert_eq!(run.collect().await.quiet, expected, "{known:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_goes_on_for_good_is_not_waited_for_unless_it_fails() {
    for (status, expected) in [(200, true), (503, false)] {
        let registry = registry();
        let run = Run::begin(&registry, plan("none"));
        let entry = run.enter("shop");
        run.finish(entry, 200);
        let poll = async {
            loop {
                let poll = run.stray(entry, &called_by("jobs"), spans(0, 0), "mail /next");
                run.finish(poll, status);
                tokio::time::sleep(Settings::default().grace / 2).await;
            }
        };
        let recorded = tokio::select! {
            recorded = run.collect() => recorded,
            () = poll => unreachable!("it never ends"),
        };
        assert_eq!(recorded.trace.calls().len() < 20, expected, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_left_out_is_passed_on_and_in_no_record() {
    let registry = registry();
    let identity = Identity {
        left_out: vec![LeftOutCall::new(
            &"shop GET / > jobs GET /state #2".parse().unwrap(),
            String::new(),
        )],
        ..Identity::default()
    };
    let plan = Plan {
        identity: Arc::new(identity),
        ..plan("** > * = 503")
    };
    let run = Run::begin(&registry, plan);
    let entry = run.enter("shop");
    let state = run.call(entry, "jobs /state");
    let below = run.call(state, "store");
    let cart = run.call(entry, "cart");
    assert_eq!((state.fault, below.fault), (None, None));
    assert!(cart.fault.is_some());
    let recorded = run.end_all([below, state, cart, entry]).await;
    let left = [
        ("shop", None, Link::Certain),
        ("cart", Some(0), Link::Certain),
    ];
    assert_tree(&recorded, &left);
}

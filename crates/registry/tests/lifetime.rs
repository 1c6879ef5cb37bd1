//! Executions begin, get quiet, end, and are forgotten.
//!
//! Time stands still but for what is waited for, so that what is measured
//! here is the rule and not the machine. A registry that collected at once
//! would lose the late calls; one that never gave up would hang.

mod world;

use std::time::Duration;

use murphy_registry::{
    BeginError, ContextHint, Control, Link, Parent, Registry, Settings, Unknown,
};
use tokio::time::{Instant, advance, sleep};
use world::{Run, arrival, called_by, plan, plan_for, registry, service, solo_plan, spans, worker};

const SETTINGS: Settings = Settings {
    grace: Duration::from_millis(20),
    patience: Duration::from_secs(10),
    time_to_live: Duration::from_secs(600),
};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A registry that tasks of their own can report to.
fn shared() -> &'static Registry {
    Box::leak(Box::new(Registry::new(SETTINGS)))
}

#[tokio::test(start_paused = true)]
async fn a_quiet_execution_is_collected_after_the_grace_time() {
    let registry = shared();
    let run = Run::begin(registry, plan("none"));
    let entry = run.enter("shop");
    run.finish(entry, 200);
    let begun = Instant::now();
    let recorded = run.collect().await;
    assert!(recorded.quiet);
    assert_eq!(begun.elapsed(), SETTINGS.grace);
    // It has been quiet for long enough by now.
    let begun = Instant::now();
    run.collect().await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_fire_and_forget_call_within_the_grace_time_is_part_of_the_trace() {
    let registry = shared();
    let run = Run::begin(registry, plan("none"));
    let entry = run.enter("shop");
    run.finish(entry, 202);
    tokio::spawn(async move {
        let run = Run {
            registry,
            id: run.id,
        };
        sleep(ms(15)).await;
        let mail = run.call(entry, "mail");
        sleep(ms(500)).await;
        run.finish(mail, 200);
    });
    let begun = Instant::now();
    let recorded = registry.collect(entry.key.execution).await.unwrap();
    assert!(recorded.quiet);
    assert_eq!(recorded.trace.calls().len(), 2);
    assert_eq!(begun.elapsed(), ms(15 + 500 + 20));
}

#[tokio::test(start_paused = true)]
async fn a_call_after_the_grace_time_is_not_waited_for() {
    let registry = shared();
    let run = Run::begin(registry, plan("none"));
    let entry = run.enter("shop");
    run.finish(entry, 202);
    tokio::spawn(async move {
        sleep(ms(25)).await;
        Run {
            registry,
            id: run.id,
        }
        .call(entry, "mail");
    });
    let recorded = registry.collect(entry.key.execution).await.unwrap();
    assert_eq!(recorded.trace.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_is_waited_for_until_patience_ends() {
    let registry = shared();
    let run = Run::begin(registry, plan("none"));
    let entry = run.enter("shop");
    let stuck = run.call(entry, "cart");
    run.finish(entry, 200);
    let begun = Instant::now();
    let recorded = run.collect().await;
    assert!(!recorded.quiet);
    assert_eq!(begun.elapsed(), SETTINGS.patience);
    assert_eq!(recorded.trace.call(world::place(stuck)).reply, None);
    assert_eq!(recorded.detail(world::place(stuck)).finished, None);
}

#[tokio::test(start_paused = true)]
async fn calls_that_never_stop_coming_do_not_outlast_patience() {
    let registry = shared();
    let run = Run::begin(registry, plan("none"));
    let id = run.id;
    tokio::spawn(async move {
        let run = Run { registry, id };
        loop {
            let poll = run.enter("shop");
            sleep(ms(1)).await;
            run.finish(poll, 200);
            sleep(ms(10)).await;
        }
    });
    sleep(ms(5)).await;
    let begun = Instant::now();
    let recorded = registry.collect(id).await.unwrap();
    assert!(!recorded.quiet);
    assert_eq!(begun.elapsed(), SETTINGS.patience);
}

#[tokio::test(start_paused = true)]
async fn an_ended_execution_is_nobodys() {
    let registry = registry();
    let run = Run::begin(&registry, plan_for(1));
    let entry = run.enter("shop");
    assert!(!registry.idle());
    registry.end(run.id);
    registry.end(run.id);
    assert!(registry.idle());
    // Its late calls and endings are ignored.
    run.finish(entry, 200);
    let hints = [
        ContextHint::Stamp(entry.key),
        ContextHint::Trace(entry.trace, spans(0, 0)),
    ];
    assert_eq!(registry.recognise(&hints, &service()), None);
    assert_eq!(registry.recognise(&hints, &worker(1)), None);
    let claim = murphy_registry::Owner {
        execution: run.id,
        parent: Parent::Entry,
    };
    assert_eq!(run.try_arrive(arrival(claim, "shop", vec![])), Err(Unknown));
    assert_eq!(registry.collect(run.id).await.err(), Some(Unknown));
    assert_eq!(registry.injected(run.id).err(), Some(Unknown));
    // The worker is free again.
    Run::begin(&registry, plan_for(1));
}

#[tokio::test(start_paused = true)]
async fn an_execution_can_end_while_it_is_collected() {
    let registry = shared();
    let run = Run::begin(registry, plan("none"));
    let entry = run.enter("shop");
    let collecting = tokio::spawn(registry.collect(run.id));
    sleep(ms(5)).await;
    let ended = tokio::time::Instant::now();
    registry.end(run.id);
    // Its proxies can no longer report an end: there is nothing to wait for.
    run.finish(entry, 200);
    let recorded = collecting.await.unwrap().unwrap();
    assert!(ended.elapsed() < ms(5));
    assert!(!recorded.quiet);
    assert_eq!(recorded.trace.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_execution_nobody_ends_is_forgotten_in_time() {
    let registry = registry();
    let run = Run::begin(&registry, plan_for(1));
    let entry = run.enter("shop");
    let claim = murphy_registry::Owner {
        execution: run.id,
        parent: Parent::Entry,
    };
    advance(SETTINGS.time_to_live - ms(1)).await;
    registry.sweep();
    assert_eq!(registry.live(), 1);
    assert_eq!(
        registry.begin(plan_for(1)),
        Err(BeginError::WorkerBusy {
            worker: murphy_registry::WorkerId(1),
            running: run.id
        })
    );
    advance(ms(1)).await;
    // Noticed by whatever comes first: an arrival,
    assert_eq!(run.try_arrive(arrival(claim, "shop", vec![])), Err(Unknown));
    assert!(registry.idle());
    run.finish(entry, 200);
    // or the next execution.
    let next = Run::begin(&registry, plan_for(1));
    advance(SETTINGS.time_to_live).await;
    let last = Run::begin(&registry, plan_for(1));
    assert_eq!(registry.live(), 1);
    assert_eq!(registry.collect(next.id).await.err(), Some(Unknown));
    registry.end(last.id);
}

#[test]
fn a_worker_runs_one_execution_at_a_time() {
    let registry = registry();
    let run = Run::begin(&registry, plan_for(7));
    let refused = registry.begin(plan_for(7)).unwrap_err();
    let says = format!("worker 7 still runs execution {}; end it first", run.id);
    assert_eq!(refused.to_string(), says);
    assert_eq!(registry.live(), 1);
    Run::begin(&registry, plan_for(8));
}

#[test]
fn a_solo_execution_is_alone() {
    let registry = registry();
    let other = Run::begin(&registry, plan("none"));
    let refused = registry.begin(solo_plan()).unwrap_err();
    assert_eq!(refused, BeginError::NotAlone { running: other.id });
    registry.end(other.id);
    let solo = Run::begin(&registry, solo_plan());
    for plan in [plan("none"), plan_for(1), solo_plan()] {
        let refused = registry.begin(plan).unwrap_err();
        assert_eq!(refused, BeginError::NotAlone { running: solo.id });
        assert!(refused.to_string().contains("one at a time"), "{refused}");
    }
    registry.end(solo.id);
    Run::begin(&registry, plan("none"));
}

#[tokio::test(start_paused = true)]
async fn every_call_without_context_belongs_to_a_solo_execution() {
    let registry = registry();
    let solo = Run::begin(
        &registry,
        murphy_registry::Plan {
            worker: Some(murphy_registry::WorkerId(1)),
            ..solo_plan()
        },
    );
    let come = |origin, to| {
        let claim = registry.recognise(&[], &origin).expect("the only one");
        assert_eq!(claim.execution, solo.id);
        solo.arrive(claim.parent, to, vec![])
    };
    let entry = come(worker(1), "shop");
    let cart = come(called_by("shop"), "cart");
    let stock = come(service(), "stock");
    for call in [stock, cart, entry] {
        solo.finish(call, 200);
    }
    let recorded = solo.collect().await;
    let parents: Vec<Option<u32>> = recorded
        .trace
        .calls()
        .iter()
        .map(|call| call.parent.map(|id| id.0))
        .collect();
    assert_eq!(parents, [None, Some(0), Some(1)]);
    assert_eq!(recorded.detail(world::place(stock)).link, Link::Inferred);
    registry.end(solo.id);
    assert_eq!(registry.recognise(&[], &service()), None);
}

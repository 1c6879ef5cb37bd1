//! Parallel executions do not touch each other.
//!
//! Each of many executions has its own faults and its own calls; run by eight
//! threads at once over one registry, each must be recorded as when it ran
//! alone. State that leaked between executions, or a count that two threads
//! raced for, would show in one of them.

mod world;

use std::sync::atomic::{AtomicUsize, Ordering};

use murphy_model::Reply;
use murphy_registry::{ContextHint, Control, Link, Recorded, Registry, Settings};
use world::{Run, plan, service, spans};

const THREADS: usize = 8;
const EXECUTIONS: usize = 2000;

fn registry() -> Registry {
    Registry::new(Settings {
        grace: std::time::Duration::ZERO,
        ..Settings::default()
    })
}

/// What is told of a call: its point, parent, answer, fault and link.
type CallRecord = (String, Option<u32>, Option<Reply>, Option<String>, Link);

fn seen(recorded: &Recorded) -> Vec<CallRecord> {
    assert!(recorded.quiet);
    let calls = recorded.trace.calls().iter().zip(&recorded.details);
    calls
        .map(|(call, detail)| {
            (
                call.point.to_string(),
                call.parent.map(|id| id.0),
                call.reply,
                call.injected.as_ref().map(ToString::to_string),
                detail.link,
            )
        })
        .collect()
}

/// One execution: retries, a fan-out, calls known by stamp and by trace id;
/// how many of each, and what fails, depends on its number.
fn run_one(registry: &Registry, number: usize) -> Vec<CallRecord> {
    let attempt = number % 4 + 1;
    let faults =
        format!("shop GET / > cart GET / #{attempt} = 503, ** > pay GET /{number} #1 = reset");
    let run = Run::begin(registry, plan(&faults));
    let entry = run.enter("shop");
    for _ in 0..number % 5 {
        let hint = ContextHint::Stamp(entry.key);
        let claim = registry.recognise(&[hint], &service()).expect("live");
        assert_eq!(claim.execution, run.id);
        let cart = run.arrive(claim.parent, "cart", vec![hint]);
        let below = run.stray(entry, &service(), spans(0, 0), "stock");
        run.finish(below, 200);
        let status = if cart.fault.is_some() { 503 } else { 200 };
        run.finish(cart, status);
    }
    let open: Vec<_> = (0..number % 7)
        .map(|n| run.call(entry, &format!("pay /{}", number + n)))
        .collect();
    for call in open.iter().rev() {
        run.finish(*call, 200);
    }
    run.finish(entry, 200);
    let recorded = run.collect_blocking();
    registry.end(run.id);
    seen(&recorded)
}

#[test]
fn executions_side_by_side_are_recorded_as_when_alone() {
    let alone = registry();
    let expected: Vec<Vec<CallRecord>> = (0..EXECUTIONS).map(|n| run_one(&alone, n)).collect();
    let together = registry();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(expected) = expected.get(number) else {
                        break;
                    };
                    assert_eq!(&run_one(&together, number), expected, "{number}");
                }
            });
        }
    });
    assert!(together.idle());
}

#[test]
fn calls_of_one_execution_reported_at_once_are_all_counted() {
    const CALLS: usize = 500;
    let registry = registry();
    let run = Run::begin(&registry, plan("shop GET / > cart GET / #7 = 503"));
    let entry = run.enter("shop");
    let injected = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..CALLS {
                    let call = run.call(entry, "cart");
                    let hit = usize::from(call.fault.is_some());
                    injected.fetch_add(hit, Ordering::Relaxed);
                    registry.finish(call.key, world::ending(200));
                }
            });
        }
    });
    run.finish(entry, 200);
    let recorded = run.collect_blocking();
    let calls = recorded.trace.calls();
    assert_eq!(calls.len(), 1 + THREADS * CALLS);
    let mut counts: Vec<u32> = calls[1..].iter().map(|c| c.point.frame().count).collect();
    counts.sort_unstable();
    assert!(counts.into_iter().eq(1..=(THREADS * CALLS) as u32));
    assert_eq!(injected.into_inner(), 1);
    assert!(recorded.quiet);
}

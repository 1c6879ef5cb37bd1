//! What a record says: times, overlap, who gave up, which planned faults
//! never landed.
//!
//! A record without proof of landing would count a fault that was armed as
//! one that happened.

mod world;

use std::time::Duration;

use murphy_model::{CallId, Reply};
use murphy_registry::{Ending, Organic};
use tokio::time::sleep;
use world::{Run, ending, place, plan, registry};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[tokio::test(start_paused = true)]
async fn attempts_are_recorded_with_their_times() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    sleep(ms(3)).await;
    let entry = run.enter("shop");
    let mut attempts = Vec::new();
    for backoff in [100, 200] {
        let attempt = run.call(entry, "cart");
        attempts.push(attempt);
        sleep(ms(10)).await;
        let ending = Ending {
            took: ms(10),
            ..ending(503)
        };
        run.end(attempt.key, ending);
        sleep(ms(backoff)).await;
    }
    run.finish(entry, 503);
    let recorded = run.collect().await;
    let times = attempts.iter().map(|attempt| {
        let detail = recorded.detail(place(*attempt));
        (detail.arrived, detail.finished)
    });
    let expected = [(ms(3), Some(ms(13))), (ms(113), Some(ms(123)))];
    assert!(times.eq(expected));
}

#[tokio::test(start_paused = true)]
async fn siblings_under_way_together_overlap() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let first = run.call(entry, "a");
    run.finish(first, 200);
    let (b, c) = (run.call(entry, "b"), run.call(entry, "c"));
    let below = run.call(b, "d");
    run.finish(below, 200);
    run.finish(b, 200);
    let last = run.call(entry, "e");
    for call in [c, last, entry] {
        run.finish(call, 200);
    }
    let recorded = run.collect().await;
    let overlapping = |call| {
        let siblings = recorded
            .trace
            .children(recorded.trace.call(place(call)).parent);
        let together = siblings.filter(|other| recorded.trace.overlap(place(call), *other));
        together.collect::<Vec<CallId>>()
    };
    assert_eq!(overlapping(first), []);
    assert_eq!(overlapping(b), [place(c)]);
    assert_eq!(overlapping(c), [place(b), place(last)]);
    assert_eq!(overlapping(last), [place(c)]);
    assert_eq!(overlapping(below), []);
}

#[tokio::test(start_paused = true)]
async fn planned_faults_that_took_no_effect_are_not_exercised() {
    let faults = "shop GET / > a GET / = 503, shop GET / > b GET / = after:malformed, shop GET / > c GET / = 500, ** > d #* = 500";
    let registry = registry();
    let run = Run::begin(&registry, plan(faults));
    let entry = run.enter("shop");
    run.finish(run.call(entry, "a"), 503);
    let nothing_to_spoil = Ending {
        landed: false,
        ..ending(204)
    };
    run.end(run.call(entry, "b").key, nothing_to_spoil.clone());
    // Every attempt is meant; that one landed is enough.
    run.end(run.call(entry, "d").key, nothing_to_spoil);
    run.finish(run.call(entry, "d"), 500);
    run.finish(entry, 200);
    let recorded = run.collect().await;
    let missed: Vec<String> = recorded
        .not_exercised(&faults.parse().unwrap())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        missed,
        [
            "shop GET / > b GET / = after:malformed",
            "shop GET / > c GET / = 500",
        ]
    );
    let landed: Vec<Option<bool>> = recorded.details.iter().map(|d| d.landed).collect();
    assert_eq!(
        landed,
        [None, Some(true), Some(false), Some(false), Some(true)]
    );
}

#[tokio::test(start_paused = true)]
async fn of_calls_that_have_not_ended_only_those_that_never_reach_their_callee_have_landed() {
    for (mode, missing) in [("hang", 0), ("after:hang", 1)] {
        let faults = format!("shop GET / > a GET / = {mode}");
        let registry = registry();
        let run = Run::begin(&registry, plan(&faults));
        let entry = run.enter("shop");
        run.call(entry, "a");
        let recorded = run.collect().await;
        assert!(!recorded.quiet);
        let not_exercised = recorded.not_exercised(&faults.parse().unwrap());
        assert_eq!(not_exercised.len(), missing, "{mode}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gave_up_and_a_callee_that_failed_are_distinguished() {
    let registry = registry();
    let run = Run::begin(&registry, plan("none"));
    let entry = run.enter("shop");
    let (slow, down) = (run.call(entry, "slow"), run.call(entry, "down"));
    let gave_up = Ending {
        reply: Reply::TimedOut,
        gave_up: true,
        took: ms(250),
        ..ending(0)
    };
    let refused = Ending {
        organic: Some(Organic::Refused),
        ..ending(502)
    };
    run.end(slow.key, gave_up);
    run.end(down.key, refused);
    run.finish(entry, 200);
    let recorded = run.collect().await;
    let (slow, down) = (recorded.detail(place(slow)), recorded.detail(place(down)));
    assert_eq!((slow.gave_up, slow.organic), (Some(ms(250)), None));
    assert_eq!((down.gave_up, down.organic), (None, Some(Organic::Refused)));
    assert_eq!((slow.landed, down.landed), (None, None));
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_phase_in_which_nothing_fails_stand_beside_the_trace() {
    let registry = registry();
    // Whatever is made of the cart fails, in the phase that is tested.
    let run = Run::begin(&registry, plan("** > cart #* = 503"));
    registry.arm(run.id, false).unwrap();
    let set_up = run.enter("shop");
    let unarmed = run.call(set_up, "cart");
    assert_eq!(unarmed.fault, None);
    assert_eq!(registry.arm(run.id, true).unwrap(), 2);
    // What is called for a call of set-up is part of it, also later on.
    let late = run.call(set_up, "cart");
    assert_eq!(late.fault, None);
    for call in [unarmed, late, set_up] {
        run.finish(call, 200);
    }
    let entry = run.enter("shop");
    let armed = run.call(entry, "cart");
    assert!(armed.fault.is_some());
    let recorded = run.end_all([armed, entry]).await;
    // The first of its kind, whatever the set-up called.
    let points: Vec<String> = recorded
        .trace
        .calls()
        .iter()
        .map(|call| call.point.to_string())
        .collect();
    assert_eq!(points, ["shop GET /", "shop GET / > cart GET /"]);
    assert_eq!(recorded.unarmed.len(), 3);
}

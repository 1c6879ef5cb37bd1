//! What the frontend calls, and when it gives up.

use std::collections::BTreeSet;

use murphy_model::{Execution, Faultload, Reply};

use crate::Simulator;

fn simulator(settings: &str) -> Simulator {
    let app = crate::find("replicas").unwrap();
    let settings = app.settings_from_text(settings).unwrap();
    Simulator::new(app, settings)
}

/// The replicas that the frontend called, in order.
fn called(execution: &Execution) -> Vec<String> {
    let calls = execution.trace.calls().iter();
    let below = calls.filter(|call| call.parent.is_some());
    below
        .map(|call| call.point.frame().destination.to_string())
        .collect()
}

fn down(replicas: &str) -> Faultload {
    let each = replicas.split_whitespace();
    let each = each.map(|replica| format!("** > {replica} * #1 = 503"));
    each.collect::<Vec<_>>().join(", ").parse().unwrap()
}

#[test]
fn a_call_fails_over_until_a_replica_answers() {
    let mut simulator = simulator("apis=2 replicas=3");
    let all_well = simulator.run(&Faultload::none());
    assert_eq!(called(&all_well), ["a01-1", "a02-1"]);
    let two_down = simulator.run(&down("a01-1 a01-2"));
    assert_eq!(called(&two_down), ["a01-1", "a01-2", "a01-3", "a02-1"]);
    assert!(!two_down.verdict.is_failure());
}

#[test]
fn an_api_without_an_answer_fails_the_request_at_once() {
    let execution = simulator("apis=3 replicas=2").run(&down("a02-1 a02-2"));
    assert_eq!(called(&execution), ["a01-1", "a02-1", "a02-2"]);
    assert_eq!(execution.trace.final_reply(), Some(Reply::Status(503)));
    assert!(execution.verdict.is_failure());
}

#[test]
fn no_answer_is_a_failure_like_any_other() {
    for mode in ["500", "429", "reset", "hang", "after:hang", "after:close"] {
        let faultload = format!("** > a01-1 * #1 = {mode}").parse().unwrap();
        let execution = simulator("apis=1").run(&faultload);
        assert_eq!(called(&execution), ["a01-1", "a01-2"], "{mode}");
        assert!(!execution.verdict.is_failure(), "{mode}");
    }
}

#[test]
fn attempts_are_limited_where_that_is_set() {
    let execution = simulator("apis=1 replicas=3 attempts=2").run(&down("a01-1 a01-2"));
    assert_eq!(called(&execution), ["a01-1", "a01-2"]);
    assert!(execution.verdict.is_failure());
}

#[test]
fn a_replica_that_is_down_is_down_for_every_call() {
    let execution = simulator("apis=1 calls=3").run(&down("a01-1"));
    let twice = ["a01-1", "a01-2"];
    assert_eq!(called(&execution), [twice, twice, twice].concat());
    let points: BTreeSet<_> = execution.trace.calls().iter().map(|c| &c.point).collect();
    assert_eq!(points.len(), 3, "the frontend and two replicas");
}

#[test]
fn replicas_of_one_api_differ_in_the_destination_alone() {
    let mut simulator = simulator("apis=30 replicas=8");
    let all_but_the_last: Vec<String> = (1..=30)
        .flat_map(|api| (1..8).map(move |replica| format!("a{api:02}-{replica}")))
        .collect();
    let execution = simulator.run(&down(&all_but_the_last.join(" ")));
    let calls = execution.trace.calls().iter();
    let labels: BTreeSet<String> = calls
        .filter(|call| call.parent.is_some())
        .map(|call| call.point.frame().interface.to_string())
        .collect();
    assert_eq!(called(&execution).len(), 240);
    assert_eq!(labels.len(), 30);
}

#[test]
fn luck_goes_on_from_execution_to_execution_and_comes_again_with_its_seed() {
    for settings in [
        "apis=8 choice=random",
        "apis=8 replicas=3 choice=round-robin",
        "apis=8 calls=1.5 choice=priority",
        "apis=8 calls=2.5 choice=random",
    ] {
        let runs = |settings: &str| -> Vec<Vec<String>> {
            let mut simulator = simulator(settings);
            let run = || called(&simulator.run(&Faultload::none()));
            std::iter::repeat_with(run).take(6).collect()
        };
        let first = runs(settings);
        let different: BTreeSet<_> = first.iter().collect();
        assert!(different.len() > 1, "{settings}: {first:?}");
        assert_eq!(first, runs(settings), "{settings}");
    }
}

#[test]
fn another_seed_brings_other_luck() {
    let run = |settings| called(&simulator(settings).run(&Faultload::none()));
    let some = run("apis=30 choice=random seed=1");
    assert_ne!(some, run("apis=30 choice=random seed=2"));
}

#[test]
fn whoever_chooses_how_the_request_fails_iff_an_api_is_down() {
    for choice in ["priority", "random", "round-robin"] {
        let settings = format!("apis=3 replicas=2 calls=1.5 choice={choice}");
        let mut simulator = simulator(&settings);
        for _ in 0..20 {
            let one_each = simulator.run(&down("a01-1 a02-2 a03-1"));
            assert!(!one_each.verdict.is_failure(), "{choice}");
            let both = simulator.run(&down("a03-1 a03-2"));
            assert!(both.verdict.is_failure(), "{choice}");
        }
    }
}

//! Trees do in the simulator what their truth says, and the truth is right
//! about a tree that can be checked by hand.

use std::collections::BTreeSet;

use murphy_model::{Fault, Faultload, Mode, Point};

use super::{CallTree, Order, Shape, Site, Step, Truth, Work, draw};
use crate::Simulator;

const CONTRARY: Shape = Shape {
    contrary: true,
    ..Shape::MONOTONE
};

fn faultload(down: &BTreeSet<Point>, mode: Mode) -> Faultload {
    let faults = down.iter().map(|point| Fault::at(point.clone(), mode));
    Faultload::new(faults).unwrap()
}

fn site(number: usize, work: Work) -> Site {
    Site {
        number,
        replicas: 1,
        order: Order::Fixed,
        work,
    }
}

fn leaf(number: usize) -> Site {
    site(number, Work::Nothing)
}

fn any(sites: impl Into<Vec<Site>>) -> Work {
    Work::Any(Order::Fixed, sites.into())
}

/// What a tree fails by, as services in order.
fn minimal(work: Work) -> BTreeSet<String> {
    let truth = Truth::of(&CallTree { work, seed: 0 });
    let services = |set: &BTreeSet<Point>| {
        let mut names: Vec<&str> = set.iter().map(|p| &*p.frame().destination).collect();
        names.sort_unstable();
        names.join(" ")
    };
    truth.minimal_failing().iter().map(services).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The smallest system on which FastFI's solver loses a combination: paths
/// through 2 and one of 4 and 5, or through 6.
#[test]
fn a_fallback_inside_an_alternative_fails_as_worked_out_by_hand() {
    let inner = site(3, any([leaf(4), leaf(5)]));
    let first = Work::All(vec![Step::Needed(leaf(2)), Step::Needed(inner)]);
    let found = minimal(any([site(1, first), leaf(6)]));
    let by_hand = [
        "n01-1 n06-1",
        "n02-1 n06-1",
        "n03-1 n06-1",
        "n04-1 n05-1 n06-1",
    ];
    assert_eq!(found, set(&by_hand));
}

#[test]
fn replicas_must_fail_together_and_optional_calls_do_not_matter() {
    let replicated = Site {
        replicas: 3,
        ..leaf(1)
    };
    let steps = vec![
        Step::Optional(leaf(2)),
        Step::Needed(replicated),
        Step::Needed(leaf(3)),
    ];
    let found = minimal(Work::All(steps));
    assert_eq!(found, set(&["n01-1 n01-2 n01-3", "n03-1"]));
}

/// Each replica has points of its own below it.
#[test]
fn below_replicas_the_points_are_told_apart_by_their_callers() {
    let replicated = Site {
        replicas: 2,
        ..site(1, Work::All(vec![Step::Needed(leaf(2))]))
    };
    let tree = CallTree {
        work: Work::All(vec![Step::Needed(replicated)]),
        seed: 0,
    };
    let truth = Truth::of(&tree);
    assert_eq!(truth.points().len(), 4);
    let shapes = truth.minimal_failing();
    assert_eq!(shapes.len(), 4, "one of two points below each replica");
    let mut simulator = Simulator::of(tree.system());
    for down in &shapes {
        let execution = simulator.run(&faultload(down, Mode::RESET));
        assert!(execution.verdict.is_failure(), "{down:?}");
        assert_eq!(execution.trace.injected().len(), 2, "{down:?}");
    }
}

#[test]
fn a_call_that_is_led_to_is_needed_only_while_the_first_one_answers() {
    let tree = CallTree {
        work: Work::All(vec![Step::Leads(leaf(1), leaf(2))]),
        seed: 0,
    };
    let truth = Truth::of(&tree);
    assert!(!truth.is_monotone());
    assert!(!truth.fails(&truth.points().iter().cloned().collect()));
    assert_eq!(minimal(tree.work), set(&["n02-1"]));
}

/// Runs random sets of faults on trees of this shape and compares each outcome
/// with the truth.
fn agrees(shape: Shape) {
    let (mut failed, mut runs) = (0, 0);
    for seed in 0..150 {
        let tree = draw(seed, shape);
        let truth = Truth::of(&tree);
        let mut simulator = Simulator::of(tree.system());
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..25 {
            let share = random.f64();
            let points = truth.points().iter();
            let down = points.filter(|_| random.f64() < share).cloned().collect();
            let mode = *random.choice(&[Mode::status(500), Mode::HANG]).unwrap();
            let execution = simulator.run(&faultload(&down, mode));
            let fails = execution.verdict.is_failure();
            assert_eq!(fails, truth.fails(&down), "seed {seed}: {tree:?} {down:?}");
            failed += usize::from(fails);
            runs += 1;
        }
    }
    assert!(
        (runs / 4..runs * 3 / 4).contains(&failed),
        "{failed} of {runs} failed"
    );
}

#[test]
fn the_simulator_agrees_with_the_truth_on_plain_trees() {
    agrees(Shape::PLAIN);
}

#[test]
fn the_simulator_agrees_with_the_truth_on_all_monotone_trees() {
    agrees(Shape::MONOTONE);
}

#[test]
fn the_simulator_agrees_with_the_truth_on_contrary_trees() {
    agrees(CONTRARY);
}

#[test]
fn drawn_trees_are_monotone_unless_asked_to_be_contrary() {
    for seed in 0..150 {
        for (shape, monotone) in [
            (Shape::PLAIN, true),
            (Shape::MONOTONE, true),
            (CONTRARY, false),
        ] {
            let truth = Truth::of(&draw(seed, shape));
            assert_eq!(truth.is_monotone(), monotone, "seed {seed}");
            assert!(!truth.fails(&BTreeSet::new()), "seed {seed}");
            assert!(truth.points().len() <= shape.points, "seed {seed}");
        }
    }
}

#[test]
fn drawn_trees_have_everything_that_was_asked_for() {
    let trees: Vec<String> = (0..50)
        .map(|seed| format!("{:?}", draw(seed, Shape::MONOTONE)))
        .collect();
    let having = |word: &str| trees.iter().filter(|tree| tree.contains(word)).count();
    for word in [
        "All",
        "Any",
        "Optional",
        "replicas: 2",
        "replicas: 3",
        "Random",
    ] {
        assert!(having(word) >= 5, "{word}");
    }
    assert_eq!(having("Leads"), 0);
    let plain = format!("{:?}", draw(0, Shape::PLAIN));
    assert_eq!(plain, format!("{:?}", draw(0, Shape::PLAIN)));
    assert_ne!(plain, format!("{:?}", draw(1, Shape::PLAIN)));
}

/// A set that is minimal is injected in full: nothing in it is idle, in whatever
/// order alternatives are tried.
#[test]
fn minimal_sets_are_injected_in_full() {
    for seed in 0..60 {
        let tree = draw(seed, Shape::MONOTONE);
        let mut simulator = Simulator::of(tree.system());
        for down in Truth::of(&tree).minimal_failing() {
            let faultload = faultload(&down, Mode::status(503));
            let execution = simulator.run(&faultload);
            assert!(execution.verdict.is_failure(), "seed {seed}: {faultload}");
            assert_eq!(execution.trace.injected(), faultload, "seed {seed}");
        }
    }
}

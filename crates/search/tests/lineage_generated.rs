//! The lineage strategy against brute force, on generated call trees: the
//! minimal failing combinations are exactly those that brute force finds.
//!
//! How many systems are drawn can be raised by `LINEAGE_SYSTEMS`.

use std::collections::BTreeSet;

use murphy_corpus::Simulator;
use murphy_corpus::generated::call_tree::{Shape, Truth, draw};
use murphy_model::{Certificate, Fault, Faultload, Mode, Point, Target};
use murphy_search::{Explanation, Lineage, Modes, Options, explore};

fn systems() -> u64 {
    let asked = std::env::var("LINEAGE_SYSTEMS").ok();
    asked.map_or(500, |text| {
        text.parse().expect("LINEAGE_SYSTEMS is a number")
    })
}

fn points(faultload: &Faultload) -> BTreeSet<Point> {
    let point = |(target, _): (&Target, Mode)| match target {
        Target::Call(point) => point.clone(),
        other => panic!("lineage fails single calls, not {other:?}"),
    };
    faultload.iter().map(point).collect()
}

fn search(seed: u64, shape: Shape, most_faults: Option<usize>) -> (Certificate, Truth) {
    let tree = draw(seed, shape);
    let truth = Truth::of(&tree);
    let mut simulator = Simulator::of(tree.system()).seed(seed);
    let mut options = Options::new(Modes::Same(vec![Mode::status(503)]));
    options.max_faults = most_faults;
    let mut lineage = Lineage::new(options);
    let certificate = explore(&mut lineage, 1, |faultload| simulator.run(faultload));
    (certificate, truth)
}

/// What was found and what there is, up to a size.
fn both(
    certificate: &Certificate,
    truth: &Truth,
    most_faults: Option<usize>,
) -> [BTreeSet<BTreeSet<Point>>; 2] {
    let fits = |set: &BTreeSet<Point>| most_faults.is_none_or(|most| set.len() <= most);
    let found = certificate.minimal.as_ref().expect("lineage tells");
    let found = found.iter().map(points).filter(fits).collect();
    let all = truth.minimal_failing().into_iter().filter(fits).collect();
    [found, all]
}

/// Searches many systems; says how many combinations and executions there were.
fn check(shape: Shape, name: &str) {
    let (mut combinations, mut executions) = (0, 0);
    for seed in 0..systems() {
        for most_faults in [None, Some(2)] {
            let (certificate, truth) = search(seed, shape, most_faults);
            let [found, all] = both(&certificate, &truth, most_faults);
            let about = format!("{name}, seed {seed}, at most {most_faults:?} faults");
            assert_eq!(found, all, "{about}");
            assert_eq!(certificate.incomplete, None, "{about}");
            combinations += all.len();
            executions += certificate.explored;
        }
    }
    println!(
        "{name}: {} systems, {combinations} minimal failing combinations in {executions} executions: none lost, none extra",
        systems()
    );
}

/// Of all pairs, what is said not to fail does not when it is run after all,
/// what is said to hold a failure fails, and a complete search leaves none
/// open. A reason that only sounded right would be contradicted here.
#[test]
fn explanations_agree_with_what_happens() {
    let mut told = [0, 0];
    for seed in 0..50 {
        let mut simulator = Simulator::of(draw(seed, Shape::PLAIN).system()).seed(seed);
        let options = Options::new(Modes::Same(vec![Mode::status(503)]));
        let mut lineage = Lineage::new(options);
        explore(&mut lineage, 1, |faultload| simulator.run(faultload));
        for pair in pairs(&lineage) {
            let fails = simulator.run(&pair).verdict.is_failure();
            match lineage.explain(&pair).unwrap() {
                Explanation::Run { .. } => {}
                Explanation::Implied { reasons } => {
                    let holds_failure = reasons[0].starts_with("it contains");
                    assert_eq!(fails, holds_failure, "seed {seed}: {pair}: {reasons:?}");
                    told[usize::from(fails)] += 1;
                }
                other => panic!("seed {seed}: {pair}: {other:?}"),
            }
        }
    }
    assert!(told.iter().all(|count| *count > 100), "{told:?}");
}

fn pairs(lineage: &Lineage) -> Vec<Faultload> {
    let points = lineage.points();
    let mut pairs = Vec::new();
    for (at, one) in points.iter().enumerate() {
        for other in &points[..at] {
            let faults = [*one, *other].map(|it| Fault::at(it.clone(), Mode::status(503)));
            pairs.push(Faultload::new(faults).unwrap());
        }
    }
    pairs
}

#[test]
fn in_plain_call_trees_nothing_is_lost_and_nothing_is_extra() {
    check(Shape::PLAIN, "call trees with fallbacks");
}

#[test]
fn with_replicas_optional_calls_and_chance_nothing_is_lost_and_nothing_is_extra() {
    check(
        Shape::MONOTONE,
        "call trees with replicas and optional calls",
    );
}

#[test]
fn where_more_faults_help_what_is_missed_is_never_called_complete() {
    let shape = Shape {
        contrary: true,
        ..Shape::PLAIN
    };
    let (mut exact, mut doubted, mut wrong) = (0, 0, Vec::new());
    for seed in 0..systems() {
        let (certificate, truth) = search(seed, shape, None);
        let [found, all] = both(&certificate, &truth, None);
        match (found == all, certificate.is_complete()) {
            (true, _) => exact += 1,
            (false, false) => doubted += 1,
            (false, true) => wrong.push(seed),
        }
    }
    println!("not monotone: {exact} exact, {doubted} marked as incomplete, wrong: {wrong:?}");
    assert!(wrong.is_empty());
}

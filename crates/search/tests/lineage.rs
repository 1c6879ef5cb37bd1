//! The lineage strategy against others: on every example system it finds the
//! minimal failing combinations that the tree finds, and how many executions
//! are under way changes nothing.

use std::collections::BTreeSet;

use murphy_corpus::{App, Expected, FaultSet, Outcome, Simulator, all, find};
use murphy_model::{
    Call, CallId, Certificate, Execution, Fault, Faultload, Flag, Frame, Incomplete, Interface,
    Mode, Point, Reply, Trace, Verdict,
};
use murphy_search::{Lineage, Modes, Options, Strategy, Tree, explore};

/// A system in one of its declared variants, fresh for a search.
fn simulator(app: &App, expected: &Expected) -> (Simulator, Options) {
    let app = find(app.name).unwrap();
    let settings = app.settings_from_text(expected.settings).unwrap();
    let faults: FaultSet = expected.modes.parse().unwrap();
    let simulator = Simulator::new(app, settings).timeouts(faults.timeouts());
    let options = Options::new(Modes::ByService(faults.by_service(simulator.system())));
    (simulator, options)
}

/// Replicas behind a caller that turns to the next one.
fn replicas(settings: &str, most_faults: usize) -> (Simulator, Options) {
    let app = find("replicas").unwrap();
    let settings = app.settings_from_text(settings).unwrap();
    let mut options = Options::new(Modes::Same(vec![Mode::status(503)]));
    options.max_faults = Some(most_faults);
    (Simulator::new(app, settings), options)
}

/// What fails without anything less failing, among all that was injected.
fn minimal(failing: &BTreeSet<Faultload>) -> BTreeSet<Faultload> {
    let smaller = |faultload: &Faultload| {
        let below = |other: &Faultload| other != faultload && other.is_subset(faultload);
        failing.iter().any(below)
    };
    failing.iter().filter(|f| !smaller(f)).cloned().collect()
}

fn run(
    strategy: &mut dyn Strategy,
    simulator: &mut Simulator,
) -> (Certificate, BTreeSet<Faultload>) {
    let mut failing = BTreeSet::new();
    let certificate = explore(strategy, 1, |faultload| {
        let execution = simulator.run(faultload);
        if execution.verdict.is_failure() {
            failing.insert(execution.trace.injected());
        }
        execution
    });
    (certificate, minimal(&failing))
}

/// Compares the two strategies on every variant of every system.
fn compare(most_faults: usize, modes: Option<&Modes>) {
    let (mut variants, mut combinations, mut of_tree, mut of_lineage) = (0, 0, 0, 0);
    for app in all() {
        for expected in (app.expected)() {
            if matches!(expected.outcome, Outcome::ReferenceFails) {
                continue;
            }
            let about = format!("{} {} {}", app.name, expected.settings, expected.modes);
            let (mut system, mut options) = simulator(&app, &expected);
            options.max_faults = Some(most_faults);
            options.modes = modes.cloned().unwrap_or(options.modes);
            let (tree, by_tree) = run(&mut Tree::new(options.clone()), &mut system);
            let (mut system, _) = simulator(&app, &expected);
            let mut lineage = Lineage::new(options);
            let (certificate, by_lineage) = run(&mut lineage, &mut system);
            assert_eq!(by_tree, by_lineage, "{about}");
            assert_eq!(certificate.incomplete, None, "{about}");
            let certified: BTreeSet<Faultload> = certificate.minimal.unwrap().into_iter().collect();
            assert_eq!(certified, by_tree, "{about}");
            variants += 1;
            combinations += by_tree.len();
            of_tree += tree.explored;
            of_lineage += certificate.explored;
        }
    }
    println!(
        "at most {most_faults} faults: {combinations} minimal failing combinations in {variants} variants, the same by both; {of_tree} executions of the tree, {of_lineage} of lineage"
    );
}

#[test]
fn lineage_and_the_tree_agree_on_pairs_in_all_declared_modes() {
    compare(2, None);
}

#[test]
fn lineage_and_the_tree_agree_on_larger_combinations_in_one_mode() {
    compare(4, Some(&Modes::Same(vec![Mode::status(503)])));
}

#[test]
fn how_many_run_at_once_changes_nothing_but_what_was_run_ahead() {
    let at_once = |in_flight| {
        let (mut system, options) = replicas("apis=4 replicas=3", 3);
        let mut lineage = Lineage::new(options);
        let certificate = explore(&mut lineage, in_flight, |f| system.run(f));
        Certificate {
            speculative: 0,
            ..certificate
        }
    };
    let alone = at_once(1);
    assert_eq!(alone.minimal.as_ref().map(Vec::len), Some(4));
    assert_eq!(alone, at_once(2));
    assert_eq!(alone, at_once(16));
}

#[test]
fn fewer_attempts_than_replicas_do_not_blow_up_the_search() {
    let (mut system, options) = replicas("apis=12 replicas=6 attempts=3", 4);
    let (certificate, minimal) = run(&mut Lineage::new(options), &mut system);
    assert_eq!(minimal.len(), 12);
    assert!(certificate.is_complete());
    let injections = certificate.explored - 1;
    assert!(injections <= 50, "{injections}");
}

/// A search on a scenario that makes no call and always ends so.
fn without_calls(verdict: &Verdict) -> Certificate {
    let options = Options::new(Modes::Same(vec![Mode::status(503)]));
    explore(&mut Lineage::new(options), 1, |faultload| Execution {
        faultload: faultload.clone(),
        trace: Trace::default(),
        verdict: verdict.clone(),
    })
}

#[test]
fn a_scenario_that_never_succeeds_ends_at_once() {
    let certificate = without_calls(&Verdict::Failed {
        why: "always".to_owned(),
    });
    assert_eq!(certificate.incomplete, Some(Incomplete::NoSuccess));
    assert_eq!(certificate.explored, 1);
}

#[test]
fn a_scenario_without_calls_has_nothing_that_fails() {
    let certificate = without_calls(&Verdict::Passed);
    assert!(certificate.is_complete());
    assert_eq!(certificate.minimal, Some(Vec::new()));
}

#[test]
fn what_is_larger_than_the_bound_is_not_certified_though_it_was_seen_to_fail() {
    let (mut system, options) = replicas("apis=2 replicas=3", 2);
    let (certificate, failing) = run(&mut Lineage::new(options), &mut system);
    assert!(failing.iter().any(|faultload| faultload.len() == 3));
    assert!(certificate.is_complete());
    assert_eq!(certificate.minimal, Some(Vec::new()));
}

#[test]
fn bounds_hold() {
    for (most_faults, most_cases, explored, incomplete) in [
        (0, None, 1, None),
        (3, Some(1), 1, Some(Incomplete::Cases { waiting: 1 })),
        (3, Some(3), 3, Some(Incomplete::Cases { waiting: 1 })),
    ] {
        let (mut system, mut options) = replicas("apis=3 replicas=3", most_faults);
        options.max_cases = most_cases;
        let mut lineage = Lineage::new(options);
        let certificate = explore(&mut lineage, 4, |f| system.run(f));
        assert_eq!(
            certificate.explored, explored,
            "{most_faults} {most_cases:?}"
        );
        assert_eq!(certificate.incomplete, incomplete);
    }
}

/// One call of a made-up execution.
fn call(trace: &mut Vec<Call>, service: &str, faultload: &Faultload) -> bool {
    let entry = Point::entry(Frame::new("shop", Interface::http("GET", "/")));
    if trace.is_empty() {
        trace.push(made(entry.clone(), None, 0, None));
    }
    let point = entry.child(Frame::new(service, Interface::http("GET", "/items")));
    let fault = faultload.faults().find(|f| f.target.matches(&point));
    let goes_well = fault.is_none();
    let arrived = 2 * trace.len() as u32;
    trace.push(made(point, Some(CallId(0)), arrived, fault));
    goes_well
}

fn made(point: Point, parent: Option<CallId>, arrived: u32, injected: Option<Fault>) -> Call {
    let status = if injected.is_some() { 503 } else { 200 };
    Call {
        point,
        parent,
        arrived,
        finished: Some(arrived + 1),
        reply: Some(Reply::Status(status)),
        injected,
        body: None,
    }
}

/// An execution that made these calls and ends with this word.
fn ended(calls: Vec<Call>, faultload: &Faultload, goes_well: bool) -> Execution {
    let word = match goes_well {
        true => Ok(()),
        false => Err("no items".to_owned()),
    };
    let trace = Trace::new(calls);
    Execution {
        verdict: Verdict::of(word, faultload, &trace),
        faultload: faultload.clone(),
        trace,
    }
}

#[test]
fn what_fails_is_not_called_minimal_before_its_parts_are_known() {
    let in_cases = |most_cases| {
        let mut options = Options::new(Modes::Same(vec![Mode::status(503)]));
        options.max_cases = most_cases;
        let mut lineage = Lineage::new(options);
        let certificate = explore(&mut lineage, 1, |faultload| {
            let mut calls = Vec::new();
            call(&mut calls, "advice", faultload);
            let goes_well = call(&mut calls, "store", faultload);
            ended(calls, faultload, goes_well)
        });
        let minimal = certificate.minimal.unwrap();
        minimal.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // In the second execution everything fails, advice included.
    assert_eq!(in_cases(Some(2)), [""; 0]);
    assert_eq!(in_cases(None), ["shop GET / > store GET /items = 503"]);
}

/// With advice the shop asks the first store, without it the second; neither
/// takes the other's place, though they look like replicas.
fn advised(faultload: &Faultload) -> Execution {
    let mut calls = Vec::new();
    let store = match call(&mut calls, "advice", faultload) {
        true => "store-1",
        false => "store-2",
    };
    let goes_well = call(&mut calls, store, faultload);
    ended(calls, faultload, goes_well)
}

#[test]
fn a_contradiction_is_told_and_the_search_goes_on_without_what_it_contradicts() {
    let options = Options::new(Modes::Same(vec![Mode::status(503)]));
    let mut lineage = Lineage::new(options);
    let certificate = explore(&mut lineage, 1, advised);
    let found: Vec<String> = certificate
        .minimal
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "shop GET / > advice GET /items = 503, shop GET / > store-2 GET /items = 503",
        "shop GET / > store-1 GET /items = 503",
    ];
    assert_eq!(found, expected);
    assert_eq!(certificate.incomplete, Some(Incomplete::Contradicted));
    let told = |flag: &Flag| matches!(flag, Flag::Contradicted { .. });
    assert!(certificate.flags.iter().any(told));
}

//! The oracles on the example systems, simulated: how often each one speaks.
//!
//! Proves that those that are on by default are silent where no fault was injected,
//! and that the seeded timeouts are found by what they are. Traces without
//! details are all there is here, so this also proves that the oracles do not
//! need them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use murphy_corpus::{FaultSet, Simulator, all, find};
use murphy_model::{Execution, Fault, Faultload, Finding, Mode, Observed, Severity};
use murphy_oracle::{Findings, Level, Oracle, Reference, Settings, judge};

fn bare(execution: Execution) -> Observed {
    Observed::bare(execution, Duration::ZERO)
}

/// Every app under every setting for which something is declared.
fn systems() -> BTreeSet<(&'static str, &'static str)> {
    let of_app = |app: murphy_corpus::App| {
        let expected = (app.expected)().into_iter();
        expected.map(move |expected| (app.name, expected.settings))
    };
    all().into_iter().flat_map(of_app).collect()
}

fn simulator(name: &str, settings: &str) -> Simulator {
    let app = find(name).unwrap();
    let settings = app.settings_from_text(settings).unwrap();
    Simulator::new(app, settings)
}

/// One fault in one of these modes at every call that is seen without faults.
fn single_faults(reference: &Execution, modes: &str) -> Vec<Faultload> {
    let modes = Mode::parse_list(modes).unwrap();
    let calls = reference.trace.calls().iter();
    let below = calls.filter(|call| call.parent.is_some());
    let faults = below.flat_map(|call| {
        let point = call.point.clone();
        modes
            .iter()
            .map(move |mode| Fault::at(point.clone(), *mode))
    });
    faults
        .map(|fault| Faultload::new([fault]).unwrap())
        .collect()
}

/// All oracles at full voice.
fn loudest() -> Settings {
    Settings {
        levels: Oracle::ALL.map(|oracle| (oracle, Level::Fail)).into(),
        ..Settings::default()
    }
}

/// How many executions each oracle complains about.
#[derive(Default)]
struct Tally {
    executions: usize,
    complaints: BTreeMap<Oracle, usize>,
}

impl Tally {
    fn take(&mut self, observed: &Observed, reference: &Reference) -> BTreeSet<Oracle> {
        self.executions += 1;
        let said = judge(observed, reference, &loudest());
        let speakers: BTreeSet<Oracle> = said.iter().map(|(oracle, ..)| *oracle).collect();
        for oracle in &speakers {
            *self.complaints.entry(*oracle).or_default() += 1;
        }
        speakers
    }

    fn print(&self, about: &str) {
        println!("{about}: {} executions", self.executions);
        for oracle in Oracle::ALL {
            let count = self.complaints.get(&oracle).unwrap_or(&0);
            println!(
                "  {:20} {:4}  ({count})",
                oracle.name(),
                oracle.default_level()
            );
        }
    }
}

#[test]
fn oracles_that_are_on_by_default_are_silent_where_no_fault_strikes() {
    let mut tally = Tally::default();
    for (name, settings) in systems() {
        let first = bare(simulator(name, settings).run(&Faultload::none()));
        if first.execution.verdict.is_failure() {
            continue;
        }
        let reference = Reference::of([&first]);
        for seed in 0..3 {
            let again = simulator(name, settings).seed(seed).run(&Faultload::none());
            for oracle in tally.take(&bare(again), &reference) {
                let level = oracle.default_level();
                assert_eq!(level, Level::Off, "{oracle} about {name} {settings}");
            }
        }
    }
    assert!(tally.executions > 100, "every system is looked at");
    tally.print("without faults");
}

/// What the oracles other than the scenario hold against every system under
/// single faults, by system; warnings about a status handed on left out.
fn beyond_the_scenario(modes: &str) -> BTreeMap<(&'static str, &'static str), BTreeSet<Oracle>> {
    let mut spoken: BTreeMap<_, BTreeSet<Oracle>> = BTreeMap::new();
    let mut tally = Tally::default();
    for (name, settings) in systems() {
        let mut simulator = simulator(name, settings);
        let first = bare(simulator.run(&Faultload::none()));
        if first.execution.verdict.is_failure() {
            continue;
        }
        let reference = Reference::of([&first]);
        for faultload in single_faults(&first.execution, modes) {
            let observed = bare(simulator.run(&faultload));
            tally.take(&observed, &reference);
            let said = judge(&observed, &reference, &Settings::default());
            let speakers = said.into_iter().map(|(oracle, ..)| oracle);
            // Most of the systems hand a 503 on, as their originals do.
            let known = [Oracle::Scenario, Oracle::WrongStatus];
            let others = speakers.filter(|oracle| !known.contains(oracle));
            for oracle in others {
                spoken.entry((name, settings)).or_default().insert(oracle);
            }
        }
    }
    tally.print(modes);
    spoken
}

#[test]
fn single_quick_faults_fail_only_what_the_scenario_fails() {
    assert_eq!(beyond_the_scenario("500,503,reset"), BTreeMap::new());
}

/// `register` posts again when an answer is lost: that is its retry switch.
#[test]
fn lost_answers_show_who_repeats_what_must_not_be_repeated() {
    let spoken = beyond_the_scenario("after:500,after:reset,duplicate");
    let expected = [(
        ("register", "retries=1"),
        [Oracle::RetryNotIdempotent].into(),
    )];
    assert_eq!(spoken, expected.into());
}

fn inversions(name: &str, settings: &str, modes: &str) -> Vec<Finding> {
    let faults: FaultSet = modes.parse().unwrap();
    let mut simulator = simulator(name, settings).timeouts(faults.timeouts());
    let first = bare(simulator.run(&Faultload::none()));
    let reference = Arc::new(Reference::of([&first]));
    let mut findings = Findings::with(name, Settings::default(), reference);
    for (i, faultload) in single_faults(&first.execution, modes).iter().enumerate() {
        findings.judge(i + 1, &bare(simulator.run(faultload)));
    }
    let found = findings.into_findings().into_iter();
    found.filter(|f| f.oracle == "timeout-inversion").collect()
}

#[test]
fn a_misconfigured_timeout_is_found_by_whatever_makes_its_callee_wait() {
    for modes in ["delay:2s", "hang", "hang,delay:2s,after:hang"] {
        assert_eq!(inversions("netflix", "", modes), [], "{modes}");
        let found = inversions("netflix", "bugs=on", modes);
        let [bug] = found.as_slice() else {
            panic!("one bug with {modes}, not {found:#?}");
        };
        assert_eq!(
            bug.summary,
            "`api-gateway` gives up on `user-profile GET /users/chris_rivers` before that has \
             dealt with a slow call of its own: the caller's timeout should be the longer one"
        );
        assert_eq!(bug.severity, Severity::Fail);
        assert!(bug.faultload.to_string().contains("telemetry"));
        let edge = bug.edge.as_ref().unwrap();
        assert_eq!(&*edge.frame().destination, "user-profile");
        assert_eq!(bug.also.len(), modes.split(',').count() - 1);
    }
}

#[test]
fn the_purchase_that_costs_a_discount_is_found_in_silence_too() {
    for modes in ["delay:2s", "hang"] {
        assert_eq!(inversions("purchase", "", modes), [], "{modes}");
        let found = inversions("purchase", "bugs=on", modes);
        let callees: Vec<&str> = found
            .iter()
            .filter_map(|bug| bug.edge.as_ref())
            .map(|edge| &*edge.frame().destination)
            .collect();
        assert_eq!(callees, ["pricing"], "{modes}");
    }
}

/// What `hang` shows of the other systems: equal timeouts at two levels are an
/// inversion as well, since the caller's began to run first.
#[test]
fn inversions_under_hang_are_printed() {
    let mut callers = BTreeMap::new();
    for (name, settings) in systems() {
        for finding in inversions(name, settings, "hang") {
            callers.insert((name, settings), finding.summary);
        }
    }
    for ((name, settings), summary) in &callers {
        println!("{name} {settings}: {summary}");
    }
    assert!(callers.contains_key(&("netflix", "bugs=on")));
}

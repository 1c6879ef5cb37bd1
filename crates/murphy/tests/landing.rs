//! Proof of landing: every planned fault is in the trace as one that took
//! effect, or it is reported as not exercised; nothing is injected that was
//! not planned.
//!
//! What "took effect" means is checked at the callees: a call that was kept
//! from one is not seen there, one that failed after it is seen once, one that
//! was duplicated twice. A proxy that only noted faults would pass the rest.

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use murphy_corpus::Wire;
use murphy_corpus::sockets::{Propagation, Witness};
use murphy_model::{
    Execution, Fault, Faultload, Frame, Interface, Mode, Observed, Outcome, Point, Protocol,
    Target, Verdict, not_exercised,
};
use support::plan::{Planner, modes, scaled};
use support::{Subject, at_pace, options, run, with_witness};

const MODES: &str = "500,503,reset,close,after:503,after:reset,after:close,after:truncate:1,\
    after:malformed,duplicate,grpc:UNAVAILABLE,after:grpc:ABORTED";

const SUBJECTS: [(&str, &str); 12] = [
    ("cinema-3", ""),
    ("cinema-4", "externals=on"),
    ("cinema-6", ""),
    ("cinema-13", ""),
    ("netflix", "bugs=on"),
    ("mailchimp", ""),
    ("checkout", ""),
    ("food-2-c", "operation=delete"),
    ("register", "retries=1"),
    ("micro", "wire=grpc"),
    ("hotel-search", "wire=grpc"),
    ("purchase", "wire=grpc discounts=many"),
];

#[tokio::test]
async fn every_planned_fault_lands_or_is_reported() {
    let (mut landed, mut reported) = (0, 0);
    for (seed, (app, settings)) in SUBJECTS.into_iter().enumerate() {
        let subject = Subject { app, settings };
        let received = Received::default();
        let options = at_pace(subject.pace(), options(Propagation::W3c));
        let world = subject.world(with_witness(received.witness(), options));
        let world = world.await;
        let mut simulator = subject.simulator();
        for faultload in faultloads(&subject, seed as u64) {
            received.take();
            let observed = run(&world, 0, &faultload).await.unwrap();
            let execution = &observed.execution;
            let missing = not_exercised(&faultload, &execution.trace, &observed.details);
            landed += faultload.len() - missing.len();
            reported += missing.len();
            check_trace(&observed, &missing);
            check_callees(&observed, &received.take());
            let simulated = simulator.run(&faultload);
            assert_eq!(
                execution.verdict, simulated.verdict,
                "{subject}: {faultload}"
            );
        }
    }
    println!("{landed} faults landed, {reported} were reported as not exercised");
    assert!(landed > 500 && reported > 300, "{landed} and {reported}");
}

/// Faultloads of all kinds of targets, many of which nothing ever reaches.
fn faultloads(subject: &Subject, seed: u64) -> Vec<Faultload> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut planner = Planner::new(subject.simulator(), modes(MODES), seed);
    let points = planner.points().to_vec();
    let with_more = |faultload: Faultload| {
        let more = another(&points, &mut random);
        let faults = faultload.faults().chain([more.clone()]);
        Faultload::new(faults).unwrap_or_else(|_| Faultload::new([more]).unwrap())
    };
    planner
        .sample(scaled(60))
        .into_iter()
        .map(with_more)
        .collect()
}

/// A fault that is injected into all attempts, a pattern of calls, or nothing.
fn another(points: &[Point], random: &mut fastrand::Rng) -> Fault {
    let point = random.choice(points).unwrap();
    let service = &point.frame().destination;
    let mode = random.choice(modes(MODES)).unwrap();
    let target = match random.u8(..6) {
        0 => Target::every(point),
        1 => format!("** > {service} *").parse().unwrap(),
        2 => format!("** > {service} * #..2").parse().unwrap(),
        3 => Target::Call(point.with_count(9)),
        4 => Target::Call(point.child(Frame::new("nobody", Interface::http("GET", "/")))),
        // The scenario's own requests are never failed.
        _ => Target::Call(entry(point)),
    };
    Fault { target, mode }
}

fn entry(point: &Point) -> Point {
    let top = std::iter::successors(Some(point), |point| point.parent());
    top.last().unwrap().clone()
}

fn check_trace(observed: &Observed, missing: &[Fault]) {
    let Execution {
        faultload,
        trace,
        verdict,
    } = &observed.execution;
    let calls = || trace.calls().iter().zip(&observed.details);
    for fault in faultload.faults() {
        let in_trace = calls().any(|(call, detail)| {
            call.injected.as_ref() == Some(&fault) && detail.landed == Some(true)
        });
        let reported = missing.contains(&fault);
        assert!(in_trace != reported, "{fault} under {faultload}");
    }
    for (call, detail) in calls() {
        assert_eq!(call.injected.is_some(), detail.landed.is_some());
        let injected = call.injected.iter();
        for fault in injected {
            assert!(faultload.faults().any(|planned| planned == *fault));
            assert!(fault.target.matches(&call.point), "{fault}");
            // What the caller saw is what the mode says it sees.
            let seen = fault.mode.reply().filter(|_| detail.landed == Some(true));
            assert!(seen.is_none() || call.reply == seen, "{fault}: {call:?}");
        }
    }
    match verdict {
        Verdict::Passed => assert!(missing.is_empty(), "{faultload}"),
        Verdict::NotExercised { missing: said } => assert_eq!(said, missing),
        Verdict::Failed { .. } | Verdict::Refused { .. } => {}
    }
}

/// Each service received what the trace says it did.
fn check_callees(observed: &Observed, received: &BTreeMap<String, usize>) {
    let Observed {
        execution, details, ..
    } = observed;
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for (call, detail) in execution.trace.calls().iter().zip(details) {
        let fits = |mode: &Mode| mode.fits(call.point.frame().interface.protocol());
        let deliveries = match call.mode().filter(fits) {
            Some(mode) if mode.is_blocking() => 0,
            Some(mode) if mode.outcome() == Outcome::Duplicate => {
                assert_eq!(detail.landed, Some(true));
                2
            }
            _ => 1,
        };
        let service = call.point.frame().destination.to_string();
        *expected.entry(service).or_default() += deliveries;
    }
    expected.retain(|_, count| *count > 0);
    assert_eq!(*received, expected, "under {}", execution.faultload);
}

/// How many requests each service received.
#[derive(Clone, Default)]
struct Received(Arc<Mutex<BTreeMap<String, usize>>>);

impl Received {
    fn witness(&self) -> Witness {
        let received = self.0.clone();
        Arc::new(move |service, _, _| {
            *received
                .lock()
                .unwrap()
                .entry(service.to_owned())
                .or_default() += 1;
        })
    }

    fn take(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A gRPC status means nothing to an HTTP client: planned for an HTTP call it
/// is reported, and the call goes through.
#[tokio::test]
async fn a_fault_that_does_not_fit_is_reported() {
    let subject = Subject {
        app: "cinema-1",
        settings: "",
    };
    assert_eq!(subject.system().wire, Wire::Http);
    assert_eq!(Wire::Http.protocol(), Protocol::Http);
    let world = subject.world(options(Propagation::W3c)).await;
    let faultload: Faultload = "** > movies * #1 = grpc:UNAVAILABLE".parse().unwrap();
    let execution = run(&world, 0, &faultload).await.unwrap().execution;
    let missing = faultload.faults().collect();
    assert_eq!(execution.verdict, Verdict::NotExercised { missing });
    let simulated = subject.simulator().run(&faultload);
    assert_eq!(execution, simulated);
}

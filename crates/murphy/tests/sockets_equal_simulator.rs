//! A faultload runs over sockets exactly as in the simulator: the same points
//! under the same parents, the same replies and faults, the same verdict, and
//! the same order wherever order does not depend on luck. For every app, with
//! every way of handing context on, over HTTP and over gRPC.
//!
//! Without a proxy that fails the right attempt of the right call at the right
//! moment, no more and no less, next to nothing here would be equal. Set
//! `MURPHY_FAULTLOADS=10` to run ten times as many faultloads; run with
//! `--nocapture` to see how many were compared.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use murphy::demo::{ExampleWorld, Options};
use murphy_corpus::generated::{Knobs, generate, system};
use murphy_corpus::sockets::{Propagation, Source};
use murphy_corpus::{Simulator, Wire, all};
use murphy_model::{Faultload, Link, Observed, Trace};
use support::compare::Simulated;
use support::plan::{Planner, QUICK, QUICK_GRPC, modes, scaled};
use support::play::play;
use support::{Subject, at_pace, options};

/// Up to this many cases a system counts as small, and all of them are run.
const SMALL: usize = 2_500;

/// How many executions are in flight at once, where the system lets them.
const WORKERS: u32 = 6;

/// Every app as it comes, and with switches that change who calls whom.
fn subjects() -> Vec<Subject> {
    let as_they_come = all().into_iter().map(|app| Subject {
        app: app.name,
        settings: "",
    });
    let switched = [
        ("cinema-4", "externals=on"),
        ("cinema-7", "health=exception"),
        ("audible", "bad-metadata=on"),
        ("mailchimp", "read-only=on"),
        ("netflix", "bugs=on"),
        ("purchase", "bugs=on"),
        ("purchase", "discounts=many"),
        ("food-1-1", "operation=all"),
        ("food-2-c", "operation=delete"),
        ("food-2-d", "delete-fault=on"),
        ("register", "retries=1"),
        ("replicas", "calls=2"),
        ("replicas", "replicas=3 attempts=2"),
    ];
    let switched = switched.map(|(app, settings)| Subject { app, settings });
    as_they_come.chain(switched).collect()
}

fn over_grpc() -> Vec<Subject> {
    [
        ("micro", "wire=grpc"),
        ("hotel-search", "wire=grpc"),
        ("purchase", "wire=grpc"),
        ("purchase", "wire=grpc bugs=on"),
        ("purchase", "wire=grpc discounts=many"),
    ]
    .map(|(app, settings)| Subject { app, settings })
    .into()
}

/// The systems that do one thing at a time. Where a service makes several
/// calls at once, what is in flight does not tell which of them made another.
fn sequential() -> Vec<Subject> {
    let mut subjects = subjects();
    subjects.retain(|subject| subject.app != "register");
    subjects
}

/// What was compared, for the table.
struct Row {
    subject: Subject,
    propagation: Propagation,
    compared: usize,
    seconds: f64,
    differences: Vec<(Faultload, String)>,
}

impl Row {
    /// Complains about the first differences, if there are any.
    fn all_equal(self) -> Self {
        let Row {
            subject,
            propagation,
            compared,
            ..
        } = &self;
        let shown = self.differences.iter().take(3);
        let shown: String = shown.map(|(_, difference)| difference.as_str()).collect();
        assert!(
            self.differences.is_empty(),
            "{subject}, {propagation}: {} of {compared} faultloads differ, {shown}",
            self.differences.len(),
        );
        self
    }
}

/// Plays faultloads on sockets and compares each with the simulator.
async fn compare(subject: Subject, options: Options, faultloads: Vec<Faultload>) -> Row {
    let began = Instant::now();
    let (propagation, workers) = (options.services.propagation, options.workers);
    let world = Arc::new(subject.world(options).await);
    let played = play(world, workers, faultloads).await;
    let simulated = Simulated::new(move || subject.simulator());
    let mut differences = Vec::new();
    let mut compared = 0;
    for observed in played {
        let expected = simulated.run(&observed.execution.faultload);
        if infers(propagation) && has_late_call(&expected.trace) {
            assert!(has_doubtful_call(&observed), "{observed:?}");
            continue;
        }
        let execution = observed.execution;
        compared += 1;
        let difference = simulated.differences(&execution);
        differences.extend(difference.map(|difference| (execution.faultload, difference)));
    }
    Row {
        subject,
        propagation,
        compared,
        seconds: began.elapsed().as_secs_f64(),
        differences,
    }
}

/// Where time is scaled, what is different at first is played again, alone and
/// slower: a machine that is busy elsewhere for a moment makes a caller give
/// up that would not have; and on connections that many calls share, nothing
/// orders the news that one was given up before the next one elsewhere.
async fn compare_twice(subject: Subject, options: Options, faultloads: Vec<Faultload>) -> Row {
    let pace = options.services.pace;
    let alone = Options {
        workers: 1,
        ..at_pace(3.0 * pace, options.clone())
    };
    let is_scaled = pace < 1.0;
    let mut row = compare(subject, options, faultloads).await;
    if !is_scaled || row.differences.is_empty() {
        return row.all_equal();
    }
    let (again, why): (Vec<Faultload>, Vec<String>) = row.differences.drain(..).unzip();
    let again_count = again.len();
    println!(
        "{subject}: {again_count} played again, alone\n{}",
        why.concat()
    );
    compare(subject, alone, again).await.all_equal();
    row
}

/// Whether the parent of a call is inferred from what is in flight.
fn infers(propagation: Propagation) -> bool {
    matches!(propagation, Propagation::TraceIdOnly | Propagation::Nothing)
}

/// Whether a service makes a call after its own caller has given up. Then
/// nothing in flight could have made it, and the record must say so.
fn has_late_call(trace: &Trace) -> bool {
    trace.ids().any(|id| {
        let parent = trace.call(id).parent;
        parent.is_some_and(|parent| trace.finished_before(parent, id))
    })
}

/// Whether the parent of a call could not be told for certain, or at all.
fn has_doubtful_call(observed: &Observed) -> bool {
    let mut links = observed.details.iter().map(|detail| detail.link);
    links.any(|link| matches!(link, Link::Ambiguous | Link::Orphan))
}

/// As many workers as the system bears. In `cinema-12` a service sleeps and
/// then calls another when its caller has long gone; only a world with one
/// worker can tell that somebody is still at work.
fn at_once(subject: &Subject, propagation: Propagation) -> u32 {
    let alone = subject.system().keeps_state || subject.app == "cinema-12";
    match alone || propagation == Propagation::Nothing {
        true => 1,
        false => WORKERS,
    }
}

/// Compares a mixture of faultloads that take no time, system by system.
async fn compare_quick(subjects: &[Subject], propagation: Propagation, small: usize, most: usize) {
    let mut rows = Vec::new();
    for (seed, subject) in subjects.iter().enumerate() {
        let list = match subject.system().wire {
            Wire::Http => QUICK,
            Wire::Grpc => QUICK_GRPC,
        };
        let mut planner = Planner::new(subject.simulator(), modes(list), seed as u64);
        let faultloads = planner.mixture(small, scaled(most));
        let options = Options {
            workers: at_once(subject, propagation),
            ..at_pace(subject.pace(), options(propagation))
        };
        rows.push(compare_twice(*subject, options, faultloads).await);
    }
    print_table(&rows);
}

fn print_table(rows: &[Row]) {
    println!(
        "\n{:<34} {:<5} {:<12} {:>10}  all equal  seconds",
        "system", "wire", "propagation", "faultloads"
    );
    for row in rows {
        let wire = match row.subject.system().wire {
            Wire::Http => "http",
            Wire::Grpc => "grpc",
        };
        println!(
            "{:<34} {wire:<5} {:<12} {:>10}  yes        {:>7.1}",
            row.subject, row.propagation, row.compared, row.seconds
        );
    }
    let compared: usize = rows.iter().map(|row| row.compared).sum();
    println!("{:<34} {:<5} {:<12} {compared:>10}", "total", "", "");
}

#[tokio::test]
async fn with_tracestate() {
    compare_quick(&subjects(), Propagation::W3c, SMALL, 90).await;
}

#[tokio::test]
async fn with_baggage() {
    compare_quick(&subjects(), Propagation::NoTracestate, 0, 25).await;
}

#[tokio::test]
async fn with_b3() {
    compare_quick(&subjects(), Propagation::B3, 0, 25).await;
    compare_quick(&subjects(), Propagation::B3Single, 0, 10).await;
}

#[tokio::test]
async fn with_a_trace_id_alone() {
    compare_quick(&sequential(), Propagation::TraceIdOnly, 0, 25).await;
}

#[tokio::test]
async fn solo() {
    compare_quick(&sequential(), Propagation::Nothing, 0, 25).await;
}

#[tokio::test]
async fn over_grpc_with_every_propagation() {
    compare_quick(&over_grpc(), Propagation::W3c, scaled(100), 150).await;
    for propagation in [
        Propagation::NoTracestate,
        Propagation::B3,
        Propagation::TraceIdOnly,
        Propagation::Nothing,
    ] {
        compare_quick(&over_grpc(), propagation, 0, 40).await;
    }
}

/// Systems drawn at random: retries, fallbacks and calls side by side in more
/// arrangements than anybody would write down.
#[tokio::test]
async fn generated_systems() {
    let mut compared = 0;
    for seed in 0..scaled(60) as u64 {
        let make = move || Simulator::of(system(generate(seed, Knobs::COVERED)));
        let mut planner = Planner::new(make(), modes(QUICK), seed);
        let faultloads = planner.mixture(0, 15);
        let options = Options {
            workers: WORKERS,
            ..options(Propagation::W3c)
        };
        let source = Source::Given(Box::new(make().system().clone()));
        let world = ExampleWorld::start(source, options).await.unwrap();
        let simulated = Simulated::new(make);
        for observed in play(Arc::new(world), WORKERS, faultloads).await {
            let differences = simulated.differences(&observed.execution);
            assert_eq!(differences, None, "system {seed}: {differences:#?}");
            compared += 1;
        }
    }
    println!("generated systems: {compared} faultloads, all equal");
}

/// Systems in which no two callers' patience ends at the same moment: where it
/// does, luck decides who gives up first. With each a delay that, added to any
/// timeouts, stays a second away from all others.
const IMPATIENT: [(&str, &str, &str); 13] = [
    ("cinema-1", "", "delay:4s"),
    ("cinema-5", "", "delay:4s"),
    ("cinema-8", "", "delay:4s"),
    ("netflix", "", "delay:2500ms"),
    ("netflix", "bugs=on", "delay:2500ms"),
    ("audible", "", "delay:2500ms"),
    ("mailchimp", "", "delay:2500ms"),
    ("checkout", "", "delay:4s"),
    ("micro", "", "delay:4s"),
    ("hotel-search", "", "delay:4s"),
    ("replicas", "", "delay:3s"),
    ("micro", "wire=grpc", "delay:4s"),
    ("hotel-search", "wire=grpc", "delay:4s"),
];

/// How fast time passes where services really wait for each other.
const PACE: f64 = 0.08;

#[tokio::test]
async fn with_calls_that_hang_or_come_late() {
    let mut rows = Vec::new();
    for (seed, (app, settings, delay)) in IMPATIENT.into_iter().enumerate() {
        let subject = Subject { app, settings };
        let slow = modes(&format!("hang,after:hang,{delay}"));
        let mut planner = Planner::new(subject.simulator(), slow, seed as u64);
        let faultloads = planner.mixture(0, scaled(16));
        let options = Options {
            workers: 16,
            grace: Duration::from_millis(50),
            ..at_pace(PACE, options(Propagation::W3c))
        };
        rows.push(compare_twice(subject, options, faultloads).await);
    }
    print_table(&rows);
}

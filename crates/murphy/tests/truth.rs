//! No green, complete campaign on a system with a reachable bug.
//!
//! Generated systems answer with fallback bodies that their callers tell
//! apart, keep answers from their first run on, make equal calls at the same
//! time, and leave things behind that break later runs. For each of them brute
//! force over fresh systems says whether any faults, or what they leave behind,
//! break the scenario. A whole campaign (trial, references, search, checks) on
//! one long-lived system must then report something or not call itself
//! complete. What would pass without the feature: nothing here knows how a
//! campaign finds out; a bug that hides behind an equal status, a warm cache,
//! a lucky order or dirty state shows as a green run.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use futures_util::future::BoxFuture;
use murphy_campaign::{
    Event, Executing, IdentityChoice, Job, Memory, Settings, SetupError, Sink, Stopping,
    StrategyKind, World, run,
};
use murphy_corpus::Simulator;
use murphy_corpus::generated::{Knobs, generate, system};
use murphy_model::{Fault, Faultload, Identity, Mode, Observed};
use murphy_search::{Modes, Options, Reduction};

/// Everything that hides bugs, in small systems.
const HIDING: Knobs = Knobs {
    calls: 7,
    degraded: true,
    lazy: true,
    twins: true,
    leaking: true,
    ..Knobs::COVERED
};

/// Systems of more cases than this are passed over: brute force would take
/// most of the time on a few of them.
const MOST_CASES: usize = 60;

/// How many schedules brute force tries of every case.
const SCHEDULES: u64 = 4;

fn modes() -> Vec<Mode> {
    vec![Mode::status(500), Mode::status(503)]
}

fn fresh(seed: u64) -> Simulator {
    Simulator::of(system(generate(seed, HIDING)))
}

/// Whether anything breaks the scenario: faults on a fresh system, or what an
/// execution leaves behind. `None` if there are too many cases to tell.
fn has_bug(seed: u64) -> Option<bool> {
    let mut waiting = vec![Faultload::none()];
    let mut seen: HashSet<Faultload> = HashSet::from([Faultload::none()]);
    let mut found = false;
    let mut at = 0;
    while at < waiting.len() {
        let faultload = waiting[at].clone();
        at += 1;
        if at > MOST_CASES {
            return None;
        }
        for schedule in 0..SCHEDULES {
            let mut simulator = fresh(seed).seed(schedule);
            let execution = simulator.run(&faultload);
            let injected = execution.trace.injected() == faultload;
            let after = simulator.run(&Faultload::none());
            found |= execution.verdict.is_failure() || after.verdict.is_failure();
            if !injected {
                continue;
            }
            let calls = execution.trace.calls().iter();
            for call in calls.filter(|it| it.parent.is_some() && it.injected.is_none()) {
                for mode in modes() {
                    let fault = Fault::at(call.point.clone(), mode);
                    let larger = Faultload::new(faultload.faults().chain([fault]));
                    waiting.extend(larger.ok().filter(|it| seen.insert(it.clone())));
                }
            }
        }
    }
    Some(found)
}

/// A system that runs on from execution to execution, each on another
/// schedule, and can be restarted.
struct LongLived {
    seed: u64,
    simulator: Mutex<Option<Simulator>>,
    schedule: AtomicU64,
    trial: Observed,
}

impl LongLived {
    fn start(seed: u64) -> Self {
        let mut simulator = fresh(seed);
        let trial = Observed::bare(simulator.run(&Faultload::none()), Duration::ZERO);
        LongLived {
            seed,
            simulator: Mutex::new(Some(simulator)),
            schedule: AtomicU64::new(1),
            trial,
        }
    }

    fn run_now(&self, faultload: &Faultload) -> Observed {
        let mut kept = self.simulator.lock().unwrap();
        let schedule = self.schedule.fetch_add(1, Relaxed);
        let mut simulator = kept.take().expect("put back below").seed(schedule);
        let execution = simulator.run(faultload);
        *kept = Some(simulator);
        Observed::bare(execution, Duration::ZERO)
    }
}

impl World for LongLived {
    fn workers(&self) -> u32 {
        1
    }

    fn trials(&self) -> Vec<Observed> {
        vec![self.trial.clone()]
    }

    fn restart(&self) -> BoxFuture<'_, Result<bool, SetupError>> {
        *self.simulator.lock().unwrap() = Some(fresh(self.seed));
        Box::pin(async { Ok(true) })
    }

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(async move { Ok((self.run_now(job.faultload), None)) })
    }
}

struct Nobody;

impl Sink for Nobody {
    fn note(&mut self, _: &Event) {}
}

/// What came of a campaign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Found,
    NotComplete,
    Green,
}

async fn campaign(seed: u64, options: Options, audit: Option<usize>) -> Outcome {
    let world = LongLived::start(seed);
    let settings = Settings {
        scenario: "generated".to_owned(),
        strategy: StrategyKind::Tree,
        options,
        modes: Vec::new(),
        seed: 0,
        jobs: 1,
        max_time: None,
        audit,
        references: 3,
        identity: IdentityChoice::Given(Identity::default()),
        oracles: murphy_oracle::Settings::default(),
        heading: Default::default(),
    };
    let (memory, stopping) = (Memory::default(), Stopping::never());
    match run(&world, &settings, memory, &mut Nobody, stopping).await {
        // Refused: the scenario fails without faults, or is not stable.
        Err(_) => Outcome::NotComplete,
        Ok(outcome) if !outcome.findings.is_empty() => Outcome::Found,
        Ok(outcome) if !outcome.certificate.is_complete() => Outcome::NotComplete,
        Ok(_) => Outcome::Green,
    }
}

fn systems() -> u64 {
    let asked = std::env::var("MURPHY_TRUTH_SYSTEMS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// What is counted.
#[derive(Default)]
struct Totals {
    systems: AtomicUsize,
    bugs: AtomicUsize,
    found: AtomicUsize,
    not_complete: AtomicUsize,
    complete: AtomicUsize,
    missed: AtomicUsize,
    missed_by_modes: AtomicUsize,
    missed_by_classes: AtomicUsize,
}

async fn check(seed: u64, has_bug: bool, totals: &Totals) {
    let add = |count: &AtomicUsize, is: bool| count.fetch_add(usize::from(is), Relaxed);
    let by = |modes| Modes::Same(modes);
    let exhaustive = campaign(seed, Options::exhaustive(by(modes())), None).await;
    assert!(
        !(has_bug && exhaustive == Outcome::Green),
        "seed {seed}: green and complete, and yet there is a bug"
    );
    let usual = campaign(seed, Options::usual(by(modes())), Some(10)).await;
    add(&totals.systems, true);
    add(&totals.bugs, has_bug);
    add(&totals.found, has_bug && exhaustive == Outcome::Found);
    add(&totals.not_complete, exhaustive == Outcome::NotComplete);
    add(&totals.complete, exhaustive == Outcome::Green);
    if has_bug && usual == Outcome::Green {
        let mut without_modes = Options::usual(by(modes()));
        without_modes.reduce.remove(&Reduction::Modes);
        let alone = campaign(seed, without_modes, Some(10)).await;
        add(&totals.missed, true);
        add(&totals.missed_by_modes, alone != Outcome::Green);
        add(&totals.missed_by_classes, alone == Outcome::Green);
    }
}

#[test]
fn no_green_and_complete_campaign_where_there_is_a_bug() {
    let totals = Totals::default();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let totals = &totals;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                let mut seeds = (thread..).step_by(threads as usize);
                for _ in 0..systems().div_ceil(threads) {
                    let (seed, bug) = seeds
                        .find_map(|seed| Some((seed, has_bug(seed)?)))
                        .expect("seeds do not end");
                    runtime.block_on(check(seed, bug, totals));
                }
            });
        }
    });
    let of = |count: &AtomicUsize| count.load(Relaxed);
    println!(
        "{} systems, {} with a reachable bug; --exhaustive: {} of these found, none green and complete ({} of all not complete, {} complete without findings); by default {} missed, {} of them by mode equivalence, {} by the classes of bodies",
        of(&totals.systems),
        of(&totals.bugs),
        of(&totals.found),
        of(&totals.not_complete),
        of(&totals.complete),
        of(&totals.missed),
        of(&totals.missed_by_modes),
        of(&totals.missed_by_classes)
    );
    assert!(of(&totals.bugs) > 0 && of(&totals.found) > 0 && of(&totals.complete) > 0);
    assert!(
        of(&totals.missed) * 100 <= of(&totals.bugs).max(100),
        "over 1 % missed by default"
    );
}

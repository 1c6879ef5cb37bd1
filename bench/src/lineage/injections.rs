//! How many executions it takes to find every minimal failing combination of
//! the 32 requests on which FastFI was measured.
//!
//! Owns the side-by-side table: what was published, the published procedures
//! run here on the replica model, the steered procedure, and the bound below
//! which nothing can go.

use std::collections::BTreeMap;
use std::sync::Mutex;

use murphy_corpus::deployments::{self, Request};
use murphy_corpus::{Simulator, find};
use murphy_model::{Faultload, Mode};
use murphy_search::{Lineage, Modes, Options, explore};

use super::bars::Bars;
use super::procedures::{Procedure, Search};

/// Runs of the steered procedure whose mean is taken.
const SEEDS: u64 = 20;

/// Calls per API and request when the steered procedure is measured: as in the
/// study that the bars are taken from.
const CALLS: &str = "1.5";

/// Injections after which a published procedure is stopped.
const MOST_CASES: usize = 3_000;

/// Who chooses what to inject next.
#[derive(Clone, Copy)]
enum Searcher {
    /// The product's own lineage strategy.
    Steered,
    /// As was published.
    Published(Procedure),
}

/// A system of replicas, and what may fail at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct System {
    settings: String,
    most_faults: usize,
    apis: usize,
}

impl System {
    fn of(request: &Request, choice: &str, calls: &str) -> Self {
        let Request { apis, replicas, .. } = request;
        System {
            settings: format!("apis={apis} replicas={replicas} choice={choice} calls={calls}"),
            most_faults: *replicas as usize,
            apis: *apis as usize,
        }
    }

    /// The injections of one search, the run without faults not counted.
    fn injections(&self, by: Searcher, seed: u64) -> f64 {
        let app = find("replicas").expect("the corpus has it");
        let settings = format!("{} seed={seed}", self.settings);
        let settings = app.settings_from_text(&settings);
        let simulator = Simulator::new(app, settings.expect("the app has these switches"));
        let explored = match by {
            Searcher::Steered => self.steered(simulator, seed),
            Searcher::Published(procedure) => self.published(procedure, simulator),
        };
        (explored - 1) as f64
    }

    /// The executions of the steered search.
    ///
    /// # Panics
    /// If it did not find exactly what there is.
    fn steered(&self, mut simulator: Simulator, seed: u64) -> usize {
        let mut options = Options::new(Modes::Same(vec![Mode::status(503)]));
        options.max_faults = Some(self.most_faults);
        let mut lineage = Lineage::new(options);
        let certificate = explore(&mut lineage, 1, |faultload| simulator.run(faultload));
        let found = certificate.minimal.as_ref().map(Vec::len);
        assert_eq!(found, Some(self.apis), "{} seed {seed}", self.settings);
        assert!(certificate.is_complete(), "{} seed {seed}", self.settings);
        certificate.explored
    }

    /// The executions of a published procedure.
    fn published(&self, procedure: Procedure, mut simulator: Simulator) -> usize {
        let run = |faultload: &Faultload| simulator.run(faultload);
        Search::run(procedure, self.most_faults, MOST_CASES, run).explored()
    }

    fn mean(&self, by: Searcher, seeds: u64) -> f64 {
        let all = (0..seeds).map(|seed| self.injections(by, seed));
        all.sum::<f64>() / seeds as f64
    }
}

/// One measurement, by what is measured.
type Measured = BTreeMap<(System, &'static str), f64>;

/// What to measure: a system, a searcher with its name, and how many seeds.
type Job = (System, &'static str, Searcher, u64);

/// Prints the table and holds it to the bars.
pub fn run(bars: &mut Bars) {
    println!(
        "Injections until every minimal failing combination is known (k = number of replicas)"
    );
    println!(
        "steered: random choice, {CALLS} calls per API, replica counts not known, mean of {SEEDS} seeds; FastFI and LDFI: their procedures run here with our solver, calls per API calibrated, one seed"
    );
    let requests: Vec<Request> = deployments::all().collect();
    let measured = measure(jobs(&requests));
    print_table(&requests, &measured);
    hold_to_bars(&requests, &measured, bars);
    few_attempts(bars);
}

fn jobs(requests: &[Request]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for request in requests {
        for choice in ["random", "priority", "round-robin"] {
            let seeds = if choice == "priority" { 1 } else { SEEDS };
            let system = System::of(request, choice, CALLS);
            jobs.push((system, "steered", Searcher::Steered, seeds));
        }
        let calibrated = System::of(request, "random", request.calls);
        jobs.push((calibrated.clone(), "calibrated", Searcher::Steered, 3));
        for (name, procedure) in [("fastfi", Procedure::FastFi), ("ldfi", Procedure::Ldfi)] {
            jobs.push((calibrated.clone(), name, Searcher::Published(procedure), 1));
        }
    }
    jobs.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    jobs.dedup_by(|a, b| a.0 == b.0 && a.1 == b.1);
    jobs
}

/// Works through the jobs on all cores.
fn measure(jobs: Vec<Job>) -> Measured {
    let all = jobs.len();
    let waiting = Mutex::new(jobs);
    let measured = Mutex::new(Measured::new());
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    let work = || {
        loop {
            let next = waiting.lock().expect("nobody panics holding it").pop();
            let Some((system, name, by, seeds)) = next else {
                return;
            };
            let mean = system.mean(by, seeds);
            let mut measured = measured.lock().expect("nobody panics holding it");
            measured.insert((system, name), mean);
            eprint!("\r{} of {all} measured", measured.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    eprintln!();
    measured.into_inner().expect("nobody panicked holding it")
}

fn print_table(requests: &[Request], measured: &Measured) {
    println!(
        "{:<28} {:>7} {:>6} {:>10} {:>8} {:>8} {:>8} {:>11} {:>7} {:>6}",
        "request",
        "APIs",
        "calls",
        "published",
        "FastFI",
        "LDFI",
        "steered",
        "(calibrated)",
        "study",
        "bound"
    );
    for request in requests {
        let calibrated = System::of(request, "random", request.calls);
        let of = |name| measured[&(calibrated.clone(), name)];
        let capped = |count: f64| match count as usize + 1 >= MOST_CASES {
            true => format!("> {MOST_CASES}"),
            false => format!("{count:.0}"),
        };
        println!(
            "{:<28} {:>2} x {:>2} {:>6} {:>10} {:>8} {:>8} {:>8.1} {:>11.1} {:>7} {:>6}",
            format!("{} {}", request.deployment, request.name),
            request.apis,
            request.replicas,
            request.calls,
            request.growing.published,
            capped(of("fastfi")),
            capped(of("ldfi")),
            steered(request, "random", measured),
            of("calibrated"),
            request.growing.steered,
            request.growing.least,
        );
    }
}

fn steered(request: &Request, choice: &str, measured: &Measured) -> f64 {
    measured[&(System::of(request, choice, CALLS), "steered")]
}

fn hold_to_bars(requests: &[Request], measured: &Measured, bars: &mut Bars) {
    let random = |request: &Request| steered(request, "random", measured);
    let mean =
        |of: &dyn Fn(&Request) -> f64| requests.iter().map(of).sum::<f64>() / requests.len() as f64;
    let worst = |of: &dyn Fn(&Request) -> f64| requests.iter().map(of).fold(0.0, f64::max);
    let named = |deployment: &str, name: &str| {
        let found = requests
            .iter()
            .find(|r| r.deployment == deployment && r.name == name);
        random(found.expect("it is one of the 32"))
    };
    let ratio = worst(&|r| random(r) / f64::from(r.growing.steered));
    bars.judge(
        ratio <= 1.25,
        format!("every row at most 1.25x the study's: worst {ratio:.2}x"),
    );
    let all = mean(&random);
    let published = mean(&|r| f64::from(r.growing.published));
    bars.judge(
        all <= 24.0,
        format!("mean of the 32 rows at most 24: {all:.1} (FastFI published {published:.1})"),
    );
    let above =
        |r: &&Request| r.growing.published > 16 && random(r) >= f64::from(r.growing.published);
    let above = requests.iter().filter(above).count();
    bars.judge(
        above == 0,
        format!("below the published figure wherever that is above 16: {above} rows are not"),
    );
    let cheapest = named("TT-3", "POST /cheapest");
    bars.judge(
        cheapest <= 40.0,
        format!("TT-3 POST /cheapest at most 40: {cheapest:.1} (published 1,021)"),
    );
    let checkout = named("OB-6", "POST /checkout");
    bars.judge(
        checkout <= 46.0,
        format!("OB-6 POST /checkout at most 46: {checkout:.1} (published 106)"),
    );
    for choice in ["priority", "round-robin"] {
        let other = mean(&|r| steered(r, choice, measured));
        bars.judge(
            other <= 1.1 * all,
            format!(
                "{choice} at most 1.1x of random: {other:.1}, {:.2}x",
                other / all
            ),
        );
    }
}

/// A caller that gives up before it has tried every replica.
fn few_attempts(bars: &mut Bars) {
    let system = System {
        settings: "apis=12 replicas=6 choice=priority calls=1 attempts=3".to_owned(),
        most_faults: 4,
        apis: 12,
    };
    let injections = system.injections(Searcher::Steered, 0);
    bars.judge(
        injections <= 50.0,
        format!("12 x 6 with 3 attempts, k = 4, at most 50: {injections:.0}"),
    );
}

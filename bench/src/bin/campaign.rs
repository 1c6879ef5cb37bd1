//! Prints what a campaign over sockets costs, its test a declared request, next
//! to its scenario alone and to the predecessors' published times. Rounds are interleaved, and what
//! is compared was measured in the same round.

use std::time::{Duration, Instant};

use clap::Parser;
use murphy_bench::sockets::{Campaign, Declared};
use murphy_corpus::find;
use murphy_corpus::sockets::Bare;
use murphy_search::Reduction;

/// Prints what a campaign over sockets costs.
#[derive(Parser)]
struct Args {
    /// How many rounds; medians are printed.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each service works on each request, in milliseconds, where it does not answer at
    /// once: about what a small handler in an interpreted language takes.
    #[arg(long, default_value_t = 1)]
    work: u64,
    /// Print only; do not fail where a bar is missed.
    #[arg(long)]
    report_only: bool,
}

/// A system with the seconds that Reynard and Filibuster took (thesis, table 6.1).
struct Subject {
    app: &'static str,
    test: Declared,
    reynard: f64,
    filibuster: f64,
}

const SUBJECTS: [Subject; 3] = [
    Subject {
        app: "cinema-3",
        test: Declared {
            service: "users",
            path: "/users/chris_rivers/bookings",
        },
        reynard: 1.5,
        filibuster: 3.7,
    },
    Subject {
        app: "mailchimp",
        test: Declared {
            service: "load-balancer",
            path: "/urls/randomurl",
        },
        reynard: 9.6,
        filibuster: 31.8,
    },
    Subject {
        app: "netflix",
        test: Declared {
            service: "mobile-client",
            path: "/netflix/homepage/users/chris_rivers",
        },
        reynard: 463.9,
        filibuster: 644.8,
    },
];

/// At most this many times the scenarios alone.
const OVERHEAD: f64 = 1.3;

/// Eight jobs make at least this many times as many executions as one.
const SPEED_UP: f64 = 1.6;

/// Netflix, with modes that act alike taken as one.
const REDUCED: Duration = Duration::from_secs(1);

/// What was measured in one round.
#[derive(Clone, Copy)]
struct Round {
    executions: usize,
    /// One scenario without Murphy.
    bare: Duration,
    one_job: Duration,
    eight_jobs: Duration,
}

impl Round {
    fn overhead(&self) -> f64 {
        self.one_job.as_secs_f64() / (self.executions as f64 * self.bare.as_secs_f64())
    }

    fn speed_up(&self) -> f64 {
        self.one_job.as_secs_f64() / self.eight_jobs.as_secs_f64()
    }
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    println!(
        "Medians of {} rounds; x bare: time of the campaign over executions x the scenario alone.",
        args.rounds
    );
    let mut bars = Vec::new();
    for work in [Duration::ZERO, Duration::from_millis(args.work)] {
        heading(work);
        for subject in &SUBJECTS {
            let rounds = rounds(subject, work, args.rounds).await;
            print(subject, &rounds);
            bars.extend(bars_of(subject.app, work, &rounds));
        }
    }
    let mut reduced: Vec<(usize, Duration)> = Vec::new();
    for _ in 0..args.rounds {
        reduced.push(campaign(&SUBJECTS[2], Duration::ZERO, 1, &[Reduction::Modes]).await);
    }
    reduced.sort_by_key(|(_, took)| *took);
    let (executions, took) = reduced[reduced.len() / 2];
    println!("\nnetflix --reduce modes: {executions} executions in {took:.0?}");
    bars.push((
        "netflix --reduce modes, seconds".to_owned(),
        took.as_secs_f64(),
        REDUCED.as_secs_f64(),
        true,
    ));
    std::process::exit(i32::from(verdict(&bars) > 0 && !args.report_only));
}

fn heading(work: Duration) {
    match work.is_zero() {
        true => println!(
            "\nServices that answer at once: the worst case, a hop costs what a proxy costs"
        ),
        false => println!("\nServices that work {work:?} on each request"),
    }
    println!(
        "  {:<10} {:>10} {:>9} {:>9} {:>7} {:>9} {:>7} {:>10} {:>11}",
        "app",
        "executions",
        "bare",
        "1 job",
        "x bare",
        "per s",
        "8 jobs",
        "Reynard s",
        "Filibuster s"
    );
}

async fn rounds(subject: &Subject, work: Duration, count: usize) -> Vec<Round> {
    let mut rounds = Vec::new();
    for _ in 0..count {
        let bare = bare(subject.app, work).await;
        let (executions, one_job) = campaign(subject, work, 1, &[]).await;
        let (_, eight_jobs) = campaign(subject, work, 8, &[]).await;
        rounds.push(Round {
            executions,
            bare,
            one_job,
            eight_jobs,
        });
    }
    rounds
}

async fn bare(app: &str, work: Duration) -> Duration {
    const WARM: u32 = 20;
    const RUNS: u32 = 200;
    let app = find(app).expect("an app of the corpus");
    let settings = app.settings([]).expect("the defaults are valid");
    let bare = Bare::new(app, settings, work).await.expect("free ports");
    let mut began = Instant::now();
    for run in 0..WARM + RUNS {
        if run == WARM {
            began = Instant::now();
        }
        bare.run().await.expect("passes without faults");
    }
    began.elapsed() / RUNS
}

async fn campaign(
    subject: &Subject,
    work: Duration,
    jobs: u32,
    reduce: &[Reduction],
) -> (usize, Duration) {
    let app = find(subject.app).expect("an app of the corpus");
    let settings = app.settings([]).expect("the defaults are valid");
    let mut campaign = Campaign::of(app, settings, jobs);
    campaign.work = work;
    campaign.options.reduce.extend(reduce);
    let outcome = campaign.run_declared(subject.test).await;
    (outcome.certificate.explored, outcome.took)
}

fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    values[values.len() / 2]
}

fn of<T: PartialOrd + Copy>(rounds: &[Round], value: impl Fn(&Round) -> T) -> T {
    median(rounds.iter().map(value).collect())
}

fn print(subject: &Subject, rounds: &[Round]) {
    let executions = rounds[0].executions;
    let one_job = of(rounds, |round| round.one_job);
    println!(
        "  {:<10} {executions:>10} {:>7.0}us {:>7.0}ms {:>7.2} {:>9.0} {:>6.2}x {:>10} {:>11}",
        subject.app,
        of(rounds, |round| round.bare).as_secs_f64() * 1e6,
        one_job.as_secs_f64() * 1e3,
        of(rounds, Round::overhead),
        executions as f64 / one_job.as_secs_f64(),
        of(rounds, Round::speed_up),
        subject.reynard,
        subject.filibuster,
    );
}

/// What is measured, what it is, what it may be, and whether that is the most
/// or the least.
type Bar = (String, f64, f64, bool);

fn bars_of(app: &str, work: Duration, rounds: &[Round]) -> Vec<Bar> {
    let place = match work.is_zero() {
        true => "answering at once".to_owned(),
        false => format!("working {work:?}"),
    };
    vec![
        (
            format!("{app}, {place}: x bare at 1 job"),
            of(rounds, Round::overhead),
            OVERHEAD,
            true,
        ),
        (
            format!("{app}, {place}: throughput of 8 jobs over 1"),
            of(rounds, Round::speed_up),
            SPEED_UP,
            false,
        ),
    ]
}

/// Prints the bars; how many are missed.
fn verdict(bars: &[Bar]) -> usize {
    println!();
    let met = |(_, is, bar, most): &&Bar| if *most { is <= bar } else { is >= bar };
    for bar in bars {
        let (what, is, limit, most) = bar;
        let word = if met(&bar) { "PASS" } else { "MISS" };
        let side = if *most { "at most" } else { "at least" };
        println!("  {word}  {is:>6.2}  {side} {limit:<4}  {what}");
    }
    let missed = bars.len() - bars.iter().filter(met).count();
    println!("{} of {} bars are met", bars.len() - missed, bars.len());
    missed
}

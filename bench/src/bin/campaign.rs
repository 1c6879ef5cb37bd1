//! Prints what a campaign over sockets costs, its test a declared request, next
//! to its scenario alone and to the predecessors' published times. Each service
//! is a process of its own, as at a user's. Rounds are interleaved, and what is
//! compared was measured in the same round.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use http::Method;
use http_body_util::BodyExt;
use murphy_bench::proxy::body::Repeated;
use murphy_bench::proxy::client::Client;
use murphy_bench::proxy::protocol::Protocol;
use murphy_bench::proxy::role;
use murphy_bench::services::{self, Services};
use murphy_bench::sockets::{Campaign, Declared, Readings, Work};
use murphy_campaign::REFERENCES;
use murphy_corpus::find;
use murphy_search::Reduction;
use tokio::task::JoinSet;

/// As in the binary that people run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Prints what a campaign over sockets costs.
#[derive(Parser)]
struct Args {
    /// How many rounds, three times as many where services answer at once: campaigns of
    /// milliseconds vary. Medians are printed.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each service works on each request, in milliseconds, where it does not answer at
    /// once: about what a small handler in an interpreted language takes.
    #[arg(long, default_value_t = 1)]
    work: u64,
    /// Only this system, instead of all three.
    #[arg(long, value_parser = SUBJECTS.each_ref().map(|subject| subject.app))]
    app: Option<String>,
    /// Print only; do not fail where a bar is missed.
    #[arg(long)]
    report_only: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

/// What this binary does when it is started by itself.
#[derive(Subcommand)]
enum Role {
    /// One service of an example system.
    #[command(hide = true)]
    Serve {
        app: String,
        service: String,
        work: u64,
    },
}

/// A system with the seconds that Reynard and Filibuster took (thesis, table 6.1).
struct Subject {
    app: &'static str,
    test: Declared,
    reynard: f64,
    filibuster: f64,
}

static SUBJECTS: [Subject; 3] = [
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

/// Eight jobs make at least this many times as many executions as one, where
/// the system allows it: where eight scenarios at once, without Murphy, make
/// that many times as many as one at a time. What is in reach of the processors
/// ([`Round::in_reach`]) explains a miss and excuses none: Murphy's own cost is
/// part of it.
const SPEED_UP: f64 = 1.6;

/// Scenarios without Murphy are run for no longer than this to learn how long
/// one takes.
const ALONE: Duration = Duration::from_secs(3);

/// Netflix, with modes that act alike taken as one.
const REDUCED: Duration = Duration::from_secs(1);

/// What was measured in one round.
#[derive(Clone, Copy)]
struct Round {
    executions: usize,
    /// Scenarios without Murphy, one at a time.
    bare: Bare,
    /// The same, eight at once.
    eight_bare: Bare,
    one_job: Duration,
    eight_jobs: Duration,
    /// What eight jobs take of the processors. Nobody waits awake there, but
    /// while the last two run.
    work: Work,
}

/// Scenarios without Murphy.
#[derive(Clone, Copy)]
struct Bare {
    /// How long one takes, where several run at once its share of the time.
    each: Duration,
    /// How busy the processors are meanwhile, 1 if none ever idles.
    busy: f64,
}

impl Round {
    fn overhead(&self) -> f64 {
        self.one_job.as_secs_f64() / (self.executions as f64 * self.bare.each.as_secs_f64())
    }

    fn speed_up(&self) -> f64 {
        self.one_job.as_secs_f64() / self.eight_jobs.as_secs_f64()
    }

    /// Processor time of one execution at eight jobs, in microseconds.
    fn work(&self, share: impl Fn(&Work) -> Duration) -> f64 {
        let under_faults = self.executions - REFERENCES;
        share(&self.work).as_secs_f64() * 1e6 / under_faults as f64
    }

    /// How many times as many executions as one job eight could make if the
    /// processors were so busy, and each execution cost them what it does at
    /// eight. References run one at a time in either case.
    fn possible(&self, busy: f64) -> f64 {
        let one_job = self.one_job.as_secs_f64();
        let references = one_job * REFERENCES as f64 / self.executions as f64;
        let others = self.work.whole().as_secs_f64() / (processors() * busy);
        one_job / (references + others)
    }

    /// The same, with processors that are as busy as eight scenarios at once
    /// keep them without Murphy. Where those wait for something else than
    /// processors, more may come out.
    fn in_reach(&self) -> f64 {
        self.possible(self.eight_bare.busy)
    }

    /// What the system itself makes of eight at once.
    fn alone(&self) -> f64 {
        self.bare.each.as_secs_f64() / self.eight_bare.each.as_secs_f64()
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    match &args.role {
        // As in a service written for one thread.
        Some(Role::Serve { app, service, work }) => {
            let work = Duration::from_millis(*work);
            role::block_on(1, services::serve(app, service, work))
        }
        None => {
            let missed = role::block_on(1, measure(&args))?;
            std::process::exit(i32::from(missed > 0 && !args.report_only))
        }
    }
}

/// Measures and prints everything; how many bars are missed.
async fn measure(args: &Args) -> Result<usize> {
    println!(
        "Medians of {} rounds, {} where services answer at once; x bare: time of the campaign over executions x the scenario alone; 8 jobs, 8 bare: throughput of eight at once over one at a time, with Murphy and without; busy: the processors at 8 bare. work us: processor time of an execution at 8 jobs, services' + Murphy's; possible: 8 jobs over 1 if no processor ever idled, references aside, which run one at a time; in reach: if they were as busy as at 8 bare.",
        args.rounds,
        rounds_of(args, Duration::ZERO),
    );
    let mut bars = Vec::new();
    for work in [Duration::ZERO, Duration::from_millis(args.work)] {
        heading(work);
        for subject in wanted(args) {
            let rounds = rounds(subject, work, rounds_of(args, work)).await?;
            print(subject, &rounds);
            bars.extend(bars_of(subject.app, work, &rounds));
        }
    }
    if let Some(netflix) = wanted(args).find(|subject| subject.app == "netflix") {
        bars.push(reduced(netflix, args.rounds).await?);
    }
    Ok(verdict(&bars))
}

fn wanted(args: &Args) -> impl Iterator<Item = &'static Subject> {
    let wanted = |subject: &&Subject| args.app.as_deref().is_none_or(|it| it == subject.app);
    SUBJECTS.iter().filter(wanted)
}

/// Prints what a campaign takes if modes that act alike are taken as one.
async fn reduced(subject: &Subject, rounds: usize) -> Result<Bar> {
    let mut services = subject.start(Duration::ZERO).await?;
    let mut runs = Vec::new();
    for _ in 0..rounds {
        let one = subject.campaign(&mut services, 1, &[Reduction::Modes]);
        runs.push(one.await?);
    }
    let took = median(runs.iter().map(|done| done.took).collect());
    let executions = runs[0].executions;
    let what = format!("{} --reduce modes", subject.app);
    println!("\n{what}: {executions} executions in {took:.0?}");
    let (took, most) = (took.as_secs_f64(), REDUCED.as_secs_f64());
    Ok((format!("{what}, seconds"), took, most, true))
}

fn rounds_of(args: &Args, work: Duration) -> usize {
    match work.is_zero() {
        true => args.rounds * 3,
        false => args.rounds,
    }
}

fn heading(work: Duration) {
    match work.is_zero() {
        true => println!(
            "\nServices that answer at once: the worst case, a hop costs what a proxy costs"
        ),
        false => println!("\nServices that work {work:?} on each request"),
    }
    println!(
        "  {:<10} {:>10} {:>9} {:>9} {:>7} {:>9} {:>7} {:>7} {:>5} {:>8} {:>8} {:>8} {:>10} {:>11}",
        "app",
        "executions",
        "bare",
        "1 job",
        "x bare",
        "per s",
        "8 jobs",
        "8 bare",
        "busy",
        "work us",
        "possible",
        "in reach",
        "Reynard s",
        "Filibuster s"
    );
}

async fn rounds(subject: &Subject, work: Duration, count: usize) -> Result<Vec<Round>> {
    let mut services = subject.start(work).await?;
    let mut rounds = Vec::new();
    for _ in 0..count {
        let one = subject.campaign(&mut services, 1, &[]).await?;
        let bare = subject.bare(&services, one.executions, 1).await?;
        let eight_bare = subject.bare(&services, one.executions, 8).await?;
        let eight = subject.campaign(&mut services, 8, &[]).await?;
        rounds.push(Round {
            executions: one.executions,
            bare,
            eight_bare,
            one_job: one.took,
            eight_jobs: eight.took,
            work: eight.work,
        });
    }
    Ok(rounds)
}

/// A campaign that was run.
struct Done {
    /// All references included.
    executions: usize,
    took: Duration,
    work: Work,
}

impl Subject {
    async fn start(&self, work: Duration) -> Result<Services> {
        let app = find(self.app).context("an app of the corpus")?;
        Services::start(app, work).await
    }

    /// What a scenario takes without Murphy, so many at once, among as many as
    /// the campaign had executions: what runs for long is warm. They begin as a
    /// campaign does: with the connections made that they need.
    async fn bare(&self, services: &Services, executions: usize, at_once: usize) -> Result<Bare> {
        let mut addresses = services.addresses();
        let (_, entry) = addresses
            .find(|(name, _)| *name == self.test.service)
            .context("the service it enters by")?;
        let mut connected = JoinSet::new();
        for _ in 0..at_once {
            connected.spawn(connect(entry, self.test.path));
        }
        let connected = connected.join_all().await;
        let left = Arc::new(AtomicUsize::new(executions));
        let before = Readings::of(services);
        let began = Instant::now();
        let mut asking = JoinSet::new();
        for client in connected {
            asking.spawn(ask_again_and_again(client?, self.test.path, left.clone()));
        }
        for done in asking.join_all().await {
            done?;
        }
        let took = began.elapsed();
        let work = before.work().whole();
        let done = executions - left.load(Ordering::Relaxed);
        Ok(Bare {
            each: took / done as u32,
            busy: work.as_secs_f64() / (took.as_secs_f64() * processors()),
        })
    }

    /// Runs a campaign.
    async fn campaign(
        &self,
        services: &mut Services,
        jobs: u32,
        reduce: &[Reduction],
    ) -> Result<Done> {
        let app = find(self.app).context("an app of the corpus")?;
        let settings = app.settings([])?;
        let mut campaign = Campaign::of(app, settings, jobs);
        campaign.options.reduce.extend(reduce);
        let (outcome, work) = campaign.run_declared(self.test, services).await?;
        Ok(Done {
            // The first reference is also the first that was explored.
            executions: outcome.certificate.explored + REFERENCES - 1,
            took: outcome.took,
            work,
        })
    }
}

/// A client that has asked once, and so made everybody behind connect as well.
async fn connect(entry: SocketAddr, path: &'static str) -> Result<Client> {
    let mut client = Client::connect(Protocol::Http1, entry).await?;
    ask(&mut client, path).await?;
    Ok(client)
}

async fn ask(client: &mut Client, path: &'static str) -> Result<()> {
    let request = client.request(Method::GET, path);
    let answer = client.send(request.body(Repeated::empty())?).await?;
    ensure!(answer.status() == 200, "it passes without faults");
    answer.into_body().collect().await?;
    Ok(())
}

/// Asks over one connection, until no more is to be asked or enough is known.
async fn ask_again_and_again(
    mut client: Client,
    path: &'static str,
    left: Arc<AtomicUsize>,
) -> Result<()> {
    let until = Instant::now() + ALONE;
    let one_less = |left: usize| left.checked_sub(1);
    while Instant::now() < until
        && left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .is_ok()
    {
        ask(&mut client, path).await?;
    }
    Ok(())
}

fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    values[values.len() / 2]
}

fn of<T: PartialOrd + Copy>(rounds: &[Round], value: impl Fn(&Round) -> T) -> T {
    median(rounds.iter().map(value).collect())
}

fn processors() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |it| it.get() as f64)
}

fn print(subject: &Subject, rounds: &[Round]) {
    let executions = rounds[0].executions;
    let one_job = of(rounds, |round| round.one_job);
    let each = |share: fn(&Work) -> Duration| of(rounds, |round| round.work(share));
    let work = format!("{:.0}+{:.0}", each(|it| it.services), each(|it| it.here));
    println!(
        "  {:<10} {executions:>10} {:>7.0}us {:>7.0}ms {:>7.2} {:>9.0} {:>6.2}x {:>6.2}x {:>4.0}% {:>8} {:>7.2}x {:>7.2}x {:>10} {:>11}",
        subject.app,
        of(rounds, |round| round.bare.each).as_secs_f64() * 1e6,
        one_job.as_secs_f64() * 1e3,
        of(rounds, Round::overhead),
        executions as f64 / one_job.as_secs_f64(),
        of(rounds, Round::speed_up),
        of(rounds, Round::alone),
        of(rounds, |round| round.eight_bare.busy) * 1e2,
        work,
        of(rounds, |round| round.possible(1.0)),
        of(rounds, Round::in_reach),
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
    let mut bars = vec![(
        format!("{app}, {place}: x bare at 1 job"),
        of(rounds, Round::overhead),
        OVERHEAD,
        true,
    )];
    if of(rounds, Round::alone) >= SPEED_UP {
        bars.push((
            format!("{app}, {place}: throughput of 8 jobs over 1"),
            of(rounds, Round::speed_up),
            SPEED_UP,
            false,
        ));
    }
    bars
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

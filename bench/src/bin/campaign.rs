//! Prints what a campaign over sockets costs next to its scenario alone, and to
//! the predecessors' published times: example systems with a declared request,
//! each service a process of its own, and the example shops with their tests,
//! which are commands. Rounds are interleaved, and what is compared was measured
//! in the same round.

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
use murphy_bench::shops::{SHOPS, Shop};
use murphy_bench::sockets::{Campaign, Declared};
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
    /// How many rounds. Medians are printed.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each service works on each request, in milliseconds, where it does not answer at
    /// once: about what a small handler in an interpreted language takes.
    #[arg(long, default_value_t = 1)]
    work: u64,
    /// Only this system or shop, instead of all five.
    #[arg(long, value_parser = names())]
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

/// The names that `--app` takes.
fn names() -> Vec<&'static str> {
    let apps = SUBJECTS.iter().map(|subject| subject.app);
    apps.chain(SHOPS.iter().map(|shop| shop.name)).collect()
}

/// At most this many times the scenarios alone, where services work on their
/// requests. Where they answer at once, a hop costs what a proxy costs, and
/// nobody's do: that is printed and has no bar.
const OVERHEAD: f64 = 1.3;

/// The same for tests that are commands: to start an interpreter takes longer
/// than all that Murphy does.
const OVERHEAD_OF_COMMANDS: f64 = 1.15;

/// Eight jobs make at least this many times as many executions as one.
const SPEED_UP: f64 = 1.6;

/// How often a shop's test is run bare on either side of a campaign, after the
/// first time, which makes connections and loads code.
const BARE_TESTS: u32 = 10;

/// Scenarios without Murphy are run for no longer than this to learn how long
/// one takes.
const ALONE: Duration = Duration::from_secs(3);

/// Netflix, with modes that act alike taken as one.
const REDUCED: Duration = Duration::from_secs(1);

/// What was measured in one round.
#[derive(Clone, Copy)]
struct Round {
    executions: usize,
    /// How long a scenario takes without Murphy, one at a time.
    bare: Duration,
    /// The same, eight at once: its share of the time.
    eight_bare: Duration,
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

    /// What the system itself makes of eight at once.
    fn alone(&self) -> f64 {
        self.bare.as_secs_f64() / self.eight_bare.as_secs_f64()
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
        "Medians of {} rounds; x bare: time of the campaign over executions x the scenario alone; 8 jobs, 8 bare: throughput of eight at once over one at a time, with Murphy and without.",
        args.rounds,
    );
    let mut bars = Vec::new();
    for work in [Duration::ZERO, Duration::from_millis(args.work)] {
        if wanted(args).next().is_some() {
            heading(work);
        }
        for subject in wanted(args) {
            let rounds = rounds(subject, work, args.rounds).await?;
            print(subject, &rounds);
            if !work.is_zero() {
                bars.extend(bars_of(subject.app, work, &rounds));
            }
        }
    }
    if let Some(netflix) = wanted(args).find(|subject| subject.app == "netflix") {
        bars.push(reduced(netflix, args.rounds).await?);
    }
    bars.extend(shops(args).await?);
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

/// Prints what campaigns on the example shops cost; their bars. A shop that is
/// not set up has none, which is said.
async fn shops(args: &Args) -> Result<Vec<Bar>> {
    let wanted = |shop: &&Shop| args.app.as_deref().is_none_or(|it| it == shop.name);
    let (mut bars, mut heading) = (Vec::new(), false);
    for shop in SHOPS.iter().filter(wanted) {
        if !std::mem::replace(&mut heading, true) {
            println!("\nExample shops, whose tests are commands, at 1 job");
            println!(
                "  {:<12} {:>10} {:>7} {:>9} {:>7}",
                "shop", "executions", "bare", "campaign", "x bare"
            );
        }
        let name = shop.name;
        if !shop.is_set_up() {
            println!("  {name:<12} NOT MEASURED: run examples/{name}/setup first");
            continue;
        }
        bars.push(shop_bar(shop, args.rounds).await?);
    }
    Ok(bars)
}

async fn shop_bar(shop: &Shop, rounds: usize) -> Result<Bar> {
    let mut runs = Vec::new();
    for _ in 0..rounds {
        let services = shop.start().await?;
        services.test(1).await?;
        // Before and after, because what else the machine does comes and goes.
        let before = services.test(BARE_TESTS).await?;
        let campaign = shop.campaign().await?;
        let bare = (before + services.test(BARE_TESTS).await?) / 2;
        let expected = campaign.executions as f64 * bare.as_secs_f64();
        let overhead = campaign.took.as_secs_f64() / expected;
        runs.push((campaign, bare, overhead));
    }
    let overhead = median(runs.iter().map(|(_, _, overhead)| *overhead).collect());
    println!(
        "  {:<12} {:>10} {:>5.0}ms {:>7.0}ms {overhead:>7.2}",
        shop.name,
        runs[0].0.executions,
        median(runs.iter().map(|(_, bare, _)| *bare).collect()).as_secs_f64() * 1e3,
        median(runs.iter().map(|(it, ..)| it.took).collect()).as_secs_f64() * 1e3,
    );
    let what = format!("{}: x bare at 1 job", shop.name);
    Ok((what, overhead, OVERHEAD_OF_COMMANDS, true))
}

fn heading(work: Duration) {
    match work.is_zero() {
        true => println!("\nServices that answer at once, which has no bar"),
        false => println!("\nServices that work {work:?} on each request"),
    }
    println!(
        "  {:<10} {:>10} {:>9} {:>9} {:>7} {:>9} {:>7} {:>7} {:>10} {:>11}",
        "app",
        "executions",
        "bare",
        "1 job",
        "x bare",
        "per s",
        "8 jobs",
        "8 bare",
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
        });
    }
    Ok(rounds)
}

/// A campaign that was run.
struct Done {
    /// All references included.
    executions: usize,
    took: Duration,
}

impl Subject {
    async fn start(&self, work: Duration) -> Result<Services> {
        let app = find(self.app).context("an app of the corpus")?;
        Services::start(app, work).await
    }

    /// What a scenario takes without Murphy, so many at once, among as many as
    /// the campaign had executions: what runs for long is warm. They begin as a
    /// campaign does: with the connections made that they need.
    async fn bare(
        &self,
        services: &Services,
        executions: usize,
        at_once: usize,
    ) -> Result<Duration> {
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
        let began = Instant::now();
        let mut asking = JoinSet::new();
        for client in connected {
            asking.spawn(ask_again_and_again(client?, self.test.path, left.clone()));
        }
        for done in asking.join_all().await {
            done?;
        }
        let done = executions - left.load(Ordering::Relaxed);
        Ok(began.elapsed() / done as u32)
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
        let outcome = campaign.run_declared(self.test, services).await?;
        Ok(Done {
            // The first reference is also the first that was explored.
            executions: outcome.certificate.explored + REFERENCES - 1,
            took: outcome.took,
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

fn print(subject: &Subject, rounds: &[Round]) {
    let executions = rounds[0].executions;
    let one_job = of(rounds, |round| round.one_job);
    println!(
        "  {:<10} {executions:>10} {:>7.0}us {:>7.0}ms {:>7.2} {:>9.0} {:>6.2}x {:>6.2}x {:>10} {:>11}",
        subject.app,
        of(rounds, |round| round.bare).as_secs_f64() * 1e6,
        one_job.as_secs_f64() * 1e3,
        of(rounds, Round::overhead),
        executions as f64 / one_job.as_secs_f64(),
        of(rounds, Round::speed_up),
        of(rounds, Round::alone),
        subject.reynard,
        subject.filibuster,
    );
}

/// What is measured, what it is, what it may be, and whether that is the most
/// or the least.
type Bar = (String, f64, f64, bool);

fn bars_of(app: &str, work: Duration, rounds: &[Round]) -> [Bar; 2] {
    [
        (
            format!("{app}, working {work:?}: x bare at 1 job"),
            of(rounds, Round::overhead),
            OVERHEAD,
            true,
        ),
        (
            format!("{app}, working {work:?}: throughput of 8 jobs over 1"),
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

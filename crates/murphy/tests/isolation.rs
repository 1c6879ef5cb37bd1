//! Executions do not disturb each other, nor anybody else.
//!
//! 64 executions of netflix with different faultloads are in flight at once on
//! the same proxies, among traffic that belongs to no execution. Each trace is
//! that of the execution alone, and the other traffic is byte for byte what it
//! is without a proxy, both as its callers and as its callees see it.

mod support;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::request;
use murphy::demo::{ExampleWorld, Options};
use murphy_corpus::sockets::{Propagation, Witness};
use murphy_model::{Execution, Faultload};
use support::plan::{Planner, QUICK, modes, scaled};
use support::play::play;
use support::raw::{RawClient, is_of_one_hop};
use support::{Subject, options, with_witness};
use tokio::task::JoinSet;

const NETFLIX: Subject = Subject {
    app: "netflix",
    settings: "",
};
const AT_ONCE: u32 = 64;
const ROUNDS: usize = 6;

/// Whose requests are sent side by side with the executions.
const BACKGROUND: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn executions_in_flight_at_once_go_as_each_does_alone() {
    let faultloads = different_faultloads(AT_ONCE as usize * scaled(ROUNDS));
    let alone = played(options(Propagation::W3c), faultloads.clone()).await;

    let seen = Seen::default();
    let mut options = Options {
        workers: AT_ONCE,
        ..with_witness(seen.witness(), options(Propagation::W3c))
    };
    // Of which the proxies get half.
    options.proxy.threads = 4;
    let world = NETFLIX.world(options);
    let world = Arc::new(world.await);
    let watch = Watch::start(&world, &seen);
    let together = play(world, AT_ONCE, faultloads).await;
    let most = watch.stop().await;

    assert_eq!(most.in_flight, AT_ONCE as usize);
    assert!(most.background > 100, "{} requests", most.background);
    for (together, alone) in together.iter().zip(&alone) {
        let execution = &together.execution;
        assert!(together.quiet, "{}", execution.faultload);
        assert_eq!(execution, alone, "{}", execution.faultload);
    }
    println!(
        "{} executions, up to {} in flight, each as it is alone; {} other requests as without a proxy",
        together.len(),
        most.in_flight,
        most.background
    );
}

/// None twice, in an order that mixes sizes and modes.
fn different_faultloads(count: usize) -> Vec<Faultload> {
    let mut planner = Planner::new(NETFLIX.simulator(), modes(QUICK), 64);
    let mut faultloads: Vec<Faultload> = planner.mixture(0, 2 * count);
    fastrand::Rng::with_seed(64).shuffle(&mut faultloads);
    faultloads.truncate(count);
    let different: BTreeSet<&Faultload> = faultloads.iter().collect();
    assert_eq!(different.len(), faultloads.len());
    faultloads
}

/// One execution after the other.
async fn played(options: Options, faultloads: Vec<Faultload>) -> Vec<Execution> {
    let world = Arc::new(NETFLIX.world(options).await);
    let played = play(world, 1, faultloads).await;
    played.into_iter().map(|it| it.execution).collect()
}

/// What was going on at the same time.
#[derive(Clone, Copy, Default)]
struct Most {
    in_flight: usize,
    background: usize,
}

/// Counts executions in flight and sends background traffic, until stopped.
struct Watch {
    stop: Arc<AtomicBool>,
    tasks: JoinSet<Most>,
}

impl Watch {
    fn start(world: &Arc<ExampleWorld>, seen: &Seen) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        let (counted, stopped) = (world.clone(), stop.clone());
        tasks.spawn(async move {
            let mut most = Most::default();
            while !stopped.load(Ordering::Relaxed) {
                most.in_flight = most
                    .in_flight
                    .max(counted.live().system().registry().live());
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            most
        });
        for number in 0..BACKGROUND {
            let background = background(number, world.clone(), seen.clone(), stop.clone());
            tasks.spawn(background);
        }
        Watch { stop, tasks }
    }

    async fn stop(self) -> Most {
        self.stop.store(true, Ordering::Relaxed);
        let each = self.tasks.join_all().await;
        each.into_iter().fold(Most::default(), |all, one| Most {
            in_flight: all.in_flight.max(one.in_flight),
            background: all.background + one.background,
        })
    }
}

/// Sends the same requests directly and through the proxy, and compares.
async fn background(
    number: usize,
    world: Arc<ExampleWorld>,
    seen: Seen,
    stop: Arc<AtomicBool>,
) -> Most {
    let (service, _) = requests(number, 0);
    let live = world.live();
    let mut direct = RawClient::connect(live.system().direct(service).unwrap()).await;
    let mut proxied = RawClient::connect(live.system().proxied(service).unwrap()).await;
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        let (_, request) = requests(number, sent);
        let without = direct.hash(request.as_bytes()).await;
        let with = proxied.hash(request.as_bytes()).await;
        assert_eq!(with, without, "the answer to {request}");
        seen.twice_the_same(&id(number, sent), &request);
        sent += 1;
    }
    Most {
        background: sent,
        ..Most::default()
    }
}

fn id(number: usize, nth: usize) -> String {
    format!("{number}-{nth}")
}

/// Requests of no execution: bare ones, such with a trace of their own, such
/// that look a little like ours, bodies, errors, and HEAD.
fn requests(number: usize, nth: usize) -> (&'static str, String) {
    let trace = format!("{:032x}", 0xb0b_0000 + nth);
    let (service, line, more) = match number {
        0 => ("ratings", "GET /users/chris_rivers", String::new()),
        1 => (
            "bookmarks",
            "GET /users/chris_rivers?a=1&b=%20",
            format!(
                "traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\
                 tracestate: congo=t61rcWkgMzE , rojo=1\r\nTraceState: dd=s:1\r\n\
                 Baggage: user=alice;p=1\r\n"
            ),
        ),
        2 => (
            "my-list",
            "GET /users/nobody",
            "X-Odd-CASE:  spaced \r\n".into(),
        ),
        3 => (
            "user-recommendations",
            "HEAD /users/chris_rivers",
            String::new(),
        ),
        4 => {
            let body = "x".repeat(1 + 997 * (nth % 7));
            let more = format!("content-length: {}\r\n", body.len());
            return ("telemetry", head(number, nth, "POST /", &more) + &body);
        }
        _ => (
            "trending",
            "GET /",
            format!(
                "tracestate: murphy=0123456789abcdef-1\r\n\
                 traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\
                 X-B3-TraceId: {trace}\r\nX-B3-SpanId: 00f067aa0ba902b7\r\n"
            ),
        ),
    };
    (service, head(number, nth, line, &more))
}

fn head(number: usize, nth: usize, line: &str, more: &str) -> String {
    let id = id(number, nth);
    format!("{line} HTTP/1.1\r\nHost: somewhere:80\r\nX-Background: {id}\r\n{more}\r\n")
}

/// Requests of the background as their callees see them, hashed.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<HashMap<String, Vec<blake3::Hash>>>>);

impl Seen {
    fn witness(&self) -> Witness {
        let seen = self.0.clone();
        Arc::new(move |_, head, body| {
            if let Some(id) = head.headers.get("x-background") {
                let id = id.to_str().unwrap().to_owned();
                let hash = hash(head, body);
                seen.lock().unwrap().entry(id).or_default().push(hash);
            }
        })
    }

    fn twice_the_same(&self, id: &str, request: &str) {
        let seen = self.0.lock().unwrap().remove(id).unwrap_or_default();
        assert_eq!(seen.len(), 2, "{request} was seen {} times", seen.len());
        assert_eq!(seen[0], seen[1], "{request} was changed");
    }
}

fn hash(head: &request::Parts, body: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{} {}\n", head.method, head.uri).as_bytes());
    for (name, value) in &head.headers {
        if !is_of_one_hop(name.as_str()) {
            hasher.update(name.as_str().as_bytes()).update(b":");
            hasher.update(value.as_bytes()).update(b"\n");
        }
    }
    hasher.update(body).finalize()
}

//! State that leaks between executions is found, its origin is named, and no
//! other fault is blamed for it. Without the fault-free checks all of these
//! campaigns would pass, or blame whatever was injected next.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures_util::future::BoxFuture;
use murphy_campaign::{
    Event, Executing, IdentityChoice, Job, Memory, Outcome, STATE_LEFT_BEHIND, Settings,
    SetupError, Sink, Stopping, StrategyKind, World, run,
};
use murphy_model::{
    Call, CallId, Execution, Fault, Faultload, Identity, Incomplete, Observed, Point, Reply, Trace,
    Verdict,
};
use murphy_search::{Modes, Options, Reduction};

/// A request that calls some services in turn and gets over all failures; one
/// of them leaves something behind when it fails.
struct Leaking {
    services: usize,
    leaks: Option<&'static str>,
    is_dirty: AtomicBool,
    can_restart: bool,
    runs: AtomicUsize,
}

impl Leaking {
    fn new(services: usize, leaks: Option<&'static str>) -> Self {
        Leaking {
            services,
            leaks,
            is_dirty: AtomicBool::new(false),
            can_restart: true,
            runs: AtomicUsize::new(0),
        }
    }

    fn run_now(&self, faultload: &Faultload) -> Observed {
        self.runs.fetch_add(1, SeqCst);
        let entry: Point = "shop GET /".parse().unwrap();
        let is_dirty = self.is_dirty.load(SeqCst);
        let below = (0..self.services).map(|n| format!("shop GET / > s{n} GET /"));
        let below: Vec<Point> = below.map(|text| text.parse().unwrap()).collect();
        let end = 2 * self.services as u32 + 1;
        let status = if is_dirty { 500 } else { 200 };
        let mut calls = vec![call(entry, None, (0, end), Reply::Status(status), None)];
        for (at, point) in below.into_iter().enumerate().filter(|_| !is_dirty) {
            let fault = faultload
                .faults()
                .find(|fault| fault.target.matches(&point));
            let reply = Reply::Status(if fault.is_some() { 503 } else { 200 });
            let leaks = self.leaks.is_some_and(|it| point.to_string().contains(it));
            if leaks && fault.is_some() {
                self.is_dirty.store(true, SeqCst);
            }
            let at = 2 * at as u32 + 1;
            calls.push(call(point, Some(CallId(0)), (at, at + 1), reply, fault));
        }
        let trace = Trace::new(calls);
        let word = match is_dirty {
            true => Err("locked".to_owned()),
            false => Ok(()),
        };
        let execution = Execution {
            verdict: Verdict::of(word, faultload, &trace),
            faultload: faultload.clone(),
            trace,
        };
        Observed::bare(execution, Duration::ZERO)
    }
}

fn call(
    point: Point,
    parent: Option<CallId>,
    (arrived, finished): (u32, u32),
    reply: Reply,
    injected: Option<Fault>,
) -> Call {
    Call {
        point,
        parent,
        arrived,
        finished: Some(finished),
        reply: Some(reply),
        injected,
        body: None,
    }
}

impl World for Leaking {
    fn workers(&self) -> u32 {
        4
    }

    fn restart(&self) -> BoxFuture<'_, Result<bool, SetupError>> {
        if self.can_restart {
            self.is_dirty.store(false, SeqCst);
        }
        Box::pin(async { Ok(self.can_restart) })
    }

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(async move { Ok((self.run_now(job.faultload), None)) })
    }
}

/// Keeps what a later run of the same campaign is told.
#[derive(Default)]
struct Kept(Memory);

impl Sink for Kept {
    fn note(&mut self, event: &Event) {
        match event {
            Event::ExecutionEnded { observed, .. } => {
                let faultload = observed.execution.faultload.clone();
                self.0.executions.insert(faultload, (**observed).clone());
            }
            Event::StateLeft(left) => self.0.left_behind.push((**left).clone()),
            _ => {}
        }
    }
}

async fn campaign(world: &Leaking, jobs: u32, memory: Memory, kept: &mut Kept) -> Outcome {
    let mut options = Options::new(Modes::Same(vec!["503".parse().unwrap()]));
    options.reduce.remove(&Reduction::Encapsulation);
    let settings = Settings {
        scenario: "buys".to_owned(),
        strategy: StrategyKind::Tree,
        options,
        modes: vec!["503".to_owned()],
        seed: 0,
        jobs,
        max_time: None,
        audit: None,
        references: 1,
        identity: IdentityChoice::Given(Identity::default()),
        oracles: murphy_oracle::Settings::default(),
        heading: Default::default(),
    };
    let done = run(world, &settings, memory, kept, Stopping::never()).await;
    done.unwrap_or_else(|failed| panic!("{failed:?}"))
}

async fn fresh(world: &Leaking, jobs: u32) -> Outcome {
    campaign(world, jobs, Memory::default(), &mut Kept::default()).await
}

const LAST: &str = "shop GET / > s1 GET / = 503";

#[tokio::test]
async fn state_left_behind_is_traced_to_the_execution_that_left_it() {
    for jobs in [1, 4] {
        let outcome = fresh(&Leaking::new(2, Some("s1")), jobs).await;
        let findings: Vec<_> = outcome
            .findings
            .iter()
            .map(|it| (&*it.oracle, it.faultload.to_string()))
            .collect();
        assert_eq!(findings, [(STATE_LEFT_BEHIND, LAST.to_owned())], "{jobs}");
        let prefix = &outcome.prefixes[&outcome.findings[0].id];
        assert_eq!(prefix[..], [LAST.parse().unwrap()], "{jobs}");
        let short = outcome.certificate.incomplete;
        assert_eq!(short, Some(Incomplete::LeftBehind), "{jobs}");
        assert_eq!(outcome.certificate.explored, 4, "{jobs}");
    }
}

#[tokio::test]
async fn what_the_last_execution_leaves_is_found_too() {
    let outcome = fresh(&Leaking::new(1, Some("s0")), 1).await;
    assert_eq!(outcome.findings.len(), 1);
    let summary = &outcome.findings[0].summary;
    assert!(
        summary.starts_with("state left behind by execution 2:"),
        "{summary}"
    );
}

#[tokio::test]
async fn where_nothing_can_be_restarted_the_campaign_ends_and_blames_no_fault() {
    let mut world = Leaking::new(3, Some("s0"));
    world.can_restart = false;
    let outcome = fresh(&world, 1).await;
    let [finding] = &outcome.findings[..] else {
        panic!("{:?}", outcome.findings);
    };
    assert!(
        finding.summary.contains("one of executions"),
        "{}",
        finding.summary
    );
    assert!(finding.faultload.is_empty());
    assert!(outcome.prefixes[&finding.id].is_empty());
    assert!(outcome.certificate.explored < 8, "it goes no further");
}

#[tokio::test]
async fn checks_cost_a_twentieth_and_are_counted_apart() {
    let world = Leaking::new(7, None);
    let outcome = fresh(&world, 1).await;
    let (explored, checks) = (outcome.certificate.explored, outcome.besides.checks);
    assert_eq!((explored, outcome.besides.repeated), (128, 0));
    assert!(checks > 1 && checks * 20 <= explored, "{checks}");
    assert_eq!(world.runs.load(SeqCst), explored + checks);
    assert!(outcome.certificate.is_complete());
    let parallel = fresh(&Leaking::new(7, None), 4).await;
    assert_eq!(parallel.certificate.explored, explored);
}

#[tokio::test]
async fn a_resumed_campaign_knows_what_was_left_behind() {
    let mut kept = Kept::default();
    let first = campaign(
        &Leaking::new(2, Some("s1")),
        1,
        Memory::default(),
        &mut kept,
    )
    .await;
    let mut memory = kept.0;
    memory.campaign = Some("the first".to_owned());
    memory.chosen = Some(first.chosen.clone());
    let world = Leaking::new(2, Some("s1"));
    let again = campaign(&world, 1, memory, &mut Kept::default()).await;
    assert_eq!(world.runs.load(SeqCst), 0);
    assert_eq!(again.findings, first.findings);
    assert_eq!(again.certificate.incomplete, first.certificate.incomplete);
}

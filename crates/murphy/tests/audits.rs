//! An audit is part of its campaign: it uses all jobs, stops with it, and what
//! it finds wrong is a finding.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use murphy::campaign::{
    Event, Executing, IdentityChoice, Job, Keep, Memory, Outcome, Settings, SetupError, Sink,
    Stopper, StrategyKind, World, run,
};
use murphy::demo::Simulated;
use murphy_corpus::{FaultSet, Simulator, find};
use murphy_model::{Faultload, Incomplete, Observed, Verdict};
use murphy_registry::Recorded;
use murphy_search::{Modes, Options};

/// What the search runs; everything after that is the audit.
const EXPLORED: usize = 192;

const SAMPLE: usize = 40;

/// Mailchimp in memory, watched; each execution of the audit takes a while.
struct Watched {
    simulated: Simulated,
    begun: AtomicUsize,
    under_way: AtomicUsize,
    most_at_once: AtomicUsize,
    /// How long an execution of the audit takes.
    takes: Duration,
    /// Whether executions of the audit go as if nothing had been made to fail,
    /// and fail all the same.
    lies: bool,
    /// By which execution of the audit the campaign is told to stop.
    stop_at: Option<usize>,
    stopper: Stopper,
}

impl Watched {
    fn new() -> Self {
        let app = find("mailchimp").unwrap();
        let settings = app.settings([]).unwrap();
        Watched {
            simulated: Simulated::new(Simulator::new(app, settings)),
            begun: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            takes: Duration::from_millis(5),
            lies: false,
            stop_at: None,
            stopper: Stopper::new(),
        }
    }
}

impl World for Watched {
    /// A simulator begins anew every time.
    fn keeps_state(&self) -> bool {
        false
    }

    fn workers(&self) -> u32 {
        8
    }

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(self.watched(job))
    }
}

impl Watched {
    async fn watched(&self, job: Job<'_>) -> Result<(Observed, Option<Recorded>), SetupError> {
        // The reference is run apart.
        if job.keep == Keep::Requests {
            return self.simulated.execute(job).await;
        }
        let number = self.begun.fetch_add(1, SeqCst) + 2;
        if number <= EXPLORED {
            return self.simulated.execute(job).await;
        }
        let at_once = self.under_way.fetch_add(1, SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, SeqCst);
        tokio::time::sleep(self.takes).await;
        self.under_way.fetch_sub(1, SeqCst);
        if self.stop_at == Some(number - EXPLORED) {
            self.stopper.stop();
        }
        if !self.lies {
            return self.simulated.execute(job).await;
        }
        let none = Faultload::none();
        let (mut observed, _) = self.simulated.record(&none, job.identity).await?;
        observed.execution.faultload = job.faultload.clone();
        observed.execution.verdict = Verdict::Failed {
            why: "only in the audit".to_owned(),
        };
        Ok((observed, None))
    }
}

/// Listens, and keeps every execution under faults.
#[derive(Default)]
struct Kept {
    executions: HashMap<Faultload, Observed>,
    /// Whether each went as predicted, and was made before.
    audited: Vec<(bool, bool)>,
}

impl Sink for Kept {
    fn note(&mut self, event: &Event) {
        let observed = match event {
            Event::ExecutionEnded { observed, .. } => observed,
            Event::Audited {
                observed,
                agreed,
                stored,
                ..
            } => {
                self.audited.push((*agreed, *stored));
                observed
            }
            _ => return,
        };
        let faultload = observed.execution.faultload.clone();
        self.executions.insert(faultload, Observed::clone(observed));
    }
}

async fn audited(world: &Watched, jobs: u32, max_time: Option<Duration>) -> Outcome {
    let outcome = campaign(world, jobs, max_time).await;
    assert_eq!(outcome.certificate.explored, EXPLORED);
    outcome
}

async fn campaign(world: &Watched, jobs: u32, max_time: Option<Duration>) -> Outcome {
    let (memory, mut kept) = (Memory::default(), Kept::default());
    campaign_after(memory, world, jobs, max_time, &mut kept).await
}

async fn campaign_after(
    memory: Memory,
    world: &Watched,
    jobs: u32,
    max_time: Option<Duration>,
    kept: &mut Kept,
) -> Outcome {
    let app = find("mailchimp").unwrap();
    let system = (app.build)(&app.settings([]).unwrap());
    let modes = FaultSet::http_errors().by_service(&system);
    let settings = Settings {
        scenario: "mailchimp".to_owned(),
        strategy: StrategyKind::Tree,
        options: Options::new(Modes::ByService(modes)),
        modes: Vec::new(),
        seed: 7,
        jobs,
        max_time,
        audit: Some(SAMPLE),
        references: 1,
        identity: IdentityChoice::Given(system.identity.clone()),
        oracles: murphy_oracle::Settings::default(),
        heading: Default::default(),
    };
    let done = run(world, &settings, memory, kept, world.stopper.stopping());
    done.await.unwrap_or_else(|failed| panic!("{failed:?}"))
}

fn sampled(outcome: &Outcome) -> usize {
    outcome.certificate.audit.as_ref().unwrap().sampled
}

#[tokio::test]
async fn an_audit_uses_all_jobs_and_says_the_same_with_any_number() {
    let (alone, together) = (Watched::new(), Watched::new());
    let one = audited(&alone, 1, None).await;
    let four = audited(&together, 4, None).await;
    assert_eq!(alone.most_at_once.load(SeqCst), 1);
    assert_eq!(together.most_at_once.load(SeqCst), 4);
    assert_eq!((sampled(&one), sampled(&four)), (SAMPLE, SAMPLE));
    assert_eq!(one.certificate.audit, four.certificate.audit);
    assert_eq!(one.certificate.incomplete, None);
}

#[tokio::test]
async fn what_was_audited_is_told_and_not_run_again() {
    let (world, mut kept) = (Watched::new(), Kept::default());
    let first = campaign_after(Memory::default(), &world, 4, None, &mut kept).await;
    assert_eq!(kept.audited, [(true, false); SAMPLE]);
    let memory = Memory {
        campaign: Some("campaign".to_owned()),
        chosen: Some(first.chosen.clone()),
        executions: kept.executions,
        ..Memory::default()
    };
    let (world, mut kept) = (Watched::new(), Kept::default());
    let again = campaign_after(memory, &world, 4, None, &mut kept).await;
    assert_eq!(world.begun.load(SeqCst), 0);
    assert_eq!(kept.audited, [(true, true); SAMPLE]);
    assert_eq!(again.certificate, first.certificate);
}

/// The references have been made by then, and are what there is to report.
#[tokio::test]
async fn a_campaign_told_to_stop_before_the_first_fault_injects_none() {
    let world = Watched::new();
    world.stopper.stop();
    let outcome = campaign(&world, 4, None).await;
    assert_eq!(world.begun.load(SeqCst), 0);
    assert_eq!(outcome.certificate.explored, 1);
    assert!(!outcome.certificate.is_complete());
}

#[tokio::test]
async fn an_audit_stops_when_its_campaign_is_told_to() {
    let world = Watched {
        stop_at: Some(5),
        ..Watched::new()
    };
    assert_eq!(sampled(&audited(&world, 1, None).await), 5);
}

#[tokio::test]
async fn an_audit_ends_when_the_time_is_up() {
    let world = Watched {
        takes: Duration::from_millis(100),
        ..Watched::new()
    };
    // Far more than the search takes, far less than the whole sample.
    let most = Duration::from_millis(1500);
    assert!(sampled(&audited(&world, 1, Some(most)).await) <= 15);
}

#[tokio::test]
async fn what_an_audit_finds_is_a_finding() {
    let world = Watched {
        lies: true,
        ..Watched::new()
    };
    let outcome = audited(&world, 4, None).await;
    let audit = outcome.certificate.audit.as_ref().unwrap();
    assert_eq!(audit.sampled, SAMPLE);
    // Half of them cannot be injected, so that nothing happens is as predicted.
    assert!(audit.agreed < SAMPLE, "{audit:?}");
    assert_eq!(outcome.certificate.incomplete, Some(Incomplete::Audit));
    let mut said = outcome.findings.iter().map(|finding| &finding.summary);
    assert!(said.any(|said| said.contains("only in the audit")));
}

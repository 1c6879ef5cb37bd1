//! What enters a campaign's events has no secrets in it: the store writes
//! events as they are, so this is the last border before a disk.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use futures_util::future::BoxFuture;
use murphy_campaign::{
    Executing, Heading, IdentityChoice, Job, Memory, Settings, SetupError, Stopping, StrategyKind,
    World, run,
};
use murphy_model::{
    Call, CallId, Event, Execution, Faultload, Identity, Observed, Reply, Sink, Trace, Verdict,
};
use murphy_search::{Modes, Options};

const SECRET: &str = "s3cr3t-4711";

/// A scenario that gives secrets away whatever it says, and a service that is
/// locked once a call to it failed.
#[derive(Default)]
struct Talkative {
    is_locked: AtomicBool,
}

impl Talkative {
    fn run_now(&self, faultload: &Faultload) -> Observed {
        let injected = faultload.faults().next();
        let call = |point: &str, parent, status| Call {
            point: point.parse().unwrap(),
            parent,
            arrived: u32::from(parent.is_some()),
            finished: Some(3 - u32::from(parent.is_some())),
            reply: Some(Reply::Status(status)),
            injected: None,
            body: None,
        };
        let failed = self.is_locked.fetch_or(injected.is_some(), SeqCst) || injected.is_some();
        let status = if failed { 500 } else { 200 };
        let mut cart = call("shop GET / > cart GET /", Some(CallId(0)), status);
        cart.injected = injected;
        let trace = Trace::new(vec![call("shop GET /", None, status), cart]);
        let verdict = match failed {
            true => Verdict::Failed {
                why: format!("login with token={SECRET} failed"),
            },
            false => Verdict::Passed,
        };
        let execution = Execution {
            faultload: faultload.clone(),
            trace,
            verdict,
        };
        Observed {
            output: Some(format!("password={SECRET}\n")),
            logged: Some(format!("GET /?api_key={SECRET}\n")),
            ..Observed::bare(execution, Duration::ZERO)
        }
    }
}

impl World for Talkative {
    fn workers(&self) -> u32 {
        1
    }

    fn restart(&self) -> BoxFuture<'_, Result<bool, SetupError>> {
        self.is_locked.store(false, SeqCst);
        Box::pin(async { Ok(true) })
    }

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(async move { Ok((self.run_now(job.faultload), None)) })
    }
}

#[derive(Default)]
struct Lines(Vec<(&'static str, String)>);

impl Sink for Lines {
    fn note(&mut self, event: &Event) {
        let line = serde_json::to_string(event).unwrap();
        self.0.push((event.name(), line));
    }
}

#[tokio::test]
async fn no_secret_enters_an_event() {
    let settings = Settings {
        scenario: "buys".to_owned(),
        strategy: StrategyKind::Tree,
        options: Options::new(Modes::Same(vec!["503".parse().unwrap()])),
        modes: vec!["503".to_owned()],
        seed: 0,
        jobs: 1,
        max_time: None,
        audit: None,
        references: 1,
        identity: IdentityChoice::Given(Identity::default()),
        oracles: murphy_oracle::Settings::default(),
        heading: Heading {
            about: format!("curl --header 'Authorization: Bearer {SECRET}'"),
            solo: Some(format!("runs failed (token={SECRET})")),
            explain_command: "murphy explain".to_owned(),
            explain_ending: format!(" -- test --token={SECRET}"),
            rerun_command: format!("murphy run --config token={SECRET}"),
            declared_in: String::new(),
        },
    };
    let mut lines = Lines::default();
    let world = Talkative::default();
    let done = run(
        &world,
        &settings,
        Memory::default(),
        &mut lines,
        Stopping::never(),
    )
    .await;
    let outcome = done.unwrap_or_else(|failed| panic!("{failed:?}"));
    assert!(!outcome.findings.is_empty());
    for kind in [
        "began",
        "reference_ran",
        "execution_ended",
        "checked",
        "state_left",
        "ended",
    ] {
        let mut of_kind = lines.0.iter().filter(|(name, _)| *name == kind);
        let (_, line) = of_kind.next().unwrap_or_else(|| panic!("no `{kind}`"));
        assert!(line.contains("[redacted]"), "nothing to hide in {line}");
    }
    for (_, line) in &lines.0 {
        assert!(!line.contains(SECRET), "{line}");
    }
}

//! Two systems alike, of which one passes and one fails.
//!
//! Owns a simulated service that makes a few calls and gives up once enough of
//! them have failed. Both twins make the same calls and give the same answers;
//! only the scenario of the failing one minds. What the failing campaign takes
//! longer is what the findings cost.

use std::time::{Duration, Instant};

use murphy_campaign::{
    Event, Executing, Failed, Heading, IdentityChoice, Job, Memory, Outcome, Settings, Sink,
    Stopping, StrategyKind, World, run,
};
use murphy_model::{
    Call, CallId, Execution, Fault, Faultload, Frame, Identity, Interface, Mode, Observed, Point,
    Reply, Target, Trace, Verdict,
};
use murphy_report::{Collector, terminal};
use murphy_search::{Modes, Options};

use crate::measure::{Cost, measured};

/// A service, the calls it makes and how many of them it can do without.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    /// How many calls the service makes, one after the other.
    pub calls: usize,
    /// In how many ways each can fail.
    pub modes: u16,
    /// So many failed calls are too many.
    pub too_many: usize,
    /// No execution has more faults than this.
    pub most_faults: Option<usize>,
    /// Whether the scenario fails then.
    pub fails: bool,
}

/// What a campaign cost, and what ending it cost.
pub struct Costs {
    /// How many executions there were.
    pub executions: usize,
    /// How many of them failed.
    pub failed: usize,
    /// How many findings that is.
    pub findings: usize,
    /// All executions and their judgement, without the end.
    pub campaign: Cost,
    /// From the last execution to the last line of the report.
    pub ending: Duration,
}

impl Twin {
    /// Runs a campaign and prints its report to nowhere.
    pub fn campaign(&self) -> Costs {
        let mut last = LastExecution {
            at: Instant::now(),
            collector: Collector::default(),
        };
        let (outcome, campaign) = measured(|| self.run(&mut last));
        let mut summary = last.collector.summary().expect("it has ended");
        summary.replay_command = Some("murphy replay".to_owned());
        let mut report = Vec::new();
        terminal::write(&summary, &mut report).expect("memory can be written to");
        Costs {
            executions: outcome.certificate.explored,
            failed: summary.failed_executions,
            findings: outcome.findings.len(),
            campaign,
            ending: last.at.elapsed(),
        }
    }

    fn run(&self, sink: &mut dyn Sink) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime of one thread");
        let settings = self.settings();
        let done = run(self, &settings, Memory::default(), sink, Stopping::never());
        runtime
            .block_on(done)
            .unwrap_or_else(|failed: Failed| panic!("a simulated campaign ends: {failed:?}"))
    }

    fn settings(&self) -> Settings {
        let modes = (0..self.modes).map(|n| Mode::status(500 + n)).collect();
        let mut options = Options::new(Modes::Same(modes));
        options.max_faults = self.most_faults;
        Settings {
            scenario: "twin".to_owned(),
            strategy: StrategyKind::Tree,
            options,
            modes: Vec::new(),
            seed: 0,
            jobs: 1,
            max_time: None,
            audit: None,
            references: 1,
            identity: IdentityChoice::Given(Identity::default()),
            oracles: murphy_oracle::Settings::default(),
            heading: Heading {
                about: "a simulated service".to_owned(),
                explain_command: "murphy explain".to_owned(),
                ..Heading::default()
            },
        }
    }

    fn observed(&self, faultload: &Faultload) -> Observed {
        let entry = Point::entry(Frame::new("shop", Interface::http("GET", "/")));
        let last = 2 * self.calls as u32 + 1;
        let mut calls = vec![call(entry.clone(), None, (0, last), None)];
        for n in 0..self.calls as u32 {
            let frame = Frame::new(&format!("callee-{n}"), Interface::http("GET", "/"));
            let point = entry.child(frame);
            let fault = fault_at(faultload, &point);
            calls.push(call(point, Some(CallId(0)), (2 * n + 1, 2 * n + 2), fault));
        }
        let gives_up = faultload.len() >= self.too_many;
        if gives_up {
            calls[0].reply = Some(Reply::Status(500));
        }
        let word = match gives_up && self.fails {
            true => Err("expected status 200, got 500".to_owned()),
            false => Ok(()),
        };
        let trace = Trace::new(calls);
        let verdict = Verdict::of(word, faultload, &trace);
        let execution = Execution {
            faultload: faultload.clone(),
            trace,
            verdict,
        };
        Observed::bare(execution, Duration::from_millis(1))
    }
}

fn fault_at(faultload: &Faultload, point: &Point) -> Option<Fault> {
    let is_here = |fault: &Fault| fault.target == Target::Call(point.clone());
    faultload.faults().find(is_here)
}

fn call(
    point: Point,
    parent: Option<CallId>,
    (arrived, finished): (u32, u32),
    injected: Option<Fault>,
) -> Call {
    let reply = injected.as_ref().and_then(|fault| fault.mode.reply());
    Call {
        point,
        parent,
        arrived,
        finished: Some(finished),
        reply: Some(reply.unwrap_or(Reply::Status(200))),
        injected,
        body: None,
    }
}

impl World for Twin {
    fn workers(&self) -> u32 {
        1
    }

    fn keeps_state(&self) -> bool {
        false
    }

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(async move { Ok((self.observed(job.faultload), None)) })
    }
}

/// Remembers when the last execution ended, and what is reported.
struct LastExecution {
    at: Instant,
    collector: Collector,
}

impl Sink for LastExecution {
    fn note(&mut self, event: &Event) {
        self.collector.note(event);
        if let Event::Learned(_) = event {
            self.at = Instant::now();
        }
    }
}

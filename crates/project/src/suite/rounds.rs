//! The loop over the rounds of a suite.
//!
//! Owns which system runs which round, and stopping. What is learnt does not
//! depend on how many run at once: the session sees to that.

use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt};
use murphy_campaign::{SetupError, Stop, Stopping};
use murphy_suite::{CaseRun, Injection, Next, Round, RoundKind, Session};
use murphy_system::SuiteSystem;

/// Told what goes on.
pub trait Watcher {
    /// A round begins.
    fn begins(&mut self, round: &Round);
    /// What came of it before, if it was run before.
    fn known(&self, round: &Round) -> Option<Vec<CaseRun>>;
    /// It has ended; what was learnt of it is in the session.
    fn ended(&mut self, round: &Round, runs: &[CaseRun], session: &Session);
}

/// How it ended; whether everything was run is in the report.
#[derive(Default)]
pub struct RoundsEnded {
    /// What kept it from going on.
    pub broken: Option<SetupError>,
}

/// The systems that rounds run in, and when to stop.
pub struct Rounds<'r> {
    /// One for each round at a time.
    pub systems: &'r [SuiteSystem],
    /// How faults are made.
    pub how: Injection,
    /// No round begins after this time.
    pub max_time: Option<Duration>,
    /// Whether nothing is run with faults.
    pub only_references: bool,
    /// Stops it from outside.
    pub stopping: Stopping,
}

impl Rounds<'_> {
    /// Runs what the session wants, to its end or to where it is stopped.
    pub async fn run(&self, session: &mut Session, watcher: &mut dyn Watcher) -> RoundsEnded {
        let began = Instant::now();
        let mut broken = None;
        let mut idle: Vec<&SuiteSystem> = self.systems.iter().rev().collect();
        let mut running = FuturesUnordered::new();
        loop {
            let is_late = self.max_time.is_some_and(|most| began.elapsed() >= most);
            let may_begin = !is_late && broken.is_none() && !self.is_stopped();
            while may_begin && !idle.is_empty() {
                let Next::Round(round) = session.next() else {
                    break;
                };
                if self.only_references && round.kind != RoundKind::Reference {
                    return RoundsEnded::default();
                }
                if let Some(runs) = watcher.known(&round) {
                    session.learn(round.id, runs.clone());
                    watcher.ended(&round, &runs, session);
                    continue;
                }
                watcher.begins(&round);
                let system = idle.pop().expect("there is one");
                running.push(self.run_round(system, round));
            }
            let Some((system, round, runs)) = running.next().await else {
                if !may_begin {
                    session.stop();
                }
                return RoundsEnded { broken };
            };
            idle.push(system);
            let runs = runs.unwrap_or_else(|error| {
                broken.get_or_insert(error);
                Vec::new()
            });
            session.learn(round.id, runs.clone());
            watcher.ended(&round, &runs, session);
        }
    }

    async fn run_round<'s>(
        &self,
        system: &'s SuiteSystem,
        round: Round,
    ) -> (&'s SuiteSystem, Round, Result<Vec<CaseRun>, SetupError>) {
        let is_stopped = || self.is_stopped();
        let runs = system.run(&round, &self.how, &is_stopped).await;
        (system, round, runs)
    }

    fn is_stopped(&self) -> bool {
        self.stopping.requested() > Stop::No
    }
}

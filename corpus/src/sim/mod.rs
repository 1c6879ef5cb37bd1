//! The simulator: runs a system in memory, deterministically.
//!
//! Owns simulated time, the order of concurrent things (decided by a seed) and
//! what a fault does to a message. The identity of calls comes from `model`.
//! The same faultload, seed and state always give the same execution; a system
//! that leaves something to chance goes on with its own generator, so that the
//! same executions in a row come again.

mod executor;
mod world;

use std::sync::Arc;
use std::time::Duration;

use murphy_model::{Execution, Faultload, Identity};

use crate::app::{App, STUCK, Settings, System, verdict};
use executor::Executor;
use world::World;

/// Runs one system again and again under different faultloads.
pub struct Simulator {
    source: Source,
    system: Arc<System>,
    identity: Arc<Identity>,
    seed: u64,
    state: State,
    entries: bool,
    timeouts: Timeouts,
    clock: Duration,
}

/// What a call that hangs costs its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeouts {
    /// The caller waits until its timeout runs out, and so do those who wait
    /// for it: whoever is least patient gives up first.
    Waited,
    /// The caller's timeout runs out at once, as if its client library raised
    /// it. The published experiments with timeouts did it this way.
    AtOnce,
}

/// Where a fresh system comes from.
enum Source {
    App(App, Settings),
    Given,
}

/// What happens to a system's state (breakers, counters) between executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Every execution starts afresh.
    Reset,
    /// Every execution finds what the last one left, and time goes on.
    Kept,
}

impl Simulator {
    /// A simulation of an app, state reset before every execution.
    pub fn new(app: App, settings: Settings) -> Self {
        let system = (app.build)(&settings);
        let mut simulator = Simulator::of(system);
        simulator.source = Source::App(app, settings);
        simulator
    }

    /// A simulation of a system whose handlers keep no state.
    pub fn of(system: System) -> Self {
        Simulator {
            source: Source::Given,
            identity: Arc::new(system.identity.clone()),
            system: Arc::new(system),
            seed: 0,
            state: State::Reset,
            entries: false,
            timeouts: Timeouts::Waited,
            clock: Duration::ZERO,
        }
    }

    /// Decides the order of concurrent things.
    pub fn seed(self, seed: u64) -> Self {
        Simulator { seed, ..self }
    }

    /// Names calls by another identity than the app's own.
    pub fn identity(self, identity: Identity) -> Self {
        Simulator {
            identity: Arc::new(identity),
            ..self
        }
    }

    /// Keeps or resets state between executions.
    pub fn state(self, state: State) -> Self {
        Simulator { state, ..self }
    }

    /// Lets the scenario's own requests fail, too.
    pub fn entries(self, entries: bool) -> Self {
        Simulator { entries, ..self }
    }

    /// Whether the scenario's own requests may fail.
    pub fn injects_entries(&self) -> bool {
        self.entries
    }

    /// Waits for timeouts, or lets them run out at once.
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        Simulator { timeouts, ..self }
    }

    /// The system as it stands.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Runs the scenario once under a faultload.
    pub fn run(&mut self, faultload: &Faultload) -> Execution {
        if self.state == State::Reset {
            self.start_over();
        }
        let executor = Executor::new(self.seed, self.clock);
        let world = World::new(
            self.system.clone(),
            self.identity.clone(),
            faultload,
            self.entries,
            self.timeouts,
            executor.handle(),
        );
        let scenario = (self.system.scenario)(world.scenario_ctx());
        let word = executor.run(scenario);
        let word = word.unwrap_or_else(|| Err(STUCK.to_owned()));
        self.clock = executor.handle().now();
        Execution {
            verdict: verdict(word, world.not_exercised(faultload)),
            faultload: faultload.clone(),
            trace: world.into_trace(),
        }
    }

    /// Lets an execution begin as the first one did. A system that keeps no
    /// state needs nothing made anew for that, and its luck goes on.
    fn start_over(&mut self) {
        match self.system.keeps_state {
            true => self.reset(),
            false => self.clock = Duration::ZERO,
        }
    }

    /// Makes everything fresh, as if every service had been restarted: all
    /// state, and luck from its seed.
    pub fn reset(&mut self) {
        self.clock = Duration::ZERO;
        if let Source::App(app, settings) = &self.source {
            self.system = Arc::new((app.build)(settings));
        }
    }
}

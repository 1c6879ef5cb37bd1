//! The example systems as worlds of a campaign: on sockets or in memory.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use murphy_campaign::{BrokenWorld, World};
use murphy_corpus::sockets::{Keep, StageError};
use murphy_corpus::{Simulator, Stage};
use murphy_model::{Faultload, Identity, Observed};
use murphy_registry::Recorded;

/// An example system in memory.
pub struct Simulated(Mutex<Simulator>);

impl Simulated {
    /// Names calls as the simulator does.
    pub fn new(simulator: Simulator) -> Self {
        Simulated(Mutex::new(simulator))
    }

    fn run_now(&self, faultload: &Faultload) -> Observed {
        let began = Instant::now();
        let mut simulator = self.0.lock().expect("a simulator that panicked is our bug");
        let execution = simulator.run(faultload);
        Observed::bare(execution, began.elapsed())
    }
}

impl World for Simulated {
    /// One after the other, however many are asked for.
    fn workers(&self) -> u32 {
        u32::MAX
    }

    /// Every execution begins anew, or the state is part of the example.
    fn keeps_state(&self) -> bool {
        false
    }

    async fn run(
        &self,
        _: u32,
        faultload: &Faultload,
        _: &Arc<Identity>,
    ) -> Result<Observed, BrokenWorld> {
        Ok(self.run_now(faultload))
    }

    async fn record(
        &self,
        faultload: &Faultload,
        _: &Arc<Identity>,
    ) -> Result<(Observed, Option<Recorded>), BrokenWorld> {
        Ok((self.run_now(faultload), None))
    }
}

/// An example system on sockets.
pub struct OnSockets {
    stage: Stage,
    workers: u32,
}

impl OnSockets {
    /// A stage with this many workers.
    pub fn new(stage: Stage, workers: u32) -> Self {
        OnSockets { stage, workers }
    }

    async fn run_on_stage(
        &self,
        worker: u32,
        faultload: &Faultload,
        identity: &Arc<Identity>,
        keep: Keep,
    ) -> Result<(Observed, Recorded), BrokenWorld> {
        let began = Instant::now();
        let played = self.stage.run_as(worker, faultload, identity, keep).await;
        let (execution, recorded) = played.map_err(|error| broken(&error))?;
        let observed = Observed {
            execution,
            details: recorded.details.clone(),
            quiet: recorded.quiet,
            took: began.elapsed(),
            output: None,
            logged: None,
        };
        Ok((observed, recorded))
    }
}

impl World for OnSockets {
    fn workers(&self) -> u32 {
        self.workers
    }

    async fn run(
        &self,
        worker: u32,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> Result<Observed, BrokenWorld> {
        let (observed, _) = self
            .run_on_stage(worker, faultload, identity, Keep::Nothing)
            .await?;
        Ok(observed)
    }

    async fn record(
        &self,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> Result<(Observed, Option<Recorded>), BrokenWorld> {
        let (observed, recorded) = self
            .run_on_stage(0, faultload, identity, Keep::Requests)
            .await?;
        Ok((observed, Some(recorded)))
    }
}

fn broken(error: &StageError) -> BrokenWorld {
    BrokenWorld {
        message: error.to_string(),
        place: None,
        hint: None,
        logs: Vec::new(),
    }
}

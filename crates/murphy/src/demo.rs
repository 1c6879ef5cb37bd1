//! The example systems as worlds of a campaign: on sockets or in memory.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use murphy_campaign::{BrokenWorld, Executing, Job, World};
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

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(async move { Ok((self.run_now(job.faultload), None)) })
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

    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w> {
        Box::pin(async move {
            let keep = match job.keep {
                murphy_campaign::Keep::Calls => Keep::Nothing,
                murphy_campaign::Keep::Requests => Keep::Requests,
            };
            let ran = self.run_on_stage(job.worker, job.faultload, job.identity, keep);
            let (observed, recorded) = ran.await?;
            Ok((observed, (keep == Keep::Requests).then_some(recorded)))
        })
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

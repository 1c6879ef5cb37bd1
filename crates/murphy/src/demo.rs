//! The example systems as worlds of a campaign: on sockets or in memory.

mod example_world;

use std::sync::Mutex;
use std::time::Instant;

use murphy_campaign::{Executing, Job, World};
use murphy_corpus::Simulator;
use murphy_model::{Faultload, Observed};

pub use example_world::{ExampleWorld, Options};

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

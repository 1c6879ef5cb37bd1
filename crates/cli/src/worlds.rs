//! The worlds a command can run campaigns in, as one.

use std::sync::Arc;

use murphy::demo::{OnSockets, Simulated};
use murphy_campaign::{BrokenWorld, World};
use murphy_corpus::Stage;
use murphy_model::{Faultload, Identity, Observed};
use murphy_registry::Recorded;

use crate::error::Error;
use crate::settings::Place;

/// Where an example system runs.
pub(crate) enum Demo {
    Memory(Simulated),
    Sockets(Box<OnSockets>),
}

impl Demo {
    /// Puts the system where it is to run.
    pub(crate) async fn open(place: Place) -> Result<Self, Error> {
        Ok(match place {
            Place::Memory(simulator) => Demo::Memory(Simulated::new(*simulator)),
            Place::Sockets(parts) => {
                let (app, switches, options) = *parts;
                let workers = options.workers;
                let stage = Stage::new(app, switches, options).await;
                let stage = stage.map_err(|error| {
                    anyhow::Error::new(error).context("cannot put the example system on sockets")
                })?;
                Demo::Sockets(Box::new(OnSockets::new(stage, workers)))
            }
        })
    }
}

impl World for Demo {
    fn workers(&self) -> u32 {
        match self {
            Demo::Memory(world) => world.workers(),
            Demo::Sockets(world) => world.workers(),
        }
    }

    fn keeps_state(&self) -> bool {
        match self {
            Demo::Memory(world) => world.keeps_state(),
            Demo::Sockets(world) => world.keeps_state(),
        }
    }

    async fn run(
        &self,
        worker: u32,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> Result<Observed, BrokenWorld> {
        match self {
            Demo::Memory(world) => world.run(worker, faultload, identity).await,
            Demo::Sockets(world) => world.run(worker, faultload, identity).await,
        }
    }

    async fn record(
        &self,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> Result<(Observed, Option<Recorded>), BrokenWorld> {
        match self {
            Demo::Memory(world) => world.record(faultload, identity).await,
            Demo::Sockets(world) => world.record(faultload, identity).await,
        }
    }
}

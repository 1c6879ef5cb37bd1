//! Where an example system runs: in memory or on sockets.

use murphy::demo::{OnSockets, Simulated};
use murphy_campaign::World;
use murphy_corpus::Stage;

use crate::error::Error;
use crate::settings::Place;

/// Brings the system up where it is to run.
pub(crate) async fn open(place: Place) -> Result<Box<dyn World>, Error> {
    Ok(match place {
        Place::Memory(simulator) => Box::new(Simulated::new(*simulator)),
        Place::Sockets(parts) => {
            let (app, switches, options) = *parts;
            let workers = options.workers;
            let stage = Stage::new(app, switches, options).await;
            let stage = stage.map_err(|error| {
                anyhow::Error::new(error).context("cannot put the example system on sockets")
            })?;
            Box::new(OnSockets::new(stage, workers))
        }
    })
}

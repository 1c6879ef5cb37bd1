//! Where an example system runs: in memory or on sockets.

use murphy::demo::{ExampleWorld, Simulated};
use murphy_campaign::{SetupError, World};

use crate::settings::Place;

/// Brings the system up where it is to run.
pub async fn open(place: Place) -> Result<Box<dyn World>, SetupError> {
    Ok(match place {
        Place::Memory(simulator) => Box::new(Simulated::new(*simulator)),
        Place::Sockets(parts) => {
            let (source, options) = *parts;
            Box::new(ExampleWorld::start(source, options).await?)
        }
    })
}

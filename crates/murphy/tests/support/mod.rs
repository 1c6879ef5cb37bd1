//! What tests on sockets share: what to run, running it, and comparing it
//! with the simulator.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file uses its own part of it"
)]

pub mod compare;
pub mod plan;
pub mod play;
pub mod raw;

use std::sync::Arc;

use murphy::campaign::{SetupError, World};
use murphy::demo::{ExampleWorld, Options};
use murphy_corpus::sockets::{self, Propagation, Source, Witness};
use murphy_corpus::{Simulator, System, find};
use murphy_model::{Faultload, Observed};
use murphy_proxy::carriers::Carriers;

/// An example system under some settings.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub app: &'static str,
    pub settings: &'static str,
}

impl Subject {
    pub fn simulator(&self) -> Simulator {
        let app = find(self.app).unwrap_or_else(|| panic!("no app {}", self.app));
        let settings = app.settings_from_text(self.settings).unwrap();
        Simulator::new(app, settings)
    }

    pub fn system(&self) -> System {
        self.simulator().system().clone()
    }

    /// The pace for faults that take no time. Only where services pause is
    /// time made shorter; timeouts then still leave a busy machine enough.
    pub fn pace(&self) -> f64 {
        match self.app {
            "cinema-10" | "cinema-12" | "cinema-14" => 0.03,
            "cinema-13" => 0.1,
            _ => 1.0,
        }
    }

    pub fn source(&self) -> Source {
        let app = find(self.app).unwrap();
        let settings = app.settings_from_text(self.settings).unwrap();
        Source::App(app, settings)
    }

    pub async fn world(self, options: Options) -> ExampleWorld {
        let world = ExampleWorld::start(self.source(), options).await;
        world.unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.settings {
            "" => f.pad(self.app),
            settings => f.pad(&format!("{} {settings}", self.app)),
        }
    }
}

/// Runs the scenario once, with calls named as the system declares.
pub async fn run(
    world: &ExampleWorld,
    worker: u32,
    faultload: &Faultload,
) -> Result<Observed, SetupError> {
    world.run(worker, faultload, world.identity()).await
}

/// Services that hand on context in this way, with the carriers that one would
/// set for them.
pub fn options(propagation: Propagation) -> Options {
    let carriers: Carriers = match propagation {
        Propagation::W3c | Propagation::NoTracestate | Propagation::TraceIdOnly => {
            Carriers::default()
        }
        Propagation::B3 | Propagation::B3Single => "b3".parse().unwrap(),
        Propagation::Nothing => "none".parse().unwrap(),
    };
    let mut options = Options::default();
    options.services.propagation = propagation;
    options.proxy.threads = 1;
    options.proxy.carriers = Arc::new(carriers);
    options
}

/// The same, at this pace.
pub fn at_pace(pace: f64, options: Options) -> Options {
    let services = sockets::Options {
        pace,
        ..options.services
    };
    Options {
        services,
        ..options
    }
}

/// The same, with somebody who sees the requests that services receive.
pub fn with_witness(witness: Witness, options: Options) -> Options {
    let services = sockets::Options {
        witness: Some(witness),
        ..options.services
    };
    Options {
        services,
        ..options
    }
}

//! Fault sets: how the services of a system may fail.
//!
//! Owns what `--modes` means for an example system: a list of modes for every
//! service alike, or what each service declares.

use std::collections::BTreeMap;
use std::str::FromStr;

use murphy_model::{Mode, Point, SyntaxError};

use crate::app::System;
use crate::sim::Timeouts;

/// How the services of a system may fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultSet {
    /// Each as it declares: a connection error, a timeout where callers set
    /// one, 500 and the statuses its code can raise. This is the fault set of
    /// the Filibuster dissertation.
    Declared,
    /// All alike, in these modes.
    Listed(Vec<Mode>),
}

impl FaultSet {
    /// The four HTTP errors of the Reynard experiments.
    pub fn http_errors() -> Self {
        FaultSet::Listed([500, 502, 503, 504].map(Mode::status).into())
    }

    /// How each service of a system may fail.
    pub fn by_service(&self, system: &System) -> BTreeMap<String, Vec<Mode>> {
        let modes = |service: &crate::Service| match self {
            FaultSet::Declared => service.declared_modes(),
            FaultSet::Listed(modes) => modes.clone(),
        };
        let by_name = |service: &crate::Service| (service.name.to_owned(), modes(service));
        system.services.iter().map(by_name).collect()
    }

    /// How the call at a point may fail.
    pub fn at(&self, point: &Point, system: &System) -> Vec<Mode> {
        let modes = self.by_service(system).remove(&*point.frame().destination);
        modes.unwrap_or_default()
    }

    /// What a hanging call costs its caller. The experiments with declared
    /// faults raised timeouts in the client library, at once.
    pub fn timeouts(&self) -> Timeouts {
        match self {
            FaultSet::Declared => Timeouts::AtOnce,
            FaultSet::Listed(_) => Timeouts::Waited,
        }
    }
}

impl FromStr for FaultSet {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        match text {
            "declared" => Ok(FaultSet::Declared),
            list => Mode::parse_list(list).map(FaultSet::Listed),
        }
    }
}

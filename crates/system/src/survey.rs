//! Which services are up, each looked at for itself.
//!
//! Owns the look at a system in which no service that is down keeps the others
//! from being looked at. A campaign gives up at the first; who is to mend the
//! system wants to see them all.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::SystemTime;

use murphy_proxy::StartError;
use murphy_registry::Registry;

use super::bring_up::{logs_of, prepare};
use super::spec::SystemSpec;
use super::wiring::{Callers, cannot_listen};
use super::{LiveOptions, clean_up};
use murphy_campaign::SetupError;

/// A service as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceState {
    /// Its name.
    pub name: String,
    /// Where it listens itself, `host:port`.
    pub direct: Option<String>,
    /// When its certificate ends, where that is soon.
    pub certificate_ends: Option<SystemTime>,
    /// Where callers that Murphy does not start must call it.
    pub proxied: Option<String>,
    /// Where a scenario enters it.
    pub entry: Option<String>,
    /// Whether a process that Murphy started for another service serves it.
    pub comes_with_others: bool,
    /// Why it is not up, or why its proxy cannot be; `None` if both are.
    pub trouble: Option<SetupError>,
}

/// Starts every service that is to be started, looks at all of them and stops
/// what was started. What is `known` to be wrong with one of them already is not
/// waited for again. Fails only if not even that can be tried.
pub async fn survey(
    system: &SystemSpec,
    options: &LiveOptions,
    known: Option<&SetupError>,
) -> Result<Vec<ServiceState>, SetupError> {
    clean_up(&options.state);
    let registry = Arc::new(Registry::new(murphy_registry::Settings::default()));
    let (system, taken) = without_taken_ports(system);
    let callers = Callers {
        workers: options.workers,
        test_is_foreign: true,
    };
    let (services, wiring) = prepare(&system, callers, options, &logs_of(options), &registry)?;
    let mut troubles = services.survey(&wiring, known).await;
    troubles.extend(taken);
    let (places, mut ending) = (services.places(), services.ending());
    let states = system.services.iter().map(|service| {
        let name = service.name.clone();
        let entries = wiring.entries(0);
        ServiceState {
            direct: places.get(&name).map(|it| it.address()),
            certificate_ends: ending.remove(&name),
            proxied: wiring.common().get(&name).map(|it| it.address()),
            entry: entries.get(&name).map(|it| it.address()),
            comes_with_others: services.comes_with_others(&name),
            trouble: troubles.remove(&name),
            name,
        }
    });
    let states = states.collect();
    services.stop().await;
    Ok(states)
}

/// The system with any free port for each proxy whose own cannot be had, so
/// that the services can be looked at all the same; and what is wrong with
/// those ports.
fn without_taken_ports(system: &SystemSpec) -> (SystemSpec, BTreeMap<String, SetupError>) {
    let (mut free, mut taken) = (system.clone(), BTreeMap::new());
    for service in free.services.iter_mut().filter(|it| it.proxied) {
        let Some(listen) = service.listen else {
            continue;
        };
        if let Err(source) = TcpListener::bind(listen) {
            let error = StartError {
                service: service.name.clone(),
                listen,
                source,
            };
            taken.insert(service.name.clone(), cannot_listen(system, &error));
            service.listen = None;
        }
    }
    (free, taken)
}

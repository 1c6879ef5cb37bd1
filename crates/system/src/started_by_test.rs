//! Services that a test starts itself, on ports that nobody knows before.
//!
//! Owns where each of them is by now, as the process said that started it: one
//! runner may be warm while another one of the same worker runs a test afresh,
//! and each has services of its own. The listeners in front of them are the
//! wiring's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use http::uri::Authority;
use murphy_proxy::LateAddress;

use super::spec::{Source, SystemSpec};
use super::template::Place;

/// The services that tests start.
#[derive(Default)]
pub(super) struct StartedByTest {
    /// By worker, then by service.
    fronts: Vec<BTreeMap<String, Front>>,
    /// Who else starts the other services.
    others: BTreeMap<String, &'static str>,
    /// Where services are, by the token of the process that started them.
    by_process: Mutex<BTreeMap<String, Addresses>>,
}

type Addresses = BTreeMap<String, Arc<str>>;

/// What is in front of a service for one worker.
#[derive(Default)]
struct Front {
    address: Arc<LateAddress>,
    /// Where to call it.
    listens: Option<Place>,
}

/// Why an address is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// There is no such service.
    Unknown(String),
    /// The test does not start it.
    NotTheTests(String),
    /// It is no address.
    NoAddress(String),
}

impl StartedByTest {
    pub(super) fn of(system: &SystemSpec, workers: u32) -> Self {
        let services = || system.services.iter();
        let started = services().filter(|it| it.is_started_by_test());
        let fronts = || {
            started
                .clone()
                .map(|it| (it.name.clone(), Front::default()))
        };
        let others = services().filter_map(|service| {
            let how = match &service.source {
                Source::Test => return None,
                Source::Managed(_) => "is started by Murphy",
                Source::Running { .. } => "runs already",
                Source::Hosts => "is called as its hosts",
            };
            Some((service.name.clone(), how))
        });
        StartedByTest {
            fronts: (0..workers).map(|_| fronts().collect()).collect(),
            others: others.collect(),
            by_process: Mutex::default(),
        }
    }

    /// Where a service of a worker is.
    pub(super) fn address(&self, worker: u32, service: &str) -> Arc<LateAddress> {
        self.fronts[worker as usize][service].address.clone()
    }

    /// Where to call it.
    pub(super) fn listens(&mut self, worker: u32, service: &str, place: Place) {
        if let Some(front) = self.fronts[worker as usize].get_mut(service) {
            front.listens = Some(place);
        }
    }

    fn by_process(&self) -> MutexGuard<'_, BTreeMap<String, Addresses>> {
        self.by_process.lock().expect("no panic while it is noted")
    }

    /// Somebody whose tests run as this worker has started a service there.
    /// Where to call it instead.
    pub(super) fn set(
        &self,
        who: &str,
        worker: u32,
        service: &str,
        upstream: &str,
    ) -> Result<Place, NotTaken> {
        let front = self.fronts[worker as usize].get(service);
        let front = front.ok_or_else(|| self.not_started(service))?;
        let upstream = address(upstream)?;
        let listens = front.listens.clone();
        let place = listens.expect("listens from the start");
        if place.address() == *upstream {
            return Err(NotTaken::NoAddress(format!(
                "`{upstream}` is the proxy of `{service}`: send the address of the service itself"
            )));
        }
        let mut all = self.by_process();
        let mine = all.entry(who.to_owned()).or_default();
        mine.insert(service.to_owned(), upstream.clone());
        front.address.set(Some(upstream));
        Ok(place)
    }

    fn not_started(&self, service: &str) -> NotTaken {
        if let Some(how) = self.others.get(service) {
            return NotTaken::NotTheTests(format!(
                "`{service}` {how}: only a service with `started_by = \"test\"` is told here"
            ));
        }
        let known = self.fronts[0].keys().map(String::as_str);
        let known: Vec<&str> = known.collect();
        let known = match known.is_empty() {
            true => "none is started by the test".to_owned(),
            false => format!("the test starts {}", known.join(", ")),
        };
        NotTaken::Unknown(format!(
            "no service is called `{service}`: {known}; add `[services.{service}]` with `started_by = \"test\"` to murphy.toml"
        ))
    }

    /// From now on these are in use which this one has started, for its worker.
    pub(super) fn switch_to(&self, who: &str, worker: u32) {
        let all = self.by_process();
        let mine = all.get(who);
        for (service, front) in &self.fronts[worker as usize] {
            let address = mine.and_then(|mine| mine.get(service));
            front.address.set(address.cloned());
        }
    }

    /// Nothing is left that this one has started.
    pub(super) fn forget(&self, who: &str) {
        self.by_process().remove(who);
    }
}

/// What an upstream says, `host:port` or `http://host:port`.
fn address(text: &str) -> Result<Arc<str>, NotTaken> {
    let no_address = |hint: &str| NotTaken::NoAddress(format!("`{text}` is no upstream: {hint}"));
    if text.starts_with("https://") {
        return Err(no_address(
            "a service that the test starts is called without TLS; give `host:port` of a plain one",
        ));
    }
    let bare = text.strip_prefix("http://").unwrap_or(text);
    let bare = bare.strip_suffix('/').unwrap_or(bare);
    let authority = bare.parse::<Authority>().ok();
    let has_all = |it: &Authority| {
        let has_port = it.port_u16().is_some_and(|port| port > 0);
        has_port && !it.host().is_empty() && !it.as_str().contains('@')
    };
    match authority.filter(has_all) {
        Some(authority) => Ok(authority.as_str().into()),
        None => Err(no_address("write `host:port`, as in `127.0.0.1:49153`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_a_host_and_a_port() {
        for (text, read) in [
            ("127.0.0.1:49153", "127.0.0.1:49153"),
            ("http://localhost:80", "localhost:80"),
            ("http://localhost:80/", "localhost:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(&*address(text).unwrap(), read);
        }
        for text in [
            "",
            "x",
            "x:",
            ":80",
            "x:0",
            "x:65536",
            "x:y",
            "u@x:80",
            "x:80/y",
            "https://x:443",
            "ftp://x:21",
            "x y:80",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}

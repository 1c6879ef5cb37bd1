//! The services of a campaign, and how they learn of each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use murphy_system::STOP_WITHIN;
use murphy_system::spec::{Health, ManagedSpec, ServiceSpec, Source, Unused};

use super::Error;

/// Where services in this process call each other while a campaign runs, so
/// that Murphy sees it. All clones know the same; empty until the campaign is
/// [run](super::Campaign::run).
#[derive(Clone, Debug, Default)]
pub struct Proxied(Arc<RwLock<BTreeMap<String, String>>>);

impl Proxied {
    /// Where to call a service: `http://127.0.0.1:4711`. To be asked for every
    /// call, because it changes while a campaign finds its feet.
    ///
    /// # Panics
    /// If no campaign that knows this service is running.
    #[track_caller]
    pub fn url(&self, service: &str) -> String {
        match self.get(service) {
            Some(url) => url,
            None => panic!("no campaign with a service `{service}` has been started"),
        }
    }

    /// The same, `None` if no campaign that knows this service is running.
    pub fn get(&self, service: &str) -> Option<String> {
        let urls = self.0.read().unwrap_or_else(|broken| broken.into_inner());
        urls.get(service).cloned()
    }

    pub(super) fn set(&self, urls: &BTreeMap<String, String>) {
        let mut known = self.0.write().unwrap_or_else(|broken| broken.into_inner());
        *known = urls.clone();
    }
}

/// A service that is started for a campaign, and stopped after it.
///
/// Its command and environment may hold `{port}`, the free port it shall
/// listen on (also `PORT` in its environment), and `{cart.url}` and the like
/// for where to call the others.
#[derive(Clone, Debug)]
pub struct Managed {
    spec: ManagedSpec,
    health: Health,
}

impl Managed {
    /// A program and its arguments.
    pub fn new(command: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Managed {
            spec: ManagedSpec {
                command: command.into_iter().map(Into::into).collect(),
                directory: PathBuf::from("."),
                stop_within: STOP_WITHIN,
                ..ManagedSpec::default()
            },
            health: Health::default(),
        }
    }

    /// Where it is started; the current directory if it is not set.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.spec.directory = directory.into();
        self
    }

    /// A variable added to its environment.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.spec.environment.insert(name.to_owned(), value.into());
        self
    }

    /// The port it listens on, if it cannot be told one.
    pub fn port(mut self, port: u16) -> Self {
        self.spec.port = Some(port);
        self
    }

    /// A path that answers 2xx or 3xx once it is up; if it is not set, its
    /// port has to accept connections.
    pub fn health(mut self, path: &str) -> Self {
        self.health.path = Some(path.to_owned());
        self
    }

    /// How long it may take to come up.
    pub fn start_within(mut self, within: Duration) -> Self {
        self.health.within = within;
        self
    }

    pub(super) fn spec(self, name: &str) -> ServiceSpec {
        ServiceSpec {
            name: name.to_owned(),
            source: Source::Managed(self.spec),
            listen: None,
            proxied: true,
            calls: None,
            unused: Unused::default(),
            health: self.health,
            place: None,
            process: None,
            tls: None,
            callers: Default::default(),
        }
    }
}

pub(super) fn running(
    name: &str,
    upstream: &impl Display,
    listen: Option<SocketAddr>,
) -> ServiceSpec {
    ServiceSpec {
        name: name.to_owned(),
        source: Source::Running {
            upstream: upstream.to_string(),
        },
        listen,
        proxied: true,
        calls: None,
        unused: Unused::default(),
        health: Health::default(),
        place: None,
        process: None,
        tls: None,
        callers: Default::default(),
    }
}

/// Whether these services can be distinguished.
pub(super) fn check(services: &[ServiceSpec]) -> Result<(), Error> {
    if services.is_empty() {
        let text = "the campaign has no services: name them with `service` or `managed`";
        return Err(Error::Nonsense(text.to_owned()));
    }
    let mut names = BTreeSet::new();
    for service in services {
        if !names.insert(&service.name) {
            let text = format!("there are two services called `{}`", service.name);
            return Err(Error::Nonsense(text));
        }
    }
    Ok(())
}

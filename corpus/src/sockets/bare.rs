//! A system on sockets with nothing around it: for somebody else to put
//! proxies around, or to see what it costs without.

use std::net::SocketAddr;
use std::time::Duration;

use super::propagation::Propagation;
use super::served::{ServeError, Served, Source};
use crate::app::{App, Settings};

/// A system on sockets; stopped when dropped.
pub struct Bare {
    served: Served,
}

impl Bare {
    /// Serves an app, instrumented as usual; each service works so long on
    /// each request.
    pub async fn new(app: App, settings: Settings, work: Duration) -> Result<Self, ServeError> {
        let source = Source::App(app, settings);
        let served = Served::start(source, Propagation::default(), 1.0, work, None).await?;
        Ok(Bare { served })
    }

    /// Where each service listens.
    pub fn addresses(&self) -> impl Iterator<Item = (&'static str, SocketAddr)> + '_ {
        self.served
            .addresses()
            .iter()
            .map(|(name, at)| (*name, *at))
    }

    /// Makes the services call each other elsewhere, as their environment
    /// would tell them to; where `to` knows no other place, as before.
    pub fn reroute(&self, to: impl Fn(&str) -> Option<SocketAddr>) {
        let routes = self
            .addresses()
            .map(|(name, at)| (name, to(name).unwrap_or(at)));
        self.served.reroute(routes.collect());
    }
}

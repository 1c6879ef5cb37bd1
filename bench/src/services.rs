//! An example system as users run theirs: each service a process of its own.
//!
//! Owns the processes and where they call each other. Each of them can serve
//! the whole system and is asked for one service only.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use anyhow::{Context, Result};
use murphy_corpus::sockets::{Options, Served, Source};
use murphy_corpus::{App, find};

use crate::proxy::role::{self, Role};

/// The services of a system, running; killed when dropped.
pub struct Services {
    processes: BTreeMap<&'static str, Role<SocketAddr>>,
}

impl Services {
    /// Starts them and makes them call each other. Each works so long on each
    /// request.
    pub async fn start(app: App, work: Duration) -> Result<Self> {
        let system = (app.build)(&app.settings([])?);
        let work = work.as_millis().to_string();
        let mut processes = BTreeMap::new();
        for service in system.services {
            let arguments = ["serve", app.name, service.name, &work];
            let process = Role::start(service.name, &arguments).await?;
            processes.insert(service.name, process);
        }
        let mut services = Services { processes };
        services.reroute(|_| None).await?;
        Ok(services)
    }

    /// Where each listens.
    pub fn addresses(&self) -> impl Iterator<Item = (&'static str, SocketAddr)> + '_ {
        let processes = self.processes.iter();
        processes.map(|(name, process)| (*name, process.doors))
    }

    /// An address for each on which nobody listens.
    pub fn free_addresses(&self) -> Result<BTreeMap<&'static str, SocketAddr>> {
        // All are taken before any is given back, so that they differ.
        let take = |(name, _)| Ok((name, nobodys()?));
        let taken: Vec<(&'static str, TcpListener)> =
            self.addresses().map(take).collect::<Result<_>>()?;
        let address =
            |(name, taken): &(&'static str, TcpListener)| Ok((*name, taken.local_addr()?));
        taken.iter().map(address).collect()
    }

    /// Makes them call each other elsewhere, as their environment would tell
    /// them to; where `to` knows no other place, directly.
    pub async fn reroute(&mut self, to: impl Fn(&str) -> Option<SocketAddr>) -> Result<()> {
        let route = |(name, at): (&str, SocketAddr)| format!("{name}={}", to(name).unwrap_or(at));
        let routes: Vec<String> = self.addresses().map(route).collect();
        for process in self.processes.values_mut() {
            process.ask(&routes.join(" ")).await?;
        }
        Ok(())
    }
}

/// A port on which nobody listens. Not one that the system would choose: it
/// could be a connection's by the time that it is used.
fn nobodys() -> Result<TcpListener> {
    let ports = std::iter::repeat_with(|| fastrand::u16(10_000..30_000));
    let mut free = ports.map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    free.by_ref()
        .take(1_000)
        .flatten()
        .next()
        .context("a free port")
}

/// Serves one service of a system; for the process itself.
pub async fn serve(app: &str, service: &str, work: Duration) -> Result<()> {
    let app = find(app).context("an app of the corpus")?;
    let settings = app.settings([])?;
    let options = Options {
        work,
        ..Options::default()
    };
    let served = Served::start(Source::App(app, settings), options).await?;
    let address = served.addresses().get(service);
    let address = *address.context("a service of the app")?;
    role::announce_and_answer(&address, move |line| match routes(line) {
        Some(routes) => {
            served.reroute(|name| routes.get(name).copied());
            "rerouted".to_owned()
        }
        None => "error: routes are name=address, with spaces between".to_owned(),
    });
    std::future::pending().await
}

fn routes(line: &str) -> Option<BTreeMap<&str, SocketAddr>> {
    let route = |(name, address): (_, &str)| Some((name, address.parse().ok()?));
    let routes = line.split_whitespace();
    routes.map(|it| route(it.split_once('=')?)).collect()
}

//! Murphy's own proxy in front of the upstream.
//!
//! Owns the process it runs in: a registry and a proxy as a campaign would
//! have them, told by lines on standard input what a campaign would do. What
//! it is measured on is its [`Duty`]; what executions look like is
//! [`campaign`]'s.

pub mod campaign;
mod duty;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use murphy_proxy::{Authority, Door, Listener, Proxy, TlsFiles, TlsUpstream};
use murphy_registry::{Origin, Registry};
use tokio::runtime::Handle;

use super::protocol::Doors;
use super::role::{self, Role};
use super::tls::Certificate;
use campaign::{Campaign, SERVICE};

pub use duty::{Duty, STRANGER};

/// Starts one in a process of its own: this build of it, or another bench's.
pub async fn start(
    other: Option<&Path>,
    threads: usize,
    upstream: &Doors,
    duty: Duty,
    tls: Option<&Certificate>,
) -> Result<Role> {
    let (threads, upstream, duty) = (threads.to_string(), upstream.to_string(), duty.key());
    let folder = tls.map(|tls| tls.folder().display().to_string());
    let mut arguments = vec![
        "murphy",
        "--threads",
        &threads,
        "--upstream",
        &upstream,
        "--duty",
        &duty,
    ];
    arguments.extend(folder.iter().flat_map(|folder| ["--tls", folder]));
    match other {
        Some(binary) => Role::start_of(binary, "the other murphy", &arguments).await,
        None => Role::start("murphy", &arguments).await,
    }
}

/// Is the proxy, until standard input ends.
pub async fn serve(
    threads: usize,
    upstream: Doors,
    duty: Duty,
    tls: Option<Certificate>,
) -> Result<()> {
    let registry = Arc::new(Registry::new(SETTINGS));
    let mut listeners = Vec::new();
    for upstream in [upstream.h1, upstream.h2] {
        let listener = listener(upstream);
        listeners.push(match &tls {
            None => listener,
            Some(certificate) => over_tls(listener, upstream, certificate)?,
        });
    }
    let proxy = Proxy::start(
        listeners,
        registry.clone(),
        murphy_proxy::Settings {
            threads,
            ..murphy_proxy::Settings::default()
        },
    )?;
    let doors = Doors {
        h1: proxy.addresses()[0],
        h2: proxy.addresses()[1],
    };
    let mut campaign = Campaign::new(registry, duty.faultload()?);
    for _ in 0..duty.bystanders() {
        campaign.begin()?;
    }
    let runtime = Handle::current();
    role::announce_and_answer(&doors, move |line| {
        let answer = campaign.obey(line, &runtime);
        answer.unwrap_or_else(|error| format!("error: {error:#}"))
    });
    // The process ends with standard input; until then the proxy must live.
    std::future::pending::<()>().await;
    drop(proxy);
    Ok(())
}

/// No patience for calls that the load generator left behind, and no end to
/// executions before the bench has ended.
const SETTINGS: murphy_registry::Settings = murphy_registry::Settings {
    grace: Duration::ZERO,
    patience: Duration::from_secs(1),
    time_to_live: Duration::from_secs(24 * 60 * 60),
};

fn listener(upstream: SocketAddr) -> Listener {
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let origin = Origin::Service { caller: None };
    Listener::of(SERVICE, upstream.to_string(), anywhere, origin)
}

/// The same with TLS on both sides.
fn over_tls(
    listener: Listener,
    upstream: SocketAddr,
    certificate: &Certificate,
) -> Result<Listener> {
    let files = TlsFiles {
        ca: Some(certificate.file()),
        ..TlsFiles::default()
    };
    let tls = Arc::new(TlsUpstream::new(&upstream.to_string(), &files)?);
    // Each process has one of its own.
    let name = format!("bench-{}-{}", std::process::id(), upstream.port());
    let authority = Authority::generate(&name)?;
    certificate.trust(&name, authority.certificate_pem())?;
    let door = Door {
        authority: Arc::new(authority),
        refusals: Arc::default(),
    };
    Ok(listener.over(Some(&tls)).with_door(Some(&door)))
}

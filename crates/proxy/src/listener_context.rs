//! A listener of one worker thread.
//!
//! Owns which destination a request is for: the host that it names decides,
//! where the listener serves more than one.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Authority;
use murphy_registry::{Greeting, Handshake, Origin};
use tokio::sync::watch;

use crate::anybody::Anybody;
use crate::destination::Destination;
use crate::forward::{ForwardProxy, Way};
use crate::late::LateDestination;
use crate::settings::Settings;
use crate::stream::Stream;
use crate::tls::Door;

/// One listener of one worker thread.
pub(crate) struct ListenerContext {
    /// Where requests go, with the hosts that lead there; none for any host.
    pub(crate) destinations: Vec<(Vec<String>, Arc<Destination>)>,
    /// What is set.
    pub(crate) settings: Arc<Settings>,
    /// How TLS is spoken with callers that begin with it.
    pub(crate) door: Option<Door>,
    /// Where requests go whose hosts are none of these.
    pub(crate) forward: Option<ForwardProxy>,
    /// Where requests go whose service is not always there.
    pub(crate) late: Option<LateDestination>,
    /// Who calls, where that is found out for each connection.
    pub(crate) anybody: Option<Anybody>,
}

impl ListenerContext {
    /// Where a request goes that names this host, with or without a port;
    /// `None` where nothing is known of it. Most listeners serve one service,
    /// and need not look.
    pub(crate) fn destination<'h>(
        &self,
        host: impl FnOnce() -> Option<&'h str>,
    ) -> Option<Cow<'_, Arc<Destination>>> {
        if let [(hosts, only)] = self.destinations.as_slice()
            && hosts.is_empty()
        {
            return Some(Cow::Borrowed(only));
        }
        if let Some(forward) = &self.forward {
            let authority = host()?;
            let found = match forward.way(authority, false) {
                Way::Named(destination) => Some(destination),
                Way::Other => forward.past(authority),
                Way::Refused => None,
            };
            return found.map(Cow::Owned);
        }
        if let Some(late) = &self.late {
            return Some(Cow::Owned(late.destination()));
        }
        let host = host().and_then(|host| host.parse::<Authority>().ok());
        let named = host.as_ref().map(Authority::host);
        let is_for = |hosts: &[String]| {
            let is_it = |host: &String| named.is_some_and(|it| it.eq_ignore_ascii_case(host));
            hosts.is_empty() || hosts.iter().any(is_it)
        };
        let mut destinations = self.destinations.iter();
        let found = destinations.find(|(hosts, _)| is_for(hosts));
        found.map(|(_, destination)| Cow::Borrowed(destination))
    }

    /// The service that calls here, if it is known.
    pub(crate) fn caller(&self) -> Option<Arc<str>> {
        match &self.destinations.first()?.1.origin {
            Origin::Service { caller } => caller.clone(),
            _ => None,
        }
    }

    /// Whether each call over TLS is to have a handshake of its own.
    pub(crate) fn wants_handshakes(&self) -> bool {
        let wants = |it: &Destination| it.control.wants_handshakes(&it.service);
        self.destinations.iter().any(|(_, it)| wants(it))
    }

    /// The service that a handshake is for that names this host, and how the
    /// handshake is to fail, if it is.
    pub(crate) async fn handshake(
        &self,
        host: Option<&str>,
    ) -> Option<(Arc<Destination>, Handshake)> {
        // Who shakes hands with a forward proxy calls no service yet.
        if self.forward.is_some() {
            return None;
        }
        let destination = self.destination(|| host)?.into_owned();
        let planned = planned(&destination);
        let handshake = tokio::time::timeout(SETTLED, planned).await.ok()??;
        Some((destination, handshake))
    }
}

/// How long a handshake waits for another one that is to fail. Mostly its caller
/// has broken that off already, and we are about to hear of it.
const SETTLED: Duration = Duration::from_secs(1);

/// How often it looks.
const LOOKS: Duration = Duration::from_millis(1);

async fn planned(destination: &Destination) -> Option<Handshake> {
    loop {
        let control = &destination.control;
        match control.handshake(&destination.origin, &destination.service) {
            Greeting::Goes => return None,
            Greeting::Fails(handshake) => return Some(handshake),
            Greeting::Waits => tokio::time::sleep(LOOKS).await,
        }
    }
}

/// Tells a connection of a caller inside TLS that it is to be used no more.
pub(crate) struct Renewal(Option<watch::Receiver<()>>);

impl Renewal {
    pub(crate) fn of(listener: &ListenerContext, caller: &dyn Stream) -> Self {
        let any = listener.destinations.first().filter(|_| caller.is_tls());
        Renewal(any.and_then(|(_, it)| it.control.handshakes_wanted()))
    }

    /// Waits until calls are to have handshakes of their own.
    pub(crate) async fn wanted(&mut self, listener: &ListenerContext) {
        if let Some(changes) = &mut self.0 {
            while changes.changed().await.is_ok() {
                if listener.wants_handshakes() {
                    return;
                }
            }
        }
        std::future::pending().await
    }
}

//! A listener of one worker thread.
//!
//! Owns which destination a request is for: the host that it names decides,
//! where the listener serves more than one.

use std::borrow::Cow;
use std::sync::Arc;

use http::uri::Authority;

use crate::anybody::Anybody;
use crate::destination::Destination;
use crate::forward::{ForwardProxy, Way};
use crate::settings::Settings;
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
}

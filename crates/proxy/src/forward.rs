//! A forward proxy: for callers who name the host that they want.
//!
//! Owns which hosts are opened, so that calls to them are seen and can fail,
//! and what becomes of the others: they are passed on unread, or refused where
//! only named hosts may be reached.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use http::uri::Authority as Host;
use murphy_registry::{Control, Origin};

use crate::connect::{Tcp, Upstream};
use crate::destination::Destination;
use crate::settings::Settings;
use crate::tls::{Tls, TlsFiles, TlsUpstream};

/// What a listener does as a forward proxy.
#[derive(Clone, Debug, Default)]
pub struct Forward {
    /// The hosts that are opened; the first that fits a host counts.
    pub named: Vec<NamedHosts>,
    /// Whether all other hosts are refused.
    pub only_named: bool,
    /// Where the hosts are noted that were not opened.
    pub others: Arc<OtherHosts>,
}

/// Hosts that are a service.
#[derive(Clone, Debug)]
pub struct NamedHosts {
    /// The service, as it appears in points.
    pub service: String,
    /// Names, or patterns that begin with `*.`.
    pub hosts: Vec<String>,
    /// Where calls to them go instead, `host:port`, and how TLS is spoken
    /// there; otherwise to the host itself, in what the caller speaks.
    pub upstream: Option<(String, Option<Arc<TlsUpstream>>)>,
    /// How TLS is spoken to the hosts themselves.
    pub tls: TlsFiles,
}

/// Hosts that callers asked for and that nobody named.
#[derive(Debug, Default)]
pub struct OtherHosts(Mutex<BTreeSet<String>>);

impl OtherHosts {
    fn note(&self, host: &str) {
        /// A caller that makes names up must not fill the memory.
        const MOST: usize = 1_000;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST && !all.contains(host) {
            all.insert(host.to_owned());
        }
    }

    /// All of them.
    pub fn noted(&self) -> BTreeSet<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Whether a host is one of those that a pattern means.
pub fn is_host(pattern: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.');
    match pattern.strip_prefix("*.") {
        None => pattern.eq_ignore_ascii_case(host),
        Some(suffix) => {
            let at = host.len().checked_sub(suffix.len());
            at.and_then(|at| host.split_at_checked(at))
                .is_some_and(|(name, rest)| {
                    rest.eq_ignore_ascii_case(suffix) && name.len() > 1 && name.ends_with('.')
                })
        }
    }
}

/// A forward proxy of one worker thread.
pub(crate) struct ForwardProxy {
    pub(crate) rules: Forward,
    pub(crate) origin: Origin,
    pub(crate) control: Arc<dyn Control>,
    pub(crate) settings: Arc<Settings>,
    /// Those that were asked for already, by what is spoken and the authority.
    made: Mutex<HashMap<(bool, String), Arc<Destination>>>,
}

/// What becomes of a request for a host.
pub(crate) enum Way {
    /// It is opened.
    Named(Arc<Destination>),
    /// It is passed on.
    Other,
    /// It is refused.
    Refused,
}

impl ForwardProxy {
    pub(crate) fn new(
        rules: Forward,
        origin: Origin,
        control: Arc<dyn Control>,
        settings: Arc<Settings>,
    ) -> Self {
        ForwardProxy {
            rules,
            origin,
            control,
            settings,
            made: Mutex::default(),
        }
    }

    /// What becomes of a host, without noting it.
    pub(crate) fn is_named(&self, host: &str) -> bool {
        self.named(host).is_some()
    }

    fn named(&self, host: &str) -> Option<&NamedHosts> {
        let is_for = |it: &&NamedHosts| it.hosts.iter().any(|pattern| is_host(pattern, host));
        self.rules.named.iter().find(is_for)
    }

    /// The way to a host, for a caller that speaks TLS or not.
    pub(crate) fn way(&self, authority: &str, tls: bool) -> Way {
        let Ok(host) = authority.parse::<Host>() else {
            return Way::Refused;
        };
        match self.named(host.host()) {
            Some(named) => match self.destination(named, &host, tls) {
                Some(destination) => Way::Named(destination),
                None => Way::Refused,
            },
            None => {
                self.rules.others.note(host.host());
                match self.rules.only_named {
                    true => Way::Refused,
                    false => Way::Other,
                }
            }
        }
    }

    /// Where requests go that nobody named and that are not tunnelled: they
    /// belong to no execution.
    pub(crate) fn past(&self, authority: &str) -> Option<Arc<Destination>> {
        let host = authority.parse::<Host>().ok()?;
        let address = with_port(&host, 80);
        self.made(false, &address, || {
            let upstream = Box::new(Tcp(address.clone()));
            Some(self.make(host.host(), upstream, Origin::Murphy))
        })
    }

    fn destination(&self, named: &NamedHosts, host: &Host, tls: bool) -> Option<Arc<Destination>> {
        let address = with_port(host, if tls { 443 } else { 80 });
        self.made(tls, &address, || {
            let upstream: Box<dyn Upstream> = match (&named.upstream, tls) {
                (Some((instead, None)), _) => Box::new(Tcp(instead.clone())),
                (Some((instead, Some(tls))), _) => Box::new(Tls::new(instead.clone(), tls)),
                (None, false) => Box::new(Tcp(address.clone())),
                (None, true) => {
                    let to = TlsUpstream::new(&address, &named.tls);
                    let to = to.inspect_err(|error| {
                        tracing::warn!(host = %address, %error, "TLS to a host cannot be set up");
                    });
                    Box::new(Tls::new(address.clone(), &to.ok()?))
                }
            };
            Some(self.make(&named.service, upstream, self.origin.clone()))
        })
    }

    fn made(
        &self,
        tls: bool,
        address: &str,
        make: impl FnOnce() -> Option<Destination>,
    ) -> Option<Arc<Destination>> {
        /// Each keeps connections for a while; hosts that are made up do not
        /// come back.
        const MOST: usize = 256;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tls, address.to_owned());
        if let Some(destination) = made.get(&key) {
            return Some(destination.clone());
        }
        let destination = Arc::new(make()?);
        if made.len() >= MOST {
            made.clear();
        }
        made.insert(key, destination.clone());
        Some(destination)
    }

    fn make(&self, service: &str, upstream: Box<dyn Upstream>, origin: Origin) -> Destination {
        let (control, settings) = (self.control.clone(), self.settings.clone());
        Destination::new(service, upstream, origin, control, settings)
    }
}

/// `host:port`.
pub(crate) fn with_port(host: &Host, port: u16) -> String {
    match host.port_u16() {
        Some(port) => format!("{}:{port}", host.host()),
        None => format!("{}:{port}", host.host()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_names_below_a_domain() {
        let cases = [
            ("s3.test", "s3.test", true),
            ("s3.test", "S3.Test.", true),
            ("s3.test", "a.s3.test", false),
            ("*.s3.test", "a.s3.test", true),
            ("*.s3.test", "b.a.s3.test", true),
            ("*.s3.test", "s3.test", false),
            ("*.s3.test", ".s3.test", false),
            ("*.s3.test", "as3.test", false),
            ("*.s3.test", "é", false),
        ];
        for (pattern, host, fits) in cases {
            assert_eq!(is_host(pattern, host), fits, "{pattern} {host}");
        }
    }
}

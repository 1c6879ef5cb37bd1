//! TLS of callers.
//!
//! Owns handshakes with callers: which certificate they are shown, which
//! protocols they are offered, and what becomes of those who refuse.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use rustls::server::{Acceptor, ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{AlertDescription, Error, ServerConfig};
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};

use super::authority::{Authority, AuthorityError};
use super::client::{Client, Hello, Looks};
use super::injected::InjectedHandshake;
use super::provider;
use super::secured::Secured;
use crate::listener_context::ListenerContext;
use crate::server::first_bytes;
use crate::stream::{Rewound, Stream};

/// How long a handshake may take.
pub(super) const WITHIN: Duration = Duration::from_secs(10);

/// What the first byte of a handshake is.
const HANDSHAKE: u8 = 0x16;

/// Whether a caller begins with TLS.
pub(crate) fn is_tls(read: &[u8]) -> bool {
    read.first() == Some(&HANDSHAKE)
}

/// The protocols that a caller is offered, the better one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// HTTP/1.1 alone.
    Http1,
    /// Both, as the service has them.
    Both,
    /// Both, though it is not known whether the service has HTTP/2: for
    /// callers who speak nothing else.
    RatherHttp1,
}

impl Offered {
    fn names(self) -> Vec<Vec<u8>> {
        let (one, two) = (b"http/1.1".to_vec(), b"h2".to_vec());
        match self {
            Offered::Http1 => vec![one],
            Offered::Both => vec![two, one],
            Offered::RatherHttp1 => vec![one, two],
        }
    }
}

/// Why a caller broke a handshake off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// It does not trust our certificates, and said so.
    Untrusted,
    /// It hung up without a word, as some do who do not trust them.
    HungUp,
    /// It and we have no protocol or cipher in common.
    NothingInCommon,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Untrusted => "does not trust Murphy's certificate",
            Refusal::HungUp => "hung up in the TLS handshake",
            Refusal::NothingInCommon => "has no protocol in common with Murphy",
        })
    }
}

/// A caller that broke handshakes off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refuser {
    /// The service that calls there, if that is known.
    pub caller: Option<Arc<str>>,
    /// The host that it asked for.
    pub host: String,
    /// Why, as far as it said.
    pub why: Refusal,
    /// What it is, if that is known.
    pub client: Option<Client>,
}

/// The callers that broke handshakes off, and how often.
#[derive(Debug, Default)]
pub struct Refusals {
    all: Mutex<BTreeMap<Refuser, usize>>,
    looks: Looks,
}

impl Refusals {
    fn note(&self, refuser: Refuser) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(refuser).or_default() += 1;
    }

    /// What was noted so far. Refusals of callers that were not looked at count
    /// with those of the one who was, where there is just one such.
    pub fn noted(&self) -> Vec<(Refuser, usize)> {
        let mut all = self
            .all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let unknown: Vec<Refuser> = all
            .keys()
            .filter(|it| it.client.is_none())
            .cloned()
            .collect();
        for refuser in unknown {
            let alike = |it: &&Refuser| {
                let it = (&it.caller, &it.host, it.why, it.client.is_some());
                it == (&refuser.caller, &refuser.host, refuser.why, true)
            };
            let mut known = all.keys().filter(alike);
            if let (Some(known), None) = (known.next().cloned(), known.next()) {
                let count = all.remove(&refuser).unwrap_or_default();
                *all.entry(known).or_default() += count;
            }
        }
        all.into_iter().collect()
    }
}

/// Shows one certificate, whoever asks.
#[derive(Debug)]
struct Only(Arc<CertifiedKey>);

impl ResolvesServerCert for Only {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

/// Where callers may speak TLS.
#[derive(Clone, Debug)]
pub struct Door {
    /// Who signs what they are shown.
    pub authority: Arc<Authority>,
    /// Where those are noted who refuse it.
    pub refusals: Arc<Refusals>,
}

impl Door {
    /// Shakes hands with a caller that has sent this much, as the host that it
    /// asks for, or else as `host`; with what it sends first inside. A handshake
    /// that is to fail does so, if the caller minds.
    pub(crate) async fn accept(
        &self,
        (stream, read): (Box<dyn Stream>, BytesMut),
        host: &str,
        offered: Offered,
        listener: &ListenerContext,
    ) -> Option<(Box<dyn Stream>, BytesMut)> {
        let sent = read.clone();
        let stream = Box::new(Rewound::new(stream, read));
        let greeted = tokio::time::timeout(WITHIN, greet(stream)).await.ok()??;
        let asked_for = greeted.client_hello().server_name().map(str::to_owned);
        let planned = listener.handshake(asked_for.as_deref()).await;
        let host = asked_for.as_deref().unwrap_or(host);
        if let Some((destination, handshake)) = planned {
            let fault = InjectedHandshake::new(destination, handshake);
            return fault.play(greeted, host, offered, self).await;
        }
        let hello = Hello::new(&greeted.client_hello(), &sent);
        let clients = listener.settings.clients.as_ref();
        let looks = &self.refusals.looks;
        let client = looks.at(&hello, &*greeted.io, clients).await;
        let leaf = self.authority.leaf(host);
        let shaking = self.shake_hands(greeted, host, leaf, offered);
        let why = match tokio::time::timeout(WITHIN, shaking).await.ok()?? {
            Ok(mut stream) => {
                if let Some(read) = first_bytes(&mut stream).await {
                    looks.trusts(hello);
                    return Some((stream, read));
                }
                // Anybody may change their mind, but for those who look now.
                client.filter(|it| it.looks_late)?;
                Refusal::HungUp
            }
            Err(error) => {
                tracing::debug!(%host, %error, "a caller broke the handshake off");
                why(&error)
            }
        };
        looks.refuses(&hello);
        self.refusals.note(Refuser {
            caller: listener.caller(),
            host: host.to_owned(),
            why,
            client,
        });
        None
    }

    /// Shows a caller this certificate; `None` if there is none to show.
    pub(super) async fn shake_hands(
        &self,
        greeted: Greeted,
        host: &str,
        leaf: Result<Arc<CertifiedKey>, AuthorityError>,
        offered: Offered,
    ) -> Option<io::Result<Box<dyn Stream>>> {
        let leaf = leaf.inspect_err(|error| {
            tracing::warn!(%host, %error, "no certificate could be made");
        });
        let config = config(leaf.ok()?, offered);
        let shaken = greeted.into_stream(config).await;
        Some(shaken.map(|stream| Box::new(Secured::new(stream)) as _))
    }
}

/// A caller that has said what it wants.
pub(super) type Greeted = StartHandshake<Box<dyn Stream>>;

async fn greet(stream: Box<dyn Stream>) -> Option<Greeted> {
    let greeted = LazyConfigAcceptor::new(Acceptor::default(), stream).await;
    let greeted = greeted.inspect_err(|error| {
        tracing::debug!(%error, "what a caller began with is no handshake");
    });
    greeted.ok()
}

fn config(leaf: Arc<CertifiedKey>, offered: Offered) -> Arc<ServerConfig> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("the provider has the suites of both versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Only(leaf)));
    config.alpn_protocols = offered.names();
    // Tickets are of no use where every handshake has a configuration of its
    // own, and would be met by callers that look for silence.
    config.send_tls13_tickets = 0;
    Arc::new(config)
}

fn why(error: &io::Error) -> Refusal {
    let tls = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
    match tls {
        Some(Error::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateExpired,
        )) => Refusal::Untrusted,
        Some(_) => Refusal::NothingInCommon,
        None => Refusal::HungUp,
    }
}

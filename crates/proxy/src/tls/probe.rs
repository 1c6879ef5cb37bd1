//! A handshake for its own sake.
//!
//! Owns what is said of a service over TLS before anything is sent to it:
//! whether its certificate is trusted, and for how long; whether it wants one
//! of ours.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::client::ResolvesClientCert;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::UnixTime;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, SignatureScheme};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::upstream::TlsUpstream;

/// How soon a certificate must end for that to be said.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// How long a probe may take.
const WITHIN: Duration = Duration::from_secs(5);

/// How long a service may take to refuse a client without a certificate, which
/// in TLS 1.3 it does after the handshake.
const REFUSAL: Duration = Duration::from_millis(300);

/// A service with which TLS works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// When its certificate ends, where that is in two weeks at most.
    pub ends_soon: Option<SystemTime>,
    /// Whether it speaks HTTP/2.
    pub http2: bool,
}

/// Why TLS with a service does not work.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It cannot be reached at all.
    #[error("nothing listens there: {0}")]
    Down(io::Error),
    /// It does not answer.
    #[error("it did not finish the TLS handshake within {WITHIN:?}")]
    TimedOut,
    /// It does not speak TLS.
    #[error("it does not speak TLS")]
    NoTls,
    /// Its certificate ended.
    #[error("its certificate expired{}", day(.0))]
    Expired(Option<SystemTime>),
    /// Its certificate is for others.
    #[error("its certificate is not for `{asked}`{}", names(.valid_for))]
    Name {
        /// The name that was asked for.
        asked: String,
        /// The names it has.
        valid_for: Vec<String>,
    },
    /// Nobody who is trusted has signed its certificate.
    #[error("its certificate is not trusted: {0}")]
    Untrusted(String),
    /// It wants a certificate of ours, and there is none.
    #[error("it demands a client certificate")]
    ClientCertificate,
    /// It does not want the certificate it was given.
    #[error("it refused our client certificate: {0}")]
    ClientRefused(String),
    /// Anything else.
    #[error("the TLS handshake failed: {0}")]
    Other(String),
}

impl ProbeError {
    /// What to do about it.
    pub fn hint(&self, service: &str) -> String {
        match self {
            ProbeError::Down(_) => "start it, or correct `upstream`".to_owned(),
            ProbeError::TimedOut => "is this the port where it speaks TLS?".to_owned(),
            ProbeError::NoTls => {
                format!(
                    "name the port where it does; without TLS, write `upstream` without `https://` and leave `[services.{service}.tls]` out"
                )
            }
            ProbeError::Expired(_) => "renew it: its callers would refuse it, too".to_owned(),
            ProbeError::Name { .. } => format!(
                "if it is the right service all the same: `server_name = \"…\"` in `[services.{service}.tls]`, a name that the certificate has"
            ),
            ProbeError::Untrusted(_) => format!(
                "name the certificate of who signed it: `ca = \"ca.pem\"` in `[services.{service}.tls]`"
            ),
            ProbeError::ClientCertificate => format!(
                "add `client_cert = \"…\"` and `client_key = \"…\"` to `[services.{service}.tls]`"
            ),
            ProbeError::ClientRefused(_) => format!(
                "check `client_cert` in `[services.{service}.tls]`: who must have signed it, and whether it has expired"
            ),
            ProbeError::Other(_) => {
                "`openssl s_client -connect HOST:PORT` shows both sides of the handshake".to_owned()
            }
        }
    }
}

struct Shown<'a>(&'a [String]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            names => write!(f, "; it is for {}", names.join(", ")),
        }
    }
}

fn names(names: &[String]) -> Shown<'_> {
    Shown(names)
}

/// A name as rustls tells it, without what kind of name it is.
fn bare(name: &str) -> String {
    let inner = name.strip_suffix("\")").and_then(|it| it.split_once("(\""));
    inner.map_or(name, |(_, inner)| inner).to_owned()
}

fn day(ended: &Option<SystemTime>) -> String {
    ended.map_or_else(String::new, |ended| {
        let time = humantime::format_rfc3339_seconds(ended).to_string();
        format!(" on {}", time.split('T').next().unwrap_or_default())
    })
}

/// Notes whether a certificate of ours was asked for.
#[derive(Debug)]
struct Noting {
    resolver: Arc<dyn ResolvesClientCert>,
    asked: AtomicBool,
}

impl ResolvesClientCert for Noting {
    fn resolve(&self, hints: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Relaxed);
        self.resolver.resolve(hints, schemes)
    }

    fn has_certs(&self) -> bool {
        // Or nobody asks.
        true
    }
}

impl TlsUpstream {
    /// Shakes hands with the service at `host:port`.
    pub async fn probe(&self, address: &str) -> Result<Probed, ProbeError> {
        let probing = self.shake_hands(address);
        match tokio::time::timeout(WITHIN, probing).await {
            Ok(probed) => probed,
            Err(_) => Err(ProbeError::TimedOut),
        }
    }

    async fn shake_hands(&self, address: &str) -> Result<Probed, ProbeError> {
        let stream = TcpStream::connect(address)
            .await
            .map_err(ProbeError::Down)?;
        let mut config = self.config.clone();
        let noting = Arc::new(Noting {
            resolver: config.client_auth_cert_resolver.clone(),
            asked: AtomicBool::new(false),
        });
        config.client_auth_cert_resolver = noting.clone();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // With a ticket the certificate would not be shown.
        config.resumption = rustls::client::Resumption::disabled();
        let connector = TlsConnector::from(Arc::new(config));
        let connected = connector.connect(self.name.clone(), stream).await;
        let asked = noting.asked.load(Relaxed);
        let mut stream = connected.map_err(|error| self.failed(&error, asked))?;
        if asked {
            self.wait_for_refusal(&mut stream).await?;
        }
        Ok(Probed {
            ends_soon: self.ends_soon(&stream),
            http2: stream.get_ref().1.alpn_protocol() == Some(b"h2"),
        })
    }

    async fn wait_for_refusal(&self, stream: &mut TlsStream<TcpStream>) -> Result<(), ProbeError> {
        let mut byte = [0];
        match tokio::time::timeout(REFUSAL, stream.read(&mut byte)).await {
            Ok(Err(error)) => Err(self.failed(&error, true)),
            // Nothing yet, or its settings.
            Err(_) | Ok(Ok(_)) => Ok(()),
        }
    }

    fn has_certificate(&self) -> bool {
        self.config.client_auth_cert_resolver.has_certs()
    }

    fn failed(&self, error: &io::Error, asked: bool) -> ProbeError {
        let tls = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
        match tls {
            // Some hang up instead of saying why.
            None if asked && !self.has_certificate() => ProbeError::ClientCertificate,
            None => ProbeError::Other(error.to_string()),
            Some(Error::InvalidMessage(_)) => ProbeError::NoTls,
            Some(Error::AlertReceived(_)) if asked && !self.has_certificate() => {
                ProbeError::ClientCertificate
            }
            Some(Error::AlertReceived(alert)) if asked => {
                ProbeError::ClientRefused(format!("{alert:?}"))
            }
            Some(Error::InvalidCertificate(wrong)) => self.wrong(wrong),
            Some(other) => ProbeError::Other(other.to_string()),
        }
    }

    fn wrong(&self, wrong: &CertificateError) -> ProbeError {
        match wrong {
            CertificateError::ExpiredContext { not_after, .. } => {
                ProbeError::Expired(Some(system_time(*not_after)))
            }
            CertificateError::Expired => ProbeError::Expired(None),
            CertificateError::NotValidForName => ProbeError::Name {
                asked: self.name.to_str().into_owned(),
                valid_for: Vec::new(),
            },
            CertificateError::NotValidForNameContext { presented, .. } => ProbeError::Name {
                asked: self.name.to_str().into_owned(),
                valid_for: presented.iter().map(|name| bare(name)).collect(),
            },
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                ProbeError::Untrusted("nobody whom this machine trusts has signed it".to_owned())
            }
            other => ProbeError::Untrusted(other.to_string()),
        }
    }

    /// When the certificate ends, if that is soon: it is verified once more,
    /// as on a later day.
    fn ends_soon(&self, stream: &TlsStream<TcpStream>) -> Option<SystemTime> {
        let [certificate, chain @ ..] = stream.get_ref().1.peer_certificates()? else {
            return None;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let later = UnixTime::since_unix_epoch(now + SOON);
        let then = self
            .trust
            .verify_server_cert(certificate, chain, &self.name, &[], later);
        match then {
            Err(Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after, ..
            })) => Some(system_time(not_after)),
            _ => None,
        }
    }
}

fn system_time(time: UnixTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(time.as_secs())
}

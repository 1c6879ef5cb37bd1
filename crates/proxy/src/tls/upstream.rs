//! TLS to a service.
//!
//! Owns what we offer it, and what a handshake that fails says of it.

use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use murphy_registry::Organic;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error};
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;

use super::door::Offered;
use super::files::{self, TlsError, TlsFiles};
use super::provider;
use super::secured::Secured;
use super::trust::Trust;
use crate::connect::{Protocol, Tcp, Upstream};
use crate::stream::Stream;

/// How TLS is spoken to a service.
#[derive(Clone)]
pub struct TlsUpstream {
    pub(super) config: ClientConfig,
    pub(super) trust: Arc<Trust>,
    pub(super) name: ServerName<'static>,
    /// What requests must name as their host.
    authority: String,
}

impl TlsUpstream {
    /// TLS to the service at `host:port`, or `host` for port 443.
    pub fn new(address: &str, files: &TlsFiles) -> Result<Self, TlsError> {
        let authority = address.strip_suffix(":443").unwrap_or(address);
        let name = match &files.server_name {
            Some(name) => name.as_str(),
            None => host(address),
        };
        let server_name = ServerName::try_from(name.to_owned());
        let trust = Trust::new(files)?;
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider has the suites of both versions")
            .dangerous()
            .with_custom_certificate_verifier(trust.clone());
        let config = match &files.client {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = files::certificates(certificate)?;
                let secret = files::key(key)?;
                let config = config.with_client_auth_cert(chain, secret);
                config.map_err(|error| TlsError::Unfit {
                    certificate: certificate.clone(),
                    key: key.clone(),
                    why: unfit(&error),
                })?
            }
        };
        Ok(TlsUpstream {
            config,
            trust,
            name: server_name.map_err(|_| TlsError::BadName(name.to_owned()))?,
            authority: authority.to_owned(),
        })
    }

    /// What requests must name as their host.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

// Without the configuration, which holds a key.
impl fmt::Debug for TlsUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TlsUpstream({})", self.authority)
    }
}

fn host(address: &str) -> &str {
    let has_port = |port: &str| port.parse::<u16>().is_ok();
    let host = match address.rsplit_once(':') {
        Some((host, port)) if has_port(port) => host,
        _ => address,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

fn unfit(error: &Error) -> String {
    match error {
        Error::InconsistentKeys(_) => "it is another certificate's".to_owned(),
        other => other.to_string(),
    }
}

/// A service that listens on a TCP port and speaks TLS there.
pub(crate) struct Tls {
    tcp: Tcp,
    tls: TlsUpstream,
    /// What it speaks, once somebody wanted to know.
    offered: OnceCell<Offered>,
    http1: TlsConnector,
    http2: TlsConnector,
}

impl Tls {
    /// The service at `host:port`.
    pub(crate) fn new(address: String, tls: &TlsUpstream) -> Self {
        let connector = |protocol: &[u8]| {
            let mut config = tls.config.clone();
            config.alpn_protocols = vec![protocol.to_vec()];
            TlsConnector::from(Arc::new(config))
        };
        Tls {
            tcp: Tcp(address),
            tls: tls.clone(),
            offered: OnceCell::new(),
            http1: connector(b"http/1.1"),
            http2: connector(b"h2"),
        }
    }
}

impl Upstream for Tls {
    /// What is offered is what the caller speaks: requests are passed on in
    /// the protocol they came in.
    fn connect(&self, protocol: Protocol) -> BoxFuture<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = self.tcp.connect(protocol).await?;
            let connector = match protocol {
                Protocol::Http1 => &self.http1,
                Protocol::Http2 => &self.http2,
            };
            let stream = connector.connect(self.tls.name.clone(), stream).await?;
            Ok(Box::new(Secured::new(stream)) as _)
        })
    }

    fn offered(&self) -> BoxFuture<'_, Offered> {
        let ask = || async {
            match self.tls.probe(&self.tcp.0).await {
                Ok(probed) if probed.http2 => Offered::Both,
                Ok(_) => Offered::Http1,
                // Its callers are told by what comes of their requests.
                Err(_) => Offered::RatherHttp1,
            }
        };
        Box::pin(async move { *self.offered.get_or_init(ask).await })
    }
}

/// What an error says of the service, if it is one of TLS.
pub(crate) fn why(error: &io::Error) -> Option<Organic> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match error {
        Error::InvalidCertificate(wrong) => match wrong {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Organic::CertificateExpired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Organic::CertificateName
            }
            _ => Organic::CertificateUntrusted,
        },
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            Organic::ClientCertificateWanted
        }
        _ => Organic::NoTls,
    })
}

//! Where services can be reached.

use std::collections::BTreeMap;

/// Where a service can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its host, without the brackets of an IPv6 address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether TLS is spoken there.
    pub secure: bool,
}

impl Place {
    /// Reads `host:port`.
    pub fn parse(address: &str) -> Option<Self> {
        let (host, port) = address.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().ok()?;
        (!host.is_empty()).then(|| Place {
            host: host.to_owned(),
            port,
            secure: false,
        })
    }

    /// The same with TLS.
    pub fn over_tls(self) -> Self {
        Place {
            secure: true,
            ..self
        }
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        let Place { host, port, .. } = self;
        match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        }
    }

    /// `http://host:port`, or `https://`.
    pub fn url(&self) -> String {
        let scheme = match self.secure {
            true => "https",
            false => "http",
        };
        format!("{scheme}://{}", self.address())
    }

    /// One of [`FIELDS`].
    pub fn field(&self, field: &str) -> String {
        match field {
            "url" => self.url(),
            "address" => self.address(),
            "host" => self.host.clone(),
            _ => self.port.to_string(),
        }
    }
}

impl From<std::net::SocketAddr> for Place {
    fn from(address: std::net::SocketAddr) -> Self {
        Place {
            host: address.ip().to_string(),
            port: address.port(),
            secure: false,
        }
    }
}

/// Where each service can be reached, as one of them sees it.
pub type Places = BTreeMap<String, Place>;

/// What of a place a template can ask for.
pub const FIELDS: [&str; 4] = ["url", "address", "host", "port"];

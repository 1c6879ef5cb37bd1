//! Connecting to a service.
//!
//! Owns how a service is reached, how long that may take, and what a failure
//! to do so is called. What is then said on the connection is for the engines.

use std::io::{self, ErrorKind};

use futures_util::future::BoxFuture;
use murphy_registry::Organic;
use tokio::net::TcpStream;

use crate::destination::Destination;
use crate::stream::Stream;
use crate::tls::{self, Offered};

/// What is to be spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// How a service is reached.
pub(crate) trait Upstream: Send + Sync {
    /// A fresh connection to it.
    fn connect(&self, protocol: Protocol) -> BoxFuture<'_, io::Result<Box<dyn Stream>>>;

    /// What a caller is offered who wants to agree on a protocol.
    fn offered(&self) -> BoxFuture<'_, Offered> {
        Box::pin(std::future::ready(Offered::RatherHttp1))
    }
}

/// A service that listens on a TCP port, `host:port`.
pub(crate) struct Tcp(pub(crate) String);

impl Upstream for Tcp {
    fn connect(&self, _: Protocol) -> BoxFuture<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async {
            let stream = TcpStream::connect(&self.0).await?;
            // Requests are written whole: waiting for more to send with them
            // only costs time.
            let _ = stream.set_nodelay(true);
            Ok(Box::new(stream) as _)
        })
    }
}

/// A fresh connection to the service.
pub(crate) async fn connect(
    destination: &Destination,
    protocol: Protocol,
) -> Result<Box<dyn Stream>, Organic> {
    let connecting = destination.upstream.connect(protocol);
    match tokio::time::timeout(destination.settings.connect_timeout, connecting).await {
        Err(_) => Err(Organic::ConnectTimedOut),
        Ok(connected) => connected.map_err(|error| organic(&error)),
    }
}

fn organic(error: &io::Error) -> Organic {
    if let Some(organic) = tls::why(error) {
        return organic;
    }
    match error.kind() {
        ErrorKind::ConnectionRefused => Organic::Refused,
        ErrorKind::TimedOut => Organic::ConnectTimedOut,
        ErrorKind::ConnectionReset => Organic::Reset,
        ErrorKind::NotConnected => Organic::NotStarted,
        _ => Organic::Unreachable,
    }
}

//! Connecting to a service.

use std::io::{self, ErrorKind};

use murphy_registry::Organic;
use tokio::net::TcpStream;

use crate::destination::Destination;

/// A fresh connection to the service.
pub(crate) async fn connect(destination: &Destination) -> Result<TcpStream, Organic> {
    let connecting = TcpStream::connect(&*destination.upstream);
    match tokio::time::timeout(destination.settings.connect_timeout, connecting).await {
        Err(_) => Err(Organic::ConnectTimedOut),
        Ok(Err(error)) => Err(organic(&error)),
        Ok(Ok(stream)) => {
            // Requests are written whole: waiting for more to send with them
            // only costs time.
            let _ = stream.set_nodelay(true);
            Ok(stream)
        }
    }
}

fn organic(error: &io::Error) -> Organic {
    match error.kind() {
        ErrorKind::ConnectionRefused => Organic::Refused,
        ErrorKind::TimedOut => Organic::ConnectTimedOut,
        ErrorKind::ConnectionReset => Organic::Reset,
        _ => Organic::Unreachable,
    }
}

//! `Upgrade: h2c`: a caller that offers to go on in HTTP/2.
//!
//! Owns the decision. Passed on as it is, the upgrade would turn the
//! connection into a tunnel and hide every later call; so it is accepted here
//! if the service speaks HTTP/2 at all, and otherwise not passed on.

use bytes::Bytes;

use super::exchange::H1;
use crate::exchange::{Exchange, Gone, Reading};
use crate::h2;
use crate::headers::Headers;

/// Headers that speak of this connection, and must not go on in HTTP/2.
const OF_THE_CONNECTION: [&str; 7] = [
    "connection",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// The request as it goes on in HTTP/2; `None` if it stays as it is, without
/// its offer.
pub(super) async fn accept(exchange: &mut H1<'_>) -> Result<Option<h2::Upgraded>, Gone> {
    if h2::upstream_speaks_it(exchange.listener).await {
        let body = exchange.read_body(reading(exchange)).await?;
        if !body.cut {
            return Ok(Some(upgraded(exchange, body.bytes)));
        }
    }
    let head = exchange.headers_mut();
    head.remove("http2-settings");
    head.remove_token("upgrade", "h2c");
    head.remove_token("connection", "http2-settings");
    if head.first("upgrade").is_none() {
        head.remove_token("connection", "upgrade");
    }
    Ok(None)
}

fn reading(exchange: &H1<'_>) -> Reading {
    let settings = &exchange.listener.settings;
    Reading {
        limit: settings.body_limit,
        patience: settings.body_patience,
        one_message: false,
    }
}

fn upgraded(exchange: &H1<'_>, body: Bytes) -> h2::Upgraded {
    let head = exchange.headers();
    let headers = head.lines().filter_map(|(name, value)| {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let passes = !OF_THE_CONNECTION.contains(&name.as_str());
        passes.then(|| (name, Bytes::copy_from_slice(value)))
    });
    h2::Upgraded {
        method: head.method().to_owned(),
        target: head.target().to_owned(),
        host: head.text("host").unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body,
    }
}

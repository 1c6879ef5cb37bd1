//! Whether a subject does what it is measured for.
//!
//! Owns one request per protocol whose whole answer is compared, trailers
//! included, because the load generator sees the status only.

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body_util::BodyExt;

use super::body::Repeated;
use super::client::Client;
use super::protocol::{Doors, GRPC_MESSAGE, Protocol};
use super::tls::Certificate;
use super::upstream::ANSWER;

/// What the caller is to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The upstream's answer.
    Answer,
    /// A fault: status 503 over HTTP, the code UNAVAILABLE over gRPC.
    Fault,
}

impl Expected {
    /// The HTTP status that goes with it.
    pub fn status(self, protocol: Protocol) -> i32 {
        match (self, protocol) {
            (Expected::Fault, Protocol::Http1 | Protocol::Http2) => 503,
            (Expected::Fault, Protocol::Grpc) | (Expected::Answer, _) => 200,
        }
    }

    fn grpc_status(self) -> &'static str {
        match self {
            Expected::Answer => "0",
            Expected::Fault => "14",
        }
    }
}

/// Sends one request and compares the whole answer.
pub async fn answers(
    doors: &Doors,
    tls: Option<&Certificate>,
    protocol: Protocol,
    headers: &[String],
    expected: Expected,
) -> Result<()> {
    let mut client = Client::connect_with(protocol, doors.of(protocol), tls).await?;
    let response = client.send(request(&client, protocol, headers)?).await?;
    let (head, body) = response.into_parts();
    let body = body.collect().await.context("the answer broke off")?;
    let trailers = body.trailers().cloned().unwrap_or_default();
    let seen = i32::from(head.status.as_u16());
    let status = expected.status(protocol);
    ensure!(seen == status, "status {seen} instead of {status}");
    match protocol {
        Protocol::Grpc => compare_grpc(&head.headers, &trailers, body.to_bytes(), expected),
        Protocol::Http1 | Protocol::Http2 => compare_http(body.to_bytes(), expected),
    }
}

fn request(
    client: &Client,
    protocol: Protocol,
    headers: &[String],
) -> Result<http::Request<Repeated>> {
    let (method, body) = match protocol {
        Protocol::Http1 | Protocol::Http2 => (Method::GET, Repeated::empty()),
        Protocol::Grpc => (
            Method::POST,
            Repeated::once(Bytes::from_static(GRPC_MESSAGE)),
        ),
    };
    let mut request = client.request(method, protocol.path());
    if protocol == Protocol::Grpc {
        request = request
            .header("content-type", "application/grpc")
            .header("te", "trailers");
    }
    for header in headers {
        let (name, value) = header.split_once(": ").context("`name: value`")?;
        request = request.header(name, value);
    }
    Ok(request.body(body)?)
}

fn compare_http(body: Bytes, expected: Expected) -> Result<()> {
    let from_upstream = body == ANSWER.as_bytes();
    ensure!(
        from_upstream == (expected == Expected::Answer),
        "an unexpected body: {}",
        String::from_utf8_lossy(&body)
    );
    Ok(())
}

fn compare_grpc(
    headers: &HeaderMap,
    trailers: &HeaderMap,
    body: Bytes,
    expected: Expected,
) -> Result<()> {
    // An answer without a message has its status among the headers.
    let status = trailers.get("grpc-status").or(headers.get("grpc-status"));
    let Some(status) = status else {
        bail!("no grpc-status, neither in trailers nor in headers");
    };
    ensure!(
        status == expected.grpc_status(),
        "grpc-status {status:?} instead of {}",
        expected.grpc_status()
    );
    ensure!(
        (body == GRPC_MESSAGE) == (expected == Expected::Answer),
        "an unexpected message: {body:?}"
    );
    Ok(())
}

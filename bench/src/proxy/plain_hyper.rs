//! A plain reverse proxy on hyper: the yardstick.
//!
//! Owns the least that is honest: a pooled client, hop-by-hop headers removed,
//! 502 when the upstream fails, bodies streamed. What Murphy costs beyond this
//! is Murphy's own doing.

use std::convert::Infallible;

use anyhow::Result;
use bytes::Bytes;
use http::header::{CONNECTION, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{Either, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};

use super::protocol::Doors;
use super::role::{self, Role};
use super::upstream::{MAX_STREAMS, accept};

type Answer = Response<Either<Incoming, Empty<Bytes>>>;

/// Starts one in a process of its own.
pub async fn start(threads: usize, upstream: &Doors) -> Result<Role> {
    let (threads, upstream) = (threads.to_string(), upstream.to_string());
    let arguments = [
        "plain-hyper",
        "--threads",
        &threads,
        "--upstream",
        &upstream,
    ];
    Role::start("plain hyper", &arguments).await
}

/// Is the proxy, until standard input ends.
pub async fn serve(upstream: Doors) -> Result<()> {
    let h1 = TcpListener::bind("127.0.0.1:0").await?;
    let h2 = TcpListener::bind("127.0.0.1:0").await?;
    role::announce(&Doors {
        h1: h1.local_addr()?,
        h2: h2.local_addr()?,
    });
    let to_h1 = Forward::new(&upstream.h1.to_string(), false)?;
    let to_h2 = Forward::new(&upstream.h2.to_string(), true)?;
    tokio::try_join!(
        accept(h1, |stream| to_h1.clone().serve_h1(stream)),
        accept(h2, |stream| to_h2.clone().serve_h2(stream)),
    )?;
    Ok(())
}

#[derive(Clone)]
struct Forward {
    client: Client<HttpConnector, Incoming>,
    authority: Authority,
}

impl Forward {
    fn new(authority: &str, http2: bool) -> Result<Self> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .http2_only(http2)
            .build(connector);
        Ok(Self {
            client,
            authority: authority.parse()?,
        })
    }

    async fn serve_h1(self, stream: TcpStream) {
        // A connection that breaks is the other side's affair.
        let _ = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service_fn(|r| self.forward(r)))
            .await;
    }

    async fn serve_h2(self, stream: TcpStream) {
        let service = service_fn(move |request| {
            let forward = self.clone();
            async move { forward.forward(request).await }
        });
        let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(MAX_STREAMS)
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Result<Answer, Infallible> {
        *request.uri_mut() = self.uri(request.uri().path_and_query());
        remove_hop_by_hop(request.headers_mut());
        Ok(match self.client.request(request).await {
            Ok(mut response) => {
                remove_hop_by_hop(response.headers_mut());
                response.map(Either::Left)
            }
            Err(_) => bad_gateway(),
        })
    }

    fn uri(&self, path: Option<&PathAndQuery>) -> Uri {
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(Scheme::HTTP);
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path.cloned().unwrap_or(PathAndQuery::from_static("/")));
        Uri::from_parts(parts).expect("all three parts are there")
    }
}

/// `te: trailers` stays: it is allowed on HTTP/2, and gRPC needs it.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
}

fn bad_gateway() -> Answer {
    let mut response = Response::new(Either::Right(Empty::new()));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}

//! The server behind every subject.
//!
//! Owns the answers: a small JSON document, a unary gRPC answer with trailers,
//! a body of any length, and a drain that says how much it got. It is as
//! plain as hyper allows, so that the proxy in front is what is measured.

use std::convert::Infallible;
use std::sync::LazyLock;

use anyhow::Result;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use super::body::Repeated;
use super::protocol::{Doors, GRPC, GRPC_MESSAGE, Protocol, SMALL};
use super::role::{self, Role};
use super::tls::Certificate;

/// The small answer: 100 bytes.
pub const ANSWER: &str = "{\"service\":\"upstream\",\"status\":\"ok\",\
                          \"items\":[\"one\",\"two\",\"three\",\"four\"],\
                          \"total\":12.50,\"more\":false}";

/// Followed by a number, the path answered with that many bytes.
pub const BYTES: &str = "/bytes/";

/// The path that takes any body and answers with its length.
pub const DRAIN: &str = "/drain";

/// Starts an upstream in a process of its own.
pub async fn start(threads: usize, tls: Option<&Certificate>) -> Result<Role> {
    let threads = threads.to_string();
    let mut arguments = vec!["upstream", "--threads", &threads];
    let folder = tls.map(|tls| tls.folder().display().to_string());
    arguments.extend(folder.iter().flat_map(|folder| ["--tls", folder]));
    Role::start("upstream", &arguments).await
}

/// Is the upstream, until standard input ends.
pub async fn serve(tls: Option<Certificate>) -> Result<()> {
    let h1 = TcpListener::bind("127.0.0.1:0").await?;
    let h2 = TcpListener::bind("127.0.0.1:0").await?;
    role::announce(&Doors {
        h1: h1.local_addr()?,
        h2: h2.local_addr()?,
    });
    let Some(tls) = tls else {
        tokio::try_join!(accept(h1, serve_h1), accept(h2, serve_h2))?;
        return Ok(());
    };
    let over_h1 = tls.acceptor(Protocol::Http1)?;
    let over_h2 = tls.acceptor(Protocol::Http2)?;
    tokio::try_join!(
        accept(h1, |stream| {
            let tls = over_h1.clone();
            async move {
                if let Ok(stream) = tls.accept(stream).await {
                    serve_h1(stream).await;
                }
            }
        }),
        accept(h2, |stream| {
            let tls = over_h2.clone();
            async move {
                if let Ok(stream) = tls.accept(stream).await {
                    serve_h2(stream).await;
                }
            }
        }),
    )?;
    Ok(())
}

/// Serves each connection in a task of its own.
pub async fn accept<F>(listener: TcpListener, serve: impl Fn(TcpStream) -> F) -> Result<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve(stream));
    }
}

async fn serve_h1(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
    // A connection that breaks is the other side's affair.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await;
}

async fn serve_h2(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
    let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(MAX_STREAMS)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await;
}

/// Enough for all connections of the load generator to share one upstream
/// connection, as some subjects do.
pub const MAX_STREAMS: u32 = 1024;

async fn answer(request: Request<Incoming>) -> Result<Response<Repeated>, Infallible> {
    let path = request.uri().path();
    Ok(match path {
        SMALL => json(Bytes::from_static(ANSWER.as_bytes())),
        GRPC => match read(request).await {
            Some(_) => grpc(),
            None => status(StatusCode::BAD_REQUEST),
        },
        DRAIN if request.method() == Method::POST => match read(request).await {
            Some(length) => json(length.to_string().into()),
            None => status(StatusCode::BAD_REQUEST),
        },
        _ => match path.strip_prefix(BYTES).map(str::parse) {
            Some(Ok(length)) => Response::new(Repeated::zeros(length)),
            _ => status(StatusCode::NOT_FOUND),
        },
    })
}

fn json(body: Bytes) -> Response<Repeated> {
    let mut response = Response::new(Repeated::once(body));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn status(status: StatusCode) -> Response<Repeated> {
    let mut response = Response::new(Repeated::empty());
    *response.status_mut() = status;
    response
}

fn grpc() -> Response<Repeated> {
    static TRAILERS: LazyLock<HeaderMap> =
        LazyLock::new(|| HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]));
    const GRPC_STATUS: http::HeaderName = http::HeaderName::from_static("grpc-status");
    let body = Repeated::once(Bytes::from_static(GRPC_MESSAGE)).followed_by(TRAILERS.clone());
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Reads the body to its end; its length, unless it broke off.
pub async fn read(request: Request<Incoming>) -> Option<u64> {
    length(request.into_body()).await.ok()
}

/// The length of a body, read to its end without keeping it.
pub async fn length(mut body: Incoming) -> hyper::Result<u64> {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        length += frame?.data_ref().map_or(0, |data| data.len() as u64);
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_answer_has_100_bytes() {
        assert_eq!(ANSWER.len(), 100);
    }
}

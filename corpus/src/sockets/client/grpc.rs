//! A gRPC client: tonic over HTTP/2 connections shared by all calls.
//!
//! tonic reports every failure as a status, also where the wire brought none.
//! Owns telling them apart: a status that was sent, an HTTP answer in place of
//! one, a message nobody can read, and an answer that never came or broke off.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, Request, Response, StatusCode, Uri, header};
use hyper::body::{Body as HttpBody, Frame, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use murphy_model::{GrpcCode, Interface};
use tonic::Code;
use tonic::body::Body;
use tonic::metadata::MetadataMap;
use tonic_prost::ProstCodec;
use tower_service::Service;

use super::Lost;
use crate::net::BoxFuture;
use crate::wire::code_of_http;
use crate::wire::grpc::{Ask, Told, unreadable};

/// Makes unary calls.
pub(in crate::sockets) struct GrpcClient(Client<HttpConnector, Body>);

impl Default for GrpcClient {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let mut builder = Client::builder(TokioExecutor::new());
        GrpcClient(builder.http2_only(true).build(connector))
    }
}

/// What came of a call: a message, or a code with a text.
type Outcome = Result<Told, (GrpcCode, String)>;

impl GrpcClient {
    pub(in crate::sockets) async fn call(
        &self,
        to: SocketAddr,
        method: &Interface,
        headers: HeaderMap,
        ask: Ask,
    ) -> Result<Outcome, Lost> {
        let channel = Channel {
            client: self.0.clone(),
            noted: Arc::default(),
        };
        let noted = channel.noted.clone();
        let origin = Uri::builder()
            .scheme("http")
            .authority(to.to_string())
            .path_and_query("/")
            .build()
            .expect("an address is an authority");
        let mut grpc = tonic::client::Grpc::with_origin(channel, origin);
        let mut request = tonic::Request::new(ask);
        *request.metadata_mut() = MetadataMap::from_headers(headers);
        let codec = ProstCodec::<Ask, Told>::default();
        let answer = grpc.unary(request, path(method), codec).await;
        let noted = noted.lock().expect("no panic while noting").clone();
        match answer {
            _ if noted.broken => Err(Lost),
            Ok(told) => Ok(Ok(told.into_inner())),
            Err(status) => Ok(Err(noted.meaning(&status))),
        }
    }
}

fn path(method: &Interface) -> PathAndQuery {
    let Interface::Grpc { service, method } = method else {
        panic!("a system that speaks gRPC names gRPC methods");
    };
    let path = format!("/{service}/{method}");
    path.parse().expect("names of methods are plain words")
}

/// What the wire brought, as opposed to what tonic makes of it.
#[derive(Clone, Debug, Default)]
struct Noted {
    /// The HTTP status, of an answer that is none of gRPC.
    not_grpc: Option<StatusCode>,
    /// Whether a gRPC status came.
    status: bool,
    /// Whether the answer did not come, or broke off before its status.
    broken: bool,
}

impl Noted {
    fn meaning(&self, status: &tonic::Status) -> (GrpcCode, String) {
        let code = match self.not_grpc {
            Some(http) => code_of_http(http.as_u16()),
            None if self.status => code(status.code()),
            // The answer is all right so far, and tonic still complains.
            None => unreadable(),
        };
        (code, status.message().to_owned())
    }
}

fn code(code: Code) -> GrpcCode {
    let number = u8::try_from(i32::from(code)).ok();
    number.and_then(GrpcCode::new).unwrap_or_else(unreadable)
}

/// One call's way to the wire, noting what happens on it.
struct Channel {
    client: Client<HttpConnector, Body>,
    noted: Arc<Mutex<Noted>>,
}

impl Service<Request<Body>> for Channel {
    type Response = Response<Body>;
    type Error = hyper_util::client::legacy::Error;
    type Future = BoxFuture<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answering = self.client.request(request);
        let noted = self.noted.clone();
        Box::pin(async move {
            let answer = answering.await.inspect_err(|_| {
                noted.lock().expect("no panic while noting").broken = true;
            })?;
            Ok(note(answer, noted))
        })
    }
}

/// Notes what kind of answer begins, and watches over the rest of it.
fn note(answer: Response<Incoming>, noted: Arc<Mutex<Noted>>) -> Response<Body> {
    let (head, body) = answer.into_parts();
    let kind = head.headers.get(header::CONTENT_TYPE);
    let is_grpc = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    let mut notes = noted.lock().expect("no panic while noting");
    notes.status = head.headers.contains_key("grpc-status");
    if !is_grpc {
        // The page of a proxy or a server that speaks HTTP only. tonic would
        // try to read it as a message.
        notes.not_grpc = Some(head.status);
        drop(notes);
        return Response::from_parts(head, Body::empty());
    }
    drop(notes);
    Response::from_parts(head, Body::new(Watched { body, noted }))
}

/// A body that notes its own end.
struct Watched {
    body: Incoming,
    noted: Arc<Mutex<Noted>>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let next = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        let mut noted = self.noted.lock().expect("no panic while noting");
        match &next {
            Some(Ok(frame)) => {
                let trailers = frame.trailers_ref();
                noted.status |= trailers.is_some_and(|t| t.contains_key("grpc-status"));
            }
            Some(Err(_)) => noted.broken = true,
            // hyper takes some resets for an end; a status is still missing.
            None => noted.broken |= !noted.status,
        }
        drop(noted);
        Poll::Ready(next)
    }
}

//! Requests and answers of handlers as HTTP messages, in both directions.

use ::http::header::{CONTENT_TYPE, HeaderValue};
use ::http::{HeaderMap, StatusCode, request};
use bytes::Bytes;
use http_body_util::Full;

use crate::net::{Body, Request, Response};
use murphy_model::Interface;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PAGE: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// A request as it is sent; `None` where a handler asked for something that
/// HTTP has no words for.
pub(super) fn outgoing(
    to: &str,
    request: Request,
    headers: HeaderMap,
) -> Option<::http::Request<Full<Bytes>>> {
    let target = match request.query.as_str() {
        "" => request.path().to_owned(),
        query => format!("{}?{query}", request.path()),
    };
    let builder = ::http::Request::builder()
        .method(request.method())
        .uri(target)
        .header(::http::header::HOST, to);
    let is_empty = request.body.is_empty();
    let mut outgoing = builder.body(Full::from(request.body)).ok()?;
    outgoing.headers_mut().extend(headers);
    if !is_empty {
        outgoing.headers_mut().insert(CONTENT_TYPE, JSON);
    }
    Some(outgoing)
}

/// An answer as a handler receives it.
pub(super) fn incoming(answer: ::http::Response<Bytes>) -> Response {
    let is_json = answer.headers().get(CONTENT_TYPE) == Some(&JSON);
    let bytes = answer.body();
    let json = is_json
        .then(|| serde_json::from_slice(bytes).ok())
        .flatten();
    let body = match json {
        Some(json) => Body::Json(json),
        None if bytes.is_empty() => Body::Empty,
        None => Body::Text(String::from_utf8_lossy(bytes).into_owned()),
    };
    Response {
        status: answer.status().as_u16(),
        body,
    }
}

/// A request as a handler receives it.
pub(super) fn asked(head: &request::Parts, body: &Bytes) -> Request {
    Request {
        interface: Interface::http(head.method.as_str(), head.uri.path()),
        query: head.uri.query().unwrap_or_default().to_owned(),
        body: body.to_vec(),
    }
}

/// An answer as it is sent.
pub(super) fn answer(response: Response) -> ::http::Response<Full<Bytes>> {
    let (kind, body) = match response.body {
        Body::Empty => (None, Bytes::new()),
        Body::Json(json) => (Some(JSON), Bytes::from(json.to_string())),
        Body::Text(text) if text.starts_with('<') => (Some(PAGE), Bytes::from(text)),
        Body::Text(text) => (Some(TEXT), Bytes::from(text)),
    };
    let mut answer = ::http::Response::new(Full::new(body));
    *answer.status_mut() = StatusCode::from_u16(response.status)
        .expect("handlers answer with statuses that HTTP knows");
    if let Some(kind) = kind {
        answer.headers_mut().insert(CONTENT_TYPE, kind);
    }
    answer
}

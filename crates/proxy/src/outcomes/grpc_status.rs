//! A gRPC status in place of the callee's answer, sent as trailers only.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use murphy_model::{GrpcCode, Mode, Reply};

use super::status::marker;
use crate::call_guard::CallGuard;
use crate::destination::Destination;
use crate::exchange::{Canned, Exchange};
use crate::grpc;

pub(super) async fn play<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    code: GrpcCode,
    mode: Mode,
) {
    let mut answer = trailers_only(code, "Injected fault");
    answer.headers.extend(marker(destination, mode));
    guard.landed();
    guard.replied(Reply::Grpc(code));
    let _ = exchange.respond(answer).await;
}

/// An answer of nothing but a status: one block of headers that ends it.
pub(super) fn trailers_only(code: GrpcCode, message: &str) -> Canned {
    let message = HeaderValue::try_from(grpc::encode_message(message));
    Canned {
        status: 200,
        headers: vec![
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/grpc"),
            ),
            (
                HeaderName::from_static("grpc-status"),
                HeaderValue::from(u16::from(code.number())),
            ),
            (
                HeaderName::from_static("grpc-message"),
                message.expect("percent-encoded text is plain ASCII"),
            ),
        ],
        body: Bytes::new(),
    }
}

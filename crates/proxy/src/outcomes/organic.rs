//! What a caller gets when the callee failed by itself: nothing is injected,
//! and the answer says so.

use bytes::Bytes;
use http::{HeaderValue, header};
use murphy_model::{GrpcCode, Reply};
use murphy_registry::Organic;

use super::grpc_status::trailers_only;
use crate::exchange::Canned;

/// The answer for a callee that gave none, and how it reads.
pub(crate) fn organic(organic: Organic, grpc: bool) -> (Canned, Reply) {
    let text = match organic {
        Organic::Refused => "the service refused the connection",
        Organic::NotStarted => {
            "no test has started the service yet: `POST /v1/services` says where it listens"
        }
        Organic::Unreachable => "the service could not be reached",
        Organic::ConnectTimedOut => "connecting to the service timed out",
        Organic::Reset => "the service closed the connection before it answered",
        Organic::BrokenAnswer => "the service broke off its answer",
        Organic::NotHttp => "the service sent something that is no answer",
        Organic::NoTls => "the TLS handshake with the service failed",
        Organic::CertificateExpired => "the certificate of the service has expired",
        Organic::CertificateName => "the certificate of the service is for another name",
        Organic::CertificateUntrusted => "the certificate of the service is not trusted",
        Organic::ClientCertificateWanted => "the service demands a client certificate",
    };
    if grpc {
        let code = GrpcCode::named("UNAVAILABLE").expect("a gRPC code");
        return (trailers_only(code, text), Reply::Grpc(code));
    }
    let status = match organic {
        Organic::ConnectTimedOut => 504,
        _ => 502,
    };
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    let answer = Canned {
        status,
        headers: vec![(header::CONTENT_TYPE, plain)],
        body: Bytes::from_static(text.as_bytes()),
    };
    (answer, Reply::Status(status))
}

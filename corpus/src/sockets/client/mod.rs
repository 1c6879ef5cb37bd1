//! Real clients: how a call leaves a service.
//!
//! One set per served system, shared by all its services as one process's
//! clients would be. Owns connections; what is sent and what is made of the
//! answer is decided in `net`.

mod grpc;
mod http1;

pub(super) use grpc::GrpcClient;
pub(super) use http1::HttpClient;

/// Both clients.
#[derive(Default)]
pub(super) struct Clients {
    pub(super) http: HttpClient,
    pub(super) grpc: GrpcClient,
}

/// No answer, or only a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost;

//! What the fuzz tests need to reach and nobody else does: readers of bytes
//! from the wire that are private otherwise. No part of the interface.

use murphy_model::{Interface, Reply};

use crate::grpc;

/// Whether a content type is gRPC.
pub fn is_grpc(content_type: &[u8]) -> bool {
    grpc::is_grpc(content_type)
}

/// The interface behind a gRPC path.
pub fn grpc_interface(path: &str) -> Interface {
    grpc::interface(path)
}

/// What a caller makes of a `grpc-status`.
pub fn grpc_reply(status: Option<&[u8]>) -> Reply {
    grpc::reply(status)
}

/// The length of the first gRPC message with its prefix.
pub fn first_grpc_message(body: &[u8]) -> Option<usize> {
    grpc::first_message(body)
}

/// A message for `grpc-message`.
pub fn encode_grpc_message(text: &str) -> String {
    grpc::encode_message(text)
}

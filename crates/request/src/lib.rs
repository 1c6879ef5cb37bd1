//! Requests that are declared instead of programmed, over HTTP/1.1 and gRPC,
//! and what must hold of their answers.
//!
//! Owns the declaration ([`RequestSpec`]), the sending ([`Requests`], and the
//! [`Client`] that Murphy's own questions to services share) and the comparison
//! ([`is_right_under_fault`] among it). Which scenario or step they belong to,
//! and what it is told of its execution, is the system's.

mod client;
mod expect;
mod grpc;
pub mod json_path;
mod place;
mod reflection;
mod requests;
mod spec;

pub use client::{Answer, Client, Lost};
pub use expect::{Seen, is_right_under_fault};
pub use place::{FIELDS, Place, Places};
pub use reflection::{Schemas, grpc_methods};
pub use requests::{Around, Requests};
pub use spec::{Expectations, RequestCall, RequestSpec, UnderFault};

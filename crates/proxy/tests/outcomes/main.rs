//! Every outcome on a real socket, over HTTP/1.1, HTTP/2 and gRPC.
//!
//! One module per outcome. Each test sends one call through a proxy to a real
//! callee and looks at three things: what the caller sees on the wire, how
//! often the callee was reached, and what the registry recorded. Without the
//! injection the callee's own answer would be seen.

mod close;
mod delay;
mod duplicate;
mod grpc_status;
mod hang;
mod injector;
mod malformed;
mod organic;
mod phases;
mod reset;
mod slow;
mod status;
#[path = "../support/mod.rs"]
mod support;
mod triggers;
mod truncate;

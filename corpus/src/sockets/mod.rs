//! The example systems on sockets.
//!
//! Every service of a system is on a loopback port of its own; what its
//! handlers call goes out as real HTTP or gRPC, with the headers an
//! instrumented service would hand on ([`Propagation`]). What stands between
//! the services, and where the scenario enters, is set from outside.
//!
//! Owns real clients and servers, and the pace of time. What the services do
//! is theirs ([`crate::apps`]); what a fault does is the proxy's.

mod client;
mod clock;
mod http;
mod net;
mod propagation;
mod served;
#[cfg(test)]
mod tests;
mod time_scale;

pub use net::Routes;
pub use propagation::Propagation;
pub use served::{Options, ServeError, Served, Source, Witness};
pub use time_scale::TimeScale;

//! The example systems on sockets, behind Murphy's proxies.
//!
//! Every service of a system is on a loopback port of its own; what its
//! handlers call goes out as real HTTP or gRPC, with the headers an
//! instrumented service would hand on ([`Propagation`]). A [`Stage`] adds the
//! proxies and the registry, and runs the scenario under a faultload.
//!
//! Owns real clients and servers, and the pace of time. What the services do
//! is theirs ([`crate::apps`]); what a fault does is the proxy's.

mod bare;
mod client;
mod clock;
mod http;
mod net;
mod paced;
mod propagation;
mod served;
mod stage;
#[cfg(test)]
mod tests;

pub use bare::Bare;
pub use propagation::Propagation;
pub use served::{ServeError, Witness};
pub use stage::{Keep, Options, Stage, StageError};

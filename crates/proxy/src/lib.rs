//! The data plane: proxies that see, name and fail one exact call.
//!
//! A [`Proxy`] has one [`Listener`] in front of each service, and any number
//! of entry listeners, one per worker of a campaign. Traffic of no execution
//! streams through untouched. A call of an execution is reported to the
//! control plane ([`murphy_registry::Control`]), stamped so that what its
//! callee does for it can be recognised ([`carriers`]), and injected if
//! the control plane says so.
//!
//! Owns bytes on wires. Which call is which, and what is to fail, is for the
//! registry; why is for nobody here to know.

mod anybody;
mod body_copy;
mod call;
mod call_guard;
pub mod carriers;
mod coding;
mod connect;
mod destination;
mod exchange;
mod forward;
#[doc(hidden)]
pub mod fuzzing;
mod grpc;
mod h1;
mod h2;
mod headers;
#[cfg(test)]
mod in_memory;
mod interfaces;
mod late;
mod listener_context;
mod outcomes;
mod peer_socket;
mod server;
mod settings;
mod stream;
mod tls;

pub use forward::{Forward, NamedHosts, OtherHosts, is_host};
pub use headers::Headers;
pub use late::LateAddress;
pub use server::{Listener, Proxy, Route, StartError};
pub use settings::{
    CALL_SITE, CallerOfSocket, HEALTH_CHECKS, IDEMPOTENCY_KEY, InjectedAnswer, LIBRARY_HEADERS,
    LOST, MARKER, RAISES, Settings, Sighting, Witness,
};
pub use tls::{
    AUTHORITY_LASTS, Authority, AuthorityError, Client, ClientOfSocket, Door, Hello, ProbeError,
    Probed, Refusal, Refusals, Refuser, TlsError, TlsFiles, TlsUpstream,
};

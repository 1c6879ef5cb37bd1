//! TLS to services, against servers of rustls.

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/authority.rs"]
mod authority;

mod door;
mod faults;
mod files;
mod forward;
mod handshakes;
mod probe;
mod server;
mod upstream;

//! A user's own system, as described in `murphy.toml`: services that run
//! already or are started here, proxies in front of them, and scenarios of
//! every kind.
//!
//! Owns the course of one execution over real sockets. Reading the
//! description is the binary's job; what arrives here makes sense.

pub mod spec;

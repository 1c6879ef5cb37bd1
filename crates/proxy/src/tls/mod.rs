//! TLS below HTTP.
//!
//! Owns what is offered, demanded and said in handshakes, and the streams that
//! come of them. What passes inside is for the engines, who do not know of it.

mod authority;
mod client;
mod door;
mod files;
mod injected;
mod probe;
mod secured;
mod trust;
mod upstream;

pub use authority::{AUTHORITY_LASTS, Authority, AuthorityError};
pub use client::{Client, ClientOfSocket, Hello};
pub use door::{Door, Refusal, Refusals, Refuser};
pub use files::{TlsError, TlsFiles};
pub use probe::{ProbeError, Probed};
pub use upstream::TlsUpstream;

pub(crate) use door::{Offered, is_tls};
pub(crate) use upstream::{Tls, why};

use std::sync::{Arc, LazyLock};

use rustls::crypto::CryptoProvider;

/// The cryptography, named wherever some is needed: a process may have
/// another one as its default, which is no concern of ours.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> =
        LazyLock::new(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    PROVIDER.clone()
}

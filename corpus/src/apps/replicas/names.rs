//! What replicas are called, and where they are asked.
//!
//! Owns the names of all replicas there can be. They are made once for the
//! whole process, since services are called by names that live as long as it.

use std::sync::LazyLock;

/// The most APIs a request calls.
pub(super) const MOST_APIS: u32 = 30;

/// The most replicas an API has.
pub(super) const MOST_REPLICAS: u32 = 8;

/// One API: where its replicas are asked, and what they are called.
pub(super) struct Api {
    /// The path, which all of its replicas share and no other API has.
    pub(super) path: String,
    /// The service that each replica is.
    pub(super) replicas: Vec<&'static str>,
}

static APIS: LazyLock<Vec<Api>> = LazyLock::new(|| (1..=MOST_APIS).map(api).collect());

fn api(number: u32) -> Api {
    let name = |replica| &*Box::leak(format!("a{number:02}-{replica}").into_boxed_str());
    Api {
        path: format!("/a{number:02}"),
        replicas: (1..=MOST_REPLICAS).map(name).collect(),
    }
}

/// The first APIs, as many as asked for.
pub(super) fn first(apis: usize) -> &'static [Api] {
    &APIS[..apis]
}

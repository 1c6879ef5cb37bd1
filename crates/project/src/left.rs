//! What left the system, as far as a run has to say something about it.
//!
//! Owns the words for handshakes that callers refused and for hosts that no
//! service has.

use murphy_system::{RefusedHandshake, RunningSystem};

use crate::messages;

/// How many hosts are named.
const NAMED: usize = 8;

/// Says what callers refused, and which hosts they were refused.
pub fn say(system: &RunningSystem) {
    for refused in system.refused_handshakes() {
        messages::warn(format_args!("{}", about(&refused)));
    }
    let others = system.other_hosts();
    if system.only_named_hosts() && !others.is_empty() {
        messages::note(format_args!(
            "refused, because `[egress] allow = \"named\"` and no service has them among its `hosts`: {}",
            some(others.iter().map(String::as_str))
        ));
    }
}

/// A handshake that was refused, with what to do.
pub fn about(refused: &RefusedHandshake) -> String {
    let who = match &refused.caller {
        Some(caller) => caller.as_str(),
        None => "a caller",
    };
    let RefusedHandshake {
        host, why, times, ..
    } = refused;
    let count = match times {
        1 => String::new(),
        times => format!(" ({times} times)"),
    };
    format!(
        "{who} {why} for {host}{count}\n\
        hint: what Murphy starts is told to trust it (SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, AWS_CA_BUNDLE, NODE_EXTRA_CA_CERTS, GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, a trust store for Java); \
        anything else must trust the file that `murphy ca path` prints. A client that pins certificates cannot be opened: give it `upstream = \"https://…\"` and plain HTTP, or take its host out of `hosts`"
    )
}

/// Some of them, and how many more.
pub fn some<'h>(hosts: impl Iterator<Item = &'h str>) -> String {
    let hosts: Vec<&str> = hosts.collect();
    let shown = hosts[..hosts.len().min(NAMED)].join(", ");
    match hosts.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

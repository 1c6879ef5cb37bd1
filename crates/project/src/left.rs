//! What left the system, as far as a run has to say something about it.
//!
//! Owns the words for handshakes that callers refused and for hosts that no
//! service has.

use murphy_system::{Client, Refusal, RefusedHandshake, Refuser, RunningSystem};

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
    let RefusedHandshake {
        caller,
        refuser,
        times,
    } = refused;
    let Refuser {
        host, why, client, ..
    } = refuser;
    let who = caller.as_deref().unwrap_or("a caller");
    let count = match times {
        1 => String::new(),
        times => format!(" ({times} times)"),
    };
    let Some(client) = client else {
        return format!(
            "{who} {why} for {host}{count}\n\
            hint: what Murphy starts is told to trust it (SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, AWS_CA_BUNDLE, NODE_EXTRA_CA_CERTS, GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, a trust store for Java); \
            anything else must trust the file that `murphy ca path` prints. A client that pins certificates cannot be opened: {INSTEAD}"
        );
    };
    let Client {
        runtime, variable, ..
    } = client;
    if client.is_told {
        return format!(
            "{who} {why} for {host}{count}, though {runtime} was started with {variable}\n\
            hint: either its code names whom to trust, or it pins certificates and cannot be opened: {INSTEAD}. One that runs for longer than the certificate has to be started anew"
        );
    }
    // Some hang up without a word; who was not told can have no other reason.
    let why = match why {
        Refusal::HungUp => Refusal::Untrusted,
        why => *why,
    };
    format!(
        "{who} {why} for {host}{count}: {runtime} wants {variable}\n\
        hint: it was started without {variable}, or with one that does not lead to Murphy's certificate: {}. What Murphy starts is given it; does something in between take it away?",
        where_from(variable)
    )
}

/// The ways for clients that nobody can make trust us.
const INSTEAD: &str =
    "give it `upstream = \"https://…\"` and plain HTTP, or take its host out of `hosts`";

/// What to do about a variable.
fn where_from(variable: &str) -> String {
    match variable {
        "NODE_EXTRA_CA_CERTS" => format!("set {variable} to what `murphy ca path` prints"),
        "JAVA_TOOL_OPTIONS" | "JDK_JAVA_OPTIONS" => format!(
            "let {variable} name a trust store (`-Djavax.net.ssl.trustStore=…`) that has the certificate of `murphy ca path` in it"
        ),
        variable => format!("set {variable} to what `murphy ca export` prints"),
    }
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

//! The way of one request through a proxy.
//!
//! Owns the decision what to do with it: pass it on untouched, record it, or
//! fail it. How that is done on the wire is the protocol engine's business
//! (`Exchange`), how a failure looks is in `outcomes`.

use bytes::Buf;
use murphy_model::{Interface, PayloadHash, Reply};
use murphy_registry::{Arrival, ContextHint, Decision, Origin, Owner, Parent, Unclaimed};

use crate::call_guard::CallGuard;
use crate::carriers::{Context, Stamp};
use crate::destination::Destination;
use crate::exchange::{Abort, Exchange, Failure, Gone, Head, Prefix, Reading};
use crate::headers::Headers;
use crate::settings::HEALTH_CHECKS;
use crate::settings::{CALL_SITE, LIBRARY_HEADERS, RAISES, Sighting};
use crate::{grpc, outcomes};

/// Sees one request through.
pub(crate) async fn handle<E: Exchange>(destination: &Destination, exchange: &mut E) {
    match claim(destination, exchange) {
        None => pass(exchange).await,
        Some((claim, found)) => {
            // A caller that goes away before its request is complete has made
            // no call yet.
            let _: Result<(), Gone> = interest(destination, exchange, claim, found).await;
        }
    }
}

/// Whose request it is, if it is of a live execution and not ignored.
fn claim<E: Exchange>(destination: &Destination, exchange: &E) -> Option<(Owner, Context)> {
    if destination.origin == Origin::Murphy || destination.control.idle() {
        return None;
    }
    let found = destination.settings.carriers.find(exchange.headers());
    let claim = destination
        .control
        .recognise(&found.hints, &destination.origin);
    let (path, _) = split_target(exchange.asked().target);
    if destination.settings.ignored.iter().any(|it| it == path) {
        // A service that is only asked whether it is well is not tested.
        if !HEALTH_CHECKS.contains(&path) {
            destination.control.ignored(&destination.service);
        }
        return None;
    }
    if claim.is_none() {
        destination.control.unclaimed(&Unclaimed {
            hints: &found.hints,
            origin: &destination.origin,
            destination: &destination.service,
            interface: &interface(destination, exchange, is_grpc(exchange.headers())),
        });
    }
    Some((claim?, found))
}

/// Nobody's request: streamed as it is.
async fn pass<E: Exchange>(exchange: &mut E) {
    remove_library_headers(exchange.headers_mut());
    match exchange.forward().await {
        Ok(_) => exchange.relay(None).await,
        Err(Failure::Gone) => {}
        Err(Failure::HungUp(how, _)) if !is_grpc(exchange.headers()) => exchange.abort(how).await,
        Err(Failure::Callee(organic) | Failure::HungUp(_, organic)) => {
            let grpc = is_grpc(exchange.headers());
            let (answer, _) = outcomes::organic(organic, grpc);
            let _ = exchange.respond(answer).await;
        }
    }
}

/// A request of a live execution: named, stamped, maybe failed, recorded.
async fn interest<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    claim: Owner,
    mut found: Context,
) -> Result<(), Gone> {
    if let Some(witness) = &destination.settings.witness {
        witness(&Sighting {
            service: &destination.service,
            claim: &claim,
            headers: exchange.headers(),
        });
    }
    let grpc = is_grpc(exchange.headers());
    let entry = claim.parent == Parent::Entry;
    let body = exchange.read_body(reading(destination, grpc)).await?;
    let hints = std::mem::take(&mut found.hints);
    let arrival = arrival(destination, exchange, claim, hints, body, grpc);
    let Ok(decision) = destination.control.arrive(arrival) else {
        pass(exchange).await;
        return Ok(());
    };
    let mut guard = CallGuard::new(&*destination.control, &decision, grpc);
    if exchange.headers().text(RAISES) == Some("timeout") {
        guard.caller_can_raise();
    }
    stamp(destination, exchange, &decision, entry, &mut found);
    match decision.fault {
        None => deliver(exchange, &mut guard, grpc).await,
        Some(mode) => outcomes::play(destination, exchange, &mut guard, mode, grpc).await,
    }
    Ok(())
}

fn reading(destination: &Destination, grpc: bool) -> Reading {
    Reading {
        limit: destination.settings.body_limit,
        patience: destination.settings.body_patience,
        one_message: grpc,
    }
}

fn arrival<E: Exchange>(
    destination: &Destination,
    exchange: &E,
    claim: Owner,
    hints: Vec<ContextHint>,
    body: Prefix,
    grpc: bool,
) -> Arrival {
    let (_, query) = split_target(exchange.asked().target);
    let body_cut = body.cut;
    let body = message(body.bytes, grpc);
    Arrival {
        claim,
        destination: destination.service.clone(),
        interface: interface(destination, exchange, grpc),
        query: query.to_owned(),
        idempotency_key: idempotency_key(destination, exchange.headers(), &body),
        body,
        body_cut,
        site: exchange.headers().text(CALL_SITE).map(str::to_owned),
        hints,
        over_tls: exchange.is_over_tls().then(|| destination.origin.clone()),
        noted: noted(destination, exchange.headers()),
    }
}

fn noted(destination: &Destination, headers: &dyn Headers) -> Vec<(&'static str, String)> {
    let names = destination.settings.noted.iter();
    let with_value = |name: &&'static str| Some((*name, headers.text(name)?.to_owned()));
    names.filter_map(with_value).collect()
}

fn remove_library_headers(headers: &mut impl Headers) {
    // Whoever has one of them has its process, too, or its site.
    if headers.first("x-murphy-pid").is_some() || headers.first(CALL_SITE).is_some() {
        LIBRARY_HEADERS.iter().for_each(|name| headers.remove(name));
    }
}

/// The hash of the first idempotency key that a request carries.
fn idempotency_key(
    destination: &Destination,
    headers: &dyn Headers,
    body: &[u8],
) -> Option<PayloadHash> {
    let settings = &destination.settings;
    let mut names = settings.idempotency_keys.iter();
    match names.find_map(|name| headers.first(name)) {
        Some(key) => Some(PayloadHash::of_key(key)),
        None => PayloadHash::of_key_field(body, &settings.idempotency_fields),
    }
}

/// What a request asks for, with the concrete path.
fn interface<E: Exchange>(destination: &Destination, exchange: &E, grpc: bool) -> Interface {
    let asked = exchange.asked();
    let (path, _) = split_target(asked.target);
    match grpc {
        true => destination.interfaces.grpc(path),
        false => destination.interfaces.http(asked.method, path),
    }
}

/// The first message of a gRPC call without its prefix; any other body whole.
fn message(mut body: bytes::Bytes, grpc: bool) -> bytes::Bytes {
    if grpc && body.len() >= grpc::PREFIX {
        body.advance(grpc::PREFIX);
    }
    body
}

fn stamp<E: Exchange>(
    destination: &Destination,
    exchange: &mut E,
    decision: &Decision,
    entry: bool,
    found: &mut Context,
) {
    let headers = exchange.headers_mut();
    remove_library_headers(headers);
    let stamp = Stamp {
        key: decision.key,
        trace: decision.trace,
        entry,
    };
    destination
        .settings
        .carriers
        .stamp_found(headers, &stamp, found);
}

/// Passes a call on and records what comes of it.
pub(crate) async fn deliver<E: Exchange>(exchange: &mut E, guard: &mut CallGuard<'_>, grpc: bool) {
    if forward(exchange, guard, grpc).await.is_some() {
        exchange.relay(Some(guard)).await;
    }
}

/// Forwards a call; `None`, with the call at its end, if no answer came.
pub(crate) async fn forward<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    grpc: bool,
) -> Option<Head> {
    match exchange.forward().await {
        Ok(head) => Some(head),
        Err(failure) => {
            unanswered(exchange, guard, grpc, failure).await;
            None
        }
    }
}

/// Ends a call to which no answer came.
async fn unanswered<E: Exchange>(
    exchange: &mut E,
    guard: &mut CallGuard<'_>,
    grpc: bool,
    failure: Failure,
) {
    match failure {
        Failure::Gone => guard.gave_up(),
        Failure::HungUp(how, organic) if !grpc => {
            guard.failed(organic, seen_as(how));
            exchange.abort(how).await;
        }
        // UNAVAILABLE is what gRPC makes of a connection that ends.
        Failure::Callee(organic) | Failure::HungUp(_, organic) => {
            let (answer, reply) = outcomes::organic(organic, grpc);
            guard.failed(organic, reply);
            let _ = exchange.respond(answer).await;
        }
    }
}

/// What a caller sees when an exchange ends like this.
fn seen_as(how: Abort) -> Reply {
    match how {
        Abort::Reset => Reply::Reset,
        Abort::Close => Reply::Closed,
    }
}

fn is_grpc(headers: &impl Headers) -> bool {
    headers.first("content-type").is_some_and(grpc::is_grpc)
}

/// The path, and the query without its `?`.
pub(crate) fn split_target(target: &str) -> (&str, &str) {
    // Mostly there is none, and whether there is one is known sooner than where.
    match target.as_bytes().contains(&b'?') {
        true => target.split_once('?').unwrap_or((target, "")),
        false => (target, ""),
    }
}

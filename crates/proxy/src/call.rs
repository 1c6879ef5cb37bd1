//! The way of one request through a proxy.
//!
//! Owns the decision what to do with it: pass it on untouched, record it, or
//! fail it. How that is done on the wire is the protocol engine's business
//! (`Exchange`), how a failure looks is in `outcomes`.

use bytes::Buf;
use murphy_model::{Interface, PayloadHash, Reply};
use murphy_registry::{Arrival, Claim, Clue, Decision, Organic, Parent, Unclaimed};

use crate::carriers::{Found, Stamp};
use crate::door::Door;
use crate::exchange::{Abort, Canned, Exchange, Failure, Gone, Head, Prefix, Reading};
use crate::headers::Headers;
use crate::settings::HEALTH_CHECKS;
use crate::settings::{CALL_SITE, Sighting};
use crate::watch::Watch;
use crate::{grpc, outcomes};

/// Sees one request through.
pub(crate) async fn handle<E: Exchange>(door: &Door, exchange: &mut E) {
    match claim(door, exchange) {
        None => pass(exchange).await,
        Some((claim, found)) => {
            // A caller that goes away before its request is complete has made
            // no call yet.
            let _: Result<(), Gone> = interest(door, exchange, claim, found).await;
        }
    }
}

/// Whose request it is, if it is of a live execution and not spared.
fn claim<E: Exchange>(door: &Door, exchange: &E) -> Option<(Claim, Found)> {
    if door.control.idle() {
        return None;
    }
    let found = door.settings.carriers.find(exchange.headers());
    let claim = door.control.recognise(&found.clues, &door.origin);
    let (path, _) = split_target(exchange.asked().target);
    if door.spared.has(path) {
        // A service that is only asked whether it is well is not tested.
        if !HEALTH_CHECKS.contains(&path) {
            door.control.ignored(&door.service);
        }
        return None;
    }
    if claim.is_none() {
        door.control.unclaimed(&Unclaimed {
            clues: &found.clues,
            origin: &door.origin,
            destination: &door.service,
            interface: &interface(door, exchange, is_grpc(exchange.headers())),
        });
    }
    Some((claim?, found))
}

/// Nobody's request: streamed as it is.
async fn pass<E: Exchange>(exchange: &mut E) {
    match exchange.forward().await {
        Ok(_) => exchange.relay(None).await,
        Err(Failure::Gone) => {}
        Err(Failure::HungUp(how, _)) if !is_grpc(exchange.headers()) => exchange.abort(how).await,
        Err(Failure::Callee(organic) | Failure::HungUp(_, organic)) => {
            let grpc = is_grpc(exchange.headers());
            let (answer, _) = no_answer(organic, grpc);
            let _ = exchange.respond(answer).await;
        }
    }
}

/// A request of a live execution: named, stamped, maybe failed, recorded.
async fn interest<E: Exchange>(
    door: &Door,
    exchange: &mut E,
    claim: Claim,
    mut found: Found,
) -> Result<(), Gone> {
    if let Some(witness) = &door.settings.witness {
        witness(&Sighting {
            service: &door.service,
            claim: &claim,
            headers: exchange.headers(),
        });
    }
    let grpc = is_grpc(exchange.headers());
    let entry = claim.parent == Parent::Entry;
    let body = exchange.read_body(reading(door, grpc)).await?;
    let clues = std::mem::take(&mut found.clues);
    let arrival = arrival(door, exchange, claim, clues, body, grpc);
    let Ok(decision) = door.control.arrive(arrival).get().await else {
        pass(exchange).await;
        return Ok(());
    };
    let mut watch = Watch::new(&*door.control, &decision, grpc);
    stamp(door, exchange, &decision, entry, &mut found);
    match decision.fault {
        None => deliver(exchange, &mut watch, grpc).await,
        Some(mode) => outcomes::play(door, exchange, &mut watch, mode, grpc).await,
    }
    Ok(())
}

fn reading(door: &Door, grpc: bool) -> Reading {
    Reading {
        limit: door.settings.body_limit,
        patience: door.settings.body_patience,
        one_message: grpc,
    }
}

fn arrival<E: Exchange>(
    door: &Door,
    exchange: &E,
    claim: Claim,
    clues: Vec<Clue>,
    body: Prefix,
    grpc: bool,
) -> Arrival {
    let (_, query) = split_target(exchange.asked().target);
    let body_cut = body.cut;
    let body = message(body.bytes, grpc);
    Arrival {
        id: fastrand::u64(..),
        claim,
        destination: door.service.clone(),
        interface: interface(door, exchange, grpc),
        query: query.to_owned(),
        idempotency_key: idempotency_key(door, exchange.headers(), &body),
        body,
        body_cut,
        site: exchange.headers().text(CALL_SITE).map(str::to_owned),
        clues,
    }
}

/// The hash of the first idempotency key that a request carries.
fn idempotency_key(door: &Door, headers: &dyn Headers, body: &[u8]) -> Option<PayloadHash> {
    let settings = &door.settings;
    let mut names = settings.idempotency_keys.iter();
    match names.find_map(|name| headers.first(name)) {
        Some(key) => Some(PayloadHash::of_key(key)),
        None => PayloadHash::of_key_field(body, &settings.idempotency_fields),
    }
}

/// What a request asks for, with the concrete path.
fn interface<E: Exchange>(door: &Door, exchange: &E, grpc: bool) -> Interface {
    let asked = exchange.asked();
    let (path, _) = split_target(asked.target);
    match grpc {
        true => door.interfaces.grpc(path),
        false => door.interfaces.http(asked.method, path),
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
    door: &Door,
    exchange: &mut E,
    decision: &Decision,
    entry: bool,
    found: &mut Found,
) {
    let headers = exchange.headers_mut();
    headers.remove(CALL_SITE);
    let stamp = Stamp {
        key: decision.key,
        trace: decision.trace,
        entry,
    };
    door.settings.carriers.stamp_found(headers, &stamp, found);
}

/// Passes a call on and records what comes of it.
pub(crate) async fn deliver<E: Exchange>(exchange: &mut E, watch: &mut Watch<'_>, grpc: bool) {
    match exchange.forward().await {
        Ok(_) => exchange.relay(Some(watch)).await,
        Err(failure) => unanswered(exchange, watch, grpc, failure).await,
    }
}

/// Forwards a call; `None`, with the call at its end, if no answer came.
pub(crate) async fn forward<E: Exchange>(
    exchange: &mut E,
    watch: &mut Watch<'_>,
    grpc: bool,
) -> Option<Head> {
    match exchange.forward().await {
        Ok(head) => Some(head),
        Err(failure) => {
            unanswered(exchange, watch, grpc, failure).await;
            None
        }
    }
}

/// Ends a call to which no answer came.
async fn unanswered<E: Exchange>(
    exchange: &mut E,
    watch: &mut Watch<'_>,
    grpc: bool,
    failure: Failure,
) {
    match failure {
        Failure::Gone => watch.gave_up().await,
        Failure::HungUp(how, organic) if !grpc => {
            watch.failed(organic, seen_as(how)).await;
            exchange.abort(how).await;
        }
        // UNAVAILABLE is what gRPC makes of a connection that ends.
        Failure::Callee(organic) | Failure::HungUp(_, organic) => {
            let (answer, reply) = no_answer(organic, grpc);
            watch.failed(organic, reply).await;
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

fn split_target(target: &str) -> (&str, &str) {
    // Mostly there is none, and whether there is one is known sooner than where.
    match target.as_bytes().contains(&b'?') {
        true => target.split_once('?').unwrap_or((target, "")),
        false => (target, ""),
    }
}

/// What a caller gets when the callee gave no answer, and how it reads.
fn no_answer(organic: Organic, grpc: bool) -> (Canned, Reply) {
    outcomes::organic(organic, grpc)
}

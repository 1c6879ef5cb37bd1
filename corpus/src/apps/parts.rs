//! Parts that services of several families are made of.
//!
//! Owns how handlers look at a call that went wrong: which status came, or
//! that none came. What follows from it is each family's own, since that is
//! where its bugs are.

use serde_json::Value;

use crate::Service;
use crate::net::{Abort, PendingCall, Response};

/// Why a call did not bring what it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// An answer outside 200 to 299.
    Status(u16),
    /// No answer: the connection failed or the caller's timeout ran out.
    NoAnswer,
}

/// Sends a call; whatever is not a success is a failure.
pub(super) async fn attempt(call: PendingCall) -> Result<Response, Failure> {
    match call.send().await {
        Ok(response) if (200..300).contains(&response.status) => Ok(response),
        Ok(response) => Err(Failure::Status(response.status)),
        Err(_) => Err(Failure::NoAnswer),
    }
}

/// Sends a call up to `1 + retries` times, until it succeeds; the last failure
/// counts.
pub(super) async fn retrying(
    retries: u32,
    call: impl Fn() -> PendingCall,
) -> Result<Response, Failure> {
    let mut answer = attempt(call()).await;
    for _ in 0..retries {
        if answer.is_ok() {
            break;
        }
        answer = attempt(call()).await;
    }
    answer
}

/// A call the caller cannot do without: its failure ends the handler with the
/// status that `becomes` names.
pub(super) async fn hard(
    call: PendingCall,
    becomes: impl Fn(Failure) -> u16,
) -> Result<Response, Abort> {
    attempt(call)
        .await
        .map_err(|failure| Abort(becomes(failure)))
}

/// A hard dependency of a service that never distinguishes failures.
pub(super) async fn hard_500(call: PendingCall) -> Result<Response, Abort> {
    hard(call, |_| 500).await
}

/// A service that calls nobody and gives the same answer to everything.
pub(super) fn leaf(name: &'static str, answer: Value) -> Service {
    Service::new(name, move |_, _| {
        let answer = answer.clone();
        async { Ok(Response::json(answer)) }
    })
}

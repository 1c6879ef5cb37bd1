//! What a runner asks and reports.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use super::mailbox::Mailbox;
use super::refusal::{Refusal, read};
use super::{Desk, Token};

/// How long a runner waits for an answer; then it asks again.
const LONGEST: Duration = Duration::from_secs(20);

/// `GET /v1/worker/next`.
pub(super) async fn next(
    State(desk): State<Arc<Desk>>,
    Extension(token): Extension<Token>,
) -> Result<Response, Refusal> {
    let mailbox = mailbox(&desk, &token)?;
    Ok(match mailbox.next(LONGEST).await {
        Some(order) => Json(order).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// `POST /v1/worker/tests`.
pub(super) async fn tests(
    State(desk): State<Arc<Desk>>,
    Extension(token): Extension<Token>,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Refusal> {
    let mailbox = mailbox(&desk, &token)?;
    match mailbox.listed(read(body)?) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Refusal::new(
            StatusCode::CONFLICT,
            "nobody asked for the tests",
        )),
    }
}

/// `POST /v1/worker/result`.
pub(super) async fn result(
    State(desk): State<Arc<Desk>>,
    Extension(token): Extension<Token>,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Refusal> {
    let mailbox = mailbox(&desk, &token)?;
    match mailbox.done(read(body)?) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Refusal::new(
            StatusCode::CONFLICT,
            "this execution does not run here, or was given up: ask for the next",
        )),
    }
}

fn mailbox(desk: &Desk, Token(token): &Token) -> Result<Arc<Mailbox>, Refusal> {
    let mailbox = desk.mailboxes().get(token).cloned();
    mailbox.map(|(_, mailbox)| mailbox).ok_or_else(|| {
        Refusal::new(
            StatusCode::FORBIDDEN,
            "this token is a test's: only a runner that Murphy started may ask what to do next",
        )
    })
}

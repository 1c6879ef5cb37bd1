//! What a test says of the services that it starts itself.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::started_by_test::NotTaken;
use super::refusal::{Refusal, read};
use super::{Desk, Token};

/// A service that a test has started.
#[derive(Deserialize, JsonSchema)]
pub(super) struct StartedService {
    /// Its name, as in murphy.toml.
    name: String,
    /// Where it listens: `host:port`.
    upstream: String,
}

/// Where to call it.
#[derive(Serialize, JsonSchema)]
pub(super) struct ServiceProxy {
    /// Its name.
    name: String,
    /// The URL to call instead.
    url: String,
    /// The same as `host:port`.
    address: String,
}

/// `POST /v1/services`.
pub(super) async fn started(
    State(desk): State<Arc<Desk>>,
    Extension(Token(token)): Extension<Token>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<ServiceProxy>, Refusal> {
    let StartedService { name, upstream } = read(body)?;
    let worker = desk.worker_of(&token).ok_or_else(Refusal::no_token)?;
    let place = desk.started.set(&token, worker, &name, &upstream)?;
    Ok(Json(ServiceProxy {
        name,
        url: place.url(),
        address: place.address(),
    }))
}

impl From<NotTaken> for Refusal {
    fn from(why: NotTaken) -> Self {
        match why {
            NotTaken::Unknown(error) => Refusal::new(StatusCode::NOT_FOUND, error),
            NotTaken::NotTheTests(error) => Refusal::new(StatusCode::CONFLICT, error),
            NotTaken::NoAddress(error) => Refusal::new(StatusCode::BAD_REQUEST, error),
        }
    }
}

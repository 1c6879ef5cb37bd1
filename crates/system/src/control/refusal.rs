//! Requests that are refused: a status and `{"error": …}`.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Refusal {
            status,
            error: error.into(),
        }
    }

    pub(super) fn no_token() -> Self {
        Refusal::new(
            StatusCode::UNAUTHORIZED,
            "send `Authorization: Bearer $MURPHY_TOKEN`",
        )
    }

    pub(super) fn no_execution() -> Self {
        Refusal::new(StatusCode::NOT_FOUND, "no such execution, or it has ended")
    }
}

/// What the answer to a refused request says.
#[derive(Serialize, JsonSchema)]
pub(super) struct Refused {
    /// Why, and what is expected.
    error: String,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(Refused { error: self.error })).into_response()
    }
}

pub(super) async fn no_such_path() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        "there is /v1/executions/{id}, /v1/executions/{id}/phase, /v1/services, /v1/worker/next, /v1/worker/tests and /v1/worker/result",
    )
}

pub(super) async fn no_such_method() -> Refusal {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "GET shows an execution or what to do next, PUT sets a phase, POST reports, or names a service",
    )
}

/// The JSON of a body.
pub(super) fn read<T: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<T, Refusal> {
    let body = body.map_err(|error| Refusal::new(error.status(), error.body_text()))?;
    // Its text names line and column.
    serde_json::from_slice(&body)
        .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))
}

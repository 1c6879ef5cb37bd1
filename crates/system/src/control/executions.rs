//! What a test asks and says of its execution.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use murphy_model::{Faultload, Mode, Point};
use murphy_registry::{CallKey, ExecutionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Desk;
use super::refusal::{Refusal, read};

/// The phases of a test, in their order.
pub(crate) const PHASES: [&str; 3] = ["setup", "call", "teardown"];

/// An execution that runs.
pub(super) struct Live {
    planned: Faultload,
    /// The phases in which calls may fail.
    armed_in: Vec<String>,
    /// The phase it is in; `None` for tests that have none.
    phase: Option<String>,
}

impl Live {
    pub(super) fn new(planned: Faultload, armed_in: &[String]) -> Self {
        // A test of a runner begins with its set-up.
        let phase = (!armed_in.is_empty()).then(|| PHASES[0].to_owned());
        Live {
            planned,
            armed_in: armed_in.to_vec(),
            phase,
        }
    }

    /// Written out only when a test asks: few do.
    pub(super) fn planned(&self) -> Vec<String> {
        self.planned
            .faults()
            .map(|fault| fault.to_string())
            .collect()
    }

    fn is_armed(&self) -> bool {
        let is_in = |phase: &String| self.armed_in.contains(phase);
        self.phase.as_ref().is_none_or(is_in)
    }
}

/// An execution that runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Execution")]
pub(super) struct Shown {
    /// Its name.
    execution: String,
    /// The faults that it is run with, as in a faultload.
    planned: Vec<String>,
    /// The faults that were injected so far.
    injected: Vec<Injected>,
    /// The phase of its test; null for tests that have none.
    phase: Option<String>,
    /// Whether calls that the test begins now may fail.
    armed: bool,
}

/// A fault that was injected.
#[derive(Serialize, JsonSchema)]
pub(super) struct Injected {
    /// The call.
    point: String,
    /// How it failed.
    mode: String,
}

impl From<(Point, Mode)> for Injected {
    fn from((point, mode): (Point, Mode)) -> Self {
        Injected {
            point: point.to_string(),
            mode: mode.to_string(),
        }
    }
}

/// `GET /v1/executions/{id}`.
pub(super) async fn show(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
) -> Result<Json<Shown>, Refusal> {
    let id = id(&name)?;
    let injected = desk.registry.injected(id);
    let injected = injected.map_err(|_| Refusal::no_execution())?;
    let live = desk.live();
    let live = live.get(&id).ok_or_else(Refusal::no_execution)?;
    Ok(Json(Shown {
        execution: id.to_string(),
        planned: live.planned(),
        injected: injected.into_iter().map(Injected::from).collect(),
        phase: live.phase.clone(),
        armed: live.is_armed(),
    }))
}

/// The phase that a test begins.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Phase {
    /// `setup`, `call` or `teardown`.
    name: String,
}

/// What a phase begins with.
#[derive(Serialize, JsonSchema)]
pub(super) struct Begun {
    /// How many calls of the phase before are still under way.
    in_flight: usize,
    /// Whether calls that the test begins now may fail.
    armed: bool,
}

/// `PUT /v1/executions/{id}/phase`.
pub(super) async fn phase(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Begun>, Refusal> {
    let id = id(&name)?;
    let Phase { name } = read(body)?;
    if !PHASES.contains(&&*name) {
        let error = format!("`{name}` is no phase: there are {}", PHASES.join(", "));
        return Err(Refusal::new(StatusCode::BAD_REQUEST, error));
    }
    let mut live = desk.live();
    let live = live.get_mut(&id).ok_or_else(Refusal::no_execution)?;
    live.phase = Some(name);
    let armed = live.is_armed();
    let in_flight = desk.registry.arm(id, armed);
    let in_flight = in_flight.map_err(|_| Refusal::no_execution())?;
    Ok(Json(Begun { in_flight, armed }))
}

fn id(name: &str) -> Result<ExecutionId, Refusal> {
    let key = CallKey::parse(name.as_bytes()).filter(|key| key.call.is_none());
    Ok(key.ok_or_else(Refusal::no_execution)?.execution)
}

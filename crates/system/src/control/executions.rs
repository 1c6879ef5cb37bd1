//! What a test asks and says of its execution.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use murphy_model::{Faultload, Mode, Point};
use murphy_registry::{CallKey, ExecutionId};
use serde::Deserialize;
use serde_json::{Value, json};

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

/// `GET /v1/executions/{id}`.
pub(super) async fn show(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let id = id(&name)?;
    let injected = desk.registry.injected(id);
    let injected = injected.map_err(|_| Refusal::no_execution())?;
    let told = |(point, mode): (Point, Mode)| json!({"point": point.to_string(), "mode": mode.to_string()});
    let injected: Vec<Value> = injected.into_iter().map(told).collect();
    let live = desk.live();
    let live = live.get(&id).ok_or_else(Refusal::no_execution)?;
    Ok(Json(json!({
        "execution": id.to_string(),
        "planned": live.planned(),
        "injected": injected,
        "phase": live.phase,
        "armed": live.is_armed(),
    })))
}

#[derive(Deserialize)]
pub(super) struct Phase {
    name: String,
}

/// `PUT /v1/executions/{id}/phase`.
pub(super) async fn phase(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
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
    Ok(Json(json!({"in_flight": in_flight, "armed": armed})))
}

fn id(name: &str) -> Result<ExecutionId, Refusal> {
    let key = CallKey::parse(name.as_bytes()).filter(|key| key.call.is_none());
    Ok(key.ok_or_else(Refusal::no_execution)?.execution)
}

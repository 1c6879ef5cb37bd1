//! What is done around executions: before the first, before each, at the end.
//!
//! Steps go straight to the services, never through a proxy, and belong to no
//! execution: nothing they lead to is failed or recorded. Owns their order and
//! what a failing one means: the world is broken, since no verdict can be
//! trusted without it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::time::timeout;

use murphy_report::redact;

use super::log::Log;
use super::process::Children;
use super::scenario::command::{self, Program};
use super::scenario::{Task, urls};
use super::spec::{RequestCall, StepFunction, StepSpec, SystemSpec};
use super::template::{Places, names};
use murphy_campaign::SetupError;
use murphy_request::{Around, Requests, Schemas};

/// How long a step may take: filling a database takes its time, but a step
/// that is stuck must not hang a build for ever.
const WITHIN: Duration = Duration::from_secs(300);

/// How much of what a step prints is kept.
const KEPT: usize = 16 * 1024;

/// Steps of one kind, in order.
pub(super) struct Steps(Vec<Step>);

struct Step {
    /// `reset step 2 (POST /reset)`.
    name: String,
    does: Does,
}

enum Does {
    Run(Program),
    Ask(Box<AsyncMutex<Requests>>),
    Call(StepFunction, BTreeMap<String, String>),
}

/// Steps are done before the test runs: what it starts is not there.
pub(super) fn check(system: &SystemSpec) -> Result<(), SetupError> {
    let all = [
        ("setup", &system.setup),
        ("reset", &system.reset),
        ("teardown", &system.teardown),
    ];
    for (kind, specs) in all {
        for (number, spec) in (1..).zip(specs) {
            let named = services_of(spec);
            let mut services = system.services.iter();
            let missing = services.find(|it| it.is_started_by_test() && named.contains(&it.name));
            if let Some(service) = missing {
                let (step, name) = (what(spec), &service.name);
                return Err(SetupError::new(format!(
                    "{kind} step {number} ({step}) names service `{name}`, which only the test starts"
                ))
                .at(&service.place)
                .hint("do it in a fixture of the test; what only the test needs goes into the `env` of its scenario"));
            }
        }
    }
    Ok(())
}

/// The services that a step names.
fn services_of(spec: &StepSpec) -> BTreeSet<String> {
    match spec {
        StepSpec::Command(command) => {
            let texts = command.command.iter().chain(command.environment.values());
            texts
                .flat_map(|text| names(text).unwrap_or_default())
                .collect()
        }
        StepSpec::Request(request) => [request.service.clone()].into(),
        StepSpec::Function(_) => BTreeSet::new(),
    }
}

impl Steps {
    /// Makes steps ready; `kind` is their name in messages.
    pub(super) async fn prepare(
        kind: &str,
        specs: &[StepSpec],
        direct: &Places,
        mark: &str,
    ) -> Result<Self, SetupError> {
        let mut steps = Vec::new();
        for (number, spec) in specs.iter().enumerate() {
            let name = format!("{kind} step {} ({})", number + 1, what(spec));
            let does = match spec {
                StepSpec::Command(command) => {
                    Does::Run(Program::new(&name, command, direct, mark)?)
                }
                StepSpec::Request(request) => {
                    let specs = std::slice::from_ref(&**request);
                    let mut schemas = Schemas::default();
                    let asks = Requests::new(&name, specs, direct, direct, &mut schemas);
                    Does::Ask(Box::new(AsyncMutex::new(asks.await?)))
                }
                StepSpec::Function(function) => Does::Call(function.clone(), urls(direct)),
            };
            steps.push(Step { name, does });
        }
        Ok(Steps(steps))
    }

    /// Does them in order, up to the first that fails.
    pub(super) async fn run(&self) -> Result<(), SetupError> {
        for step in &self.0 {
            step.run().await?;
        }
        Ok(())
    }

    /// Does them all in order, whatever fails; the first that failed is told.
    /// What one could not take away must not keep the others from it.
    pub(super) async fn run_all(&self) -> Result<(), SetupError> {
        let mut done = Ok(());
        for step in &self.0 {
            done = done.and(step.run().await);
        }
        done
    }
}

impl Step {
    async fn run(&self) -> Result<(), SetupError> {
        let printed = Arc::new(Log::new(KEPT));
        let done = timeout(WITHIN, self.result(&printed)).await;
        let result = done.unwrap_or_else(|_| Ok(Err(format!("did not end within {WITHIN:?}"))))?;
        result.map_err(|why| {
            SetupError::new(format!("{} failed: {why}", self.name))
                .hint("it ran without faults, straight against the services; try it by hand")
                .printed(&self.name, printed.text())
        })
    }

    async fn result(&self, printed: &Arc<Log>) -> Result<Result<(), String>, SetupError> {
        match &self.does {
            Does::Run(program) => {
                let process = program.start([], Children::MayStay, printed)?;
                Ok(command::result(process.ended().await, printed))
            }
            Does::Ask(requests) => {
                let around = Around {
                    headers: &[],
                    injected: &|| false,
                };
                let print = |text: &str| printed.write(text.as_bytes());
                Ok(requests.lock().await.send(&around, &print).await)
            }
            Does::Call(function, services) => {
                let mut task = Task::start(function(services.clone()));
                Ok(task.result().await)
            }
        }
    }
}

fn what(spec: &StepSpec) -> String {
    match spec {
        StepSpec::Command(command) => format!("`{}`", redact::spoken(&command.command)),
        StepSpec::Request(request) => match &request.call {
            RequestCall::Http { method, target, .. } => format!("{method} {target}"),
            RequestCall::Grpc { method, .. } => method.clone(),
        },
        StepSpec::Function(_) => "a function".to_owned(),
    }
}

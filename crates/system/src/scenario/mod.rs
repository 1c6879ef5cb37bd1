//! Tests of every kind, ready to be run again and again.
//!
//! Owns how a test is started, waited for and ended; what it is told of its
//! execution comes from outside. One file per kind: a command, requests; a
//! function needs none.

pub(super) mod command;
mod complaint;
pub(super) mod expect;
mod grpc;
pub mod json_path;
pub(super) mod reflection;
pub(super) mod request;

use std::any::Any;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinSet;

use super::log::Log;
use super::process::{Children, Process};
use super::spec::{Function, FutureResult, ScenarioKind, ScenarioSpec, Session};
use super::template::Places;
use super::wiring::Wiring;
use command::Program;
use murphy_campaign::SetupError;
use reflection::Schemas;
use request::{Around, Requests};

/// A test, ready to be run by any worker.
pub(super) enum Scenario {
    Command(Vec<Program>),
    Requests(Vec<AsyncMutex<Requests>>),
    Function(Function, Vec<BTreeMap<String, String>>),
}

/// What a test may be told of its execution.
pub(super) struct About<'a> {
    pub(super) worker: u32,
    /// Made only for tests that look at it.
    pub(super) session: &'a (dyn Fn() -> Session + Send + Sync),
    /// Likewise: the headers that name the execution.
    pub(super) headers: &'a (dyn Fn() -> Vec<(String, String)> + Send + Sync),
    pub(super) injected: &'a (dyn Fn() -> bool + Send + Sync),
    /// Where it prints.
    pub(super) printed: &'a Arc<Log>,
}

impl Scenario {
    /// Makes a test ready for every worker, while its services are up.
    pub(super) async fn prepare(
        spec: &ScenarioSpec,
        wiring: &Wiring,
        workers: u32,
        mark: &str,
    ) -> Result<Self, SetupError> {
        let what = format!("scenario `{}`", spec.name);
        Ok(match &spec.kind {
            ScenarioKind::Command(command) => {
                let program = |worker| Program::new(&what, command, wiring.entries(worker), mark);
                Scenario::Command((0..workers).map(program).collect::<Result<_, _>>()?)
            }
            ScenarioKind::Requests(specs) => {
                let mut schemas = Schemas::default();
                let mut all = Vec::new();
                for worker in 0..workers {
                    let (places, direct) = (wiring.entries(worker), wiring.direct());
                    let requests = Requests::new(&what, specs, places, direct, &mut schemas);
                    all.push(AsyncMutex::new(requests.await?));
                }
                Scenario::Requests(all)
            }
            ScenarioKind::Function(function) => {
                let entries = |worker| urls(wiring.entries(worker));
                Scenario::Function(function.clone(), (0..workers).map(entries).collect())
            }
        })
    }

    /// Starts it on a worker.
    pub(super) fn start<'r>(&'r self, about: &'r About<'r>) -> Result<Run<'r>, SetupError> {
        let worker = about.worker as usize;
        Ok(match self {
            Scenario::Command(programs) => {
                let variables = command::variables(&(about.session)(), about.worker);
                let process =
                    programs[worker].start(variables, Children::EndWithIt, about.printed)?;
                Run::Process(process, about.printed.clone())
            }
            Scenario::Requests(workers) => {
                let requests = &workers[worker];
                Run::Here(Box::pin(async move {
                    let headers = (about.headers)();
                    let around = Around {
                        headers: &headers,
                        injected: about.injected,
                    };
                    requests.lock().await.send(&around, about.printed).await
                }))
            }
            Scenario::Function(function, entries) => {
                let mut session = (about.session)();
                session.entries = entries[worker].clone();
                Run::Task(Task::start(function(session)))
            }
        })
    }
}

/// A test that runs; ended when dropped.
pub(super) enum Run<'r> {
    Process(Process, Arc<Log>),
    Here(Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'r>>),
    Task(Task),
}

impl Run<'_> {
    /// Waits for its result.
    pub(super) async fn result(&mut self) -> Result<(), String> {
        match self {
            Run::Process(process, printed) => command::result(process.ended().await, printed),
            Run::Here(sending) => sending.await,
            Run::Task(task) => task.result().await,
        }
    }

    /// Ends it, if it has not ended, and returns when it can do nothing more.
    pub(super) async fn end(self) {
        match self {
            Run::Process(process, _) => process.kill().await,
            Run::Here(sending) => drop(sending),
            Run::Task(mut task) => task.0.shutdown().await,
        }
    }
}

/// A function that runs on its own, so that a panic is its own too; ended when
/// dropped.
pub(super) struct Task(JoinSet<Result<(), String>>);

impl Task {
    pub(super) fn start(function: FutureResult) -> Self {
        let mut task = JoinSet::new();
        task.spawn(function);
        Task(task)
    }

    /// Waits for its result.
    pub(super) async fn result(&mut self) -> Result<(), String> {
        match self.0.join_next().await {
            Some(Ok(result)) => result,
            Some(Err(error)) => Err(panicked(error)),
            None => unreachable!("its result is asked for once"),
        }
    }
}

/// Where functions are told that services are.
pub(super) fn urls(places: &Places) -> BTreeMap<String, String> {
    let urls = places.iter();
    urls.map(|(name, place)| (name.clone(), place.url()))
        .collect()
}

fn panicked(error: tokio::task::JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else {
        return "it was cancelled".to_owned();
    };
    let payload: &(dyn Any + Send) = &*payload;
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    match text {
        Some(text) => format!("panicked: {}", complaint::mask(text)),
        None => "panicked".to_owned(),
    }
}

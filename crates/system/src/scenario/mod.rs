//! Tests of every kind, ready to be run again and again.
//!
//! Owns how a test is started, waited for and ended; what it is told of its
//! execution comes from outside. A command has a file here, declared requests
//! are [`murphy_request`]'s, and a function needs nothing.

pub(super) mod command;

use std::any::Any;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinSet;

use super::control::RunOrder;
use super::log::Log;
use super::process::{Children, Process};
use super::runner::{Aftermath, Runner, Taken, TestRun};
use super::running_system::RunningSystem;
use super::spec::{
    CommandSpec, Function, FutureResult, ScenarioKind, ScenarioSpec, Session, TestSpec,
};
use super::template::Places;
use command::Program;
use murphy_campaign::SetupError;
use murphy_request::{Around, Requests, Schemas};

/// A test, ready to be run by any worker.
pub(super) enum Scenario {
    Command(Vec<Program>),
    Requests(Vec<AsyncMutex<Requests>>),
    Function(Function, Vec<BTreeMap<String, String>>),
    Test(TestSpec, Runner),
}

/// What a test may be told of its execution.
pub(super) struct About<'a> {
    pub(super) worker: u32,
    /// Made only for tests that look at it.
    pub(super) session: &'a (dyn Fn() -> Session + Send + Sync),
    /// Likewise: the headers that name the execution.
    pub(super) headers: &'a (dyn Fn() -> Vec<(String, String)> + Send + Sync),
    /// How long it may take.
    pub(super) timeout: Duration,
    pub(super) injected: &'a (dyn Fn() -> bool + Send + Sync),
    /// Where it prints.
    pub(super) printed: &'a Arc<Log>,
}

impl Scenario {
    /// Makes a test ready for every worker, while its services are up.
    pub(super) async fn prepare(
        spec: &ScenarioSpec,
        system: &RunningSystem,
        workers: u32,
        mark: &str,
    ) -> Result<Self, SetupError> {
        let wiring = &system.wiring;
        let what = format!("scenario `{}`", spec.name);
        let programs = |command: &CommandSpec| {
            let program = |worker| {
                let program = Program::new(&what, command, wiring.entries(worker), mark);
                program?.reaching(wiring.egress_of_worker(worker))
            };
            (0..workers).map(program).collect::<Result<_, _>>()
        };
        Ok(match &spec.kind {
            ScenarioKind::Command(command) => Scenario::Command(programs(command)?),
            // All tests at once, for who looks at the whole.
            ScenarioKind::Each(each) => Scenario::Command(programs(&each.runner.command)?),
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
            ScenarioKind::Test(test) => {
                let runner =
                    Runner::prepare(&test.runner, wiring, workers, mark, system.plugins()?)?;
                Scenario::Test(test.clone(), runner)
            }
        })
    }

    /// Starts it on a worker, and a test of a runner in the one that was taken
    /// for it.
    pub(super) fn start<'r>(
        &'r self,
        about: &'r About<'r>,
        runner: Option<Taken>,
    ) -> Result<Run<'r>, SetupError> {
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
                    let print = |text: &str| about.printed.write(text.as_bytes());
                    requests.lock().await.send(&around, &print).await
                }))
            }
            Scenario::Function(function, entries) => {
                let mut session = (about.session)();
                session.entries = entries[worker].clone();
                Run::Task(Task::start(function(session)))
            }
            Scenario::Test(test, _) => {
                let runner = runner.expect("taken for every test of a runner");
                let order = order(test, about);
                Run::Test(Box::new(TestRun::new(runner, order, about.printed.clone())))
            }
        })
    }
}

fn order(test: &TestSpec, about: &About<'_>) -> RunOrder {
    let session = (about.session)();
    RunOrder {
        execution: session.execution,
        test: test.id.clone(),
        phases: test.runner.phases.clone(),
        fresh_fixtures: test.runner.fresh_fixtures,
        timeout_ms: u64::try_from(about.timeout.as_millis()).unwrap_or(u64::MAX),
        faults: session.faults,
        headers: (about.headers)().into_iter().collect(),
    }
}

/// A test that runs; ended when dropped.
pub(super) enum Run<'r> {
    Process(Process, Arc<Log>),
    Here(Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'r>>),
    Task(Task),
    Test(Box<TestRun>),
}

impl Run<'_> {
    /// Waits for its result.
    pub(super) async fn result(&mut self) -> Result<(), String> {
        match self {
            Run::Process(process, printed) => command::result(process.ended().await, printed),
            Run::Here(sending) => sending.await,
            Run::Task(task) => task.result().await,
            Run::Test(test) => test.result().await,
        }
    }

    /// Ends it, if it has not ended, and returns when it can do nothing more.
    pub(super) async fn end(self) -> Aftermath {
        match self {
            Run::Process(process, _) => process.kill().await,
            Run::Here(sending) => drop(sending),
            Run::Task(mut task) => task.0.shutdown().await,
            Run::Test(test) => return test.end().await,
        }
        Aftermath::default()
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
        Some(text) => format!("panicked: {}", murphy_oracle::mask(text)),
        None => "panicked".to_owned(),
    }
}

//! What a runner is to do next, and what it reports.
//!
//! Owns the words of the worker protocol, and the waiting on both sides.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, oneshot};

/// What a runner is to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Order {
    /// Report the tests.
    List,
    /// Run a test once.
    Run(RunOrder),
    /// End.
    Stop,
}

/// A test to be run once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RunOrder {
    /// The name of the execution.
    pub(crate) execution: String,
    /// The `id` of the test, as it was listed.
    pub(crate) test: String,
    /// The phases in which calls may fail.
    pub(crate) phases: Vec<String>,
    /// Whether fixtures of wider scope are torn down after it, too.
    pub(crate) fresh_fixtures: bool,
    /// How long it may take.
    pub(crate) timeout_ms: u64,
    /// The faults that are planned, as in a faultload.
    pub(crate) faults: Vec<String>,
    /// What names the execution, for the calls that the test makes itself.
    pub(crate) headers: BTreeMap<String, String>,
}

/// The tests that a runner has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Listing {
    /// Its name and version.
    #[serde(default)]
    pub runner: String,
    /// Those that can be run, in its order.
    pub tests: Vec<ListedTest>,
    /// What could not be read, a line each.
    #[serde(default)]
    pub problems: Vec<String>,
}

/// A test that a runner has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ListedTest {
    /// What it is run by.
    pub id: String,
    /// The file it is in.
    #[serde(default)]
    pub file: Option<String>,
    /// Why it is skipped, if it is said already.
    #[serde(default)]
    pub skip: Option<String>,
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct TestResult {
    /// The name of the execution, as it was ordered.
    pub(crate) execution: String,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// The phase in which it failed.
    #[serde(default)]
    pub(crate) phase: String,
    /// What failed, in one line.
    #[serde(default)]
    pub(crate) message: String,
    /// The exception that it failed with and its causes, outermost first.
    #[serde(default)]
    pub(crate) exceptions: Vec<Exception>,
    /// The assertion that failed, if that is what failed.
    #[serde(default)]
    pub(crate) assertion: Option<Assertion>,
    /// What it printed, or the end of it.
    #[serde(default)]
    pub(crate) output: String,
    /// The fixtures that it shares with other tests.
    #[serde(default)]
    pub(crate) shares: Vec<String>,
    /// What it left changed in the process.
    #[serde(default)]
    pub(crate) changed: Vec<String>,
}

impl TestResult {
    /// What failed, in its own words or in those of its exception.
    pub(crate) fn why(&self) -> String {
        match self.exceptions.first() {
            Some(Exception { kind, message, .. }) if self.message.is_empty() => {
                format!("{kind}: {message}")
            }
            _ => self.message.clone(),
        }
    }
}

/// An exception.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct Exception {
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// What it says.
    #[serde(default)]
    pub(crate) message: String,
    /// Where it was raised, as `file:line:function`, innermost last.
    #[serde(default)]
    pub(crate) frames: Vec<String>,
    /// The HTTP status that it carries.
    #[serde(default)]
    pub(crate) status: Option<u16>,
    /// The error code that it carries.
    #[serde(default)]
    pub(crate) code: Option<String>,
    /// The request id that it carries.
    #[serde(default)]
    pub(crate) request_id: Option<String>,
    /// Whether Murphy's library raised it for an answer that was lost.
    #[serde(default)]
    pub(crate) injected: bool,
    /// The call of a cloud SDK that it came from.
    #[serde(default)]
    pub(crate) call: Option<String>,
}

/// An assertion that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct Assertion {
    /// The file it is in.
    #[serde(default)]
    pub(crate) file: String,
    /// Its line.
    #[serde(default)]
    pub(crate) line: u32,
    /// What it says.
    #[serde(default)]
    pub(crate) text: String,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// It passed.
    Passed,
    /// The test itself failed.
    Failed,
    /// It was not run, or failed as it declares.
    Skipped,
    /// It could not be run: its set-up or tear-down failed.
    Error,
}

/// Between one runner and those who use it.
#[derive(Default)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    order: Option<Order>,
    listing: Option<oneshot::Sender<Listing>>,
    running: Option<(String, oneshot::Sender<TestResult>)>,
    /// Whether the runner has asked at all.
    is_ready: bool,
}

impl Mailbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while it is held")
    }

    /// Waits until the runner asks for the first time.
    pub(crate) async fn ready(&self) {
        loop {
            let changed = self.changed.notified();
            if self.state().is_ready {
                return;
            }
            changed.await;
        }
    }

    /// Asks for the tests.
    pub(crate) fn list(&self) -> oneshot::Receiver<Listing> {
        let (sender, receiver) = oneshot::channel();
        self.state().listing = Some(sender);
        self.give(Order::List);
        receiver
    }

    /// Asks for one run of a test.
    pub(crate) fn run(&self, order: RunOrder) -> oneshot::Receiver<TestResult> {
        let (sender, receiver) = oneshot::channel();
        self.state().running = Some((order.execution.clone(), sender));
        self.give(Order::Run(order));
        receiver
    }

    /// Lets the runner end.
    pub(crate) fn stop(&self) {
        self.give(Order::Stop);
    }

    fn give(&self, order: Order) {
        self.state().order = Some(order);
        self.changed.notify_waiters();
    }

    /// What the runner is to do next; `None` where nothing is for so long.
    pub(super) async fn next(&self, within: Duration) -> Option<Order> {
        let order = async {
            loop {
                let changed = self.changed.notified();
                {
                    let mut state = self.state();
                    if !std::mem::replace(&mut state.is_ready, true) {
                        self.changed.notify_waiters();
                    }
                    if let Some(order) = state.order.take() {
                        return order;
                    }
                }
                changed.await;
            }
        };
        tokio::time::timeout(within, order).await.ok()
    }

    /// The runner has listed its tests; false where nobody asked.
    pub(super) fn listed(&self, listing: Listing) -> bool {
        let asked = self.state().listing.take();
        asked.is_some_and(|asked| asked.send(listing).is_ok())
    }

    /// The runner has run a test; false where nobody waits for it any more.
    pub(super) fn done(&self, result: TestResult) -> bool {
        let mut state = self.state();
        let is_ours = |running: &mut (String, _)| running.0 == result.execution;
        match state.running.take_if(is_ours) {
            Some((_, waiting)) => waiting.send(result).is_ok(),
            None => false,
        }
    }
}

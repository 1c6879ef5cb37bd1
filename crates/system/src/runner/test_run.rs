//! One run of one test in a runner.

use std::sync::Arc;

use super::super::control::{Outcome, RunOrder, TestResult};
use super::super::log::Log;
use super::Taken;

/// A test that runs; its runner is killed if it is dropped before it ended.
pub(crate) struct TestRun {
    runner: Option<Taken>,
    order: Option<RunOrder>,
    printed: Arc<Log>,
    /// How far the runner's own output had come.
    mark: u64,
    aftermath: Aftermath,
    is_over: bool,
}

/// What a run leaves to be known besides its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// Why a warm runner was lost: its result may be the runner's doing.
    pub(crate) lost: Option<String>,
    /// Whether the test skipped itself, and why.
    pub(crate) skipped: Option<String>,
    /// The fixtures that it shares with other tests.
    pub(crate) shares: Vec<String>,
    /// What it left changed in its process.
    pub(crate) changed: Vec<String>,
    /// All that its runner says of it, if it says anything.
    pub(crate) result: Option<Box<TestResult>>,
}

impl TestRun {
    pub(crate) fn new(runner: Taken, order: RunOrder, printed: Arc<Log>) -> Self {
        runner.process().is_next();
        TestRun {
            mark: runner.process().mark(),
            runner: Some(runner),
            order: Some(order),
            printed,
            aftermath: Aftermath::default(),
            is_over: false,
        }
    }

    /// Waits for its result.
    pub(crate) async fn result(&mut self) -> Result<(), String> {
        let order = self.order.take().expect("its result is asked for once");
        let runner = self.runner.as_ref().expect("there until it ends");
        let process = runner.process();
        match process.run(order).await {
            Ok(result) => {
                self.is_over = true;
                self.take(result)
            }
            Err(exit) => {
                self.printed
                    .write(process.printed_since(self.mark).as_bytes());
                let why = format!("the test ended its process: {exit}");
                self.aftermath.lost = Some(why.clone());
                Err(why)
            }
        }
    }

    fn take(&mut self, result: TestResult) -> Result<(), String> {
        self.printed.write(result.output.as_bytes());
        let message = murphy_oracle::one_line(&result.why());
        let (outcome, in_setup) = (result.outcome, result.phase == "setup");
        self.aftermath.shares.clone_from(&result.shares);
        self.aftermath.changed.clone_from(&result.changed);
        self.aftermath.result = Some(Box::new(result));
        match outcome {
            Outcome::Passed => Ok(()),
            Outcome::Skipped => {
                self.aftermath.skipped = Some(message);
                Ok(())
            }
            Outcome::Failed | Outcome::Error if message.is_empty() => {
                Err("the test failed and does not say why".to_owned())
            }
            Outcome::Error if in_setup => Err(format!("in set-up: {message}")),
            Outcome::Error => Err(format!("in tear-down: {message}")),
            Outcome::Failed => Err(message),
        }
    }

    /// Ends it. A runner that is of no more use is ended, too.
    pub(crate) async fn end(mut self) -> Aftermath {
        let runner = self.runner.take().expect("there until it ends");
        let mut aftermath = std::mem::take(&mut self.aftermath);
        if !self.is_over && aftermath.lost.is_none() {
            aftermath.lost = Some("the test did not end in time".to_owned());
        }
        let is_usable = self.is_over && !leaves_threads(&aftermath.changed);
        match runner {
            Taken::Fresh(process) if self.is_over => process.stop().await,
            Taken::Fresh(process) => process.kill().await,
            Taken::Warm(_) if is_usable => {}
            Taken::Warm(mut slot) => {
                if let Some(process) = slot.take() {
                    process.kill().await;
                }
            }
        }
        aftermath
    }
}

/// What goes on in a process may call services in the next execution.
fn leaves_threads(changed: &[String]) -> bool {
    changed.iter().any(|it| it.starts_with("threads"))
}

impl Drop for TestRun {
    fn drop(&mut self) {
        if let Some(Taken::Warm(mut slot)) = self.runner.take()
            && !self.is_over
        {
            // Its runner is in the middle of a test.
            slot.take();
        }
    }
}

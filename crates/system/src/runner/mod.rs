//! Test runners that stay alive and run one test after the other.
//!
//! Owns their processes: one per worker, started when first needed, replaced
//! where it ended, hung or was left changed by a test. What is said to them
//! goes through the control API; whether a warm process can be trusted is
//! decided in [`warmth`].

mod kind;
mod known;
mod plugins;
mod process;
mod test_run;
pub(super) mod warmth;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use murphy_campaign::SetupError;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

pub use self::kind::RunnerKind;
pub use self::known::{KnownRunner, ListError};
pub(super) use self::plugins::Plugins;
pub(super) use self::process::{Runner, RunnerProcess};
pub(super) use self::test_run::{Aftermath, TestRun};
use super::control::{Control, Listing};

/// The runners of a system, by the scenario they are of and their worker.
#[derive(Default)]
pub(super) struct Runners {
    slots: Mutex<BTreeMap<(String, u32), Slot>>,
}

type Slot = Arc<AsyncMutex<Option<RunnerProcess>>>;

/// A runner that is taken for one execution.
pub(super) enum Taken {
    /// One that is kept.
    Warm(OwnedMutexGuard<Option<RunnerProcess>>),
    /// One that ends with the execution.
    Fresh(Box<RunnerProcess>),
}

impl Taken {
    fn process(&self) -> &RunnerProcess {
        match self {
            Taken::Warm(slot) => slot.as_ref().expect("started when it was taken"),
            Taken::Fresh(process) => process,
        }
    }
}

impl Runners {
    /// The warm runner of a worker, started if there is none.
    pub(super) async fn warm(
        &self,
        runner: &Runner,
        worker: u32,
        control: &Control,
    ) -> Result<Taken, SetupError> {
        let mut slot = self.slot(&runner.name, worker).lock_owned().await;
        let runs = |process: &RunnerProcess| process.runs();
        if !slot.as_ref().is_some_and(runs) {
            // The old one, if there is one, is killed first.
            *slot = None;
            *slot = Some(runner.start(worker, control).await?);
        }
        Ok(Taken::Warm(slot))
    }

    /// The tests that the runner of the first worker finds.
    pub(super) async fn list(
        &self,
        runner: &Runner,
        control: &Control,
    ) -> Result<Listing, SetupError> {
        let taken = self.warm(runner, 0, control).await?;
        taken.process().list().await
    }

    /// A runner for one execution alone.
    pub(super) async fn fresh(
        &self,
        runner: &Runner,
        worker: u32,
        control: &Control,
    ) -> Result<Taken, SetupError> {
        let process = runner.start(worker, control).await?;
        Ok(Taken::Fresh(Box::new(process)))
    }

    /// Lets all of them end, so that fixtures of wider scope are torn down.
    pub(super) async fn stop(&self) {
        let slots = std::mem::take(&mut *self.slots.lock().expect("no panic in a look-up"));
        for slot in slots.into_values() {
            if let Some(process) = slot.lock().await.take() {
                process.stop().await;
            }
        }
    }

    fn slot(&self, name: &str, worker: u32) -> Slot {
        let mut slots = self.slots.lock().expect("no panic in a look-up");
        slots.entry((name.to_owned(), worker)).or_default().clone()
    }
}

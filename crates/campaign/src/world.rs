//! Where scenarios run.
//!
//! Owns the contract between the loop of a campaign and whatever can carry out
//! an execution: sockets, a simulator, a test's own stage.

use std::sync::Arc;

use murphy_model::{Faultload, Identity, Observed, Point};
use murphy_registry::{Recorded, Unattributed};

/// Executions cannot be carried out any more, or never could: a service is
/// down, a command is not found, a port is taken. Not a verdict on the system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BrokenWorld {
    /// What is wrong, in one line.
    pub message: String,
    /// Where the part concerned is described, such as `murphy.toml:3`.
    pub place: Option<String>,
    /// The way out.
    pub hint: Option<String>,
    /// What the parts concerned last printed, to be shown below.
    pub logs: Vec<(String, String)>,
}

/// Where scenarios run.
pub trait World: Send + Sync + 'static {
    /// How many executions can run at the same time; at least 1. Workers are
    /// numbered from 0.
    fn workers(&self) -> u32;

    /// How many calls arrived up to now when the execution that made them was
    /// over.
    fn late(&self) -> usize {
        0
    }

    /// Calls that arrived up to now while executions ran, and that belong to
    /// none of them as far as can be told.
    fn unattributed(&self) -> Vec<Unattributed> {
        Vec::new()
    }

    /// The services to each of which at least one call is expected.
    fn services(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether an execution may meet what an earlier one left behind. Only who
    /// knows better says no: a simulator that begins anew every time.
    fn keeps_state(&self) -> bool {
        true
    }

    /// Runs without faults that were made before the references, the first
    /// after a start among them.
    fn trials(&self) -> Vec<Observed> {
        Vec::new()
    }

    /// Calls of those runs that belong to none of them as far as can be told,
    /// without who made them.
    fn lost_in_trials(&self) -> Vec<Point> {
        Vec::new()
    }

    /// Whether every execution is said to begin as the first after a start.
    fn claims_to_be_cold(&self) -> bool {
        false
    }

    /// Brings the system back to how it was when it was started, while nothing
    /// runs; false where that cannot be done from here.
    fn restart(&self) -> impl Future<Output = Result<bool, BrokenWorld>> + Send {
        async { Ok(false) }
    }

    /// Runs the scenario once under a faultload. Each worker runs one
    /// execution at a time.
    fn run(
        &self,
        worker: u32,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> impl Future<Output = Result<Observed, BrokenWorld>> + Send;

    /// Runs the scenario once under a faultload, by itself, and keeps the
    /// requests it led to, so that what varies between runs can be learnt.
    /// `None` where the world cannot tell, and its own identity is to be used
    /// as it is.
    fn record(
        &self,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> impl Future<Output = Result<(Observed, Option<Recorded>), BrokenWorld>> + Send;

    /// The same without faults.
    fn reference(
        &self,
        identity: &Arc<Identity>,
    ) -> impl Future<Output = Result<(Observed, Option<Recorded>), BrokenWorld>> + Send {
        async move { self.record(&Faultload::none(), identity).await }
    }
}

//! Where scenarios run.
//!
//! Owns the contract between the loop of a campaign and whatever can carry out
//! an execution: sockets, a simulator, a test's own code.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use murphy_model::{Faultload, Identity, Observed, Point};
use murphy_registry::{Recorded, Unattributed};

use crate::redacted::redacted;

/// Executions cannot be carried out any more, or never could: a service is
/// down, a command is not found, a port is taken. Not a verdict on the system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SetupError {
    /// What is wrong, in one line.
    pub message: String,
    /// The service that is wrong, if it is one alone.
    pub service: Option<String>,
    /// Where the part concerned is described, such as `murphy.toml:3`.
    pub place: Option<String>,
    /// The way out.
    pub hint: Option<String>,
    /// What the parts concerned last printed, to be shown below.
    pub logs: Vec<(String, String)>,
}

impl SetupError {
    /// Something is wrong, and it is not known how to help.
    pub fn new(message: impl Into<String>) -> Self {
        SetupError {
            message: message.into(),
            service: None,
            place: None,
            hint: None,
            logs: Vec::new(),
        }
    }

    /// With the service that is wrong.
    #[must_use]
    pub fn of_service(mut self, name: &str) -> Self {
        self.service = Some(name.to_owned());
        self
    }

    /// With where the part concerned is described, if it is known.
    #[must_use]
    pub fn at(mut self, place: &Option<String>) -> Self {
        self.place.clone_from(place);
        self
    }

    /// With a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With what a part concerned last printed, if it printed anything.
    #[must_use]
    pub fn printed(mut self, part: &str, text: String) -> Self {
        if !text.trim().is_empty() {
            self.logs.push((part.to_owned(), text));
        }
        self
    }
}

/// Where scenarios run.
pub trait World: Send + Sync {
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
    fn restart(&self) -> BoxFuture<'_, Result<bool, SetupError>> {
        Box::pin(async { Ok(false) })
    }

    /// Stops what was started for it.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<(), SetupError>> {
        Box::pin(async { Ok(()) })
    }

    /// Runs the scenario once. Each worker runs one scenario at a time. What is
    /// seen may hold secrets; `run` and `record` give it without.
    fn execute<'w>(&'w self, job: Job<'w>) -> Executing<'w>;

    /// Runs the scenario once under a faultload, for the calls alone.
    fn run<'w>(
        &'w self,
        worker: u32,
        faultload: &'w Faultload,
        identity: &'w Arc<Identity>,
    ) -> BoxFuture<'w, Result<Observed, SetupError>> {
        let job = Job {
            worker,
            faultload,
            identity,
            keep: Keep::Calls,
        };
        Box::pin(async move { Ok(redacted(self.execute(job).await?.0)) })
    }

    /// Runs the scenario once under a faultload, by itself, and keeps the
    /// requests.
    fn record<'w>(
        &'w self,
        faultload: &'w Faultload,
        identity: &'w Arc<Identity>,
    ) -> Executing<'w> {
        let job = Job {
            worker: 0,
            faultload,
            identity,
            keep: Keep::Requests,
        };
        Box::pin(async move {
            let (observed, recorded) = self.execute(job).await?;
            Ok((redacted(observed), recorded))
        })
    }
}

/// One execution to be made.
#[derive(Clone, Copy)]
pub struct Job<'j> {
    /// Who runs it, from 0.
    pub worker: u32,
    /// What is to fail.
    pub faultload: &'j Faultload,
    /// How calls are identified.
    pub identity: &'j Arc<Identity>,
    /// What is kept besides the calls.
    pub keep: Keep,
}

/// What is kept of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The calls.
    Calls,
    /// Also the requests they were made with, so that what varies between runs
    /// can be learnt.
    Requests,
}

/// An execution under way: what is seen of it and, where they are to be kept and
/// the world can tell, its requests.
pub type Executing<'w> = BoxFuture<'w, Result<(Observed, Option<Recorded>), SetupError>>;

//! What can be set about a world on real sockets.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use murphy_model::{Observed, Point};

use murphy_campaign::SetupError;

/// What can be set about a [`LiveWorld`](super::LiveWorld).
#[derive(Clone)]
pub struct LiveOptions {
    /// How many executions can run at the same time.
    pub workers: u32,
    /// The fewest workers, also where only one has something to do; but where
    /// services hand on no context there is only one.
    pub least_workers: u32,
    /// The proxies, with the carriers of context among their settings.
    pub proxy: murphy_proxy::Settings,
    /// Murphy's own directory, `.murphy`: ledgers and logs go there.
    pub state: PathBuf,
    /// The campaign's name; the logs of services go to `run/<campaign>/logs`.
    pub campaign: String,
    /// Whether services hand on no context at all, so that every call belongs
    /// to the one execution that runs.
    pub solo: bool,
    /// How long an execution must have been quiet to be over; zero: it is over
    /// when nothing is in flight.
    pub grace: Duration,
    /// How long to wait for calls that nobody waits for any more.
    pub patience: Duration,
    /// Told where callers that Murphy does not start must call each service,
    /// as URLs, before anything runs; again if the proxies are bound anew.
    pub wired: Option<Wired>,
    /// Told what takes a while, for whoever waits.
    pub say: Option<Say>,
    /// What was seen while it was tried out how the system behaves; shared by
    /// the worlds that are started one after the other for one campaign.
    #[doc(hidden)]
    pub trials: Trials,
}

/// Runs without faults that came before the references.
#[derive(Clone, Default)]
pub struct Trials(Arc<Mutex<Tried>>);

#[derive(Default)]
struct Tried {
    /// With whether calls without context counted.
    runs: Vec<(bool, Observed)>,
    /// Calls that belong to none of them.
    lost: Vec<Point>,
}

impl Trials {
    /// Keeps one; `solo` says whether calls without context counted.
    pub(super) fn add(&self, solo: bool, observed: &Observed) {
        self.tried().runs.push((solo, observed.clone()));
    }

    /// Keeps calls that belong to none of them.
    pub(super) fn add_lost(&self, lost: impl IntoIterator<Item = Point>) {
        self.tried().lost.extend(lost);
    }

    pub(super) fn lost(&self) -> Vec<Point> {
        self.tried().lost.clone()
    }

    fn tried(&self) -> MutexGuard<'_, Tried> {
        self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Those that can be compared with runs of this kind: a run in which calls
    /// without context do not count lacks what others show.
    pub(super) fn comparable(&self, solo: bool) -> Vec<Observed> {
        let tried = self.tried();
        let fits = tried.runs.iter().filter(|(was_solo, _)| solo || !was_solo);
        fits.map(|(_, observed)| observed.clone()).collect()
    }
}

/// Someone who is told what goes on, a sentence at a time.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Someone who is told where services are called, by their names.
pub type Wired = Arc<dyn Fn(&BTreeMap<String, String>) + Send + Sync>;

impl Default for LiveOptions {
    fn default() -> Self {
        let registry = murphy_registry::Settings::default();
        LiveOptions {
            workers: 1,
            least_workers: 1,
            proxy: murphy_proxy::Settings::default(),
            state: PathBuf::from(".murphy"),
            campaign: format!("pid-{}", std::process::id()),
            solo: false,
            grace: registry.grace,
            patience: registry.patience,
            wired: None,
            say: None,
            trials: Trials::default(),
        }
    }
}

impl LiveOptions {
    /// Refuses what makes no sense together.
    pub(super) fn check(&self) -> Result<(), SetupError> {
        let LiveOptions { workers, solo, .. } = self;
        match (workers, solo) {
            (0, _) => Err(SetupError::new("without a worker nothing can be run")),
            (2.., true) => Err(SetupError::new(format!(
                "services that hand on no context can be watched in one execution at a time, not in {workers}"
            ))
            .hint("use `--jobs 1`")),
            _ => Ok(()),
        }
    }
}

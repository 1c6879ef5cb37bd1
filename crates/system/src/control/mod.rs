//! The control API: where a running test, and a test runner, talk to Murphy.
//!
//! Owns the one HTTP server for that, on loopback at `MURPHY_CONTROL_URL`; every
//! request brings the token in `MURPHY_TOKEN`; docs/guide/worker-protocol.md
//! describes it. What is known of executions is the registry's, what a runner
//! is to do next the [`Mailbox`]es'.

mod executions;
mod mailbox;
mod openapi;
mod refusal;
mod services;
mod workers;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post, put};
use murphy_model::Faultload;
use murphy_registry::{ExecutionId, Registry};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::executions::Live;
pub(crate) use self::executions::PHASES;
pub(crate) use self::mailbox::{Exception, Mailbox, Outcome, RunOrder, TestResult};
pub use self::mailbox::{ListedTest, Listing};
pub use self::openapi::openapi;
use self::refusal::Refusal;
use super::started_by_test::StartedByTest;

/// The longest body that is read.
const MOST: usize = 1024 * 1024;

/// The server; ended when dropped.
pub(super) struct Control {
    address: SocketAddr,
    desk: Arc<Desk>,
    serving: JoinHandle<()>,
}

/// What the handlers know.
pub(super) struct Desk {
    registry: Arc<Registry>,
    /// For tests, by their worker; each runner has one of its own.
    tokens: Vec<String>,
    live: Mutex<BTreeMap<ExecutionId, Live>>,
    /// By the token of the runner, with its worker.
    mailboxes: Mutex<BTreeMap<String, (u32, Arc<Mailbox>)>>,
    /// The services that tests start.
    started: Arc<StartedByTest>,
}

impl Control {
    /// Starts to serve on any free port.
    pub(super) async fn start(
        registry: Arc<Registry>,
        workers: u32,
        started: Arc<StartedByTest>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let desk = Arc::new(Desk {
            registry,
            tokens: (0..workers).map(|_| new_token()).collect(),
            live: Mutex::default(),
            mailboxes: Mutex::default(),
            started,
        });
        let address = listener.local_addr()?;
        let router = router(desk.clone());
        let serving = tokio::spawn(async move {
            // It ends only with us: what goes wrong on a connection is told
            // to whoever is at its other end.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Control {
            address,
            desk,
            serving,
        })
    }

    /// `MURPHY_CONTROL_URL`.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `MURPHY_TOKEN`, for the tests of a worker.
    pub(super) fn token(&self, worker: u32) -> &str {
        &self.desk.tokens[worker as usize]
    }

    /// A test without a runner begins. What an earlier process of a command had
    /// started is nobody's now.
    pub(super) fn test_begins(&self, worker: u32, is_new_process: bool) {
        let token = self.token(worker);
        if is_new_process {
            self.desk.started.forget(token);
        }
        self.desk.started.switch_to(token, worker);
    }

    /// An execution began, with these faults; they are injected only in these
    /// phases of its test, if it says in which phase it is.
    pub(super) fn began(&self, id: ExecutionId, planned: Faultload, phases: &[String]) {
        self.desk.live().insert(id, Live::new(planned, phases));
    }

    /// The faults of an execution, as texts.
    pub(super) fn planned(&self, id: ExecutionId) -> Vec<String> {
        let live = self.desk.live();
        live.get(&id).map(Live::planned).unwrap_or_default()
    }

    /// An execution ended.
    pub(super) fn ended(&self, id: ExecutionId) {
        self.desk.live().remove(&id);
    }

    /// A place where a runner asks what to do next.
    pub(super) fn open_mailbox(&self, worker: u32) -> OpenMailbox {
        let (token, mailbox) = (new_token(), Arc::new(Mailbox::default()));
        let mut mailboxes = self.desk.mailboxes();
        mailboxes.insert(token.clone(), (worker, mailbox.clone()));
        self.desk.started.switch_to(&token, worker);
        OpenMailbox {
            worker,
            token,
            mailbox,
            desk: self.desk.clone(),
        }
    }
}

/// A mailbox that its runner can reach; closed when dropped.
pub(crate) struct OpenMailbox {
    worker: u32,
    token: String,
    mailbox: Arc<Mailbox>,
    desk: Arc<Desk>,
}

impl OpenMailbox {
    /// `MURPHY_TOKEN`, for the runner.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Its runner is the one that runs a test next, with what it has started.
    pub(crate) fn is_next(&self) {
        self.desk.started.switch_to(&self.token, self.worker);
    }
}

impl std::ops::Deref for OpenMailbox {
    type Target = Mailbox;

    fn deref(&self) -> &Mailbox {
        &self.mailbox
    }
}

impl Drop for OpenMailbox {
    fn drop(&mut self) {
        self.desk.mailboxes().remove(&self.token);
        self.desk.started.forget(&self.token);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Desk {
    fn live(&self) -> MutexGuard<'_, BTreeMap<ExecutionId, Live>> {
        self.live.lock().expect("no panic while plans are held")
    }

    fn mailboxes(&self) -> MutexGuard<'_, BTreeMap<String, (u32, Arc<Mailbox>)>> {
        self.mailboxes.lock().expect("no panic in a look-up")
    }

    /// Whether anybody of ours has this token.
    fn knows(&self, token: &str) -> bool {
        self.worker_of(token).is_some()
    }

    /// The worker that a test or a runner runs as.
    fn worker_of(&self, token: &str) -> Option<u32> {
        let of_tests = (0..).zip(&self.tokens).find(|(_, it)| *it == token);
        let of_tests = of_tests.map(|(worker, _)| worker);
        of_tests.or_else(|| Some(self.mailboxes().get(token)?.0))
    }
}

/// What nobody can guess.
fn new_token() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All paths; [`openapi`] describes them.
fn routes() -> [(&'static str, MethodRouter<Arc<Desk>>); 6] {
    [
        ("/v1/executions/{id}", get(executions::show)),
        ("/v1/executions/{id}/phase", put(executions::phase)),
        ("/v1/services", post(services::started)),
        ("/v1/worker/next", get(workers::next)),
        ("/v1/worker/tests", post(workers::tests)),
        ("/v1/worker/result", post(workers::result)),
    ]
}

fn router(desk: Arc<Desk>) -> Router {
    let routes = routes().into_iter();
    let router = routes.fold(Router::new(), |router, (path, method)| {
        router.route(path, method)
    });
    router
        .fallback(refusal::no_such_path)
        .method_not_allowed_fallback(refusal::no_such_method)
        .layer(DefaultBodyLimit::max(MOST))
        .layer(middleware::from_fn_with_state(desk.clone(), check_token))
        .with_state(desk)
}

/// The token that a request brings.
#[derive(Clone)]
struct Token(String);

async fn check_token(
    State(desk): State<Arc<Desk>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let header = request.headers().get(AUTHORIZATION);
    let header = header.and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer "));
    match token.filter(|token| desk.knows(token)) {
        Some(token) => {
            let token = Token(token.to_owned());
            request.extensions_mut().insert(token);
            Ok(next.run(request).await)
        }
        None => {
            // Who still sends may see a broken connection in place of the answer.
            let _ = to_bytes(request.into_body(), MOST).await;
            Err(Refusal::no_token())
        }
    }
}

#[cfg(test)]
mod tests;

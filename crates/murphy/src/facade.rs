//! A campaign as a Rust program writes it: its services, a function as the
//! test, and what to try.
//!
//! Owns the builder here and the course of such a campaign beside it. What was
//! written is checked when it is run, so that a builder need not be unwrapped
//! at every step. What the parts do is for the crates below.

mod course;
mod error;
mod report;
mod services;
mod settings;
pub(crate) mod state;
mod steps;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use murphy_campaign::REFERENCES;
pub use murphy_campaign::StrategyKind as Strategy;
use murphy_search::Reduction;
use murphy_system::spec::{Function, ServiceSpec, Session, Unused};

pub use error::{Error, setup_error_text};
pub use report::{Report, why_one_at_a_time};
pub use services::{Managed, Proxied};
pub use steps::Step;

/// How long a test may take unless it is set: long for a test, short for
/// somebody who waits for a stuck one.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A campaign on a program's own services, with a function as its test.
///
/// The function is run again and again, each time with other calls between
/// the services failing. It enters by the addresses in [`Session::entries`];
/// the services call each other through the proxies in [`Proxied`]. If they
/// hand on the headers `traceparent` and `tracestate`, several executions can
/// run at once ([`Campaign::jobs`]); if not, that is found out and one runs at
/// a time.
///
/// ```
/// use murphy::{Campaign, Proxied};
/// # use std::net::SocketAddr;
/// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// # use tokio::net::{TcpListener, TcpStream};
/// # /// Asks with one GET and returns the status, 0 for no answer.
/// # async fn get(url: &str, context: &str) -> u16 {
/// #     let address = url.trim_start_matches("http://");
/// #     let ask = format!("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{context}\r\n");
/// #     let Ok(mut stream) = TcpStream::connect(address).await else { return 0 };
/// #     let mut answer = Vec::new();
/// #     let _ = stream.write_all(ask.as_bytes()).await;
/// #     let _ = stream.read_to_end(&mut answer).await;
/// #     let answer = String::from_utf8_lossy(&answer).into_owned();
/// #     answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0)
/// # }
/// # /// Serves GETs; a shop asks the cart and hands on what it was sent.
/// # async fn serve(cart: Option<Proxied>) -> SocketAddr {
/// #     let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
/// #     let address = listener.local_addr().unwrap();
/// #     tokio::spawn(async move {
/// #         while let Ok((mut stream, _)) = listener.accept().await {
/// #             let cart = cart.clone();
/// #             tokio::spawn(async move {
/// #                 let mut asked = vec![0; 4096];
/// #                 let n = stream.read(&mut asked).await.unwrap_or(0);
/// #                 let asked = String::from_utf8_lossy(&asked[..n]).into_owned();
/// #                 let context = asked.lines().filter(|line| line.starts_with("trace"));
/// #                 let context: String = context.map(|line| format!("{line}\r\n")).collect();
/// #                 let status = match cart {
/// #                     Some(proxied) => match get(&proxied.url("cart"), &context).await {
/// #                         200 => 200,
/// #                         _ => 500,
/// #                     },
/// #                     None => 200,
/// #                 };
/// #                 let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
/// #                 let _ = stream.write_all(answer.as_bytes()).await;
/// #             });
/// #         }
/// #     });
/// #     address
/// # }
/// # async fn serve_cart() -> SocketAddr { serve(None).await }
/// # async fn serve_shop(proxied: Proxied) -> SocketAddr { serve(Some(proxied)).await }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let proxied = Proxied::default();
/// let cart = serve_cart().await;
/// let shop = serve_shop(proxied.clone()).await; // asks `proxied.url("cart")`
///
/// let report = Campaign::new("checkout")
///     .service("shop", shop)
///     .service("cart", cart)
///     .proxied(&proxied)
///     .modes("503,reset")
///     .scenario(|session| async move {
///         let status = get(&session.entries["shop"], "").await;
///         assert_eq!(status, 200, "the shop works without its cart");
///     })
///     .run()
///     .await
///     .unwrap();
///
/// // This shop fails where its cart does.
/// assert_eq!(report.findings().len(), 1);
/// assert!(report.certificate().is_complete());
/// println!("{report}");
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a campaign does nothing until it is run"]
pub struct Campaign {
    name: String,
    services: Vec<ServiceSpec>,
    proxied: Proxied,
    scenario: Option<Function>,
    timeout: Duration,
    modes: Option<String>,
    only: Vec<String>,
    except: Vec<String>,
    max_faults: Option<usize>,
    max_cases: Option<usize>,
    max_time: Option<Duration>,
    strategy: Strategy,
    exhaustive: bool,
    reduce: BTreeSet<Reduction>,
    jobs: u32,
    seed: u64,
    references: usize,
    carriers: Option<String>,
    solo: Option<bool>,
    oracles: Vec<(String, String)>,
    setup: Vec<Step>,
    reset: Vec<Step>,
    teardown: Vec<Step>,
    store: Option<PathBuf>,
}

impl Campaign {
    /// A campaign of this name, to be told of services and a scenario.
    pub fn new(name: impl Into<String>) -> Self {
        Campaign {
            name: name.into(),
            services: Vec::new(),
            proxied: Proxied::default(),
            scenario: None,
            timeout: TIMEOUT,
            modes: None,
            only: Vec::new(),
            except: Vec::new(),
            max_faults: None,
            max_cases: None,
            max_time: None,
            strategy: Strategy::default(),
            exhaustive: false,
            reduce: BTreeSet::new(),
            jobs: 1,
            seed: 0,
            references: REFERENCES,
            carriers: None,
            solo: None,
            oracles: Vec::new(),
            setup: Vec::new(),
            reset: Vec::new(),
            teardown: Vec::new(),
            store: None,
        }
    }

    /// A service that runs already, at `host:port`: in this process or
    /// elsewhere.
    pub fn service(mut self, name: &str, upstream: impl Display) -> Self {
        self.services.push(services::running(name, &upstream, None));
        self
    }

    /// The same for a service whose callers cannot be told where to call: its
    /// proxy listens where they do.
    pub fn service_at(mut self, name: &str, upstream: impl Display, listen: SocketAddr) -> Self {
        let service = services::running(name, &upstream, Some(listen));
        self.services.push(service);
        self
    }

    /// A service that is started for the campaign, and stopped after it.
    pub fn managed(mut self, name: &str, managed: Managed) -> Self {
        self.services.push(managed.spec(name));
        self
    }

    /// No call to this service is expected, so the search can be complete
    /// without one.
    pub fn unused(mut self, name: &str) -> Self {
        for service in self.services.iter_mut().filter(|it| it.name == name) {
            service.unused = Unused::Always;
        }
        self
    }

    /// Where services in this process learn how to call each other.
    pub fn proxied(mut self, proxied: &Proxied) -> Self {
        self.proxied = proxied.clone();
        self
    }

    /// The test: a function that passes, or fails by an `Err` or a panic.
    pub fn scenario<F, Fut>(mut self, scenario: F) -> Self
    where
        F: Fn(Session) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoTestResult> + Send + 'static,
    {
        self.scenario = Some(Arc::new(move |session| {
            let running = scenario(session);
            Box::pin(async move { running.await.into_test_result() })
        }));
        self
    }

    /// How long the test may take before it counts as stuck, which is a
    /// failure; a minute if it is not set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How calls fail, such as `500,503,reset`; [`HTTP_MODES`](crate::HTTP_MODES) and
    /// [`GRPC_MODES`](crate::GRPC_MODES) if it is not set.
    pub fn modes(mut self, modes: &str) -> Self {
        self.modes = Some(modes.to_owned());
        self
    }

    /// Makes only calls fail that match this pattern, such as `** > cart *`,
    /// or another one that is given.
    pub fn only(mut self, pattern: &str) -> Self {
        self.only.push(pattern.to_owned());
        self
    }

    /// Never makes calls fail that match this pattern.
    pub fn except(mut self, pattern: &str) -> Self {
        self.except.push(pattern.to_owned());
        self
    }

    /// At most this many faults together.
    pub fn max_faults(mut self, most: usize) -> Self {
        self.max_faults = Some(most);
        self
    }

    /// At most this many executions.
    pub fn max_cases(mut self, most: usize) -> Self {
        self.max_cases = Some(most);
        self
    }

    /// Begins no execution after this time.
    pub fn max_time(mut self, most: Duration) -> Self {
        self.max_time = Some(most);
        self
    }

    /// Who decides what to try; [`Strategy::Tree`] if it is not set.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Leaves nothing out but what service encapsulation makes redundant:
    /// modes do not stand for each other, and every body that a callee answers
    /// with counts.
    pub fn exhaustive(mut self) -> Self {
        self.exhaustive = true;
        self
    }

    /// Covers less, for fewer executions, on top of what is always in force.
    pub fn reduce(mut self, reduction: Reduction) -> Self {
        self.reduce.insert(reduction);
        self
    }

    /// Executions under way at once; results do not depend on it. It is 1
    /// where services hand on no context, and where the scenario gets in its
    /// own way, which is tried out first.
    pub fn jobs(mut self, jobs: u32) -> Self {
        self.jobs = jobs;
        self
    }

    /// Decides everything random; 0 if it is not set.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many times the test is run without faults first; three if it is
    /// not set.
    pub fn references(mut self, references: usize) -> Self {
        self.references = references;
        self
    }

    /// What services hand on, the most trusted first;
    /// `tracestate,baggage,traceparent` if it is not set.
    pub fn carriers(mut self, carriers: &str) -> Self {
        self.carriers = Some(carriers.to_owned());
        self
    }

    /// Whether one execution runs at a time and callers are inferred; found
    /// out if it is not set.
    pub fn solo(mut self, solo: bool) -> Self {
        self.solo = Some(solo);
        self
    }

    /// How much an oracle's word counts: `off`, `warn` or `fail`.
    pub fn oracle(mut self, name: &str, level: &str) -> Self {
        self.oracles.push((name.to_owned(), level.to_owned()));
        self
    }

    /// Done once before the first execution, after other such steps. No fault
    /// is injected into what steps do; one that fails ends the campaign.
    pub fn setup(mut self, step: Step) -> Self {
        self.setup.push(step);
        self
    }

    /// Done before every execution, after other such steps. One execution runs
    /// at a time then, whatever [`jobs`](Campaign::jobs) says: others would be
    /// disturbed.
    pub fn reset(mut self, step: Step) -> Self {
        self.reset.push(step);
        self
    }

    /// Done once at the end, after other such steps.
    pub fn teardown(mut self, step: Step) -> Self {
        self.teardown.push(step);
        self
    }

    /// Keeps the campaign, a replay file of each finding and the logs of
    /// managed services in this directory; if it is not set, nothing is kept.
    pub fn store(mut self, directory: impl Into<PathBuf>) -> Self {
        self.store = Some(directory.into());
        self
    }
}

/// What a test may return: nothing, if it panics where it fails, or
/// a result.
pub trait IntoTestResult {
    /// What it complains of, if anything.
    fn into_test_result(self) -> Result<(), String>;
}

impl IntoTestResult for () {
    fn into_test_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Display> IntoTestResult for Result<(), E> {
    fn into_test_result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;

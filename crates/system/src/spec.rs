//! A system and its scenario, described: plain values without behaviour.
//!
//! Owns the words between the configuration (which checks and resolves what a
//! user wrote) and the parts that make it happen. Texts marked as templates
//! may hold `{NAME.url}` (`http://127.0.0.1:4711`), `{NAME.address}`
//! (`127.0.0.1:4711`), `{NAME.host}` and `{NAME.port}` for any service, and
//! `{port}` for a managed service's own port; `{{` and `}}` stand for braces.
//! In the environment of a service they lead to the proxies in front of the
//! others, in that of a scenario to the entries of its worker.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::runner::{KnownRunner, RunnerKind};
use crate::template::names;
use murphy_model::{Mode, Point};
pub use murphy_proxy::{TlsError, TlsFiles, TlsUpstream};
pub use murphy_request::{Expectations, RequestCall, RequestSpec, UnderFault};

/// A system to be tested.
#[derive(Clone, Default)]
pub struct SystemSpec {
    /// Its services, in the order they are written; managed ones start in it.
    pub services: Vec<ServiceSpec>,
    /// Run once before the first execution, faults inhibited.
    pub setup: Vec<StepSpec>,
    /// Run before every execution, faults inhibited.
    pub reset: Vec<StepSpec>,
    /// Run once at the end, faults inhibited.
    pub teardown: Vec<StepSpec>,
    /// Whether managed services are restarted before every execution, with the
    /// set-up after it.
    pub restart: bool,
    /// Whether a step of `reset` says that everything is as after a start.
    pub is_cold: bool,
    /// Whether hosts that belong to no service are refused, where calls leave
    /// by our forward proxy.
    pub only_named_hosts: bool,
    /// Whether calls leave by it even where no service has hosts.
    pub forward_proxy: bool,
}

/// One service.
#[derive(Clone, Debug)]
pub struct ServiceSpec {
    /// Its name, as it appears in points.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// How TLS is spoken to it, if it is. Its callers speak to its proxy
    /// without.
    pub tls: Option<Arc<TlsUpstream>>,
    /// The managed service whose process serves this one too, at `upstream`.
    pub process: Option<String>,
    /// Where its proxy listens for the other services; any free port if
    /// `None`. For a service that runs already and whose callers cannot be
    /// told otherwise, this is the address they call.
    pub listen: Option<SocketAddr>,
    /// How its callers reach it, where not by plain requests to its proxy.
    pub callers: Callers,
    /// Whether calls to it are seen and can be injected.
    pub proxied: bool,
    /// The services it calls, if that is known: a call that nothing else says
    /// the caller of is never taken for its own otherwise.
    pub calls: Option<BTreeSet<String>>,
    /// Where no call to it is expected.
    pub unused: Unused,
    /// How to tell that it is up.
    pub health: Health,
    /// Where it is described, such as `murphy.toml:3`, for messages.
    pub place: Option<String>,
}

/// How the callers of a service reach it, where not by plain requests to its
/// proxy.
#[derive(Clone, Debug, Default)]
pub struct Callers {
    /// Whether they speak TLS with its proxy.
    pub speak_tls: bool,
    /// The hosts that they name to our forward proxy.
    pub hosts: Vec<String>,
    /// How TLS is spoken to these hosts.
    pub hosts_tls: TlsFiles,
}

/// In which scenarios no call to a service is expected. In all others one must
/// be seen, or nothing is known of the service and the search is not complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Unused {
    /// In none.
    #[default]
    Never,
    /// In any.
    Always,
    /// In these.
    In(BTreeSet<String>),
}

impl SystemSpec {
    /// Whether calls leave by a forward proxy of ours.
    pub fn has_forward_proxy(&self) -> bool {
        let has_hosts = |service: &ServiceSpec| !service.callers.hosts.is_empty();
        self.forward_proxy || self.services.iter().any(has_hosts)
    }

    /// A service that the test of every worker starts for itself, but that has
    /// callers which all workers share; and those callers.
    pub fn shared_but_started_by_test(&self) -> Option<(&str, String)> {
        let mut started = self.services.iter().filter(|it| it.is_started_by_test());
        started.find_map(|service| {
            let mut others = self.services.iter();
            let by_name = others.find(|other| other.names_in_templates(&service.name));
            let by_name = by_name.map(|other| format!("`{}`", other.name));
            let by_listen = || Some(format!("who calls at {}", service.listen?));
            let caller = by_name.or_else(by_listen);
            Some((service.name.as_str(), caller?))
        })
    }

    /// The services whose callers speak TLS with us, or may.
    pub fn over_tls(&self) -> BTreeSet<String> {
        let services = self.services.iter();
        let over_tls = services.filter(|service| {
            let callers = &service.callers;
            service.proxied && (callers.speak_tls || !callers.hosts.is_empty())
        });
        over_tls.map(|service| service.name.clone()).collect()
    }

    /// Whether callers speak TLS with us.
    pub fn has_doors(&self) -> bool {
        let speak_tls = |service: &ServiceSpec| service.callers.speak_tls;
        self.has_forward_proxy() || self.services.iter().any(speak_tls)
    }
}

impl ServiceSpec {
    /// Whether the test starts it.
    pub fn is_started_by_test(&self) -> bool {
        matches!(self.source, Source::Test)
    }

    /// Whether Murphy starts it, and tells it where that service is.
    pub(crate) fn names_in_templates(&self, service: &str) -> bool {
        let Source::Managed(managed) = &self.source else {
            return false;
        };
        let mut texts = managed.command.iter().chain(managed.environment.values());
        let names_it = |text: &String| names(text).is_ok_and(|names| names.contains(service));
        self.name != service && texts.any(names_it)
    }
}

impl Unused {
    /// Whether no call is expected in a scenario.
    pub fn covers(&self, scenario: &str) -> bool {
        match self {
            Unused::Never => false,
            Unused::Always => true,
            Unused::In(scenarios) => scenarios.contains(scenario),
        }
    }
}

/// Where a service comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// It runs already, at `host:port`.
    Running {
        /// `host:port`.
        upstream: String,
    },
    /// Wherever its hosts are: it is reached by our forward proxy alone.
    Hosts,
    /// The test starts it while it runs, and says where it listens.
    Test,
    /// Murphy starts it, and stops it in the end.
    Managed(ManagedSpec),
}

/// A service that Murphy starts.
#[derive(Clone, Debug, Default)]
pub struct ManagedSpec {
    /// Program and arguments; templates.
    pub command: Vec<String>,
    /// Where it is started.
    pub directory: PathBuf,
    /// Added to its environment; values are templates.
    pub environment: BTreeMap<String, String>,
    /// The port it listens on, if it cannot be told one; otherwise Murphy
    /// picks a free one (`{port}`, and `PORT` in its environment).
    pub port: Option<u16>,
    /// How long it may take to stop before it is killed.
    pub stop_within: Duration,
}

/// How to tell that a service is up.
#[derive(Clone, Debug)]
pub struct Health {
    /// A path that answers 2xx or 3xx; `None`: its port accepts connections.
    pub path: Option<String>,
    /// How long it may take.
    pub within: Duration,
}

impl Health {
    /// How long a service may take to come up, unless it is said: instrumented
    /// interpreters take seconds to start on a busy machine.
    pub const WITHIN: Duration = Duration::from_secs(30);
}

impl Default for Health {
    fn default() -> Self {
        Health {
            path: None,
            within: Health::WITHIN,
        }
    }
}

/// Something done around executions: never failed, never recorded.
#[derive(Clone)]
pub enum StepSpec {
    /// A command that must exit with 0.
    Command(CommandSpec),
    /// A request whose expectations must hold.
    Request(Box<RequestSpec>),
    /// A function of the embedding program.
    Function(StepFunction),
}

/// What a function of the embedding program comes to: content, or why not.
pub type FutureResult = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// A step written in Rust: given the URL of each service, not of a proxy.
pub type StepFunction = Arc<dyn Fn(BTreeMap<String, String>) -> FutureResult + Send + Sync>;

/// A test.
#[derive(Clone)]
pub struct ScenarioSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub kind: ScenarioKind,
    /// How long it may take before it counts as stuck, which is a failure.
    pub timeout: Duration,
    /// Whether its own requests may fail, too, or are only observed.
    pub entries: bool,
    /// The answers to its requests that are right under faults: a test that
    /// fails on one of them found no bug. Declared requests have their own.
    pub under_fault: UnderFault,
}

/// What a test does.
#[derive(Clone)]
pub enum ScenarioKind {
    /// Any program: passes if it exits with 0.
    Command(CommandSpec),
    /// Requests in turn, the first failing one fails it.
    Requests(Vec<RequestSpec>),
    /// A function of the embedding program.
    Function(Function),
    /// One test of a runner that runs its tests one by one.
    Test(TestSpec),
    /// All tests of a command, each to become a scenario of its own before
    /// anything is run.
    Each(Box<EachSpec>),
}

/// The tests of a command.
#[derive(Clone, Debug)]
pub struct EachSpec {
    /// What the name of each begins with; the rest is what the runner calls it.
    pub prefix: String,
    /// The runner that lists and runs them.
    pub runner: RunnerSpec,
    /// How they are listed and run, where the runner does not speak the worker
    /// protocol.
    pub one_by_one: Option<OneByOne>,
}

/// How tests are listed and run by commands, a process for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneByOne {
    /// As the user says: a command that prints an id a line, and one that runs
    /// the test which stands for `{id}`.
    Commands {
        /// Lists them.
        list: Vec<String>,
        /// Runs one.
        one: Vec<String>,
    },
    /// As a known runner does it.
    Known(KnownRunner),
}

impl ScenarioKind {
    /// The command that runs it, if it is one; of a test that of its runner.
    pub fn command(&self) -> Option<&CommandSpec> {
        match self {
            ScenarioKind::Command(command) => Some(command),
            ScenarioKind::Test(test) => Some(&test.runner.command),
            ScenarioKind::Each(each) => Some(&each.runner.command),
            ScenarioKind::Requests(_) | ScenarioKind::Function(_) => None,
        }
    }

    /// The same, to be changed; not of a test, which shares its runner.
    pub fn command_mut(&mut self) -> Option<&mut CommandSpec> {
        match self {
            ScenarioKind::Command(command) => Some(command),
            ScenarioKind::Each(each) => Some(&mut each.runner.command),
            ScenarioKind::Test(_) | ScenarioKind::Requests(_) | ScenarioKind::Function(_) => None,
        }
    }
}

/// One test of a runner.
#[derive(Clone, Debug)]
pub struct TestSpec {
    /// What the runner calls it.
    pub id: String,
    /// Its runner, which it shares with others.
    pub runner: Arc<RunnerSpec>,
}

/// A test runner.
#[derive(Clone, Debug)]
pub struct RunnerSpec {
    /// The scenario it is of.
    pub name: String,
    /// Which it is.
    pub kind: RunnerKind,
    /// How its tests are run without Murphy.
    pub command: CommandSpec,
    /// How long it may take to start and to collect its tests.
    pub start_within: Duration,
    /// Whether every execution has a process of its own.
    pub fresh: bool,
    /// Whether fixtures of wider scope are torn down after each execution.
    pub fresh_fixtures: bool,
    /// The phases of a test in which calls may fail: `setup`, `call`,
    /// `teardown`.
    pub phases: Vec<String>,
}

/// A test written in Rust: given a session, it says whether it passes.
pub type Function = Arc<dyn Fn(Session) -> FutureResult + Send + Sync>;

/// What a test knows of its execution; a command gets the same as variables
/// of its environment, and a worker in the order to run it, in the same words
/// (`execution`, `faults`, `headers`). A function has no phases: calls may fail
/// in all of it. What it returns is the outcome, passed or failed, and the error
/// the message.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The entry of each service for this worker: `http://127.0.0.1:4711`.
    pub entries: BTreeMap<String, String>,
    /// `MURPHY_EXECUTION`: the execution's name.
    pub execution: String,
    /// `TRACEPARENT`.
    pub traceparent: String,
    /// `TRACESTATE`.
    pub tracestate: String,
    /// `BAGGAGE`.
    pub baggage: String,
    /// `MURPHY_FAULTS`: what is planned, as a JSON list of fault texts.
    pub faults: Vec<String>,
    /// `MURPHY_CONTROL_URL`: where to ask which faults were injected so far.
    pub control: String,
    /// `MURPHY_TOKEN`: what every request there must bring.
    pub token: String,
    pub(crate) injected: Injected,
}

impl Session {
    /// What names the execution, for the calls that the test makes itself: those
    /// that enter at [`Session::entries`] are known anyway.
    pub fn headers(&self) -> BTreeMap<String, String> {
        let all = [
            ("traceparent", &self.traceparent),
            ("tracestate", &self.tracestate),
            ("baggage", &self.baggage),
        ];
        let given = all.into_iter().filter(|(_, value)| !value.is_empty());
        given
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()
    }

    /// The faults that were injected so far: at which call, in which mode.
    /// Empty once the execution is over.
    pub fn injected(&self) -> Vec<(Point, Mode)> {
        let ask = self.injected.0.as_ref();
        ask.map(|ask| ask()).unwrap_or_default()
    }
}

/// Answers which faults were injected in an execution.
#[derive(Clone, Default)]
pub(crate) struct Injected(pub(crate) Option<AskInjected>);

pub(crate) type AskInjected = Arc<dyn Fn() -> Vec<(Point, Mode)> + Send + Sync>;

impl fmt::Debug for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Injected")
    }
}

/// A program to run.
#[derive(Clone, Debug, Default)]
pub struct CommandSpec {
    /// Program and arguments; templates.
    pub command: Vec<String>,
    /// Where it is run.
    pub directory: PathBuf,
    /// Added to its environment; values are templates.
    pub environment: BTreeMap<String, String>,
}

//! `murphy.toml` as it is written: keys, kinds of values, places.
//!
//! Owns the shape; its docs are the descriptions of the JSON Schema. Nothing
//! is checked that needs to know more than one key; that is `resolve`'s job.

mod values;

use murphy_dialect::DialectTable;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use values::{
    At, Count, Json, ModeText, Named, Number, OneOrMany, Port, Status, Step, Text, TrueOrNames,
    UnderFault,
};

/// One text or several.
pub(crate) type Words = At<OneOrMany<String>>;

/// One mode or several, also separated by commas in one text.
pub(crate) type Modes = At<OneOrMany<ModeText>>;

/// How Murphy tests a system: its services, its scenarios, and what to try.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(title = "murphy.toml")]
pub(crate) struct Root {
    /// The services of the system, by name: what they are called in points.
    #[serde(default)]
    pub(crate) services: Named<Service>,
    /// The tests, by name.
    #[serde(default)]
    pub(crate) scenario: Named<Scenario>,
    /// Added to the environment of everything that Murphy starts: services, scenarios, steps. Their own `env` wins. Values may hold `{NAME.url}` and the like.
    pub(crate) env: Option<At<Named<Text>>>,
    /// What concerns the services as a whole.
    #[serde(default)]
    pub(crate) system: System,
    /// Calls that leave the system by Murphy's forward proxy.
    pub(crate) egress: Option<Egress>,
    /// What is done around executions, without faults.
    #[serde(default)]
    pub(crate) steps: Steps,
    /// What to try, and how much of it.
    #[serde(default)]
    pub(crate) search: Search,
    /// How particular calls fail; the first entry that matches a call counts.
    #[serde(default)]
    pub(crate) modes: Vec<ModesAt>,
    /// What identifies a call.
    #[serde(default)]
    pub(crate) identity: Identity,
    /// How calls are known to belong to an execution.
    #[serde(default)]
    pub(crate) context: Context,
    /// What injected faults look like and which paths they ignore.
    #[serde(default)]
    pub(crate) inject: Inject,
    /// How cloud services say that they failed, by name: more of them, or changes to those that Murphy knows.
    #[serde(default)]
    pub(crate) dialects: Named<DialectTable>,
    /// What each oracle does, by its name: "off", "warn" or "fail".
    #[serde(default)]
    pub(crate) oracles: Named<Text>,
    /// What the oracle `response` goes by; without any rule it is silent.
    #[serde(default)]
    pub(crate) response: Response,
    /// What the oracles about retries go by.
    #[serde(default)]
    pub(crate) retries: Retries,
    /// Files to be written at the end of a run, relative to this file.
    #[serde(default)]
    pub(crate) report: Report,
    /// Where runs are kept.
    #[serde(default)]
    pub(crate) store: Store,
    /// What `murphy harden` goes by.
    #[serde(default)]
    pub(crate) harden: Harden,
}

/// A service: one that Murphy starts (`command`), one that runs already (`upstream`), or one that the test starts (`started_by`).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Service {
    /// Program and arguments, for a service that Murphy starts: a text that is split as a shell would, or a list. May hold `{port}` and `{NAME.url}`, `{NAME.address}`, `{NAME.host}`, `{NAME.port}` of other services; `{{` and `}}` are braces.
    pub(crate) command: Option<Words>,
    /// Where the command is run, relative to this file.
    pub(crate) directory: Option<Text>,
    /// Added to the environment of the command; values may hold the same as the command.
    pub(crate) env: Option<At<Named<Text>>>,
    /// The port that the command listens on, if it cannot be told one.
    pub(crate) port: Option<At<Port>>,
    /// How long it may take to stop before it is killed.
    pub(crate) stop_within: Option<Text>,
    /// Where a service listens that runs already: `host:port`, or `https://host:port` where it speaks TLS.
    pub(crate) upstream: Option<Text>,
    /// Who starts the service, where neither Murphy does nor it runs already: "test", which says by `POST /v1/services` where it listens.
    #[schemars(extend("enum" = ["test"]))]
    pub(crate) started_by: Option<Text>,
    /// How TLS is spoken to the service; with a `command` it says that the service speaks TLS.
    pub(crate) tls: Option<At<Tls>>,
    /// The service whose command serves this one too, at `port` or `upstream`: Murphy waits for it there.
    pub(crate) process: Option<Text>,
    /// Where the proxy in front of the service listens; any free port by default. With `https://` before it callers speak TLS there.
    pub(crate) listen: Option<Text>,
    /// The hosts by which callers name it to Murphy's forward proxy (`HTTPS_PROXY`): names, or `*.` and a domain. Without `upstream` the hosts themselves are called.
    pub(crate) hosts: Option<Words>,
    /// Whether calls to it are seen and can be injected.
    pub(crate) proxied: Option<bool>,
    /// The services that it calls, where Murphy cannot tell from trace context or from `{NAME.url}` in its command and environment.
    pub(crate) calls: Option<Words>,
    /// Whether no call to it is expected: true, or the names of the scenarios that make none. Otherwise a run that sees no call to it is not complete.
    pub(crate) unused: Option<At<TrueOrNames>>,
    /// A path that answers 2xx or 3xx once the service is up; by default its port is asked.
    pub(crate) health: Option<Text>,
    /// How long it may take to come up.
    pub(crate) start_within: Option<Text>,
    /// How calls to it fail, in place of `search.modes`.
    pub(crate) modes: Option<Modes>,
    /// Any text that changes when the service does, for `--since-last`: an image's tag, a commit. In place of the files in its directory.
    pub(crate) version: Option<Text>,
}

/// Calls that leave the system. With this table, or `hosts` of any service, all that Murphy starts is given a forward proxy.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Egress {
    /// Which hosts may be reached: "all" (those that belong to no service are passed on unread), or only the "named" ones.
    #[schemars(extend("enum" = ["all", "named"]))]
    pub(crate) allow: Option<Text>,
}

/// How TLS is spoken to a service. Files are in PEM, paths relative to this file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Tls {
    /// The certificates to trust in place of those that this machine trusts.
    pub(crate) ca: Option<Text>,
    /// Our own certificate with its chain, for a service that demands one.
    pub(crate) client_cert: Option<Text>,
    /// The key of `client_cert`, not encrypted.
    pub(crate) client_key: Option<Text>,
    /// The name that the certificate of the service must have, and is asked for (SNI), where it is not the host of `upstream`.
    pub(crate) server_name: Option<Text>,
}

/// What concerns the services as a whole.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct System {
    /// When services that Murphy starts are restarted: "never", or before every "execution", with the `setup` steps after it. Then calls that are made only once after a start are tested too.
    #[schemars(extend("enum" = ["never", "execution"]))]
    pub(crate) restart: Option<Text>,
}

/// A test: exactly one of `command`, `request`, `grpc` and `steps`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Scenario {
    /// A program that passes if it exits with 0: a text that is split as a shell would, or a list. May hold `{NAME.url}` and the like.
    pub(crate) command: Option<Words>,
    /// Where the command is run, relative to this file.
    pub(crate) directory: Option<Text>,
    /// Added to the environment of the command; values may hold `{NAME.url}` and the like.
    pub(crate) env: Option<At<Named<Text>>>,
    /// An HTTP request: method and path.
    pub(crate) request: Option<Text>,
    /// A gRPC call: `package.Service/Method`.
    pub(crate) grpc: Option<Text>,
    /// The service that is asked; for `steps`, where they do not say it themselves.
    pub(crate) service: Option<Text>,
    /// Headers of the request.
    pub(crate) headers: Option<At<Named<Text>>>,
    /// The body of the request, or the message of the gRPC call.
    pub(crate) json: Option<At<Json>>,
    /// The body of the request, as it is.
    pub(crate) body: Option<Text>,
    /// What must hold of the answer.
    pub(crate) expect: Option<At<Expect>>,
    /// Requests in turn.
    pub(crate) steps: Option<At<Vec<At<Request>>>>,
    /// Makes each test of the command a scenario of its own: true for a runner that the command names, or which: "pytest", "mocha", "vitest", "unittest", "jest", "node", "cargo", "nextest"; "worker" for a command that speaks the worker protocol.
    pub(crate) each: Option<At<Each>>,
    /// With `each`, for any other runner: a command that prints the id of each test on a line.
    pub(crate) list_command: Option<Words>,
    /// With `list_command`: the command that runs one test, whose id stands for `{id}`.
    pub(crate) one_command: Option<Words>,
    /// With `each`: every execution has a process of its own, instead of a runner that stays alive.
    pub(crate) fresh: Option<At<bool>>,
    /// With `each`: fixtures of modules, classes and sessions are torn down after every execution.
    pub(crate) fresh_fixtures: Option<At<bool>>,
    /// With `each`: the phases of a test in which calls may fail, of "setup", "call" and "teardown"; default ["call"].
    pub(crate) phases: Option<At<Vec<Text>>>,
    /// How long it may take before it counts as stuck.
    pub(crate) timeout: Option<Text>,
    /// What happens to the test's own requests: they are only observed ("observe"), or fail like any other call ("inject").
    #[schemars(extend("enum" = ["observe", "inject"]))]
    pub(crate) entry: Option<Text>,
    /// Answers to its requests that are right while a fault is injected: a test that fails on one of them was refused honestly, which is no finding. Statuses, or answers such as `{ status = 200, contains = "unavailable" }`.
    pub(crate) under_fault: Option<At<OneOrMany<UnderFault<ExpectedAnswer>>>>,
}

/// Whether, or by which runner, each test is a scenario.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "true, false or the name of a runner")]
pub(crate) enum Each {
    /// By the runner that the command names.
    Guess(bool),
    /// By this one.
    Runner(String),
}

/// A request: `request` or `grpc`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Request {
    /// An HTTP request: method and path.
    pub(crate) request: Option<Text>,
    /// A gRPC call: `package.Service/Method`.
    pub(crate) grpc: Option<Text>,
    /// The service that is asked.
    pub(crate) service: Option<Text>,
    /// Headers of the request.
    pub(crate) headers: Option<At<Named<Text>>>,
    /// The body of the request, or the message of the gRPC call.
    pub(crate) json: Option<At<Json>>,
    /// The body of the request, as it is.
    pub(crate) body: Option<Text>,
    /// What must hold of the answer.
    pub(crate) expect: Option<At<Expect>>,
}

/// What must hold of an answer; by default its status is 2xx, or OK for gRPC.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Expect {
    /// The statuses that are right.
    pub(crate) status: Option<At<OneOrMany<Status>>>,
    /// Headers that must be there with this value.
    pub(crate) headers: Option<At<Named<Text>>>,
    /// Values in the JSON body, by path such as `items.0.name`; `"*"` stands for anything.
    pub(crate) json: Option<Named<At<Json>>>,
    /// Texts that the body must contain.
    pub(crate) contains: Option<Words>,
    /// How long the answer may take.
    pub(crate) within: Option<Text>,
    /// What is right too while a fault is injected: statuses of failures that are shown honestly, or answers that do without what failed, such as `{ status = 200, contains = "unavailable" }`.
    pub(crate) under_fault: Option<At<OneOrMany<UnderFault<ExpectedAnswer>>>>,
}

/// An answer that is right while a fault is injected; by default its status is 2xx, or OK for gRPC.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct ExpectedAnswer {
    /// The statuses that are right.
    pub(crate) status: Option<At<OneOrMany<Status>>>,
    /// Headers that must be there with this value.
    pub(crate) headers: Option<At<Named<Text>>>,
    /// Values in the JSON body, by path such as `items.0.name`; `"*"` stands for anything.
    pub(crate) json: Option<Named<At<Json>>>,
    /// Texts that the body must contain.
    pub(crate) contains: Option<Words>,
}

/// What is done around executions, without faults: commands or requests.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Steps {
    /// Before the first execution.
    #[serde(default)]
    pub(crate) setup: Vec<At<Step<StepTable>>>,
    /// Before every execution.
    #[serde(default)]
    pub(crate) reset: Vec<At<Step<StepTable>>>,
    /// At the end.
    #[serde(default)]
    pub(crate) teardown: Vec<At<Step<StepTable>>>,
}

/// A step: exactly one of `command`, `request` and `grpc`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct StepTable {
    /// A program that must exit with 0.
    pub(crate) command: Option<Words>,
    /// Where the command is run, relative to this file.
    pub(crate) directory: Option<Text>,
    /// Added to the environment of the command.
    pub(crate) env: Option<At<Named<Text>>>,
    /// An HTTP request: method and path.
    pub(crate) request: Option<Text>,
    /// A gRPC call: `package.Service/Method`.
    pub(crate) grpc: Option<Text>,
    /// The service that is asked.
    pub(crate) service: Option<Text>,
    /// Headers of the request.
    pub(crate) headers: Option<At<Named<Text>>>,
    /// The body of the request, or the message of the gRPC call.
    pub(crate) json: Option<At<Json>>,
    /// The body of the request, as it is.
    pub(crate) body: Option<Text>,
    /// What must hold of the answer.
    pub(crate) expect: Option<At<Expect>>,
    /// Only for `reset`: after it everything is as after a start, caches and tokens included. A run that shows otherwise is refused.
    pub(crate) cold: Option<At<bool>>,
}

/// What to try, and how much of it; arguments of the command line win.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Search {
    /// How faultloads are chosen.
    pub(crate) strategy: Option<Text>,
    /// How calls fail: `[500, "reset"]` or `"500,reset"`; `"http"` stands for 500,502,503,504, `"grpc"` for four gRPC statuses; by default 503, reset and after:reset over HTTP, grpc:UNAVAILABLE, grpc:INTERNAL and after:grpc:UNAVAILABLE over gRPC.
    pub(crate) modes: Option<Modes>,
    /// At most this many faults together.
    pub(crate) max_faults: Option<Count>,
    /// At most this many executions.
    pub(crate) max_cases: Option<Count>,
    /// Begin no execution after this time.
    pub(crate) max_time: Option<Text>,
    /// Executions under way at once.
    pub(crate) jobs: Option<Count>,
    /// Which faultloads come first: few faults ("bfs") or what follows from the last ("dfs").
    #[schemars(extend("enum" = ["bfs", "dfs"]))]
    pub(crate) order: Option<Text>,
    /// Leave nothing out but what service encapsulation makes redundant.
    pub(crate) exhaustive: Option<bool>,
    /// What of a reply its caller may act on: "status", "classes" (the default) or "bodies".
    #[schemars(extend("enum" = ["status", "classes", "bodies"]))]
    pub(crate) replies: Option<Text>,
    /// Reductions to switch on.
    pub(crate) reduce: Option<Words>,
    /// Reductions to switch off.
    pub(crate) no_reduce: Option<Words>,
    /// Decides everything random.
    pub(crate) seed: Option<Number>,
    /// Make only calls fail that match one of these patterns: every attempt, or with `#1` only
    /// the first.
    pub(crate) only: Option<Words>,
    /// Never make calls fail that match one of these patterns.
    pub(crate) except: Option<Words>,
    /// How often the scenario is run without faults, to learn what is stable.
    pub(crate) references: Option<Count>,
}

/// How the calls that match a pattern fail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct ModesAt {
    /// The pattern of a point.
    pub(crate) at: Text,
    /// How these calls fail.
    pub(crate) modes: Modes,
}

/// What identifies a call; each component "auto", "on" or "off".
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Identity {
    /// The chain of calls that led to a call.
    #[schemars(extend("enum" = ["auto", "on", "off"]))]
    pub(crate) path: Option<Text>,
    /// What is sent.
    #[schemars(extend("enum" = ["auto", "on", "off"]))]
    pub(crate) payload: Option<Text>,
    /// The caller's completed calls.
    #[schemars(extend("enum" = ["auto", "on", "off"]))]
    pub(crate) predecessors: Option<Text>,
    /// The place in the caller's code, where a client library supplies it.
    #[schemars(extend("enum" = ["auto", "on", "off"]))]
    pub(crate) call_site: Option<Text>,
    /// How many equal calls went before.
    #[schemars(extend("enum" = ["auto", "on", "off"]))]
    pub(crate) count: Option<Text>,
    /// Templates of paths, `{}` for a segment that varies.
    pub(crate) paths: Option<Words>,
    /// JSON fields and query parameters that vary and mean nothing.
    pub(crate) mask: Option<Words>,
}

/// How calls are known to belong to an execution.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Context {
    /// What services hand on, the most trusted first; or "none".
    pub(crate) carriers: Option<Words>,
    /// Whether to run one execution at a time and infer who called: "auto" where nothing is handed on.
    #[schemars(extend("enum" = ["auto", "on", "off"]))]
    pub(crate) solo: Option<Text>,
    /// How long an execution may stay quiet before it counts as ended.
    pub(crate) grace: Option<Text>,
}

/// What injected faults look like and which paths they ignore.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Inject {
    /// Paths that are neither recorded nor failed.
    pub(crate) ignore: Option<Words>,
    /// Whether the usual paths of health checks are ignored as well.
    pub(crate) ignore_health_checks: Option<bool>,
    /// Whether injected answers carry the header `murphy-fault`.
    pub(crate) marker: Option<bool>,
    /// What injected answers say, by status.
    pub(crate) answers: Option<Named<Answer>>,
}

/// What an injected answer says besides its status.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Answer {
    /// The body.
    pub(crate) body: Option<Text>,
    /// Headers that are sent along.
    pub(crate) headers: Option<At<Named<Text>>>,
}

/// Files to be written at the end of a run, relative to this file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Report {
    /// JUnit XML.
    pub(crate) junit: Option<Text>,
    /// The result as one JSON object.
    pub(crate) json: Option<Text>,
    /// Markdown, for the summary of a CI job.
    pub(crate) markdown: Option<Text>,
    /// Everything that happened, one JSON object per line.
    pub(crate) events: Option<Text>,
}

/// Rules about the answers that the test gets.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Response {
    /// The statuses that the test's own requests may be answered with, by class: "2xx", "4xx".
    pub(crate) status: Option<Words>,
    /// Words that must not be printed, nor be in the answers to declared requests, unless they are without faults too.
    pub(crate) keywords: Option<Words>,
    /// How long each request of the test may take.
    pub(crate) within: Option<Text>,
    /// How long it may take, in times of that request in the first run without faults.
    pub(crate) within_times: Option<Count>,
}

/// What may be asked for twice, and how often.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Retries {
    /// Calls that may be made twice although their method does not say so.
    pub(crate) idempotent: Option<Words>,
    /// Headers besides `Idempotency-Key` by which a callee knows an attempt again.
    pub(crate) idempotency_key: Option<Words>,
    /// Fields of a JSON body, at any depth, that hold such a key.
    pub(crate) idempotency_field: Option<Words>,
    /// The most attempts at one place within one request of the test.
    pub(crate) most_attempts: Option<Count>,
}

/// What `murphy harden` goes by: which scenarios must not fail.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Harden {
    /// Scenarios of high priority: whatever brings them down must be covered.
    pub(crate) high: Option<Words>,
    /// How often each scenario is asked for, by its name; the most frequent are of high priority.
    #[serde(default)]
    pub(crate) frequency: Named<Number>,
}

/// Where runs are kept.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Store {
    /// The folder, relative to this file.
    pub(crate) directory: Option<Text>,
    /// How many runs are kept.
    pub(crate) keep: Option<Count>,
}

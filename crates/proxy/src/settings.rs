//! What can be set about a proxy, with defaults that just work.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use murphy_dialect::Dialects;
use murphy_registry::Owner;

use crate::carriers::Carriers;
use crate::headers::Headers;
use crate::tls::ClientOfSocket;

/// The header that marks injected answers.
pub const MARKER: &str = "murphy-fault";

/// The header in which a client library names the place in the caller's code.
pub const CALL_SITE: &str = "x-murphy-site";

/// The headers of our libraries in test processes. They are for us alone, and
/// go no further.
pub const LIBRARY_HEADERS: [&str; 9] = [
    CALL_SITE,
    "x-murphy-call",
    "x-murphy-operation",
    "x-murphy-stack",
    "x-murphy-line",
    "x-murphy-phase",
    "x-murphy-test",
    "x-murphy-pid",
    RAISES,
];

/// The header in which such a library says what it can raise when told to:
/// `timeout`, its client's own read time-out.
pub const RAISES: &str = "x-murphy-raises";

/// The header of an answer that tells it to, with the same value.
pub const LOST: &str = "x-murphy-lost";

/// The header in which clients say that attempts are one piece of work.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Paths of health checks and readiness probes, ignored by default.
pub const HEALTH_CHECKS: [&str; 12] = [
    "/health",
    "/healthz",
    "/health/live",
    "/health/ready",
    "/live",
    "/livez",
    "/ready",
    "/readyz",
    "/-/healthy",
    "/-/ready",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
];

/// What can be set about a proxy.
#[derive(Clone)]
pub struct Settings {
    /// How many threads carry traffic.
    pub threads: usize,
    /// How calls are known to belong to an execution.
    pub carriers: Arc<Carriers>,
    /// Paths that are neither recorded nor failed.
    pub ignored: Vec<String>,
    /// Headers (lower case) that hold a call's idempotency key, if it has one.
    pub idempotency_keys: Vec<String>,
    /// Fields of JSON bodies that hold it, where no header does.
    pub idempotency_fields: Vec<String>,
    /// Whether injected answers carry [`MARKER`].
    pub marker: bool,
    /// How many bytes of a request's body are read to identify calls.
    pub body_limit: usize,
    /// How long to wait for more of such a body.
    pub body_patience: Duration,
    /// The longest head of a request or answer, in bytes.
    pub head_limit: usize,
    /// How long connecting to a service may take.
    pub connect_timeout: Duration,
    /// What injected answers say, by status, where not the default.
    pub answers: BTreeMap<u16, InjectedAnswer>,
    /// What they say where a request is for a cloud service.
    pub dialects: Arc<Dialects>,
    /// Shown every request of a live execution as it came, before anything of
    /// ours is stamped on it; to find out which carriers survive.
    pub witness: Option<Witness>,
    /// The headers that are noted with each call, for whoever decides about it.
    pub noted: &'static [&'static str],
    /// Asked who calls, for each connection to an address that anybody may have
    /// been given.
    pub callers: Option<CallerOfSocket>,
    /// Asked what a caller is that may not trust our certificates.
    pub clients: Option<ClientOfSocket>,
}

/// Says which service has the socket with this inode open, if that is known. It
/// may block.
pub type CallerOfSocket = Arc<dyn Fn(u32) -> Option<Arc<str>> + Send + Sync>;

/// Someone who is shown requests.
pub type Witness = Arc<dyn Fn(&Sighting<'_>) + Send + Sync>;

/// A request of a live execution, as it came.
pub struct Sighting<'s> {
    /// The service that is called.
    pub service: &'s str,
    /// Whose request it is.
    pub claim: &'s Owner,
    /// Its headers.
    pub headers: &'s dyn Headers,
}

/// What an injected answer says besides its status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectedAnswer {
    /// Headers to be sent along.
    pub headers: Vec<(http::HeaderName, http::HeaderValue)>,
    /// The body.
    pub body: String,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            threads: std::thread::available_parallelism().map_or(1, |n| n.get().min(4)),
            carriers: Arc::default(),
            ignored: HEALTH_CHECKS.map(str::to_owned).into(),
            idempotency_keys: vec![IDEMPOTENCY_KEY.to_owned()],
            idempotency_fields: Vec::new(),
            marker: true,
            // Larger bodies are rare, and their beginning identifies them.
            body_limit: 256 * 1024,
            body_patience: Duration::from_secs(1),
            // What common servers take is 8 to 64 KiB.
            head_limit: 64 * 1024,
            connect_timeout: Duration::from_secs(5),
            answers: BTreeMap::new(),
            dialects: Dialects::shipped(),
            witness: None,
            noted: &[],
            callers: None,
            clients: None,
        }
    }
}

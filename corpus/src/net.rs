//! The one small interface the example systems are written against.
//!
//! A handler gets a [`Ctx`] and a [`Request`] and answers; whatever it calls
//! goes through [`Net`]. In memory that is the simulator, on sockets a real
//! client: the systems cannot tell. Owns messages and the handler's view of
//! the world; what happens to a message on its way is the implementation's job.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{Interface, Mode};
use serde_json::Value;

/// A future that can be stored and moved between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A request as a service receives it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The operation, with the concrete path.
    pub interface: Interface,
    /// The query without `?`; empty if there is none.
    pub query: String,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
}

impl Request {
    /// A request without query and body.
    pub fn new(method: &str, path: &str) -> Self {
        Request {
            interface: Interface::http(method, path),
            query: String::new(),
            body: Vec::new(),
        }
    }

    /// The HTTP method; empty for gRPC.
    pub fn method(&self) -> &str {
        match &self.interface {
            Interface::Http { method, .. } => method,
            Interface::Grpc { .. } => "",
        }
    }

    /// The concrete path; empty for gRPC.
    pub fn path(&self) -> &str {
        match &self.interface {
            Interface::Http { path, .. } => path,
            Interface::Grpc { .. } => "",
        }
    }

    /// The segments of the path, without the empty one before the first `/`.
    pub fn segments(&self) -> Vec<&str> {
        self.path().split('/').skip(1).collect()
    }

    /// The body as JSON, if it is that.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Nothing.
    Empty,
    /// Plain text or a page: an error of a framework, an injected fault.
    Text(String),
    /// A JSON document.
    Json(Value),
}

/// An answer as a caller receives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// What came with it.
    pub body: Body,
}

impl Response {
    /// 200 with a JSON document.
    pub fn json(body: Value) -> Self {
        Response {
            status: 200,
            body: Body::Json(body),
        }
    }

    /// 200 with plain text.
    pub fn text(body: &str) -> Self {
        Response {
            status: 200,
            body: Body::Text(body.to_owned()),
        }
    }

    /// The same answer with another status.
    pub fn with_status(self, status: u16) -> Self {
        Response { status, ..self }
    }

    /// The body as JSON, if it is that.
    pub fn body_json(&self) -> Option<Value> {
        match &self.body {
            Body::Json(json) => Some(json.clone()),
            Body::Text(text) => serde_json::from_str(text).ok(),
            Body::Empty => None,
        }
    }
}

/// Ends a handler early with an error page, as frameworks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort(pub u16);

impl Abort {
    /// What an exception nobody caught turns into.
    pub const UNHANDLED: Abort = Abort(500);
}

impl From<Abort> for Response {
    fn from(Abort(status): Abort) -> Self {
        Response {
            status,
            body: Body::Text(format!("<h1>Error {status}</h1>")),
        }
    }
}

/// A call that brought no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The connection was refused, reset or closed.
    #[error("connection failed")]
    Connection,
    /// The caller's own timeout ran out.
    #[error("timed out")]
    Timeout,
}

/// A request on its way out.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The name of the service to reach.
    pub to: &'static str,
    /// What to ask it.
    pub request: Request,
    /// How long the caller waits; `None`: for ever.
    pub timeout: Option<Duration>,
    /// Where in the caller's code the call is made, if the app tells.
    pub site: Option<&'static str>,
}

/// What a service needs of the world outside it. One per call served, so that
/// an implementation knows on whose behalf a request goes out.
pub trait Net: Send + Sync {
    /// Sends a request and waits for what the caller sees of the answer.
    fn send(&self, outgoing: Outgoing) -> BoxFuture<Result<Response, CallError>>;
    /// Waits.
    fn sleep(&self, time: Duration) -> BoxFuture<()>;
    /// The time since some fixed moment.
    fn now(&self) -> Duration;
    /// The faults that were injected in this execution so far: service and mode. Not
    /// those that took no effect. For scenarios, whose assertions may depend
    /// on it.
    fn injected(&self) -> Vec<(String, Mode)>;
}

/// A handler's, or a scenario's, view of the world.
#[derive(Clone)]
pub struct Ctx {
    net: Arc<dyn Net>,
}

impl Ctx {
    /// A view through this implementation.
    pub fn new(net: Arc<dyn Net>) -> Self {
        Ctx { net }
    }

    /// A call to be refined and sent.
    pub fn call(&self, to: &'static str, method: &str, path: impl AsRef<str>) -> PendingCall {
        PendingCall {
            net: self.net.clone(),
            outgoing: Outgoing {
                to,
                request: Request::new(method, path.as_ref()),
                timeout: None,
                site: None,
            },
        }
    }

    /// `GET path` at a service.
    pub fn get(&self, to: &'static str, path: impl AsRef<str>) -> PendingCall {
        self.call(to, "GET", path)
    }

    /// `POST path` at a service.
    pub fn post(&self, to: &'static str, path: impl AsRef<str>) -> PendingCall {
        self.call(to, "POST", path)
    }

    /// Waits.
    pub fn sleep(&self, time: Duration) -> BoxFuture<()> {
        self.net.sleep(time)
    }

    /// The time since some fixed moment.
    pub fn now(&self) -> Duration {
        self.net.now()
    }

    /// The faults that were injected in this execution so far: service and mode.
    pub fn faults(&self) -> Vec<(String, Mode)> {
        self.net.injected()
    }

    /// Whether any fault was injected in this execution.
    pub fn any_fault(&self) -> bool {
        !self.faults().is_empty()
    }

    /// Whether a fault was injected into a call to this service.
    pub fn fault_at(&self, service: &str) -> bool {
        self.faults().iter().any(|(at, _)| at == service)
    }
}

/// A call that is not sent yet.
pub struct PendingCall {
    net: Arc<dyn Net>,
    outgoing: Outgoing,
}

impl PendingCall {
    /// Gives up after this long.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.outgoing.timeout = Some(time);
        self
    }

    /// Sends a JSON body along.
    pub fn json(mut self, body: &Value) -> Self {
        self.outgoing.request.body = body.to_string().into_bytes();
        self
    }

    /// Names the place in the caller's code.
    pub fn site(mut self, site: &'static str) -> Self {
        self.outgoing.site = Some(site);
        self
    }

    /// Sends it.
    pub fn send(self) -> BoxFuture<Result<Response, CallError>> {
        self.net.send(self.outgoing)
    }
}

/// Runs futures side by side and waits for all; answers in the given order.
pub async fn join_all<T>(mut futures: Vec<BoxFuture<T>>) -> Vec<T> {
    let mut answers: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(move |cx| {
        for (future, answer) in futures.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *answer = Some(value);
            }
        }
        if answers.iter().any(Option::is_none) {
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(answers.drain(..).flatten().collect())
    })
    .await
}

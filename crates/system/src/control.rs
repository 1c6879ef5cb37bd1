//! Where a running test asks which faults were injected so far.
//!
//! Owns a small HTTP server on loopback, at `MURPHY_CONTROL_URL`:
//! `GET /v1/executions/{id}` tells what is planned and what was injected, so that
//! a test can expect something else of a failure that was injected. What it
//! knows is the registry's.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use murphy_model::{Faultload, Mode, Point};
use murphy_registry::{CallKey, ExecutionId, Registry};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The server; ended when dropped.
pub(super) struct Control {
    address: SocketAddr,
    desk: Arc<Desk>,
    serving: JoinHandle<()>,
}

/// What is known of the executions that run.
struct Desk {
    registry: Arc<Registry>,
    planned: Mutex<HashMap<ExecutionId, Faultload>>,
}

impl Control {
    /// Starts to serve on any free port.
    pub(super) async fn start(registry: Arc<Registry>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let desk = Arc::new(Desk {
            registry,
            planned: Mutex::default(),
        });
        Ok(Control {
            address: listener.local_addr()?,
            serving: tokio::spawn(accept(listener, desk.clone())),
            desk,
        })
    }

    /// `MURPHY_CONTROL_URL`.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// An execution began, with these faults.
    pub(super) fn began(&self, id: ExecutionId, planned: Faultload) {
        self.desk.planned().insert(id, planned);
    }

    /// The faults of an execution, as texts.
    pub(super) fn planned(&self, id: ExecutionId) -> Vec<String> {
        self.desk.planned().get(&id).map(texts).unwrap_or_default()
    }

    /// An execution ended.
    pub(super) fn ended(&self, id: ExecutionId) {
        self.desk.planned().remove(&id);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Desk {
    fn planned(&self) -> std::sync::MutexGuard<'_, HashMap<ExecutionId, Faultload>> {
        self.planned.lock().expect("no panic while plans are held")
    }

    /// Status and body for a request.
    fn answer(&self, method: &str, path: &str) -> (u16, Value) {
        let Some(name) = path.strip_prefix("/v1/executions/") else {
            return (404, error("there is only /v1/executions/{id}"));
        };
        if method != "GET" {
            return (405, error("executions can only be looked at: use GET"));
        }
        let known = CallKey::parse(name.as_bytes()).filter(|key| key.call.is_none());
        let known = known.and_then(|key| self.execution(key.execution));
        match known {
            Some(told) => (200, told),
            None => (404, error("no such execution, or it has ended")),
        }
    }

    fn execution(&self, id: ExecutionId) -> Option<Value> {
        let planned = self.planned().get(&id).map(texts)?;
        let injected = self.registry.injected(id).ok()?;
        let told = |(point, mode): (Point, Mode)| json!({"point": point.to_string(), "mode": mode.to_string()});
        let injected: Vec<Value> = injected.into_iter().map(told).collect();
        Some(json!({"execution": id.to_string(), "planned": planned, "injected": injected}))
    }
}

/// Written out only when a test asks: few do.
fn texts(planned: &Faultload) -> Vec<String> {
    planned.faults().map(|fault| fault.to_string()).collect()
}

fn error(text: &str) -> Value {
    json!({ "error": text })
}

async fn accept(listener: TcpListener, desk: Arc<Desk>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(serve(stream, desk.clone()));
            }
            // Out of file descriptors: later there may be some again.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Answers the requests of one connection.
async fn serve(stream: TcpStream, desk: Arc<Desk>) {
    let _ = stream.set_nodelay(true);
    let answer = |request: Request<Incoming>| {
        let (status, body) = desk.answer(request.method().as_str(), request.uri().path());
        let answer = Response::builder()
            .status(status)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::<Bytes>::from(body.to_string()));
        std::future::ready(answer)
    };
    // What goes wrong here is between the test and hyper, which has told it.
    let connection =
        http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use super::super::client::Client;
    use super::*;
    use murphy_registry::{Plan, Settings, WorkerId};

    async fn get(control: &Control, path: &str) -> (u16, Value) {
        let mut client = Client::new(control.address.to_string());
        let request = Request::get(path).header("host", "x");
        let answer = client.exchange(request.body(Full::default()).unwrap());
        let answer = answer.await.unwrap();
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    #[tokio::test]
    async fn executions_are_told_of_while_they_run() {
        let registry = Arc::new(Registry::new(Settings::default()));
        let control = Control::start(registry.clone()).await.unwrap();
        let id = registry.begin(Plan {
            faultload: "** > cart * = 503".parse().unwrap(),
            identity: Arc::default(),
            worker: Some(WorkerId(0)),
            solo: false,
            entries: false,
        });
        let id = id.unwrap();
        control.began(id, "** > cart * = 503".parse().unwrap());
        let path = format!("/v1/executions/{id}");
        let told =
            json!({"execution": id.to_string(), "planned": ["** > cart * = 503"], "injected": []});
        assert_eq!(get(&control, &path).await, (200, told));
        control.ended(id);
        assert_eq!(get(&control, &path).await.0, 404);
        assert_eq!(get(&control, "/v1/executions/zebra").await.0, 404);
        assert_eq!(get(&control, "/").await.0, 404);
    }
}

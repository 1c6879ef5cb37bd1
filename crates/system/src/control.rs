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

use bytes::{Buf, BytesMut};
use murphy_model::{Faultload, Mode, Point};
use murphy_registry::{CallKey, ExecutionId, Registry};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The longest head of a request.
const HEAD_LIMIT: usize = 16 * 1024;

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
        let path = path.split('?').next().unwrap_or_default();
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

/// Written out only for who asks: few do.
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

/// Answers the requests of one connection, none of which has a body.
async fn serve(mut stream: TcpStream, desk: Arc<Desk>) {
    let _ = stream.set_nodelay(true);
    let mut read = BytesMut::new();
    loop {
        let asked = match ask(&read) {
            Ok(Some(asked)) => asked,
            Ok(None) if read.len() <= HEAD_LIMIT => match stream.read_buf(&mut read).await {
                Ok(1..) => continue,
                Ok(0) | Err(_) => return,
            },
            Ok(None) | Err(_) => return,
        };
        read.advance(asked.length);
        let (status, body) = desk.answer(&asked.method, &asked.path);
        let body = body.to_string();
        let answer = format!(
            "HTTP/1.1 {status} \r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

struct Asked {
    method: String,
    path: String,
    length: usize,
}

fn ask(bytes: &[u8]) -> Result<Option<Asked>, httparse::Error> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(length) = request.parse(bytes)? else {
        return Ok(None);
    };
    Ok(Some(Asked {
        method: request.method.unwrap_or_default().to_owned(),
        path: request.path.unwrap_or_default().to_owned(),
        length,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::client::Client;
    use super::*;
    use murphy_registry::{Plan, Settings, WorkerId};

    async fn get(control: &Control, path: &str) -> (u16, Value) {
        let mut client = Client::new(control.address.to_string());
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        let answer = client.exchange(request.as_bytes(), false).await.unwrap();
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

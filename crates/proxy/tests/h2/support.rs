//! Callers, callees and a proxy between them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use murphy_model::{CallId, Faultload, Identity, Mode};
use murphy_proxy::{Listener, Proxy, Settings};
use murphy_registry::{
    Arrival, CallKey, ContextHint, Control, Decision, Ending, ExecutionId, Origin, Owner, Parent,
    Plan, Recorded, Registry, TraceKey, Unknown, WorkerId,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Longer than anything takes that works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Fails instead of hanging.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, what).await;
    done.expect("it takes too long")
}

/// The server's side of a stream.
pub(crate) struct Served {
    pub(crate) head: http::request::Parts,
    pub(crate) body: RecvStream,
    pub(crate) respond: SendResponse<Bytes>,
}

impl Served {
    /// Sends a head with nothing in it but a status.
    pub(crate) fn start(&mut self, ends: bool) -> SendStream<Bytes> {
        self.respond.send_response(Response::new(()), ends).unwrap()
    }

    /// Reads all of the request and answers with it.
    pub(crate) async fn echo(mut self) {
        let body = read(&mut self.body).await.unwrap();
        self.start(false).send_data(body, true).unwrap();
    }
}

/// A callee that serves every stream of every connection alike.
pub(crate) async fn callee<F, S>(serve: S) -> SocketAddr
where
    S: Fn(Served) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve_connection(stream, serve.clone()));
        }
    });
    address
}

/// Serves the streams of one connection until it ends.
pub(crate) async fn serve_connection<F, S>(stream: TcpStream, serve: S)
where
    S: Fn(Served) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (head, body) = request.into_parts();
        tokio::spawn(serve(Served {
            head,
            body,
            respond,
        }));
    }
}

/// A proxy in front of a callee.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    _proxy: Proxy,
}

/// A proxy whose traffic is nobody's.
pub(crate) fn pass_through(callee: SocketAddr) -> Front {
    let registry = Arc::new(Registry::new(Default::default()));
    front(callee, registry, one_thread())
}

pub(crate) fn front(callee: SocketAddr, control: Arc<dyn Control>, settings: Settings) -> Front {
    let anywhere = "127.0.0.1:0".parse().unwrap();
    let origin = Origin::Entry(WorkerId(1));
    let listener = Listener::of("back", callee.to_string(), anywhere, origin);
    let proxy = Proxy::start(vec![listener], control, settings).unwrap();
    Front {
        address: proxy.addresses()[0],
        _proxy: proxy,
    }
}

/// One thread, so that all callers share the connection to the callee.
pub(crate) fn one_thread() -> Settings {
    Settings {
        threads: 1,
        ..Settings::default()
    }
}

/// A proxy all of whose traffic is of one execution.
pub(crate) struct Campaign {
    pub(crate) front: Front,
    registry: Arc<Registry>,
    execution: ExecutionId,
}

/// A campaign of one execution in which nothing is to fail.
pub(crate) fn campaign(callee: SocketAddr) -> Campaign {
    let registry = Arc::new(Registry::new(Default::default()));
    let execution = registry.begin(plan()).unwrap();
    Campaign {
        front: front(callee, registry.clone(), one_thread()),
        registry,
        execution,
    }
}

fn plan() -> Plan {
    Plan {
        faultload: Faultload::none(),
        identity: Arc::new(Identity::default()),
        worker: Some(WorkerId(1)),
        solo: false,
        entries: false,
        injector: None,
    }
}

impl Campaign {
    pub(crate) async fn recorded(&self) -> Recorded {
        self.registry.collect(self.execution).await.unwrap()
    }
}

/// A control plane that takes every request for a call of its own, lets all of
/// them fail alike, and remembers what it was told.
#[derive(Default)]
pub(crate) struct Script {
    fault: Option<Mode>,
    /// How long it takes to note an ending.
    slow: Duration,
    arrivals: Mutex<Vec<Arrival>>,
    endings: Mutex<Vec<Ending>>,
}

impl Script {
    /// Lets every call fail like this.
    pub(crate) fn failing(mode: &str) -> Script {
        let fault = Some(mode.parse().unwrap());
        Script {
            fault,
            ..Script::default()
        }
    }

    /// Lets all be, and takes its time to note endings.
    pub(crate) fn slow(slow: Duration) -> Script {
        Script {
            slow,
            ..Script::default()
        }
    }

    /// The next call that was named, once there is one.
    pub(crate) async fn arrival(&self) -> Arrival {
        loop {
            let arrived = self.arrivals.lock().unwrap().pop();
            match arrived {
                Some(arrival) => return arrival,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// The next end of a call, once there is one.
    pub(crate) async fn ending(&self) -> Ending {
        loop {
            let ended = self.endings.lock().unwrap().pop();
            match ended {
                Some(ending) => return ending,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    pub(crate) fn endings(&self) -> Vec<Ending> {
        self.endings.lock().unwrap().clone()
    }
}

impl Control for Script {
    fn idle(&self) -> bool {
        false
    }

    fn recognise(&self, _: &[ContextHint], _: &Origin) -> Option<Owner> {
        Some(Owner {
            execution: ExecutionId(1),
            parent: Parent::Entry,
        })
    }

    fn arrive(&self, arrival: Arrival) -> Result<Decision, Unknown> {
        self.arrivals.lock().unwrap().push(arrival);
        let key = CallKey {
            execution: ExecutionId(1),
            call: Some(CallId(0)),
        };
        Ok(Decision {
            key,
            trace: TraceKey(1),
            fault: self.fault,
            arrived: tokio::time::Instant::now(),
        })
    }

    fn finish(&self, _: CallKey, ending: Ending) {
        std::thread::sleep(self.slow);
        self.endings.lock().unwrap().push(ending);
    }
}

/// A caller's connection; it ends when dropped.
pub(crate) struct Caller {
    pub(crate) requests: SendRequest<Bytes>,
    task: JoinHandle<()>,
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) async fn caller(address: SocketAddr) -> Caller {
    caller_with(address, &h2::client::Builder::new()).await
}

pub(crate) async fn caller_with(address: SocketAddr, builder: &h2::client::Builder) -> Caller {
    let stream = TcpStream::connect(address).await.unwrap();
    let (requests, connection) = builder.handshake(stream).await.unwrap();
    let task = tokio::spawn(async move {
        let _ = connection.await;
    });
    Caller { requests, task }
}

impl Caller {
    /// Sends a head.
    pub(crate) async fn send(
        &mut self,
        request: Request<()>,
        ends: bool,
    ) -> (ResponseFuture, SendStream<Bytes>) {
        let mut requests = self.requests.clone().ready().await.unwrap();
        requests.send_request(request, ends).unwrap()
    }

    /// Sends a request without a body and reads the answer.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Received, h2::Error> {
        let (answer, _) = self.send(request("GET", path), true).await;
        Received::read(answer).await
    }

    /// Sends a request with a body and reads the answer.
    pub(crate) async fn post(&mut self, path: &str, body: Bytes) -> Result<Received, h2::Error> {
        let (answer, mut upload) = self.send(request("POST", path), false).await;
        upload.send_data(body, true).unwrap();
        Received::read(answer).await
    }
}

pub(crate) fn request(method: &str, path: &str) -> Request<()> {
    Request::builder()
        .method(method)
        .uri(format!("http://back.example{path}"))
        .body(())
        .unwrap()
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) head: http::response::Parts,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Received {
    pub(crate) async fn read(answer: ResponseFuture) -> Result<Received, h2::Error> {
        let (head, mut body) = soon(answer).await?.into_parts();
        Ok(Received {
            head,
            body: read(&mut body).await?,
            trailers: soon(body.trailers()).await?,
        })
    }

    pub(crate) fn status(&self) -> u16 {
        self.head.status.as_u16()
    }
}

/// Reads a body to its end.
pub(crate) async fn read(body: &mut RecvStream) -> Result<Bytes, h2::Error> {
    let mut all = Vec::new();
    while let Some(data) = soon(body.data()).await {
        let data = data?;
        body.flow_control().release_capacity(data.len()).unwrap();
        all.extend_from_slice(&data);
    }
    Ok(all.into())
}

/// The next piece of a body, whose window is given back.
pub(crate) async fn piece(body: &mut RecvStream) -> Bytes {
    let data = soon(body.data()).await.expect("more to come").unwrap();
    body.flow_control().release_capacity(data.len()).unwrap();
    data
}

/// Sends all of a body as its windows open, and its end.
pub(crate) async fn send_all(to: &mut SendStream<Bytes>, mut body: Bytes) -> Result<(), h2::Error> {
    while !body.is_empty() {
        to.reserve_capacity(body.len().min(64 * 1024));
        let room = std::future::poll_fn(|cx| to.poll_capacity(cx)).await;
        let Some(room) = room else {
            return Ok(());
        };
        to.send_data(body.split_to(room?.min(body.len())), false)?;
    }
    to.send_data(Bytes::new(), true)
}

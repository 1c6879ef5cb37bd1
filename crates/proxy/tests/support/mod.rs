//! A callee, a proxy with a faultload, and callers that see every byte.

// Each test binary uses its own part of it.
#![allow(dead_code)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use murphy_model::{Call, Identity, Reply};
use murphy_proxy::{Door, Listener, Proxy, Settings, TlsUpstream};
use murphy_registry::{
    Control, Detail, ExecutionId, Origin, Plan, Recorded, Registry, SharedInjector, WorkerId,
};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

/// Longer than anything a test waits for on purpose.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The JSON that the callee answers over HTTP, and the message over gRPC.
pub(crate) const ANSWER: &str = r#"{"answer":"a body of some length, so that it can be cut"}"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
    Grpc,
}

pub(crate) const ALL: [Protocol; 3] = [Protocol::Http1, Protocol::Http2, Protocol::Grpc];
pub(crate) const HTTP: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

/// What a caller saw of one call.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Status, headers, body and trailers, as far as they came.
    pub(crate) status: Option<u16>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: HeaderMap,
    /// How it ended.
    pub(crate) end: End,
    pub(crate) took: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should.
    Proper,
    /// RST, or RST_STREAM with INTERNAL_ERROR.
    Reset,
    /// FIN before the answer was complete, or RST_STREAM with CANCEL.
    Closed,
    /// The caller gave up.
    GaveUp,
}

impl Seen {
    fn new() -> Self {
        Seen {
            status: None,
            headers: HeaderMap::new(),
            body: Vec::new(),
            trailers: HeaderMap::new(),
            end: End::Proper,
            took: Duration::ZERO,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn grpc_status(&self) -> Option<&str> {
        let value = self
            .trailers
            .get("grpc-status")
            .or(self.headers.get("grpc-status"));
        value.and_then(|value| value.to_str().ok())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A callee behind a proxy, and an execution with a faultload.
pub(crate) struct World {
    pub(crate) registry: Arc<Registry>,
    pub(crate) execution: ExecutionId,
    identity: Arc<Identity>,
    _proxy: Proxy,
    served: Arc<AtomicUsize>,
    entry: SocketAddr,
    back: SocketAddr,
    /// How callers of `back` speak TLS, if they do.
    speaks: Option<ClientConfig>,
}

/// A connection of a caller.
pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

const WORKER: WorkerId = WorkerId(1);

impl World {
    /// The calls to `back` fail as the mode says.
    pub(crate) async fn failing(mode: &str) -> World {
        World::with(&format!("** > back * #* = {mode}"), Settings::default()).await
    }

    pub(crate) async fn with(faults: &str, settings: Settings) -> World {
        let served = Arc::new(AtomicUsize::new(0));
        let callee = serve(served.clone()).await;
        World::before(callee, served, faults, settings).await
    }

    /// In front of a callee of the test's own.
    pub(crate) async fn before(
        callee: SocketAddr,
        served: Arc<AtomicUsize>,
        faults: &str,
        settings: Settings,
    ) -> World {
        World::over(callee, None, served, faults, settings).await
    }

    /// In front of a callee that may speak TLS.
    pub(crate) async fn over(
        callee: SocketAddr,
        tls: Option<TlsUpstream>,
        served: Arc<AtomicUsize>,
        faults: &str,
        settings: Settings,
    ) -> World {
        let here = |registry: Arc<Registry>| -> Arc<dyn Control> { registry };
        World::of(callee, tls, None, served, faults, settings, here).await
    }

    /// Behind a door, through which callers speak TLS.
    pub(crate) async fn through(door: &Door, speaks: ClientConfig, faults: &str) -> World {
        let served = Arc::new(AtomicUsize::new(0));
        let callee = serve(served.clone()).await;
        let here = |registry: Arc<Registry>| -> Arc<dyn Control> { registry };
        let settings = Settings::default();
        let world = World::of(callee, None, Some(door), served, faults, settings, here);
        World {
            speaks: Some(speaks),
            ..world.await
        }
    }

    /// With a control plane that reaches the registry in some other way.
    pub(crate) async fn controlled(
        callee: SocketAddr,
        served: Arc<AtomicUsize>,
        faults: &str,
        settings: Settings,
        control: impl FnOnce(Arc<Registry>) -> Arc<dyn Control>,
    ) -> World {
        World::of(callee, None, None, served, faults, settings, control).await
    }

    async fn of(
        callee: SocketAddr,
        tls: Option<TlsUpstream>,
        door: Option<&Door>,
        served: Arc<AtomicUsize>,
        faults: &str,
        settings: Settings,
        control: impl FnOnce(Arc<Registry>) -> Arc<dyn Control>,
    ) -> World {
        let tls = tls.map(Arc::new);
        let registry = Arc::new(Registry::new(murphy_registry::Settings::default()));
        let front = serve(Arc::default()).await;
        let anywhere = "127.0.0.1:0".parse().unwrap();
        let listener = |service: &str, upstream: SocketAddr, origin| {
            Listener::of(service, upstream.to_string(), anywhere, origin)
        };
        let listeners = vec![
            listener("front", front, Origin::Entry(WORKER)),
            listener("back", callee, Origin::Service { caller: None })
                .over(tls.as_ref())
                .with_door(door),
        ];
        let proxy = Proxy::start(listeners, control(registry.clone()), settings).unwrap();
        let identity = Arc::new(Identity::default());
        let execution = begin(&registry, &identity, faults);
        let (entry, back) = (proxy.addresses()[0], proxy.addresses()[1]);
        let world = World {
            registry,
            execution,
            identity,
            _proxy: proxy,
            served,
            entry,
            back,
            speaks: None,
        };
        world.enter().await;
        world
    }

    /// The call under test is made from this one.
    async fn enter(&self) {
        let seen = http1(self.entry, "GET", "/", &[], PATIENCE).await;
        assert_eq!(seen.status, Some(200), "{seen:?}");
    }

    /// Another execution, with these faults; the one before has ended.
    pub(crate) async fn next(&mut self, faults: &str) {
        self.registry.end(self.execution);
        self.execution = begin(&self.registry, &self.identity, faults);
        self.enter().await;
    }

    /// Another execution, in which this decides what fails.
    pub(crate) async fn decided_by(&mut self, injector: SharedInjector) {
        self.registry.end(self.execution);
        let plan = Plan {
            injector: Some(injector),
            ..plan(&self.identity, "none")
        };
        self.execution = self.registry.begin(plan).unwrap();
        self.enter().await;
    }

    /// One call to `back`, as part of the execution.
    pub(crate) async fn call(&self, protocol: Protocol) -> Seen {
        self.call_within(protocol, PATIENCE).await
    }

    pub(crate) async fn call_within(&self, protocol: Protocol, patience: Duration) -> Seen {
        self.call_path(protocol, "/work", patience).await
    }

    pub(crate) async fn call_path(
        &self,
        protocol: Protocol,
        path: &str,
        patience: Duration,
    ) -> Seen {
        let context = self.context();
        let stream = self.connect(protocol).await;
        match protocol {
            Protocol::Http1 => http1_on(stream, "GET", path, &context, patience).await,
            Protocol::Http2 => http2_on(stream, path, &context, None, patience).await,
            Protocol::Grpc => {
                let message = Bytes::from_static(b"\0\0\0\0\x02hi");
                http2_on(stream, "/shop.Back/Work", &context, Some(message), patience).await
            }
        }
    }

    /// What says that a call belongs to the execution.
    pub(crate) fn context(&self) -> [(&'static str, String); 2] {
        [
            (
                "traceparent",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned(),
            ),
            ("tracestate", format!("other=1,murphy={}-0", self.execution)),
        ]
    }

    pub(crate) async fn connect(&self, protocol: Protocol) -> Box<dyn Io> {
        self.try_connect(protocol).await.unwrap()
    }

    /// A connection to `back`; what the caller saw if there is none.
    pub(crate) async fn try_connect(&self, protocol: Protocol) -> Result<Box<dyn Io>, String> {
        let stream = TcpStream::connect(self.back).await.unwrap();
        let Some(speaks) = &self.speaks else {
            return Ok(Box::new(stream));
        };
        let mut config = speaks.clone();
        config.alpn_protocols = match protocol {
            Protocol::Http1 => vec![b"http/1.1".to_vec()],
            _ => vec![b"h2".to_vec()],
        };
        let name = ServerName::try_from("back.test").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let connected = connector.connect(name, stream).await;
        connected
            .map(|stream| Box::new(stream) as _)
            .map_err(|error| error.to_string())
    }

    /// A call that belongs to nobody.
    pub(crate) async fn stranger(&self, protocol: Protocol) -> Seen {
        match protocol {
            Protocol::Http1 => http1(self.back, "GET", "/work", &[], PATIENCE).await,
            _ => http2(self.back, "/work", &[], None, PATIENCE).await,
        }
    }

    /// A request to `back` over HTTP/1.1 with another method.
    pub(crate) async fn head(&self) -> Seen {
        self.head_path("/work").await
    }

    pub(crate) async fn head_path(&self, path: &str) -> Seen {
        let context = [("tracestate", format!("murphy={}-0", self.execution))];
        http1(self.back, "HEAD", path, &context, PATIENCE).await
    }

    /// How often the callee was reached.
    pub(crate) fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }

    pub(crate) fn back(&self) -> SocketAddr {
        self.back
    }

    pub(crate) fn entry(&self) -> SocketAddr {
        self.entry
    }

    /// What was recorded, the call under test apart.
    pub(crate) async fn recorded(&self) -> Recorded {
        self.registry.collect(self.execution).await.unwrap()
    }

    /// The last call to `back`, with its details.
    pub(crate) async fn last(&self) -> (Call, Detail) {
        let recorded = self.recorded().await;
        assert!(recorded.quiet, "{recorded:?}");
        let call = recorded.trace.calls().last().unwrap().clone();
        assert_eq!(&*call.point.frame().destination, "back");
        (call, *recorded.details.last().unwrap())
    }

    /// The last call got the callee's own answer, and its fault took effect.
    pub(crate) async fn assert_own_answer_was_spoiled(&self, protocol: Protocol) {
        let own = match protocol {
            Protocol::Grpc => Reply::GrpcOk,
            _ => Reply::Status(200),
        };
        let (call, detail) = self.last().await;
        assert_eq!((call.reply, detail.landed), (Some(own), Some(true)));
    }

    /// The caller of the last call went away without an answer.
    pub(crate) async fn assert_given_up(&self) {
        let (call, detail) = self.last().await;
        assert_eq!(call.reply, Some(Reply::TimedOut));
        assert!(detail.gave_up.is_some());
    }
}

fn begin(registry: &Registry, identity: &Arc<Identity>, faults: &str) -> ExecutionId {
    registry.begin(plan(identity, faults)).unwrap()
}

fn plan(identity: &Arc<Identity>, faults: &str) -> Plan {
    Plan {
        faultload: faults.parse().unwrap(),
        identity: identity.clone(),
        worker: Some(WORKER),
        solo: false,
        entries: false,
        injector: None,
    }
}

/// A callee that answers HTTP/1.1, HTTP/2 and gRPC, and counts.
pub(crate) async fn serve(served: Arc<AtomicUsize>) -> SocketAddr {
    serve_at("127.0.0.1:0".parse().unwrap(), served).await
}

pub(crate) async fn serve_at(address: SocketAddr, served: Arc<AtomicUsize>) -> SocketAddr {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve_one(stream, served.clone()));
        }
    });
    address
}

/// Serves one connection of either protocol.
pub(crate) async fn serve_one<S>(stream: S, served: Arc<AtomicUsize>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| answer(request, served.clone()));
    let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
    let _ = builder
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

type Frames = std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>;

async fn answer(
    request: Request<Incoming>,
    served: Arc<AtomicUsize>,
) -> Result<Response<StreamBody<Stream>>, Infallible> {
    served.fetch_add(1, Ordering::SeqCst);
    if request.uri().path() == "/echo" {
        return Ok(echo(&request));
    }
    let grpc = request.headers().contains_key("te");
    let mut frames = Vec::new();
    let response = Response::builder().header("callee", "itself");
    let response = match grpc {
        true => {
            let mut message = vec![0, 0, 0, 0, ANSWER.len() as u8];
            message.extend(ANSWER.as_bytes());
            frames.push(Ok(Frame::data(message.into())));
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", "0".parse().unwrap());
            frames.push(Ok(Frame::trailers(trailers)));
            response.header("content-type", "application/grpc")
        }
        false => {
            frames.push(Ok(Frame::data(ANSWER.into())));
            response
                .header("content-type", "application/json")
                .header("content-length", ANSWER.len())
        }
    };
    Ok(response
        .body(StreamBody::new(Stream(frames.into_iter())))
        .unwrap())
}

/// An answer that says what headers the callee was sent, a line each.
fn echo(request: &Request<Incoming>) -> Response<StreamBody<Stream>> {
    let line = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()))
    };
    let lines: String = request.headers().iter().map(line).collect();
    let length = lines.len();
    let frames = vec![Ok(Frame::data(Bytes::from(lines)))];
    Response::builder()
        .header("content-length", length)
        .body(StreamBody::new(Stream(frames.into_iter())))
        .unwrap()
}

struct Stream(Frames);

impl futures_util::Stream for Stream {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(self.0.next())
    }
}

/// One request over HTTP/1.1, written and read by hand so that resets can be
/// told from closes.
pub(crate) async fn http1(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, String)],
    patience: Duration,
) -> Seen {
    let stream = TcpStream::connect(to).await.unwrap();
    http1_on(Box::new(stream), method, path, headers, patience).await
}

pub(crate) async fn http1_on(
    mut stream: Box<dyn Io>,
    method: &str,
    path: &str,
    headers: &[(&str, String)],
    patience: Duration,
) -> Seen {
    let started = Instant::now();
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: back\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut seen = Seen::new();
    let mut read = Vec::new();
    let reading = read_http1(&mut stream, method, &mut read, &mut seen);
    if tokio::time::timeout(patience, reading).await.is_err() {
        seen.end = End::GaveUp;
    }
    seen.took = started.elapsed();
    seen
}

async fn read_http1(stream: &mut Box<dyn Io>, method: &str, read: &mut Vec<u8>, seen: &mut Seen) {
    loop {
        if let Some((head, body)) = split_head(read) {
            parse_head(head, seen);
            seen.body = body.to_vec();
            let length = seen
                .header("content-length")
                .map_or(0, |n| n.parse().unwrap());
            if method == "HEAD" || body.len() >= length {
                seen.end = End::Proper;
                return;
            }
        }
        match stream.read_buf(read).await {
            Ok(0) => return seen.end = End::Closed,
            Ok(_) => {}
            Err(_) => return seen.end = End::Reset,
        }
    }
}

fn split_head(read: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = read.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
    Some(read.split_at(end))
}

fn parse_head(head: &[u8], seen: &mut Seen) {
    let text = std::str::from_utf8(head).unwrap();
    let mut lines = text.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    seen.status = Some(status.parse().unwrap());
    seen.headers.clear();
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let name: http::HeaderName = name.parse().unwrap();
        seen.headers.append(name, value.trim().parse().unwrap());
    }
}

/// One request over HTTP/2; with a message, a call of gRPC.
pub(crate) async fn http2(
    to: SocketAddr,
    path: &str,
    headers: &[(&str, String)],
    message: Option<Bytes>,
    patience: Duration,
) -> Seen {
    let stream = TcpStream::connect(to).await.unwrap();
    http2_on(Box::new(stream), path, headers, message, patience).await
}

pub(crate) async fn http2_on(
    stream: Box<dyn Io>,
    path: &str,
    headers: &[(&str, String)],
    message: Option<Bytes>,
    patience: Duration,
) -> Seen {
    let started = Instant::now();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut client = client.ready().await.unwrap();
    let mut request = Request::builder().uri(format!("http://back{path}"));
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    if message.is_some() {
        request = request
            .method("POST")
            .header("content-type", "application/grpc")
            .header("te", "trailers");
    }
    let request = request.body(()).unwrap();
    let (answer, mut body) = client.send_request(request, message.is_none()).unwrap();
    if let Some(message) = message {
        body.send_data(message, true).unwrap();
    }
    let mut seen = Seen::new();
    match tokio::time::timeout(patience, read_http2(answer, &mut seen)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => seen.end = ended(&error),
        Err(_) => {
            seen.end = End::GaveUp;
            body.send_reset(h2::Reason::CANCEL);
            // The reset still has to go out.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    connection.abort();
    seen.took = started.elapsed();
    seen
}

async fn read_http2(answer: h2::client::ResponseFuture, seen: &mut Seen) -> Result<(), h2::Error> {
    let (head, mut body) = answer.await?.into_parts();
    seen.status = Some(head.status.as_u16());
    seen.headers = head.headers;
    while let Some(data) = body.data().await {
        let data = data?;
        seen.body.extend_from_slice(&data);
        let _ = body.flow_control().release_capacity(data.len());
    }
    seen.trailers = body.trailers().await?.unwrap_or_default();
    Ok(())
}

fn ended(error: &h2::Error) -> End {
    match error.reason() {
        Some(h2::Reason::CANCEL) => End::Closed,
        Some(h2::Reason::INTERNAL_ERROR) => End::Reset,
        other => panic!("an end no test expects: {other:?} {error}"),
    }
}

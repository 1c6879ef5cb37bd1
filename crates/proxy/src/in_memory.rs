//! Exchanges without a socket: proxy, caller and callee are connected in
//! memory. What passes here holds for whatever is a [`Stream`].

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use bytes::Bytes;
use futures_util::future::{self, BoxFuture};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use murphy_model::Identity;
use murphy_registry::{Origin, Plan, Registry, WorkerId};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::Settings;
use crate::connect::{Protocol, Upstream};
use crate::destination::Destination;
use crate::listener_context::ListenerContext;
use crate::server;
use crate::stream::Stream;

/// Reaches a service by handing it the other end of a new connection.
struct Memory(UnboundedSender<DuplexStream>);

impl Upstream for Memory {
    fn connect(&self, _: Protocol) -> BoxFuture<'_, io::Result<Box<dyn Stream>>> {
        let (ours, theirs) = tokio::io::duplex(1024);
        let connected = match self.0.send(theirs) {
            Ok(()) => Ok(Box::new(ours) as _),
            Err(_) => Err(ErrorKind::ConnectionRefused.into()),
        };
        Box::pin(future::ready(connected))
    }
}

/// What a callee was asked for.
#[derive(Default)]
struct Served {
    connections: AtomicUsize,
    requests: AtomicUsize,
}

impl Served {
    fn counts(&self) -> (usize, usize) {
        (self.connections.load(SeqCst), self.requests.load(SeqCst))
    }
}

/// Serves both protocols.
async fn serve(mut connected: UnboundedReceiver<DuplexStream>, served: Arc<Served>) {
    while let Some(stream) = connected.recv().await {
        served.connections.fetch_add(1, SeqCst);
        let served = served.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, served.clone()));
            let builder = auto::Builder::new(TokioExecutor::new());
            let _ = builder
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// Answers with the request's body.
async fn answer(
    request: Request<Incoming>,
    served: Arc<Served>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    served.requests.fetch_add(1, SeqCst);
    let body = request.into_body().collect().await.unwrap().to_bytes();
    Ok(Response::new(Full::new(body)))
}

/// A caller of a proxy in front of a callee. All its calls are of an execution
/// in which these faults are to be injected.
fn connect(faults: &str) -> (DuplexStream, Arc<Served>) {
    let registry = Arc::new(Registry::new(Default::default()));
    let worker = WorkerId(1);
    let begun = registry.begin(Plan {
        faultload: faults.parse().unwrap(),
        identity: Arc::new(Identity::default()),
        worker: Some(worker),
        solo: false,
        entries: true,
        injector: None,
    });
    begun.unwrap();
    let settings = Arc::new(Settings::default());
    let (sender, connected) = unbounded_channel();
    let upstream = Box::new(Memory(sender));
    let origin = Origin::Entry(worker);
    let destination = Destination::new("cart", upstream, origin, registry, settings.clone());
    let destinations = vec![(Vec::new(), Arc::new(destination))];
    let listener = Arc::new(ListenerContext {
        destinations,
        settings,
        door: None,
        forward: None,
        late: None,
        anybody: None,
    });
    let served = Arc::new(Served::default());
    tokio::spawn(serve(connected, served.clone()));
    let (caller, ours) = tokio::io::duplex(1024);
    tokio::spawn(server::serve(listener, Box::new(ours)));
    (caller, served)
}

/// Longer than any buffer on the way.
static BODY: [u8; 100_000] = [b'x'; 100_000];

const LOST: &str = "^ cart * /lost = after:reset";

/// A request whose answer is as long as its body.
async fn http1(caller: &mut DuplexStream, path: &str) -> io::Result<()> {
    let length = BODY.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: cart\r\ncontent-length: {length}\r\n\r\n");
    let (mut reading, mut writing) = tokio::io::split(caller);
    let asking = async {
        writing.write_all(head.as_bytes()).await?;
        writing.write_all(&BODY).await
    };
    let hearing = async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(reading.read_u8().await?);
        }
        assert!(head.starts_with(b"HTTP/1.1 200"), "{head:?}");
        let mut body = vec![0; length];
        reading.read_exact(&mut body).await?;
        assert!(body == BODY);
        Ok(())
    };
    let (_, heard) = tokio::join!(asking, hearing);
    heard
}

#[tokio::test]
async fn http_1_passes() {
    let (mut caller, served) = connect(LOST);
    for path in ["/a", "/b"] {
        http1(&mut caller, path).await.unwrap();
    }
    assert_eq!(served.counts(), (1, 2));
    let lost = http1(&mut caller, "/lost").await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::UnexpectedEof);
    assert_eq!(served.counts(), (1, 3));
}

async fn http2(caller: &mut h2::client::SendRequest<Bytes>, path: &str) -> Result<(), h2::Error> {
    let uri = format!("http://cart{path}");
    let request = Request::post(uri).body(()).unwrap();
    let (answer, mut upload) = caller.send_request(request, false)?;
    upload.send_data(Bytes::from_static(&BODY), true)?;
    let mut answer = answer.await?.into_body();
    let mut body = Vec::new();
    while let Some(data) = answer.data().await {
        let data = data?;
        answer.flow_control().release_capacity(data.len())?;
        body.extend_from_slice(&data);
    }
    assert!(body == BODY);
    Ok(())
}

#[tokio::test]
async fn http_2_passes() {
    let (caller, served) = connect(LOST);
    let (mut caller, connection) = h2::client::handshake(caller).await.unwrap();
    tokio::spawn(connection);
    for path in ["/a", "/b"] {
        http2(&mut caller, path).await.unwrap();
    }
    let lost = http2(&mut caller, "/lost").await.unwrap_err();
    assert_eq!(lost.reason(), Some(h2::Reason::INTERNAL_ERROR));
    assert_eq!(served.counts(), (1, 3));
}

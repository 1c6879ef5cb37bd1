//! Callers that take us for a forward proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use murphy_model::Identity;
use murphy_proxy::{Door, Forward, Listener, NamedHosts, Proxy, Settings, TlsFiles};
use murphy_registry::{ExecutionId, Origin, Plan, Registry, WorkerId};
use rustls::pki_types::ServerName;
use rustls::version::TLS13;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use crate::authority::Authority;
use crate::door::{caller, door};
use crate::server::{Served, config};
use crate::support::{self, Io, PATIENCE, http1_on, http2_on};

const WORKER: WorkerId = WorkerId(0);

struct World {
    registry: Arc<Registry>,
    execution: ExecutionId,
    identity: Arc<Identity>,
    proxy: Proxy,
    door: Door,
    rules: Forward,
}

impl World {
    /// A forward proxy in an execution with these faults. `upstream`: where
    /// calls to named hosts go.
    fn new(faults: &str, upstream: Option<SocketAddr>, tls: TlsFiles, only_named: bool) -> World {
        let rules = Forward {
            named: vec![NamedHosts {
                service: "store".to_owned(),
                hosts: vec!["*.cloud.test".to_owned(), "localhost".to_owned()],
                upstream: upstream.map(|upstream| (upstream.to_string(), None)),
                tls,
            }],
            only_named,
            others: Arc::default(),
        };
        let door = door();
        let listen = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::forward(rules.clone(), listen, Origin::Entry(WORKER));
        let listener = listener.with_door(Some(&door));
        let registry = Arc::new(Registry::new(murphy_registry::Settings::default()));
        let proxy = Proxy::start(vec![listener], registry.clone(), Settings::default()).unwrap();
        let identity = Arc::new(Identity::default());
        World {
            execution: begin(&registry, &identity, faults),
            registry,
            identity,
            proxy,
            door,
            rules,
        }
    }

    /// Another execution, with these faults; the one before has ended.
    fn next(&mut self, faults: &str) {
        self.registry.end(self.execution);
        self.execution = begin(&self.registry, &self.identity, faults);
    }

    async fn to_callee(faults: &str) -> World {
        let callee = support::serve(Arc::new(AtomicUsize::new(0))).await;
        World::new(faults, Some(callee), TlsFiles::default(), false)
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.proxy.addresses()[0]).await.unwrap()
    }

    /// The status and the rest of the answer to a CONNECT.
    async fn tunnel(&self, target: &str) -> (u16, TcpStream) {
        let mut stream = self.connect().await;
        let head = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        let text = String::from_utf8(answer).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, stream)
    }

    async fn secured(&self, host: &str, protocol: &[u8]) -> Box<dyn Io> {
        self.try_secured(host, protocol).await.unwrap()
    }

    async fn try_secured(&self, host: &str, protocol: &[u8]) -> Result<Box<dyn Io>, String> {
        let (status, stream) = self.tunnel(&format!("{host}:443")).await;
        assert_eq!(status, 200);
        let mut config = caller(&self.door.authority);
        config.alpn_protocols = vec![protocol.to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let connected = connector.connect(name, stream).await;
        connected
            .map(|stream| Box::new(stream) as _)
            .map_err(|error| error.to_string())
    }

    /// The calls that were seen, as `destination status`.
    async fn calls(&self) -> Vec<String> {
        let recorded = self.registry.collect(self.execution).await.unwrap();
        let shown = |call: &murphy_model::Call| {
            format!("{} {:?}", call.point.frame().destination, call.reply)
        };
        recorded.trace.calls().iter().map(shown).collect()
    }
}

fn begin(registry: &Registry, identity: &Arc<Identity>, faults: &str) -> ExecutionId {
    let plan = Plan {
        faultload: faults.parse().unwrap(),
        identity: identity.clone(),
        worker: Some(WORKER),
        solo: false,
        entries: true,
        injector: None,
    };
    registry.begin(plan).unwrap()
}

#[tokio::test]
async fn handshakes_in_tunnels_can_fail() {
    let mut world = World::to_callee("none").await;
    for path in ["/one", "/two"] {
        let stream = world.secured("a.cloud.test", b"http/1.1").await;
        let seen = http1_on(stream, "GET", path, &[], PATIENCE).await;
        assert_eq!(seen.status, Some(200));
    }
    for (mode, says) in [
        ("tls:handshake", "eof"),
        ("tls:expired", "certificate expired"),
        ("tls:untrusted", "UnknownIssuer"),
        ("tls:name", "not valid for name"),
    ] {
        world.next(&format!("store GET /two = {mode}"));
        let stream = world.secured("a.cloud.test", b"http/1.1").await;
        let seen = http1_on(stream, "GET", "/one", &[], PATIENCE).await;
        assert_eq!(seen.header("connection"), Some("close"));
        let failed = world.try_secured("a.cloud.test", b"http/1.1").await;
        let error = failed.err().expect(mode);
        assert!(error.contains(says), "{mode}: {error}");
        // Its caller calls something else then.
        let stream = world.secured("a.cloud.test", b"http/1.1").await;
        let seen = http1_on(stream, "GET", "/three", &[], PATIENCE).await;
        assert_eq!(seen.status, Some(200));
        let calls = world.calls().await;
        let is_failed = |call: &String| call.contains("NoTls");
        let failed: Vec<bool> = calls.iter().map(is_failed).collect();
        assert_eq!(failed, [false, true, false], "{mode}: {calls:?}");
    }
}

#[tokio::test]
async fn named_hosts_are_opened_and_their_calls_can_fail() {
    let world = World::to_callee("^ store * /lost = 503").await;
    for (path, status) in [("/work", 200), ("/lost", 503)] {
        let stream = world.secured("a.cloud.test", b"http/1.1").await;
        let seen = http1_on(stream, "GET", path, &[], PATIENCE).await;
        assert_eq!(seen.status, Some(status), "{seen:?}");
    }
    let stream = world.secured("b.cloud.test", b"h2").await;
    let seen = http2_on(stream, "/work", &[], None, PATIENCE).await;
    assert_eq!(seen.status, Some(200), "{seen:?}");
    let calls = world.calls().await;
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert!(
        calls.iter().all(|call| call.starts_with("store")),
        "{calls:?}"
    );
}

#[tokio::test]
async fn requests_in_absolute_form_are_calls_too() {
    let world = World::to_callee("^ store * /lost = 503").await;
    for (target, status) in [
        ("http://a.cloud.test/work", 200),
        ("http://a.cloud.test:8080/lost", 503),
    ] {
        let stream: Box<dyn Io> = Box::new(world.connect().await);
        let seen = http1_on(stream, "GET", target, &[], PATIENCE).await;
        assert_eq!(seen.status, Some(status), "{target}: {seen:?}");
    }
    assert_eq!(world.calls().await.len(), 2);
}

#[tokio::test]
async fn hosts_without_another_place_are_called_themselves() {
    let authority = Authority::new();
    let served = Served::default();
    let identity = authority.sign(&["localhost"]);
    let callee = crate::server::serve(config(identity, &[&TLS13], None), &served).await;
    let tls = TlsFiles {
        ca: Some(authority.file()),
        ..TlsFiles::default()
    };
    let world = World::new("none", None, tls, false);
    let (status, stream) = world.tunnel(&format!("localhost:{}", callee.port())).await;
    assert_eq!(status, 200);
    let connector = TlsConnector::from(Arc::new(caller(&world.door.authority)));
    let name = ServerName::try_from("localhost").unwrap();
    let stream: Box<dyn Io> = Box::new(connector.connect(name, stream).await.unwrap());
    let seen = http1_on(stream, "GET", "/work", &[], PATIENCE).await;
    assert_eq!(seen.status, Some(200), "{seen:?}");
    assert_eq!(world.calls().await.len(), 1);
}

#[tokio::test]
async fn other_hosts_are_passed_on_unread() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut reading, mut writing) = stream.split();
        tokio::io::copy(&mut reading, &mut writing).await.unwrap();
    });
    let world = World::to_callee("none").await;
    let (status, mut stream) = world.tunnel(&address.to_string()).await;
    assert_eq!(status, 200);
    // No protocol of ours, and no end but the caller's.
    let sent: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    let (mut reading, mut writing) = stream.split();
    let sending = async {
        writing.write_all(&sent).await.unwrap();
        writing.shutdown().await.unwrap();
    };
    let mut heard = Vec::new();
    let (_, read) = tokio::join!(sending, reading.read_to_end(&mut heard));
    read.unwrap();
    assert!(heard == sent);
    assert_eq!(world.calls().await, Vec::<String>::new());
    let others: Vec<String> = world.rules.others.noted().into_iter().collect();
    assert_eq!(others, ["127.0.0.1"]);
}

#[tokio::test]
async fn other_hosts_without_tls_are_passed_on_and_are_no_calls() {
    let callee = support::serve(Arc::default()).await;
    let world = World::to_callee("** > * * = 503").await;
    let stream: Box<dyn Io> = Box::new(world.connect().await);
    let target = format!("http://{callee}/work");
    let seen = http1_on(stream, "GET", &target, &[], PATIENCE).await;
    assert_eq!(seen.status, Some(200), "{seen:?}");
    assert_eq!(world.calls().await, Vec::<String>::new());
}

#[tokio::test]
async fn only_named_hosts_can_be_reached_where_that_is_asked_for() {
    let callee = support::serve(Arc::default()).await;
    let world = World::new("none", Some(callee), TlsFiles::default(), true);
    let (status, mut stream) = world.tunnel("www.example.com:443").await;
    assert_eq!(status, 403);
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.contains("named hosts only"), "{text}");
    let stream: Box<dyn Io> = Box::new(world.connect().await);
    let seen = http1_on(stream, "GET", "http://other.example/", &[], PATIENCE).await;
    assert_eq!(seen.status, Some(421), "{seen:?}");
    assert_eq!(world.tunnel("a.cloud.test:443").await.0, 200);
    let others: Vec<String> = world.rules.others.noted().into_iter().collect();
    assert_eq!(others, ["other.example", "www.example.com"]);
}

#[tokio::test]
async fn what_cannot_be_connected_to_is_refused() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = unused.local_addr().unwrap().to_string();
    drop(unused);
    let world = World::to_callee("none").await;
    for (target, expected) in [
        (address.as_str(), 502),
        ("cloud.test", 400),
        ("127.0.0.1:", 400),
        ("127.0.0.1:99999", 400),
    ] {
        assert_eq!(world.tunnel(target).await.0, expected, "{target}");
    }
}

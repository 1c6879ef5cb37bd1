//! Faults of the tool's own world: what the proxy does when its neighbours, or
//! its user, misbehave. Nothing panics, nothing hangs, the trace says what
//! happened, and the next call is served.

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use murphy_model::Reply;
use murphy_proxy::{LateAddress, Listener, Proxy, Route, Settings};
use murphy_registry::{Organic, Origin, Registry};
use support::{ALL, End, HTTP, PATIENCE, Protocol, World, http1, http2};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A callee that announces 1,000 bytes, sends 10 and dies.
async fn dying_callee(protocol: Protocol) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(die(protocol, stream));
        }
    });
    address
}

async fn die(protocol: Protocol, mut stream: TcpStream) {
    if protocol == Protocol::Http1 {
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n0123456789";
        stream.write_all(head).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
        stream.set_zero_linger().unwrap();
        return;
    }
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let Some(Ok((_, mut respond))) = connection.accept().await else {
        return;
    };
    let head = http::Response::builder().body(()).unwrap();
    let mut body = respond.send_response(head, false).unwrap();
    body.send_data(Bytes::from_static(b"0123456789"), false)
        .unwrap();
    let alive = Duration::from_millis(30);
    let _ = tokio::time::timeout(alive, connection.accept()).await;
}

#[tokio::test]
async fn a_callee_killed_in_the_middle_of_its_answer() {
    for protocol in ALL {
        let callee = dying_callee(protocol).await;
        let world = World::before(callee, Arc::default(), "none", Settings::default()).await;
        let seen = world.call(protocol).await;
        assert_eq!(seen.status, Some(200), "{protocol:?}");
        assert_eq!(seen.text(), "0123456789", "{protocol:?}");
        assert_ne!(seen.end, End::Proper, "{protocol:?}");
        let (call, detail) = world.last().await;
        assert_eq!(call.reply, Some(Reply::Broken), "{protocol:?}");
        assert_eq!(detail.organic, Some(Organic::BrokenAnswer));
    }
}

#[tokio::test]
async fn a_caller_killed_in_the_middle_of_its_request() {
    let world = World::with("none", Settings::default()).await;
    let context = format!("tracestate: murphy={}-0", world.execution);
    let beginnings = [
        "GET /work HT".to_owned(),
        format!("GET /work HTTP/1.1\r\nhost: back\r\n{context}\r\n"),
        format!("POST /work HTTP/1.1\r\nhost: back\r\n{context}\r\ncontent-length: 10\r\n\r\n123"),
        format!(
            "POST /work HTTP/1.1\r\nhost: back\r\n{context}\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12"
        ),
    ];
    for beginning in beginnings {
        let mut stream = TcpStream::connect(world.back()).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        stream.set_zero_linger().unwrap();
        drop(stream);
    }
    // Over HTTP/2: half a body, then the whole connection is gone.
    let stream = TcpStream::connect(world.back()).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = http::Request::post("http://back/work")
        .header("tracestate", format!("murphy={}-0", world.execution))
        .body(())
        .unwrap();
    let mut client = client.ready().await.unwrap();
    let (_answer, mut body) = client.send_request(request, false).unwrap();
    body.send_data(Bytes::from_static(b"123"), false).unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    connection.abort();

    assert_eq!(world.served(), 0, "no callee is sent half a request");
    for protocol in ALL {
        assert_eq!(world.call(protocol).await.status, Some(200), "{protocol:?}");
    }
    let recorded = world.recorded().await;
    assert!(recorded.quiet);
    // A caller that left before its request was complete made no call.
    assert_eq!(recorded.trace.calls().len(), 4);
}

/// How many files this process may have open.
fn open_files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3));
    soft.and_then(|number| number.parse().ok())
        .unwrap_or(usize::MAX)
}

#[tokio::test]
async fn a_thousand_idle_connections() {
    if open_files() < 2_500 {
        eprintln!("SKIPPED a_thousand_idle_connections: needs `ulimit -n 2500` or more");
        return;
    }
    let world = World::with("none", Settings::default()).await;
    let mut idle = Vec::new();
    for number in 0..1_000 {
        // Some silent, some in the middle of a head, some after an answer.
        let mut stream = TcpStream::connect(world.back()).await.unwrap();
        match number % 3 {
            0 => {}
            1 => stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap(),
            _ => stream
                .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                .await
                .unwrap(),
        }
        idle.push(stream);
    }
    for protocol in ALL {
        let seen = world.call(protocol).await;
        assert_eq!(seen.status, Some(200), "{protocol:?}");
    }
    drop(idle);
    assert!(world.recorded().await.quiet);
}

#[tokio::test]
async fn a_head_at_the_limit_and_over_it() {
    let settings = Settings {
        head_limit: 16 * 1024,
        ..Settings::default()
    };
    for protocol in HTTP {
        let world = World::with("none", settings.clone()).await;
        let with = |size: usize| [("x-long", "a".repeat(size))];
        let send = async |size: usize| match protocol {
            Protocol::Http1 => http1(world.back(), "GET", "/work", &with(size), PATIENCE).await,
            _ => http2(world.back(), "/work", &with(size), None, PATIENCE).await,
        };
        assert_eq!(send(15 * 1024).await.status, Some(200), "{protocol:?}");
        assert_eq!(send(17 * 1024).await.status, Some(431), "{protocol:?}");
        assert_eq!(send(100).await.status, Some(200), "{protocol:?}");
    }
}

#[tokio::test]
async fn too_many_header_lines() {
    let world = World::with("none", Settings::default()).await;
    let lines = |count| vec![("x-many", "1".to_owned()); count];
    let seen = http1(world.back(), "GET", "/work", &lines(90), PATIENCE).await;
    assert_eq!(seen.status, Some(200));
    let seen = http1(world.back(), "GET", "/work", &lines(5_000), PATIENCE).await;
    assert_eq!(seen.status, Some(431));
}

/// Context that is broken, or somebody else's.
fn broken_contexts() -> Vec<(&'static str, String)> {
    let long = "a".repeat(3_000);
    [
        ("traceparent", ""),
        ("traceparent", "00"),
        (
            "traceparent",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
        (
            "traceparent",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        ),
        (
            "traceparent",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        ),
        ("traceparent", &long),
        ("tracestate", ",,,"),
        ("tracestate", "murphy"),
        ("tracestate", "murphy="),
        ("tracestate", "murphy=0000000000000001-0"),
        ("tracestate", "murphy=zzzzzzzzzzzzzzzz-zz,=,a=b=c"),
        ("tracestate", &long),
        ("baggage", "murphy=%zz"),
        ("baggage", ";;;=,murphy"),
        ("baggage", &long),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

#[tokio::test]
async fn broken_context_on_the_way_to_a_service_is_nobodys() {
    let world = World::failing("503").await;
    for context in broken_contexts() {
        let one = [context];
        let seen = http1(world.back(), "GET", "/echo", &one, PATIENCE).await;
        assert_eq!(seen.status, Some(200), "{one:?}");
        let sent = format!("{}: {}\n", one[0].0, one[0].1);
        assert!(seen.text().contains(&sent), "passed on as it is: {one:?}");
        let seen = http2(world.back(), "/echo", &one, None, PATIENCE).await;
        assert_eq!(seen.status, Some(200), "{one:?}");
        assert!(seen.text().contains(&sent), "passed on as it is: {one:?}");
    }
    assert_eq!(world.recorded().await.trace.calls().len(), 1);
}

#[tokio::test]
async fn broken_context_at_an_entry_is_made_good() {
    let world = World::with("none", Settings::default()).await;
    for context in broken_contexts() {
        let one = [context];
        let seen = http1(world.entry(), "GET", "/echo", &one, PATIENCE).await;
        let text = seen.text();
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().to_owned()
        };
        let traceparent = value("traceparent: ");
        assert_eq!(traceparent.len(), 55, "{one:?}: {text}");
        assert!(traceparent.starts_with("00-") && traceparent.ends_with("-01"));
        let ours = format!("murphy={}-", world.execution);
        assert!(value("tracestate: ").starts_with(&ours), "{one:?}: {text}");
        assert!(value("tracestate: ").len() <= 512, "{one:?}");
    }
    let calls = world.recorded().await.trace.calls().len();
    assert_eq!(calls, 1 + broken_contexts().len());
}

fn listener(listen: SocketAddr, upstream: SocketAddr) -> Listener {
    let origin = Origin::Service { caller: None };
    Listener::of("cart", upstream.to_string(), listen, origin)
}

fn registry() -> Arc<Registry> {
    Arc::new(Registry::new(Default::default()))
}

#[tokio::test]
async fn two_listeners_on_one_port() {
    let free: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let first = Proxy::start(vec![listener(free, free)], registry(), Settings::default()).unwrap();
    let taken = first.addresses()[0];
    // Nothing of a failed start stays bound.
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let other_address = other.local_addr().unwrap();
    drop(other);
    let both = vec![listener(other_address, free), listener(taken, free)];
    let Err(error) = Proxy::start(both, registry(), Settings::default()) else {
        panic!("the port is taken");
    };
    let text = error.to_string();
    assert!(
        text.contains(&taken.to_string()) && text.contains("`cart`"),
        "{text}"
    );
    assert!(text.contains("the port is taken"), "{text}");
    TcpListener::bind(other_address).await.expect("free again");
    // A stopped proxy gives its ports back.
    drop(first);
    TcpListener::bind(taken).await.expect("free again");
}

/// A service that answers every request with its name.
async fn named(name: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = move |_| async move {
                let body = http_body_util::Full::new(bytes::Bytes::from_static(name.as_bytes()));
                Ok::<_, std::convert::Infallible>(http::Response::new(body))
            };
            let service = hyper::service::service_fn(answer);
            tokio::spawn(async move {
                let builder = hyper_util::server::conn::auto::Builder::new(
                    hyper_util::rt::TokioExecutor::new(),
                );
                let io = hyper_util::rt::TokioIo::new(stream);
                let _ = builder.serve_connection(io, service).await;
            });
        }
    });
    address.to_string()
}

#[tokio::test]
async fn a_listener_that_serves_several_hosts() {
    let route = |host: &str, service: &str, upstream| Route {
        hosts: vec![host.to_owned()],
        service: service.to_owned(),
        upstream,
        tls: None,
    };
    let listener = Listener {
        listen: "127.0.0.1:0".parse().unwrap(),
        origin: Origin::Service { caller: None },
        routes: vec![
            route("cart.test", "cart", named("cart").await),
            route("stock.test", "stock", named("stock").await),
        ],
        door: None,
        forward: None,
        late: None,
    };
    let proxy = Proxy::start(vec![listener], registry(), Settings::default()).unwrap();
    let to = proxy.addresses()[0];
    let cases = [
        ("/", "Cart.test", "cart"),
        ("/", "stock.test:8080", "stock"),
        ("http://stock.test/", "cart.test", "stock"),
        ("/", "pay.test", "421"),
    ];
    let mut stream = TcpStream::connect(to).await.unwrap();
    for (target, host, expected) in cases {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 1024];
        let length = stream.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert!(answer.contains(expected), "{target} at {host}: {answer}");
    }
    let stream = TcpStream::connect(to).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    for (host, expected) in [("stock.test", "stock"), ("pay.test", "421")] {
        let request = http::Request::get(format!("http://{host}/"))
            .body(())
            .unwrap();
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, _) = ready.send_request(request, true).unwrap();
        let mut answer = answer.await.unwrap();
        let said = match answer.body_mut().data().await {
            Some(said) => String::from_utf8(said.unwrap().to_vec()).unwrap(),
            None => answer.status().as_u16().to_string(),
        };
        assert_eq!(said, expected);
    }
}

#[tokio::test]
async fn a_service_that_comes_up_later() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = unused.local_addr().unwrap();
    drop(unused);
    let listeners = vec![listener("127.0.0.1:0".parse().unwrap(), address)];
    let proxy = Proxy::start(listeners, registry(), Settings::default()).unwrap();
    let to = proxy.addresses()[0];
    assert_eq!(http1(to, "GET", "/", &[], PATIENCE).await.status, Some(502));
    assert_eq!(http2(to, "/", &[], None, PATIENCE).await.status, Some(502));
    support::serve_at(address, Arc::default()).await;
    assert_eq!(http1(to, "GET", "/", &[], PATIENCE).await.status, Some(200));
    assert_eq!(http2(to, "/", &[], None, PATIENCE).await.status, Some(200));
}

#[tokio::test]
async fn garbage_instead_of_http() {
    let world = World::with("none", Settings::default()).await;
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..200 {
        let mut stream = TcpStream::connect(world.back()).await.unwrap();
        let mut bytes: Vec<u8> = (0..random.usize(1..2_000)).map(|_| random.u8(..)).collect();
        if random.bool() {
            bytes.splice(0..0, *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        }
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let reading = stream.read_to_end(&mut answer);
        let _ = tokio::time::timeout(PATIENCE, reading)
            .await
            .expect("no hang");
    }
    for protocol in ALL {
        assert_eq!(world.call(protocol).await.status, Some(200), "{protocol:?}");
    }
}

/// A test starts the service, perhaps again and elsewhere: callers that keep
/// their connections to us never meet the one before.
#[tokio::test]
async fn a_service_that_is_started_while_the_proxy_runs() {
    let address = Arc::new(LateAddress::default());
    let free: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let listener = Listener::late("cart", &address, free, Origin::Service { caller: None });
    let proxy = Proxy::start(vec![listener], registry(), Settings::default()).unwrap();
    let (first, second) = (named("first").await, named("second").await);
    let steps = [
        (None, "no test has started the service yet"),
        (Some(first.as_str()), "first"),
        (Some(second.as_str()), "second"),
        (Some(first.as_str()), "first"),
        (None, "no test has started the service yet"),
    ];
    let mut stream = TcpStream::connect(proxy.addresses()[0]).await.unwrap();
    for (at, expected) in steps {
        address.set(at.map(Into::into));
        for _ in 0..3 {
            let request = b"GET / HTTP/1.1\r\nHost: cart\r\n\r\n";
            stream.write_all(request).await.unwrap();
            let mut answer = [0; 1024];
            let length = stream.read(&mut answer).await.unwrap();
            let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
            assert!(answer.contains(expected), "{at:?}: {answer}");
        }
    }
}

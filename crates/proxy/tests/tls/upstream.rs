//! Passing through: bytes, hosts, connections; and what a handshake that fails
//! is called.

use std::time::Duration;

use murphy_model::Reply;
use murphy_proxy::{Settings, TlsFiles, TlsUpstream};
use murphy_registry::Organic;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::authority::{Authority, Identity, signed_by_itself};
use crate::server::{Served, config, serve};
use crate::support::{ALL, ANSWER, PATIENCE, Protocol, World};

pub(crate) fn trusting(authority: &Authority, name: &str) -> TlsUpstream {
    let files = TlsFiles {
        ca: Some(authority.file()),
        ..TlsFiles::default()
    };
    TlsUpstream::new(name, &files).unwrap()
}

#[tokio::test]
async fn requests_pass_over_connections_that_are_kept() {
    for version in [&TLS12, &TLS13] {
        let authority = Authority::new();
        let served = Served::default();
        let identity = authority.sign(&["prices.example"]);
        let callee = serve(config(identity, &[version], None), &served).await;
        let tls = Some(trusting(&authority, "prices.example:443"));
        let requests = served.requests.clone();
        // Each thread has connections of its own.
        let settings = Settings {
            threads: 1,
            ..Settings::default()
        };
        let world = World::over(callee, tls, requests, "none", settings).await;
        for protocol in ALL {
            for _ in 0..3 {
                let seen = world.call(protocol).await;
                assert_eq!(seen.status, Some(200), "{seen:?}");
                assert!(seen.text().ends_with(ANSWER), "{seen:?}");
            }
        }
        // HTTP/1.1 has one, HTTP/2 and gRPC share another.
        assert_eq!(served.connections(), 2, "{version:?}");
    }
}

#[tokio::test]
async fn services_are_asked_by_their_own_name() {
    let authority = Authority::new();
    let served = Served::default();
    let identity = authority.sign(&["prices.example"]);
    let callee = serve(config(identity, &[&TLS13], None), &served).await;
    let tls = Some(trusting(&authority, "prices.example:8443"));
    let requests = served.requests.clone();
    let world = World::over(callee, tls, requests, "none", Settings::default()).await;
    let seen = world.call_path(Protocol::Http1, "/echo", PATIENCE).await;
    assert!(
        seen.text().contains("host: prices.example:8443\n"),
        "{seen:?}"
    );
    let seen = world.call_path(Protocol::Http2, "/echo", PATIENCE).await;
    assert_eq!(seen.status, Some(200), "{seen:?}");
    assert!(!seen.text().contains("back"), "{seen:?}");
}

async fn organic(identity: Identity, tls: TlsUpstream, clients: Option<&Authority>) -> Organic {
    let mut organics = Vec::new();
    let served = Served::default();
    let callee = serve(config(identity, &[&TLS13], clients), &served).await;
    let requests = served.requests.clone();
    let world = World::over(callee, Some(tls), requests, "none", Settings::default()).await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        world.call(protocol).await;
    }
    for detail in &world.recorded().await.details[1..] {
        organics.push(detail.organic.unwrap());
    }
    assert_eq!(world.served(), 0);
    let [first, second] = organics[..] else {
        panic!("{organics:?}")
    };
    assert_eq!(first, second);
    first
}

#[tokio::test]
async fn a_handshake_that_fails_is_the_service_s_own_failure() {
    let (ours, other) = (Authority::new(), Authority::new());
    let named = |name| trusting(&ours, name);
    let cases = [
        (
            ours.sign_expired(&["a.example"]),
            named("a.example"),
            Organic::CertificateExpired,
        ),
        (
            ours.sign(&["b.example"]),
            named("a.example"),
            Organic::CertificateName,
        ),
        (
            other.sign(&["a.example"]),
            named("a.example"),
            Organic::CertificateUntrusted,
        ),
    ];
    for (identity, tls, expected) in cases {
        assert_eq!(organic(identity, tls, None).await, expected);
    }
}

#[tokio::test]
async fn a_service_without_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let callee = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let tls = trusting(&Authority::new(), "a.example");
    let world = World::over(
        callee,
        Some(tls),
        Default::default(),
        "none",
        Settings::default(),
    );
    let world = world.await;
    world.call(Protocol::Http1).await;
    let (call, detail) = world.last().await;
    assert_eq!(call.reply, Some(Reply::Status(502)));
    assert_eq!(detail.organic, Some(Organic::NoTls));
}

#[tokio::test]
async fn a_client_certificate_is_shown_where_it_is_wanted() {
    let authority = Authority::new();
    let ours = authority.sign_client();
    let files = TlsFiles {
        ca: Some(authority.file()),
        client: Some((
            authority.write("client.pem", &ours.certificate_pem),
            authority.write("client.key", &ours.key_pem),
        )),
        ..TlsFiles::default()
    };
    let served = Served::default();
    let identity = authority.sign(&["a.example"]);
    let callee = serve(config(identity, &[&TLS13], Some(&authority)), &served).await;
    let tls = TlsUpstream::new("a.example", &files).unwrap();
    let requests = served.requests.clone();
    let world = World::over(callee, Some(tls), requests, "none", Settings::default()).await;
    for protocol in ALL {
        assert_eq!(world.call(protocol).await.status, Some(200), "{protocol:?}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_named_itself_is_believed() {
    let authority = Authority::new();
    let itself = signed_by_itself(&["a.example"]);
    let file = authority.write("itself.pem", &itself.certificate_pem);
    let files = TlsFiles {
        ca: Some(file),
        ..TlsFiles::default()
    };
    let served = Served::default();
    let callee = serve(config(itself, &[&TLS13], None), &served).await;
    for (name, believed) in [("a.example", true), ("b.example", false)] {
        let tls = TlsUpstream::new(name, &files).unwrap();
        let requests = served.requests.clone();
        let world = World::over(callee, Some(tls), requests, "none", Settings::default()).await;
        let seen = world.call(Protocol::Http1).await;
        assert_eq!(seen.status == Some(200), believed, "{name}: {seen:?}");
    }
}

/// Records that the socket has no room for must go out while the answer is
/// waited for.
#[tokio::test]
async fn large_bodies_pass_both_ways_through_slow_hands() {
    const LENGTH: usize = 8 * 1024 * 1024;
    let authority = Authority::new();
    let served = Served::default();
    let identity = authority.sign(&["a.example"]);
    let server = config(identity, &[&TLS13], None);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let callee = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(server));
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        let mut read = vec![0; 64 * 1024];
        let mut count = 0;
        // The head is shorter than the pauses are long.
        while count < LENGTH {
            count += stream.read(&mut read).await.unwrap();
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'y'; LENGTH]).await.unwrap();
        stream.flush().await.unwrap();
        let _ = stream.read(&mut read).await;
    });
    let tls = Some(trusting(&authority, "a.example"));
    let requests = served.requests.clone();
    let world = World::over(callee, tls, requests, "none", Settings::default()).await;
    let mut stream = TcpStream::connect(world.back()).await.unwrap();
    let head = format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {LENGTH}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; LENGTH]).await.unwrap();
    let mut answer = Vec::new();
    let reading = async {
        let mut piece = vec![0; 64 * 1024];
        while answer.len() < LENGTH {
            let count = stream.read(&mut piece).await.unwrap();
            assert_ne!(count, 0);
            answer.extend_from_slice(&piece[..count]);
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    };
    tokio::time::timeout(3 * PATIENCE, reading).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"));
}

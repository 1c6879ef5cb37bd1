//! Handshakes that fail because a call is to fail.
//!
//! Each test first sees the calls come without faults, as a campaign does.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use murphy_model::{Reply, TlsFault};
use murphy_proxy::Settings;
use murphy_registry::Control;
use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::TLS12;
use rustls::{DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::door::{caller, caller_of, door};
use crate::support::{ALL, ANSWER, HTTP, Io, PATIENCE, Protocol, World};

/// What rustls says.
const FAULTS: [(&str, &str); 4] = [
    ("tls:handshake", "eof"),
    ("tls:expired", "certificate expired"),
    ("tls:untrusted", "UnknownIssuer"),
    ("tls:name", "not valid for name"),
];

/// The calls to `back` were seen, and now they are to fail like this.
async fn failing(protocol: Protocol, faults: &str) -> World {
    let door = door();
    let mut world = World::through(&door, caller(&door.authority), "none").await;
    assert_eq!(world.call(protocol).await.status, Some(200));
    world.next(faults).await;
    world
}

#[tokio::test]
async fn callers_see_what_is_wrong_with_the_handshake() {
    for (mode, says) in FAULTS {
        for protocol in ALL {
            let case = format!("{mode} over {protocol:?}");
            let world = failing(protocol, &format!("** > back * #1 = {mode}")).await;
            let error = world.try_connect(protocol).await.err().expect(&case);
            assert!(error.contains(says), "{case}: {error}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            let (call, detail) = world.last().await;
            let injected = call.mode().map(|mode| mode.to_string());
            assert_eq!(injected.as_deref(), Some(mode));
            assert_eq!(
                call.reply,
                call.mode().and_then(|mode| mode.reply()),
                "{case}"
            );
            assert_eq!(detail.landed, Some(true), "{case}");
            assert_eq!(world.served(), 1, "{case}");
            // The next attempt is another call.
            assert_eq!(world.call(protocol).await.status, Some(200), "{case}");
            let (call, detail) = world.last().await;
            assert_eq!((call.point.frame().count, detail.landed), (2, None));
        }
    }
}

#[tokio::test]
async fn callers_with_tls_1_2_see_the_same() {
    for (mode, says) in FAULTS {
        let door = door();
        let config = caller_of(&door.authority, &[&TLS12]);
        let mut world = World::through(&door, config, "none").await;
        assert_eq!(world.call(Protocol::Http1).await.status, Some(200));
        world.next(&format!("** > back * #1 = {mode}")).await;
        let error = world.try_connect(Protocol::Http1).await.err().expect(mode);
        assert!(error.contains(says), "{mode}: {error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (_, detail) = world.last().await;
        assert_eq!(detail.landed, Some(true), "{mode}");
    }
}

#[tokio::test]
async fn every_attempt_can_fail() {
    for (mode, _) in FAULTS {
        let world = failing(Protocol::Http1, &format!("** > back * #* = {mode}")).await;
        for attempt in 1..=3 {
            assert!(world.try_connect(Protocol::Http1).await.is_err(), "{mode}");
            // What it says of it has to arrive.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let (call, detail) = world.last().await;
            assert_eq!(call.point.frame().count, attempt);
            assert_eq!(detail.landed, Some(true));
        }
    }
}

#[tokio::test]
async fn who_is_to_refuse_the_certificate_is_not_noted_as_distrustful() {
    let door = door();
    let mut world = World::through(&door, caller(&door.authority), "none").await;
    world.call(Protocol::Http1).await;
    world.next("** > back * = tls:untrusted").await;
    assert!(world.try_connect(Protocol::Http1).await.is_err());
    world.last().await;
    assert_eq!(door.refusals.noted(), []);
}

#[tokio::test]
async fn callers_without_tls_are_not_touched() {
    for protocol in HTTP {
        let mut world = World::with("none", Settings::default()).await;
        world.call(protocol).await;
        world.next("** > back * = tls:expired").await;
        assert_eq!(world.call(protocol).await.status, Some(200));
        let (call, detail) = world.last().await;
        assert_eq!((call.injected, detail.landed), (None, None));
        assert_eq!(call.reply, Some(Reply::Status(200)));
    }
}

/// Takes every certificate, as with the check switched off.
#[derive(Debug)]
struct Anything(Arc<CryptoProvider>);

impl ServerCertVerifier for Anything {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn careless() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anything(provider)))
        .with_no_client_auth()
}

#[tokio::test]
async fn who_takes_any_certificate_is_served_and_nothing_was_injected() {
    for (mode, _) in &FAULTS[1..] {
        for protocol in ALL {
            let mut world = World::through(&door(), careless(), "none").await;
            world.call(protocol).await;
            world.next(&format!("** > back * = {mode}")).await;
            assert_eq!(world.call(protocol).await.status, Some(200));
            let (call, detail) = world.last().await;
            assert_eq!((call.injected, detail.landed), (None, None), "{mode}");
            assert_eq!(call.point.frame().count, 1);
            assert_eq!((call.reply.unwrap().is_ok(), world.served()), (true, 2));
        }
    }
}

#[tokio::test]
async fn who_hangs_up_after_the_handshake_has_refused_the_certificate() {
    let mut world = World::through(&door(), careless(), "none").await;
    world.call(Protocol::Http1).await;
    world.next("** > back * = tls:expired").await;
    // As Node does it, which looks at certificates afterwards.
    drop(world.connect(Protocol::Http1).await);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (call, detail) = world.last().await;
    assert_eq!(
        (call.reply, detail.landed),
        (Some(Reply::NoTls(TlsFault::Expired)), Some(true))
    );
}

/// A caller that keeps its connection as long as it may.
struct Keeping<'w> {
    world: &'w World,
    connection: Option<Box<dyn Io>>,
}

impl Keeping<'_> {
    /// The status, or what became of the handshake.
    async fn get(&mut self, path: &str) -> Result<u16, String> {
        let mut connection = match self.connection.take() {
            Some(kept) => kept,
            None => self.world.try_connect(Protocol::Http1).await?,
        };
        let [(trace, id), (state, value)] = self.world.context();
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: back\r\n{trace}: {id}\r\n{state}: {value}\r\n\r\n"
        );
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(ANSWER.as_bytes()) {
            let read = connection.read_buf(&mut answer).await.unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
        }
        let text = String::from_utf8(answer).unwrap();
        if text.contains("connection: close\r\n") {
            // And so it is.
            let mut rest = Vec::new();
            let end = connection.read_to_end(&mut rest);
            let end = tokio::time::timeout(PATIENCE, end).await.unwrap();
            assert_eq!((end.unwrap(), rest), (0, Vec::new()));
        } else {
            self.connection = Some(connection);
        }
        Ok(text.split(' ').nth(1).unwrap().parse().unwrap())
    }
}

#[tokio::test]
async fn of_calls_on_one_connection_only_the_one_that_is_meant_fails() {
    let door = door();
    let mut world = World::through(&door, caller(&door.authority), "none").await;
    let mut keeping = Keeping {
        world: &world,
        connection: None,
    };
    for path in ["/one", "/two", "/three"] {
        assert_eq!(keeping.get(path).await, Ok(200));
        assert!(keeping.connection.is_some(), "it may stay open");
    }
    let mut idle = keeping.connection.take().unwrap();
    world.next("** > back GET /two #1 = tls:expired").await;
    // Its next call is to have a handshake of its own.
    let read = tokio::time::timeout(PATIENCE, idle.read_u8()).await;
    assert!(read.expect("it is closed").is_err());
    let mut keeping = Keeping {
        world: &world,
        connection: None,
    };
    assert_eq!(keeping.get("/one").await, Ok(200));
    assert!(keeping.connection.is_none(), "it was closed");
    let error = keeping.get("/two").await.unwrap_err();
    assert!(error.contains("certificate expired"), "{error}");
    assert_eq!(keeping.get("/three").await, Ok(200));
    let recorded = world.recorded().await;
    let failed = recorded
        .trace
        .calls()
        .iter()
        .filter(|call| call.injected.is_some());
    let failed: Vec<String> = failed.map(|call| call.point.to_string()).collect();
    assert_eq!(failed, ["front GET / > back GET /two"]);
    assert_eq!(recorded.trace.calls().len(), 4);
}

#[tokio::test]
async fn answers_that_are_changed_and_made_up_end_their_connection_too() {
    for (mode, status) in [("503", 503), ("delay:10ms", 200)] {
        let door = door();
        let world = World::through(
            &door,
            caller(&door.authority),
            &format!("** > back * = {mode}, ** > back GET /other = tls:name"),
        )
        .await;
        let seen = world.call(Protocol::Http1).await;
        assert_eq!(seen.status, Some(status));
        assert_eq!(seen.header("connection"), Some("close"), "{mode}");
    }
}

/// A caller of HTTP/2, with its connection.
struct Multiplexing {
    client: h2::client::SendRequest<Bytes>,
    connection: tokio::task::JoinHandle<Result<(), h2::Error>>,
}

impl Multiplexing {
    async fn connect(world: &World) -> Result<Self, String> {
        let stream = world.try_connect(Protocol::Http2).await?;
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        Ok(Multiplexing { client, connection })
    }

    async fn get(&self, world: &World, path: &str) -> Result<u16, h2::Error> {
        let mut request = Request::builder().uri(format!("http://back{path}"));
        for (name, value) in world.context() {
            request = request.header(name, value);
        }
        let mut client = self.client.clone().ready().await?;
        let (answer, _) = client.send_request(request.body(()).unwrap(), true)?;
        let (head, mut body) = answer.await?.into_parts();
        while let Some(data) = body.data().await {
            data?;
        }
        Ok(head.status.as_u16())
    }
}

/// Waits for the end of a connection. How it ends does not matter to a caller
/// that has its answers.
async fn ended(connection: tokio::task::JoinHandle<Result<(), h2::Error>>) {
    let ended = tokio::time::timeout(PATIENCE, connection).await;
    let _ = ended.expect("it ends").unwrap();
}

#[tokio::test]
async fn connections_of_http2_end_after_one_call_while_handshakes_are_to_fail() {
    let door = door();
    let mut world = World::through(&door, caller(&door.authority), "none").await;
    let caller = Multiplexing::connect(&world).await.unwrap();
    for path in ["/one", "/two"] {
        assert_eq!(caller.get(&world, path).await.unwrap(), 200);
    }
    let idle = caller.client.clone();
    world.next("** > back GET /two #1 = tls:untrusted").await;
    ended(caller.connection).await;
    drop(idle);
    let caller = Multiplexing::connect(&world).await.unwrap();
    assert_eq!(caller.get(&world, "/one").await.unwrap(), 200);
    ended(caller.connection).await;
    let error = Multiplexing::connect(&world).await.err().unwrap();
    assert!(error.contains("UnknownIssuer"), "{error}");
    let caller = Multiplexing::connect(&world).await.unwrap();
    assert_eq!(caller.get(&world, "/two").await.unwrap(), 200);
    let recorded = world.recorded().await;
    let calls = recorded.trace.calls()[1..].iter();
    let calls: Vec<(u32, bool)> = calls
        .map(|call| (call.point.frame().count, call.injected.is_some()))
        .collect();
    assert_eq!(calls, [(1, false), (1, true), (2, false)]);
}

#[tokio::test]
async fn calls_at_once_do_not_fail() {
    let door = door();
    let mut world = World::through(
        &door,
        caller(&door.authority),
        "** > back * #* = delay:50ms",
    )
    .await;
    for faults in [
        "** > back GET /two #1 = tls:name",
        "** > back GET /one #1 = tls:name",
    ] {
        let one = world.call_path(Protocol::Http1, "/one", PATIENCE);
        let two = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            world.call_path(Protocol::Http1, "/two", PATIENCE).await
        };
        let both = tokio::join!(one, two);
        assert_eq!((both.0.status, both.1.status), (Some(200), Some(200)));
        world.next(faults).await;
    }
    // The first was planned for calls that were seen at once.
    assert!(!world.registry.wants_handshakes(&"front".into()));
}

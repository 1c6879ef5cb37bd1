//! Callers that speak TLS with us.

use std::sync::Arc;
use std::time::Duration;

use murphy_proxy::{Authority, Door, Refusal, Refuser, Settings};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::faults::{MODES, seen};
use crate::support::{self, ALL, PATIENCE, World};

pub(crate) fn door() -> Door {
    Door {
        authority: Arc::new(Authority::generate("a test").unwrap()),
        refusals: Arc::default(),
    }
}

/// A caller that trusts an authority and nobody else.
pub(crate) fn caller(authority: &Authority) -> ClientConfig {
    caller_of(authority, rustls::DEFAULT_VERSIONS)
}

/// The same with these versions of TLS.
pub(crate) fn caller_of(
    authority: &Authority,
    versions: &[&'static SupportedProtocolVersion],
) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    let pem = authority.certificate_pem().as_bytes();
    roots
        .add(CertificateDer::from_pem_slice(pem).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[tokio::test]
async fn callers_see_the_same_faults_inside_tls() {
    let door = door();
    for mode in MODES {
        for protocol in ALL {
            let faults = format!("** > back * #* = {mode}");
            let patience = match mode {
                "hang" => Duration::from_millis(200),
                _ => PATIENCE,
            };
            let plain = World::with(&faults, Settings::default()).await;
            let without = plain.call_within(protocol, patience).await;
            let world = World::through(&door, caller(&door.authority), &faults).await;
            let with = world.call_within(protocol, patience).await;
            let case = format!("{mode} over {protocol:?}");
            assert_eq!(seen(&with), seen(&without), "{case}");
            let ((call, detail), (other_call, other)) = (world.last().await, plain.last().await);
            assert_eq!(call.reply, other_call.reply, "{case}");
            assert_eq!(detail.landed, other.landed, "{case}");
            assert_eq!(world.served(), plain.served(), "{case}");
        }
    }
}

#[tokio::test]
async fn callers_without_tls_are_served_at_the_same_place() {
    let door = door();
    let world = World::through(&door, caller(&door.authority), "none").await;
    for protocol in support::HTTP {
        assert_eq!(world.stranger(protocol).await.status, Some(200));
    }
}

#[tokio::test]
async fn who_does_not_trust_us_is_noted() {
    let (door, other) = (door(), Authority::generate("another").unwrap());
    let world = World::through(&door, caller(&door.authority), "none").await;
    let connector = TlsConnector::from(Arc::new(caller(&other)));
    let name = ServerName::try_from("back.test").unwrap();
    let stream = TcpStream::connect(world.back()).await.unwrap();
    let refused = connector.connect(name, stream).await.unwrap_err();
    assert!(refused.to_string().contains("UnknownIssuer"), "{refused}");
    // What it says of it has to arrive.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let noted = door.refusals.noted();
    let refuser = Refuser {
        caller: None,
        host: "back.test".to_owned(),
        why: Refusal::Untrusted,
        client: None,
    };
    assert_eq!(noted, [(refuser, 1)]);
}

#[tokio::test]
async fn certificates_are_for_the_name_that_is_asked_for_and_no_other() {
    let door = door();
    let world = World::through(&door, caller(&door.authority), "none").await;
    let connector = TlsConnector::from(Arc::new(caller(&door.authority)));
    for host in ["a.example", "127.0.0.1", "localhost", "back.test"] {
        let name = ServerName::try_from(host).unwrap();
        let stream = TcpStream::connect(world.back()).await.unwrap();
        let stream = connector.connect(name, stream).await;
        assert!(stream.is_ok(), "{host}: {:?}", stream.err());
    }
}

#[tokio::test]
async fn what_is_no_handshake_ends() {
    use tokio::io::AsyncWriteExt;
    let door = door();
    let world = World::through(&door, caller(&door.authority), "none").await;
    for nonsense in [
        &b"\x16\x03\x01\x00\x05hello"[..],
        b"\x16",
        b"\x16\x16\x16\x16\x16\x16",
    ] {
        let mut stream = TcpStream::connect(world.back()).await.unwrap();
        stream.write_all(nonsense).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut read = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read)).await;
        assert!(ended.is_ok(), "{nonsense:?}");
    }
}

#[test]
fn an_authority_is_restored_with_the_certificates_it_would_sign() {
    let made = Authority::generate("a test").unwrap();
    let pem = made.certificate_pem().to_owned();
    let restored = Authority::restore("a test", pem.clone(), &made.key_pem(), made.ends());
    let restored = restored.unwrap();
    assert_eq!(restored.certificate_pem(), made.certificate_pem());
    let broken = Authority::restore("a test", pem, "nothing", made.ends()).unwrap_err();
    assert_eq!(broken.to_string(), "the key cannot be read");
}

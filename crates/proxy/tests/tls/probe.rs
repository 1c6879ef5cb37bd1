//! What is said of a service before anything is sent to it.

use std::time::{Duration, SystemTime};

use murphy_proxy::{ProbeError, TlsFiles, TlsUpstream};
use rustls::version::{TLS12, TLS13};
use tokio::net::TcpListener;

use crate::authority::{Authority, Identity, params};
use crate::server::{Served, config, serve};
use crate::support;
use crate::upstream::trusting;

async fn probe(
    identity: Identity,
    tls: &TlsUpstream,
    clients: Option<&Authority>,
) -> Vec<Result<murphy_proxy::Probed, ProbeError>> {
    let mut probed = Vec::new();
    let pem = (identity.certificate, identity.key);
    for version in [&TLS12, &TLS13] {
        let identity = Identity {
            certificate: pem.0.clone(),
            key: pem.1.clone_key(),
            certificate_pem: String::new(),
            key_pem: String::new(),
        };
        let server = config(identity, &[version], clients);
        let callee = serve(server, &Served::default()).await;
        probed.push(tls.probe(&callee.to_string()).await);
    }
    probed
}

#[tokio::test]
async fn a_service_with_which_tls_works() {
    let authority = Authority::new();
    let tls = trusting(&authority, "a.example");
    for probed in probe(authority.sign(&["a.example"]), &tls, None).await {
        let probed = probed.unwrap();
        assert!(probed.http2);
        assert_eq!(probed.ends_soon, None);
    }
}

#[tokio::test]
async fn a_certificate_that_ends_soon() {
    let authority = Authority::new();
    let tls = trusting(&authority, "a.example");
    let end = SystemTime::now() + Duration::from_secs(5 * 24 * 3600);
    let mut params = params(&["a.example"]);
    params.not_after = end.into();
    for probed in probe(authority.sign_with(params), &tls, None).await {
        let ends = probed.unwrap().ends_soon.unwrap();
        let off = end.duration_since(ends).unwrap_or_default();
        assert!(off < Duration::from_secs(2), "{ends:?}");
    }
}

#[tokio::test]
async fn what_does_not_work_is_said_with_a_way_out() {
    let (ours, other) = (Authority::new(), Authority::new());
    let tls = trusting(&ours, "a.example");
    let cases = [
        (
            ours.sign_expired(&["a.example"]),
            None,
            "its certificate expired",
            "renew it",
        ),
        (
            ours.sign(&["b.example"]),
            None,
            "is not for `a.example`",
            "server_name",
        ),
        (
            other.sign(&["a.example"]),
            None,
            "nobody whom this machine trusts",
            "`ca = ",
        ),
        (
            ours.sign(&["a.example"]),
            Some(&ours),
            "demands a client certificate",
            "client_cert",
        ),
    ];
    for (identity, clients, message, hint) in cases {
        for probed in probe(identity, &tls, clients).await {
            let error = probed.unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            assert!(error.hint("x").contains(hint), "{}", error.hint("x"));
        }
    }
}

#[tokio::test]
async fn the_wrong_client_certificate() {
    let (ours, other) = (Authority::new(), Authority::new());
    let client = other.sign_client();
    let files = TlsFiles {
        ca: Some(ours.file()),
        client: Some((
            ours.write("client.pem", &client.certificate_pem),
            ours.write("client.key", &client.key_pem),
        )),
        ..TlsFiles::default()
    };
    let tls = TlsUpstream::new("a.example", &files).unwrap();
    for probed in probe(ours.sign(&["a.example"]), &tls, Some(&ours)).await {
        let error = probed.unwrap_err();
        assert!(
            error.to_string().contains("refused our client certificate"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn services_without_tls_and_without_anything() {
    let tls = trusting(&Authority::new(), "a.example");
    let plain = support::serve(Default::default()).await;
    let error = tls.probe(&plain.to_string()).await.unwrap_err();
    assert!(matches!(error, ProbeError::NoTls), "{error}");
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = unused.local_addr().unwrap().to_string();
    drop(unused);
    let error = tls.probe(&address).await.unwrap_err();
    assert!(matches!(error, ProbeError::Down(_)), "{error}");
}

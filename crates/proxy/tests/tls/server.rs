//! A callee inside TLS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::authority::{Authority, Identity};
use crate::support::serve_one;

/// What was asked of it.
#[derive(Clone, Default)]
pub(crate) struct Served {
    pub(crate) connections: Arc<AtomicUsize>,
    pub(crate) requests: Arc<AtomicUsize>,
}

impl Served {
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }
}

pub(crate) fn config(
    identity: Identity,
    versions: &[&'static SupportedProtocolVersion],
    clients: Option<&Authority>,
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            let text = std::fs::read(authority.file()).unwrap();
            use rustls::pki_types::pem::PemObject;
            let own = rustls::pki_types::CertificateDer::from_pem_slice(&text).unwrap();
            roots.add(own).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let mut config = builder
        .with_single_cert(vec![identity.certificate], identity.key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// Serves both protocols, and counts.
pub(crate) async fn serve(config: ServerConfig, served: &Served) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let served = served.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, served) = (acceptor.clone(), served.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    served.connections.fetch_add(1, SeqCst);
                    serve_one(stream, served.requests).await;
                }
            });
        }
    });
    address
}

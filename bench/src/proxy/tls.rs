//! TLS on both sides of a subject.
//!
//! Owns the one certificate that everybody shows and trusts, and the set-up of
//! those who are written here; nginx is told where its files are. Ciphers and
//! versions are what both sides prefer: TLS 1.3 with AES-256.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::protocol::Protocol;
use super::scratch::Scratch;

/// Where the certificate and its key are.
#[derive(Clone, Debug)]
pub struct Certificate {
    folder: PathBuf,
}

impl Certificate {
    /// Makes one for this machine.
    pub fn make(scratch: &Scratch) -> Result<Self> {
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names)?;
        let certificate = Certificate::at(scratch.path());
        std::fs::write(certificate.file(), made.cert.pem())?;
        std::fs::write(certificate.key(), made.signing_key.serialize_pem())?;
        Ok(certificate)
    }

    /// One that was made.
    pub fn at(folder: &Path) -> Self {
        Certificate {
            folder: folder.to_owned(),
        }
    }

    /// The folder of both files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lets our callers trust somebody else, too.
    pub fn trust(&self, name: &str, certificate_pem: &str) -> Result<()> {
        let file = self.folder.join(format!("{name}.pem"));
        Ok(std::fs::write(file, certificate_pem)?)
    }

    /// The certificate.
    pub fn file(&self) -> PathBuf {
        self.folder.join("tls.pem")
    }

    /// Its key.
    pub fn key(&self) -> PathBuf {
        self.folder.join("tls.key")
    }

    /// What callers are spoken to with, in one protocol.
    pub fn acceptor(&self, protocol: Protocol) -> Result<TlsAcceptor> {
        let chain = vec![CertificateDer::from_pem_file(self.file())?];
        let key = PrivateKeyDer::from_pem_file(self.key())?;
        let config = ServerConfig::builder().with_no_client_auth();
        let mut config = config.with_single_cert(chain, key)?;
        config.alpn_protocols = vec![alpn(protocol)];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// What a subject is spoken to with, in one protocol.
    pub fn connector(&self, protocol: Protocol) -> Result<TlsConnector> {
        let mut roots = RootCertStore::empty();
        for file in std::fs::read_dir(&self.folder)? {
            let file = file?.path();
            if file.extension().is_some_and(|it| it == "pem") {
                let certificate = CertificateDer::from_pem_file(&file)?;
                roots.add(certificate).context("a certificate made here")?;
            }
        }
        let config = ClientConfig::builder().with_root_certificates(roots);
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![alpn(protocol)];
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

fn alpn(protocol: Protocol) -> Vec<u8> {
    match protocol {
        Protocol::Http1 => b"http/1.1".to_vec(),
        Protocol::Http2 | Protocol::Grpc => b"h2".to_vec(),
    }
}

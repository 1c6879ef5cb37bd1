//! Whom we believe to be the service.
//!
//! Owns one addition to what rustls does: a certificate that is itself among
//! those to trust is believed though it may sign others. Development set-ups
//! are full of these (`openssl req -x509` makes one), and every other client
//! takes them.

use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::files::{self, TlsError, TlsFiles};
use super::provider;

/// Verifies the certificates of services.
#[derive(Debug)]
pub(super) struct Trust {
    by_roots: Arc<WebPkiServerVerifier>,
    /// Those in the user's own file.
    named: Vec<CertificateDer<'static>>,
}

impl Trust {
    /// Trust in what the user names, or else in what this machine trusts.
    pub(super) fn new(files: &TlsFiles) -> Result<Arc<Self>, TlsError> {
        let mut named = Vec::new();
        let roots = match &files.ca {
            None => of_this_machine()?,
            Some(file) => {
                named = files::certificates(file)?;
                let mut roots = RootCertStore::empty();
                for certificate in &named {
                    let added = roots.add(certificate.clone());
                    added.map_err(|error| TlsError::Malformed {
                        file: file.clone(),
                        why: error.to_string(),
                    })?;
                }
                Arc::new(roots)
            }
        };
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider());
        let by_roots = verifier.build();
        let by_roots = by_roots.map_err(|error| TlsError::NoRoots(format!(": {error}")))?;
        Ok(Arc::new(Trust { by_roots, named }))
    }
}

/// Read once: it takes a while, and systems have several services.
fn of_this_machine() -> Result<Arc<RootCertStore>, TlsError> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    if let Some(roots) = ROOTS.get() {
        return Ok(roots.clone());
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first();
        return Err(TlsError::NoRoots(
            why.map_or_else(String::new, |why| format!(": {why}")),
        ));
    }
    Ok(ROOTS.get_or_init(|| Arc::new(roots)).clone())
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .by_roots
            .verify_server_cert(certificate, chain, name, ocsp, now);
        match verified {
            // That it may sign others is looked at after its dates, and has no
            // name of its own among the errors.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.named.contains(certificate) =>
            {
                let parsed = ParsedCertificate::try_from(certificate)?;
                rustls::client::verify_server_name(&parsed, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_roots
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_roots
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_roots.supported_verify_schemes()
    }
}

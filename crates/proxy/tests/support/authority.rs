//! Certificates for tests, made when they are needed.

// Each test binary uses its own part of it.
#![allow(dead_code)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Who signs certificates, with its own in a file.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

/// A certificate with its key.
pub(crate) struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) certificate_pem: String,
    pub(crate) key_pem: String,
}

impl Identity {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        Identity {
            certificate: certificate.der().clone(),
            key: PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        }
    }
}

pub(crate) fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).unwrap()
}

/// A certificate that is signed by itself and may sign others, as
/// `openssl req -x509` makes it.
pub(crate) fn signed_by_itself(names: &[&str]) -> Identity {
    let mut params = params(names);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    Identity::new(&params.self_signed(&key).unwrap(), &key)
}

impl Authority {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let mut params = params(&[]);
        let name = format!("authority {}", COUNT.fetch_add(1, Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let own = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), own.pem()).unwrap();
        let issuer = Issuer::new(params, key);
        Authority { issuer, folder }
    }

    /// Where its own certificate is.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Writes a file beside it.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    /// A certificate for these names.
    pub(crate) fn sign(&self, names: &[&str]) -> Identity {
        self.sign_with(params(names))
    }

    /// One that ended years ago.
    pub(crate) fn sign_expired(&self, names: &[&str]) -> Identity {
        let mut params = params(names);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.sign_with(params)
    }

    /// One for a client.
    pub(crate) fn sign_client(&self) -> Identity {
        let mut params = params(&["client"]);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign_with(params)
    }

    pub(crate) fn sign_with(&self, params: CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        Identity::new(&params.signed_by(&key, &self.issuer).unwrap(), &key)
    }
}

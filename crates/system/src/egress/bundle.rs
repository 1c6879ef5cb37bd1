//! Files of certificates: those that a process trusts already, and ours.
//!
//! Owns what is in them. They are named after their content, so that runs
//! share them and none changes under a process that reads it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use murphy_store::atomic_file::{Readable, replace};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::authority::AuthorityFiles;
use super::trust_store;

/// Where machines keep the certificates that they trust, in one file.
const MACHINE: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Makes bundles.
pub(super) struct Bundles {
    files: AuthorityFiles,
}

impl Bundles {
    pub(super) fn new(files: &AuthorityFiles) -> Self {
        Bundles {
            files: files.clone(),
        }
    }

    /// What a file holds, or else what this machine trusts, and ours.
    pub(super) fn with_all_of(&self, file: Option<&str>) -> io::Result<PathBuf> {
        self.write(&self.all_of(file)?, "pem")
    }

    /// What a file holds, if there is one, and ours.
    pub(super) fn with(&self, file: Option<&str>) -> io::Result<PathBuf> {
        let before = file.and_then(|file| fs::read(file).ok());
        self.write(&self.and_ours(before)?, "pem")
    }

    /// The same as a trust store for Java.
    pub(super) fn trust_store(&self, file: Option<&str>) -> io::Result<PathBuf> {
        let all = self.all_of(file)?;
        let certificates = CertificateDer::pem_slice_iter(&all).filter_map(Result::ok);
        let certificates: Vec<_> = certificates.collect();
        let all = certificates.iter().map(|it| it.as_ref());
        self.write(&trust_store::of(all), "jks")
    }

    fn all_of(&self, file: Option<&str>) -> io::Result<Vec<u8>> {
        let named = file.and_then(|file| fs::read(file).ok());
        let machine = || MACHINE.iter().find_map(|file| fs::read(file).ok());
        self.and_ours(named.or_else(machine))
    }

    fn and_ours(&self, before: Option<Vec<u8>>) -> io::Result<Vec<u8>> {
        let mut all = before.unwrap_or_default();
        if !all.is_empty() && !all.ends_with(b"\n") {
            all.push(b'\n');
        }
        all.extend(fs::read(&self.files.certificate)?);
        Ok(all)
    }

    fn write(&self, content: &[u8], kind: &str) -> io::Result<PathBuf> {
        let hash = blake3::hash(content).to_hex();
        let file = self
            .files
            .folder
            .join(format!("trusted-{}.{kind}", &hash[..16]));
        if !is_complete(&file, content) {
            let written = replace(&file, content, Readable::AsUsual);
            // Another worker may have been writing the same.
            if !is_complete(&file, content) {
                written?;
            }
        }
        // Relative paths would mean something else to a process elsewhere.
        file.canonicalize()
    }
}

fn is_complete(file: &Path, content: &[u8]) -> bool {
    fs::metadata(file).is_ok_and(|it| it.len() == content.len() as u64)
}

//! Certificates and keys in files.
//!
//! Owns reading them, and the words for what is wrong with them. What a key
//! holds is never part of a message.

use std::io;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What a user says about TLS to a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificates that are trusted in place of the system's, in PEM.
    pub ca: Option<PathBuf>,
    /// Our own certificate with its chain, and its key, in PEM.
    pub client: Option<(PathBuf, PathBuf)>,
    /// The name that is asked for and must be in the certificate, where it is
    /// not the host's.
    pub server_name: Option<String>,
}

/// Why TLS cannot be set up as described.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("`{}` cannot be read: {source}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no certificate in a file.
    #[error("`{}` holds no certificate in PEM", .0.display())]
    NoCertificate(PathBuf),
    /// There is no private key in a file.
    #[error("`{}` holds no private key in PEM", .0.display())]
    NoKey(PathBuf),
    /// A key is encrypted.
    #[error("the key in `{}` is encrypted", .0.display())]
    Encrypted(PathBuf),
    /// What is in a file is no certificate.
    #[error("`{}` holds a certificate that cannot be read: {why}", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A key is another certificate's, or of an unknown kind.
    #[error("the key in `{}` does not fit the certificate in `{}`: {why}", .key.display(), .certificate.display())]
    Unfit {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// Why.
        why: String,
    },
    /// This machine has no trusted certificates.
    #[error("this machine has no trusted certificates{}", .0)]
    NoRoots(String),
    /// A name that no certificate can have.
    #[error("`{0}` is no name that a certificate can have")]
    BadName(String),
}

impl TlsError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            TlsError::Unreadable { .. } => {
                "check the path, which is relative to murphy.toml, and who may read the file".to_owned()
            }
            TlsError::NoCertificate(_) | TlsError::Malformed { .. } => {
                "a file in PEM holds `-----BEGIN CERTIFICATE-----`; `openssl x509 -inform der -in FILE` prints one from DER".to_owned()
            }
            TlsError::NoKey(_) => {
                "a file in PEM holds `-----BEGIN PRIVATE KEY-----`; certificate and key may be in one file, named twice".to_owned()
            }
            TlsError::Encrypted(file) => format!(
                "write it without a passphrase, to a file that only you can read: `(umask 077; openssl pkey -in {} -out plain.pem)`",
                file.display()
            ),
            TlsError::Unfit { .. } => {
                "name the key that was made with this certificate; the certificate itself comes first in its file, its chain after it".to_owned()
            }
            TlsError::NoRoots(_) => {
                "install the package ca-certificates, or name the certificates to trust with `ca`".to_owned()
            }
            TlsError::BadName(_) => "write a host name or an IP address".to_owned(),
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file).map_err(|source| TlsError::Unreadable {
        file: file.to_owned(),
        source,
    })
}

/// All certificates in a file; at least one.
pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(file)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(TlsError::NoCertificate(file.to_owned())),
        Err(error) => Err(TlsError::Malformed {
            file: file.to_owned(),
            why: error.to_string(),
        }),
    }
}

/// The private key in a file.
pub(super) fn key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(file)?;
    let is_encrypted = |line: &[u8]| {
        line.starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY")
            || line.starts_with(b"Proc-Type: 4,ENCRYPTED")
    };
    if text.split(|byte| *byte == b'\n').any(is_encrypted) {
        return Err(TlsError::Encrypted(file.to_owned()));
    }
    // What is wrong with it is not said: it might be said with its content.
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| TlsError::NoKey(file.to_owned()))
}

//! Who signs the certificates that our listeners show.
//!
//! Owns what is in them. Where the authority is kept, and who is told to trust
//! it, is for others.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SerialNumber,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use murphy_model::TlsFault;

use super::provider;

/// Clocks of machines and containers differ; a certificate that is not valid
/// yet is refused.
const EARLIER: Duration = Duration::from_secs(3600);

/// What a process was told to trust, for as long as it runs.
pub const AUTHORITY_LASTS: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long a certificate has been over that is shown as expired: longer than
/// clocks differ.
const EXPIRED_FOR: Duration = Duration::from_secs(24 * 3600);

/// The host that a certificate for another host is for. Nobody can have it.
const ANOTHER_HOST: &str = "another-host.invalid";

/// How many certificates are kept.
const MOST_LEAVES: usize = 1_000;

/// Signs certificates for hosts that are called through us.
pub struct Authority {
    name: String,
    certificate: CertificateDer<'static>,
    certificate_pem: String,
    issuer: Issuer<'static, KeyPair>,
    ends: SystemTime,
    /// One key for all hosts: making one takes longer than signing.
    leaf: KeyPair,
    leaves: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

/// Why no certificate could be made or read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AuthorityError(String);

impl AuthorityError {
    fn of(error: impl fmt::Display) -> Self {
        AuthorityError(error.to_string())
    }
}

impl Authority {
    /// A new one, called by this name.
    pub fn generate(name: &str) -> Result<Self, AuthorityError> {
        let key = KeyPair::generate().map_err(AuthorityError::of)?;
        let ends = SystemTime::now() + AUTHORITY_LASTS;
        let certificate = own(name, ends)
            .self_signed(&key)
            .map_err(AuthorityError::of)?;
        Authority::with(name, certificate.pem(), key, ends)
    }

    /// The one that these were saved of.
    pub fn restore(
        name: &str,
        certificate_pem: String,
        key_pem: &str,
        ends: SystemTime,
    ) -> Result<Self, AuthorityError> {
        // What is wrong with a key is not said: it might be said with the key.
        let key = KeyPair::from_pem(key_pem)
            .map_err(|_| AuthorityError("the key cannot be read".to_owned()))?;
        Authority::with(name, certificate_pem, key, ends)
    }

    fn with(
        name: &str,
        certificate_pem: String,
        key: KeyPair,
        ends: SystemTime,
    ) -> Result<Self, AuthorityError> {
        let certificate = CertificateDer::from_pem_slice(certificate_pem.as_bytes());
        Ok(Authority {
            name: name.to_owned(),
            certificate: certificate.map_err(AuthorityError::of)?,
            certificate_pem,
            issuer: Issuer::new(own(name, ends), key),
            ends,
            leaf: KeyPair::generate().map_err(AuthorityError::of)?,
            leaves: Mutex::default(),
        })
    }

    /// What it is called in its certificate.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its certificate.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Its certificate, in DER.
    pub fn certificate_der(&self) -> &[u8] {
        &self.certificate
    }

    /// Its key, to be kept from everybody else.
    pub fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// When its certificate ends, and all that it signed.
    pub fn ends(&self) -> SystemTime {
        self.ends
    }

    /// A certificate for a host, made when it is first asked for.
    pub(super) fn leaf(&self, host: &str) -> Result<Arc<CertifiedKey>, AuthorityError> {
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leaf) = leaves.get(host) {
            return Ok(leaf.clone());
        }
        let leaf = Arc::new(self.sign(host)?);
        // Hosts that are made up do not come back.
        if leaves.len() >= MOST_LEAVES {
            leaves.clear();
        }
        leaves.insert(host.to_owned(), leaf.clone());
        Ok(leaf)
    }

    /// A certificate with which a call to a host must not go on. Made anew for
    /// every handshake: there are few.
    pub(super) fn bad_leaf(
        &self,
        host: &str,
        fault: TlsFault,
    ) -> Result<Arc<CertifiedKey>, AuthorityError> {
        let leaf = match fault {
            TlsFault::Name => self.sign(ANOTHER_HOST)?,
            TlsFault::Untrusted => {
                let stranger = Authority::generate(&format!("not {}", self.name))?;
                let mut leaf = stranger.sign(host)?;
                // As most servers of internal authorities do, which leave it to
                // the client to know them.
                leaf.cert.truncate(1);
                leaf
            }
            TlsFault::Expired | TlsFault::Handshake => {
                let mut params = self.params(host)?;
                let ended = SystemTime::now() - EXPIRED_FOR;
                params.not_before = (ended - AUTHORITY_LASTS).into();
                params.not_after = ended.into();
                self.signed(&params)?
            }
        };
        Ok(Arc::new(leaf))
    }

    fn sign(&self, host: &str) -> Result<CertifiedKey, AuthorityError> {
        self.signed(&self.params(host)?)
    }

    fn params(&self, host: &str) -> Result<CertificateParams, AuthorityError> {
        let mut params = CertificateParams::new(names(host)).map_err(AuthorityError::of)?;
        params.distinguished_name = DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, cut(host));
        params.not_before = (SystemTime::now() - EARLIER).into();
        params.not_after = self.ends.into();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // OpenSSL in its strict mode, as Python 3.13 has it, wants to be told.
        params.use_authority_key_identifier_extension = true;
        params.serial_number = Some(serial()?);
        Ok(params)
    }

    fn signed(&self, params: &CertificateParams) -> Result<CertifiedKey, AuthorityError> {
        let signed = params.signed_by(&self.leaf, &self.issuer);
        let certificate = signed.map_err(AuthorityError::of)?.der().clone();
        let key = PrivateKeyDer::try_from(self.leaf.serialize_der()).map_err(AuthorityError::of)?;
        let chain = vec![certificate, self.certificate.clone()];
        CertifiedKey::from_der(chain, key, &provider()).map_err(AuthorityError::of)
    }
}

// Without the key.
impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authority({})", self.name)
    }
}

/// What its own certificate says.
fn own(name: &str, ends: SystemTime) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.not_before = (ends - AUTHORITY_LASTS - EARLIER).into();
    params.not_after = ends.into();
    params
}

/// The names that a certificate is for. Who calls this machine by its address
/// says no name, and any of them may be meant.
fn names(host: &str) -> Vec<String> {
    let is_here = match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost",
    };
    match is_here {
        true => ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into(),
        false => vec![host.to_owned()],
    }
}

/// A common name has 64 characters at most; the whole is among the names.
fn cut(host: &str) -> &str {
    let end = host.char_indices().nth(63).map_or(host.len(), |(at, _)| at);
    &host[..end]
}

/// Serial numbers must differ between certificates of one authority, and some
/// clients remember them.
fn serial() -> Result<SerialNumber, AuthorityError> {
    let mut bytes = [0; 16];
    let random = provider().secure_random;
    random
        .fill(&mut bytes)
        .map_err(|_| AuthorityError("no random numbers are to be had".to_owned()))?;
    // Positive, and without leading zeros.
    bytes[0] = bytes[0] & 0x7f | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

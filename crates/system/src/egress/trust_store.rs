//! A trust store as Java reads it (JKS), of certificates alone.
//!
//! Owns the format: `keytool` is not needed, and not everywhere.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

const MAGIC: u32 = 0xfeed_feed;
const VERSION: u32 = 2;
const TRUSTED_CERTIFICATE: u32 = 2;

/// The password that Java's own trust store has: it keeps nothing from anybody.
const PASSWORD: &str = "changeit";

/// A trust store with these certificates, in DER.
pub(super) fn of<'c>(certificates: impl Iterator<Item = &'c [u8]>) -> Vec<u8> {
    let certificates: Vec<_> = certificates.collect();
    let mut store = Vec::new();
    for number in [MAGIC, VERSION, certificates.len() as u32] {
        store.extend(number.to_be_bytes());
    }
    for (at, certificate) in certificates.into_iter().enumerate() {
        store.extend(TRUSTED_CERTIFICATE.to_be_bytes());
        text(&format!("trusted-{at}"), &mut store);
        // When it was added, which is nobody's business.
        store.extend(0_u64.to_be_bytes());
        text("X.509", &mut store);
        store.extend((certificate.len() as u32).to_be_bytes());
        store.extend_from_slice(certificate);
    }
    // Its integrity, as anybody can compute it.
    let mut salted: Vec<u8> = PASSWORD.encode_utf16().flat_map(u16::to_be_bytes).collect();
    salted.extend_from_slice(b"Mighty Aphrodite");
    salted.extend_from_slice(&store);
    store.extend_from_slice(digest(&SHA1_FOR_LEGACY_USE_ONLY, &salted).as_ref());
    store
}

fn text(text: &str, into: &mut Vec<u8>) {
    into.extend((text.len() as u16).to_be_bytes());
    into.extend_from_slice(text.as_bytes());
}

//! Who is at the other end of a handshake.
//!
//! Owns what a caller's first message tells of the library that made it, and
//! when it is worth finding out whose process has sent it: that reads all of
//! `/proc`, and is of interest only where somebody may not trust us. Which
//! runtime wants which variable is for others to know.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::server::ClientHello;

use crate::peer_socket;
use crate::stream::Stream;

/// What libraries differ in when they greet.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hello {
    /// The protocols that it offers (ALPN), the better one first.
    pub protocols: Vec<String>,
    /// Whether it would take tickets, to resume a session with.
    pub takes_tickets: bool,
    /// The ciphers that it offers.
    pub suites: Vec<u16>,
}

impl Hello {
    /// From the message as rustls has read it, and the bytes that it came in.
    pub(super) fn new(hello: &ClientHello<'_>, bytes: &[u8]) -> Self {
        let protocols = hello.alpn().into_iter().flatten();
        let protocols = protocols.map(|it| String::from_utf8_lossy(it).into_owned());
        let suites = hello.cipher_suites().iter().map(|it| u16::from(*it));
        Hello {
            protocols: protocols.collect(),
            takes_tickets: has_extension(bytes, SESSION_TICKET) == Some(true),
            suites: suites.filter(|it| !is_grease(*it)).collect(),
        }
    }
}

/// How a client comes to trust certificates, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Client {
    /// What it runs in, or is: `Node`.
    pub runtime: &'static str,
    /// The variable that tells it whom to trust besides.
    pub variable: &'static str,
    /// Whether it was started with this variable, and our authority in it.
    pub is_told: bool,
    /// Whether it finishes a handshake before it looks at the certificate.
    pub looks_late: bool,
}

/// Says which client has the socket with this inode open, and has greeted like
/// that; `None` if it is not known. It may block.
pub type ClientOfSocket = Arc<dyn Fn(u32, &Hello) -> Option<Client> + Send + Sync>;

/// Whom it is worth looking at: everybody who has not trusted us yet.
#[derive(Debug, Default)]
pub(super) struct Looks {
    trusting: Mutex<BTreeSet<Hello>>,
    looking: AtomicBool,
}

impl Looks {
    /// Who is at the other end, if that is worth finding out. It has to be
    /// found out before the caller is answered: one that refuses may be gone
    /// the next moment.
    pub(super) async fn at(
        &self,
        hello: &Hello,
        caller: &dyn Stream,
        clients: Option<&ClientOfSocket>,
    ) -> Option<Client> {
        let clients = clients?.clone();
        if self.trusting().contains(hello) {
            return None;
        }
        let inode = peer_socket::inode(caller.socket()?)?;
        // One at a time: a crowd of callers is one of equal callers.
        if self.looking.swap(true, Ordering::AcqRel) {
            return None;
        }
        let hello = hello.clone();
        let found = tokio::task::spawn_blocking(move || clients(inode, &hello)).await;
        self.looking.store(false, Ordering::Release);
        found.ok()?
    }

    /// One that greets like that does trust us.
    pub(super) fn trusts(&self, hello: Hello) {
        /// Some greet in another way each time.
        const MOST: usize = 64;
        let mut trusting = self.trusting();
        if trusting.len() < MOST {
            trusting.insert(hello);
        }
    }

    /// Another one does not.
    pub(super) fn refuses(&self, hello: &Hello) {
        self.trusting().remove(hello);
    }

    fn trusting(&self) -> std::sync::MutexGuard<'_, BTreeSet<Hello>> {
        self.trusting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values that mean nothing and that some throw in by chance (RFC 8701).
fn is_grease(value: u16) -> bool {
    let [high, low] = value.to_be_bytes();
    high == low && low & 0xf == 0xa
}

const SESSION_TICKET: u16 = 35;

/// Whether a record with a ClientHello has an extension, which rustls does not
/// say of this one; `None` if it is not all there.
fn has_extension(record: &[u8], wanted: u16) -> Option<bool> {
    // The heads of the record and of the message, the version, the random.
    let rest = record.get(5 + 4 + 2 + 32..)?;
    let (_session, rest) = prefixed(rest, 1)?;
    let (_suites, rest) = prefixed(rest, 2)?;
    let (_compressions, rest) = prefixed(rest, 1)?;
    let (mut extensions, _) = prefixed(rest, 2)?;
    while let Some((kind, rest)) = extensions.split_first_chunk() {
        if u16::from_be_bytes(*kind) == wanted {
            return Some(true);
        }
        (_, extensions) = prefixed(rest, 2)?;
    }
    Some(false)
}

/// What is as long as the bytes before it say, and what follows.
fn prefixed(bytes: &[u8], prefix: usize) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(prefix)?;
    let length = length.iter().fold(0, |all, it| all << 8 | usize::from(*it));
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ClientHello in its record, with these extensions and nothing in them.
    fn record(extensions: &[u16]) -> Vec<u8> {
        let mut record = vec![0; 5 + 4 + 2 + 32];
        record.extend([2, 1, 1, 0, 4, 0x13, 1, 0x13, 2, 1, 0]);
        let all = extensions.iter().flat_map(|it| {
            let [high, low] = it.to_be_bytes();
            [high, low, 0, 0]
        });
        let all: Vec<u8> = all.collect();
        record.extend((all.len() as u16).to_be_bytes());
        record.extend(all);
        record
    }

    #[test]
    fn an_extension_is_there_or_not_or_the_message_is_cut() {
        let with = record(&[0, 11, SESSION_TICKET, 43]);
        assert_eq!(has_extension(&with, SESSION_TICKET), Some(true));
        let without = record(&[0, 11, 43]);
        assert_eq!(has_extension(&without, SESSION_TICKET), Some(false));
        for end in 0..without.len() {
            assert_eq!(has_extension(&without[..end], SESSION_TICKET), None);
        }
    }

    #[test]
    fn who_trusts_us_is_looked_at_again_once_somebody_alike_did_not() {
        let looks = Looks::default();
        let hello = Hello::default();
        looks.trusts(hello.clone());
        assert!(looks.trusting().contains(&hello));
        looks.refuses(&hello);
        assert!(!looks.trusting().contains(&hello));
    }
}

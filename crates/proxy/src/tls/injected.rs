//! Handshakes that fail because they are to fail.
//!
//! Owns what the caller is shown, and the judgement whether it minded: some
//! break the handshake off, some hang up when it is over, and some go on. Those
//! are served as if nothing had been planned, and nothing is reported of them.
//! Which handshakes are to fail is for the control plane to know.

use std::io;
use std::sync::Arc;

use bytes::BytesMut;
use murphy_model::TlsFault;
use murphy_registry::Handshake;
use rustls::{AlertDescription, Error};

use super::door::{Door, Greeted, Offered, WITHIN};
use crate::destination::Destination;
use crate::server::first_bytes;
use crate::stream::Stream;

/// A handshake with a caller of a service, and how it is to fail.
pub(super) struct InjectedHandshake {
    destination: Arc<Destination>,
    handshake: Handshake,
}

impl InjectedHandshake {
    pub(super) fn new(destination: Arc<Destination>, handshake: Handshake) -> Self {
        InjectedHandshake {
            destination,
            handshake,
        }
    }

    /// Lets it fail; with the stream of a caller that went on all the same.
    pub(super) async fn play(
        self,
        greeted: Greeted,
        host: &str,
        offered: Offered,
        door: &Door,
    ) -> Option<(Box<dyn Stream>, BytesMut)> {
        let fault = self.handshake.fault;
        if fault == TlsFault::Handshake {
            // Before the caller can act on it.
            self.report();
            return None;
        }
        let leaf = door.authority.bad_leaf(host, fault);
        let shaking = door.shake_hands(greeted, host, leaf, offered);
        match tokio::time::timeout(WITHIN, shaking).await.ok()?? {
            Ok(stream) => self.see_whether_it_goes_on(stream).await,
            Err(error) => {
                if is_about_certificate(&error) {
                    self.report();
                }
                None
            }
        }
    }

    /// Some clients look at certificates only when the handshake is over.
    async fn see_whether_it_goes_on(
        self,
        mut stream: Box<dyn Stream>,
    ) -> Option<(Box<dyn Stream>, BytesMut)> {
        let read = tokio::time::timeout(WITHIN, first_bytes(&mut stream)).await;
        match read.ok()? {
            Some(read) => Some((stream, read)),
            None => {
                self.report();
                None
            }
        }
    }

    fn report(self) {
        self.destination.control.broke_off(self.handshake);
    }
}

/// Whether a handshake ended for what the caller was shown, and not because
/// there was no way to speak with each other.
fn is_about_certificate(error: &io::Error) -> bool {
    let tls = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
    match tls {
        None => true,
        Some(Error::AlertReceived(alert)) => !matches!(
            alert,
            AlertDescription::ProtocolVersion
                | AlertDescription::InsufficientSecurity
                | AlertDescription::NoApplicationProtocol
        ),
        Some(_) => false,
    }
}

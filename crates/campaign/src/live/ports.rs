//! Free ports for services that are about to start.
//!
//! A port is held by us until its service starts, so that nobody else is
//! given it in between. What is left of the race is the moment between our
//! letting go and the service's taking it; a start that loses it is made again
//! with other ports.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Mutex;

/// A port that a service is to listen on.
pub(super) struct Port {
    number: u16,
    held: Mutex<Option<TcpListener>>,
    /// Whether it was our choice.
    pub(super) picked: bool,
}

impl Port {
    /// Any free one.
    pub(super) fn free() -> io::Result<Self> {
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok(Port {
            number: held.local_addr()?.port(),
            held: Mutex::new(Some(held)),
            picked: true,
        })
    }

    /// This one, because its service knows no other.
    pub(super) fn fixed(number: u16) -> Self {
        Port {
            number,
            held: Mutex::new(None),
            picked: false,
        }
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    pub(super) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.number).into()
    }

    /// Lets go of it; the service can have it now. Says whether it is free.
    pub(super) fn let_go(&self) -> bool {
        let held = self.held.lock().expect("no panic while ports are held");
        drop({ held }.take());
        TcpListener::bind(self.address()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_held_until_it_is_let_go() {
        let port = Port::free().unwrap();
        assert!(TcpListener::bind(port.address()).is_err());
        assert!(port.let_go());
        let taken = TcpListener::bind(port.address()).unwrap();
        assert!(!Port::fixed(port.number()).let_go());
        drop(taken);
        assert!(Port::fixed(port.number()).let_go());
    }
}

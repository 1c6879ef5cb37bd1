//! Free ports for services that are about to start.
//!
//! A port is held by us until its service starts, so that nobody else is
//! given it in between. What is left of the race is the moment between our
//! letting go and the service's taking it; a start that loses it is made again
//! with other ports, if that shows before all services are up. Where somebody
//! else answers for the one that is started last, it may show only later.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::net::TcpStream;

/// How often a port is looked at before it counts as taken, and how long to
/// wait in between: many times what starting a process takes.
const LOOKS: u32 = 40;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

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

    /// Lets go of it; the service can have it now. Says whether nobody else
    /// listens there.
    ///
    /// A process that is being started elsewhere in this one has a copy of
    /// everything open, for the moment before it becomes its program. So a
    /// port is taken only if it stays so; and it is looked at by calling
    /// there, since a socket bound to try it could be copied in turn.
    pub(super) async fn let_go(&self) -> bool {
        drop(self.hold().take());
        for _ in 0..LOOKS {
            if TcpStream::connect(self.address()).await.is_err() {
                return true;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        false
    }

    /// Whether it cannot be had, for whatever reason.
    pub(super) fn is_taken(&self) -> bool {
        TcpListener::bind(self.address()).is_err()
    }

    fn hold(&self) -> MutexGuard<'_, Option<TcpListener>> {
        self.held.lock().expect("no panic while ports are held")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_is_held_until_it_is_let_go() {
        let port = Port::free().unwrap();
        assert!(TcpListener::bind(port.address()).is_err());
        assert!(port.let_go().await);
        let taken = TcpListener::bind(port.address()).unwrap();
        assert!(!Port::fixed(port.number()).let_go().await);
        drop(taken);
        assert!(Port::fixed(port.number()).let_go().await);
    }
}

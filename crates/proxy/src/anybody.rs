//! An address that anybody may have been given.
//!
//! Owns what becomes of a connection there once it is known which service has
//! its other end: it is served as one at a listener of that caller alone. Whose
//! process has a socket open is for others to find out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpStream;

use crate::listener_context::ListenerContext;
use crate::peer_socket;
use crate::settings::CallerOfSocket;

/// Makes the listener of a caller.
type OfCaller = Box<dyn Fn(Arc<str>) -> Arc<ListenerContext> + Send + Sync>;

/// The callers of a listener of one worker thread.
pub(crate) struct Anybody {
    callers: CallerOfSocket,
    of_caller: OfCaller,
    made: Mutex<BTreeMap<Arc<str>, Arc<ListenerContext>>>,
}

impl Anybody {
    pub(crate) fn new(callers: CallerOfSocket, of_caller: OfCaller) -> Self {
        Anybody {
            callers,
            of_caller,
            made: Mutex::default(),
        }
    }

    /// The listener of whoever has the other end of a connection, if that is a
    /// known service.
    pub(crate) async fn listener(&self, caller: &TcpStream) -> Option<Arc<ListenerContext>> {
        let inode = peer_socket::inode(caller)?;
        let callers = self.callers.clone();
        let name = tokio::task::spawn_blocking(move || callers(inode));
        let name = name.await.ok()??;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let listener = made.entry(name.clone());
        Some(listener.or_insert_with(|| (self.of_caller)(name)).clone())
    }
}

//! CONNECT, asked of us as a forward proxy.
//!
//! Owns what a tunnel leads to: into ourselves where the host is opened, out
//! to the host, unread, where it is not.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::uri::Authority as Host;
use http::{HeaderValue, header};
use tokio::io::AsyncWriteExt;

use super::buffer::Buffer;
use super::{canned, tunnel};
use crate::connect::{Protocol, Tcp, Upstream};
use crate::exchange::Canned;
use crate::forward::{ForwardProxy, Way, with_port};
use crate::listener_context::ListenerContext;
use crate::server::{self, first_bytes};
use crate::stream::{Rewound, Stream};
use crate::tls;

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Sees a tunnel through, until it ends.
pub(super) async fn serve(
    listener: &ListenerContext,
    forward: &ForwardProxy,
    authority: &str,
    caller: Box<dyn Stream>,
    read: Buffer,
) {
    let host = authority.parse::<Host>().ok();
    let Some(host) = host.filter(|host| host.port_u16().is_some()) else {
        let text = "CONNECT wants host:port";
        return refuse(caller, 400, text).await;
    };
    match forward.is_named(host.host()) {
        true => open(listener, forward, &host, caller, read).await,
        false => pass(forward, &host, caller, read).await,
    }
}

/// Into ourselves: TLS ends here if the caller speaks it.
async fn open(
    listener: &ListenerContext,
    forward: &ForwardProxy,
    host: &Host,
    mut caller: Box<dyn Stream>,
    read: Buffer,
) {
    if caller.write_all(ESTABLISHED).await.is_err() {
        return;
    }
    let mut caller: Box<dyn Stream> = Box::new(Rewound::new(caller, read.held().into()));
    let Some(read) = first_bytes(&mut caller).await else {
        return;
    };
    let is_tls = tls::is_tls(&read);
    let Way::Named(destination) = forward.way(host.as_str(), is_tls) else {
        return;
    };
    let inside = Arc::new(ListenerContext {
        destinations: vec![(Vec::new(), destination.clone())],
        settings: listener.settings.clone(),
        door: None,
        forward: None,
        late: None,
        anybody: None,
    });
    let (caller, read) = match (&listener.door, is_tls) {
        (_, false) => (caller, read),
        // Nobody was told to trust us.
        (None, true) => return,
        (Some(door), true) => {
            let offered = destination.upstream.offered().await;
            let caller = (caller, read);
            let accepted = door.accept(caller, host.host(), offered, &inside).await;
            let Some(accepted) = accepted else {
                return;
            };
            accepted
        }
    };
    Box::pin(server::serve_http(inside, caller, read)).await;
}

/// Out to the host.
async fn pass(forward: &ForwardProxy, host: &Host, mut caller: Box<dyn Stream>, mut read: Buffer) {
    if let Way::Refused = forward.way(host.as_str(), true) {
        let text = format!(
            "Murphy lets requests through to named hosts only, and no service has `hosts` with {}",
            host.host()
        );
        return refuse(caller, 403, &text).await;
    }
    let tcp = Tcp(with_port(host, 443));
    let within = forward.settings.connect_timeout;
    let connected = tokio::time::timeout(within, tcp.connect(Protocol::Http1)).await;
    let mut callee = match connected {
        Ok(Ok(callee)) => callee,
        Ok(Err(_)) => return refuse(caller, 502, "the host cannot be reached").await,
        Err(_) => return refuse(caller, 504, "connecting to the host timed out").await,
    };
    if caller.write_all(ESTABLISHED).await.is_ok() {
        let mut nothing = Buffer::holding(&BytesMut::new());
        let joined = tunnel::join((&mut caller, &mut read), (&mut callee, &mut nothing)).await;
        // One side that breaks breaks the other.
        if joined.is_err() {
            caller.reset();
            callee.reset();
        }
    }
}

async fn refuse(mut caller: Box<dyn Stream>, status: u16, text: &str) {
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    let answer = Canned {
        status,
        headers: vec![(header::CONTENT_TYPE, plain)],
        body: Bytes::copy_from_slice(text.as_bytes()),
    };
    let mut bytes = Vec::new();
    canned::render(&answer, false, true, &mut bytes);
    let _ = caller.write_all(&bytes).await;
    let _ = caller.shutdown().await;
}

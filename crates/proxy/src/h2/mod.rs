//! HTTP/2 without TLS, with prior knowledge.
//!
//! Owns a caller's connection: every stream it opens becomes an exchange,
//! looked after by the `nursery`. The frames themselves are the `h2` crate's
//! business. Files here go by what they hold: `caller`, `callee` and `upload`
//! are the sides of one `exchange`, `fields` are its headers, `parts` is what
//! bodies are made of, `pool` keeps the connections to the service, `socket`
//! and `outlet` know what went out.

mod callee;
mod caller;
mod exchange;
mod fields;
mod gathered;
mod nursery;
mod outlet;
mod parts;
mod pool;
mod socket;
mod upload;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, ready};

use bytes::BytesMut;
use http::Request;
use tokio::net::TcpStream;

use crate::call;
use crate::listener_context::ListenerContext;
use crate::settings::Settings;
use caller::Caller;
use exchange::StreamExchange;
use nursery::Nursery;
use outlet::Outlet;
use socket::Socket;
use upload::Upload;

pub(crate) use pool::Pool;

/// How much of one body may be on its way to us without having been sent on.
/// Enough for a fast network, little enough for thousands of stuck streams.
const STREAM_WINDOW: u32 = 256 * 1024;

/// As much as there can be: a stream that is stuck must not use up what others
/// need. Memory is bounded by the windows of the streams.
const CONNECTION_WINDOW: u32 = (1 << 31) - 1;

/// How much of one body may wait to be written, besides what the peer's window
/// has no room for.
const SEND_BUFFER: usize = 64 * 1024;

/// Callers that many calls hang for, or that stream to everyone, need many.
const CONCURRENT_STREAMS: u32 = 10_000;

/// How many streams that were reset are remembered, for frames that crossed
/// the reset. Resets are what this proxy is made for.
const RESET_STREAMS: usize = 1_000;

/// Serves one connection of a caller until it ends; `read` is what was read
/// from it already.
pub(crate) async fn serve(listener: Arc<ListenerContext>, caller: TcpStream, read: BytesMut) {
    let outlet = Arc::new(Outlet::default());
    let socket = Socket::new(caller, read, outlet.clone());
    // What goes wrong here is between the caller and `h2`, which has told it.
    let Ok(mut connection) = server(&listener.settings).handshake(socket).await else {
        return;
    };
    let mut nursery = Nursery::new();
    poll_fn(|cx| {
        nursery.poll(cx, |nursery, cx| {
            loop {
                let accepted = connection.poll_accept(cx);
                outlet.polled(cx);
                let Some(Ok((request, respond))) = ready!(accepted) else {
                    return Poll::Ready(());
                };
                let caller = Caller::new(respond, outlet.clone());
                nursery.add(handle(listener.clone(), request, caller));
            }
        })
    })
    .await;
    // Who is still under way finds its caller gone.
    drop(connection);
    outlet.close();
    poll_fn(|cx| nursery.poll_rest(cx)).await;
}

async fn handle(listener: Arc<ListenerContext>, request: Request<h2::RecvStream>, caller: Caller) {
    let (head, body) = request.into_parts();
    let request = Request::from_parts(head, ());
    let mut exchange = StreamExchange::new(&listener, request, Upload::new(body), caller);
    call::handle(&listener, &mut exchange).await;
}

fn server(settings: &Settings) -> h2::server::Builder {
    let mut builder = h2::server::Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_concurrent_streams(CONCURRENT_STREAMS)
        .max_header_list_size(header_list(settings))
        .max_concurrent_reset_streams(RESET_STREAMS)
        .max_pending_accept_reset_streams(RESET_STREAMS)
        // Counted over the life of a connection, and frames that cross a
        // reset count too.
        .max_local_error_reset_streams(None);
    builder
}

fn header_list(settings: &Settings) -> u32 {
    u32::try_from(settings.head_limit).unwrap_or(u32::MAX)
}

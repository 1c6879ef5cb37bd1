//! HTTP/2 without TLS, with prior knowledge.
//!
//! Owns a caller's connection: every stream it opens becomes an exchange, run in
//! the task of that connection. The frames themselves are the `h2` crate's
//! business. Files here go by what they hold: `caller`, `callee` and `upload`
//! are the sides of one `exchange`, `fields` are its headers, `parts` is what
//! bodies are made of, `pool` keeps the connections to the service, `socket`
//! and `outlet` know what went out.

mod callee;
mod caller;
mod exchange;
mod fields;
mod outlet;
mod parts;
mod pool;
mod socket;
mod upload;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::BytesMut;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::header::HOST;
use http::{Request, Response, StatusCode};

use crate::call;
use crate::listener_context::{ListenerContext, Renewal};
use crate::settings::Settings;
use crate::stream::Stream;
use caller::Caller;
use exchange::StreamExchange;
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
pub(crate) async fn serve(listener: Arc<ListenerContext>, caller: Box<dyn Stream>, read: BytesMut) {
    let outlet = Arc::new(Outlet::default());
    let is_tls = caller.is_tls();
    let mut renewal = Renewal::of(&listener, &*caller);
    let mut renewed = pin!(renewal.wanted(&listener));
    let mut is_last = false;
    let socket = Socket::new(caller, read, outlet.clone());
    // What goes wrong here is between the caller and `h2`, which has told it.
    let Ok(mut connection) = server(&listener.settings).handshake(socket).await else {
        return;
    };
    let mut exchanges = FuturesUnordered::new();
    poll_fn(|cx| {
        loop {
            // First those whose frames the connection can then send at once,
            // and all that came before any of it is dealt with.
            while let Poll::Ready(Some(())) = exchanges.poll_next_unpin(cx) {}
            let mut has_more = false;
            if !is_last && renewed.as_mut().poll(cx).is_ready() {
                is_last = true;
                connection.graceful_shutdown();
            }
            loop {
                let accepted = connection.poll_accept(cx);
                outlet.polled(cx);
                match accepted {
                    Poll::Ready(Some(Ok((request, respond)))) => {
                        let caller = Caller::new(respond, outlet.clone());
                        exchanges.push(handle(listener.clone(), request, caller, is_tls));
                        if is_tls && !is_last && listener.wants_handshakes() {
                            is_last = true;
                            connection.graceful_shutdown();
                        }
                        has_more = true;
                    }
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending if has_more => break,
                    Poll::Pending => return Poll::Pending,
                }
            }
        }
    })
    .await;
    // Who is still under way finds its caller gone.
    drop(connection);
    outlet.close();
    while exchanges.next().await.is_some() {}
}

async fn handle(
    listener: Arc<ListenerContext>,
    request: Request<h2::RecvStream>,
    mut caller: Caller,
    is_tls: bool,
) {
    let (head, body) = request.into_parts();
    let request = Request::from_parts(head, ());
    let host = || match request.uri().authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers().get(HOST)?.to_str().ok(),
    };
    let Some(destination) = listener.destination(host) else {
        let mut answer = Response::new(());
        *answer.status_mut() = StatusCode::MISDIRECTED_REQUEST;
        // Who has gone by then needs none.
        let _ = caller.start(answer, true);
        return;
    };
    let mut exchange = StreamExchange::new(&destination, request, Upload::new(body), caller);
    exchange.is_tls = is_tls;
    call::handle(&destination, &mut exchange).await;
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

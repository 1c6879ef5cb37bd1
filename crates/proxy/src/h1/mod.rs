//! HTTP/1.1, byte by byte as it came.
//!
//! Owns a caller's connection: one task reads request after request from it
//! and sees each through, on buffers that are kept from one to the next. A
//! request that nobody changes costs one read and one write on either side.
//! It is written on sockets rather than on an HTTP library, because those put
//! headers in another order and case, and hide what a proxy must pass on.

mod answer;
mod ask;
mod body;
mod buffer;
mod canned;
mod chunked;
mod closing;
mod connect;
mod duplicate;
mod exchange;
mod framing;
mod half_closed;
mod head;
mod last;
mod pool;
mod prefix;
mod relay;
mod respond;
mod spoil;
mod target;
mod tunnel;
mod upload;

use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::AsyncWriteExt;

use self::buffer::Buffer;
use self::closing::Then;
use self::exchange::{Connection, H1};
use self::head::{BadHead, RequestHead, may_end};
use crate::call;
use crate::headers::Headers;
use crate::listener_context::{ListenerContext, Renewal};
use crate::stream::Stream;

pub(crate) use self::pool::Pool;

/// Why a connection serves no more requests.
enum End {
    /// It is to be ended, not with [`Then::Next`].
    Then(Then),
    /// What came is no request.
    Refused(BadHead),
    /// A tunnel to this host is asked for.
    Connect(String),
}

/// Serves one connection of a caller until it ends; `read` is what was read
/// from it already.
pub(crate) async fn serve(listener: Arc<ListenerContext>, caller: Box<dyn Stream>, read: BytesMut) {
    let mut connection = Connection {
        caller,
        inbound: Buffer::holding(&read),
        outbound: Buffer::default(),
        head: RequestHead::new(),
        lead: Vec::new(),
        rendered: Vec::new(),
    };
    drop(read);
    let end = serve_requests(&listener, &mut connection).await;
    let Connection {
        mut caller,
        inbound,
        ..
    } = connection;
    match end {
        End::Then(Then::Next | Then::Close) => closing::part(caller).await,
        End::Then(Then::Linger) => closing::linger(caller, inbound).await,
        End::Then(Then::Reset) => caller.reset(),
        End::Refused(bad) => {
            let _ = caller.write_all(&canned::refusal(bad)).await;
            closing::linger(caller, inbound).await;
        }
        End::Connect(authority) => {
            if let Some(forward) = &listener.forward {
                connect::serve(&listener, forward, &authority, caller, inbound).await;
            }
        }
    }
}

async fn serve_requests(listener: &ListenerContext, connection: &mut Connection) -> End {
    let mut renewal = Renewal::of(listener, &*connection.caller);
    loop {
        match next_head(listener, connection, &mut renewal).await {
            Err(bad) => return End::Refused(bad),
            Ok(false) => return End::Then(Then::Close),
            Ok(true) => {}
        }
        let head = &connection.head;
        if listener.forward.is_some() && head.method() == "CONNECT" {
            let authority = head.target().to_owned();
            connection.inbound.consume(connection.head.len());
            return End::Connect(authority);
        }
        let Some(destination) = listener.destination(|| head.text("host")) else {
            return End::Refused(BadHead::UnknownHost);
        };
        let mut exchange = H1::new(&destination, connection);
        call::handle(&destination, &mut exchange).await;
        match exchange.end() {
            Then::Next => connection.inbound.shrink(),
            then => return End::Then(then),
        }
    }
}

/// Waits for the head of a request; false if the caller is done, or is to come
/// back with a connection of its own for each call.
async fn next_head(
    listener: &ListenerContext,
    connection: &mut Connection,
    renewal: &mut Renewal,
) -> Result<bool, BadHead> {
    let limit = listener.settings.head_limit;
    let Connection {
        caller,
        inbound,
        head,
        ..
    } = connection;
    let mut known = 0;
    loop {
        skip_empty_lines(inbound);
        let held = inbound.held();
        let worth_reading = known == 0 || known > held.len() || may_end(held, known);
        if !held.is_empty() && worth_reading && head.read(held)? {
            return match head.len() > limit {
                true => Err(BadHead::TooLong),
                false => Ok(true),
            };
        }
        known = held.len();
        if known >= limit {
            return Err(BadHead::TooLong);
        }
        let is_idle = inbound.is_empty();
        tokio::select! {
            biased;
            read = inbound.fill(caller, limit) => if read.is_none() {
                return Ok(false);
            },
            () = renewal.wanted(listener), if is_idle => return Ok(false),
        }
    }
}

/// Some callers end a body with a line break too many (RFC 9112 §2.2).
fn skip_empty_lines(inbound: &mut Buffer) {
    while inbound.held().starts_with(b"\r\n") {
        inbound.consume(2);
    }
}

//! Sending a request to the callee once more.
//!
//! Owns a second connection, on which nobody waits for the answer but the
//! callee's work.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::answer::AnswerHead;
use super::body::Body;
use super::buffer::{Buffer, LARGE};
use super::exchange::H1;
use super::framing::Framing;
use crate::connect::{Protocol, connect};
use crate::destination::Destination;
use crate::stream::Stream;

/// How much of the answer is read, so that the callee can finish its work, and
/// for how long: some answers never end.
const DRAIN_LIMIT: usize = 16 * 1024 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Sends the request again. False if it is not there as a whole, or was not
/// answered.
pub(super) async fn forward(exchange: &mut H1<'_>) -> bool {
    if !exchange.upload.is_kept() {
        return false;
    }
    let connection = &*exchange.connection;
    let seen = exchange.upload.seen();
    let body = &connection.inbound.held()[connection.head.len()..seen];
    let mut request = Vec::with_capacity(seen + 256);
    connection.head.render(&mut request);
    request.extend_from_slice(body);
    let method = connection.head.method().to_owned();
    let destination = exchange.destination;
    let mut sending = std::pin::pin!(send(destination, &request, &method));
    poll_fn(|cx| {
        let gone = exchange.poll_caller(cx).is_err();
        match sending.as_mut().poll(cx) {
            // Nobody waits for the first answer either.
            Poll::Pending if gone => Poll::Ready(false),
            polled => polled,
        }
    })
    .await
}

async fn send(destination: &Destination, request: &[u8], method: &str) -> bool {
    let Ok(mut callee) = connect(destination, Protocol::Http1).await else {
        return false;
    };
    let mut read = Buffer::default();
    if callee.write_all(request).await.is_err() {
        return false;
    }
    let limit = destination.settings.head_limit;
    let Some(head) = wait_for_head(&mut callee, &mut read, limit, method).await else {
        return false;
    };
    read.consume(head.len);
    let draining = drain(&mut callee, &mut read, head.framing);
    let drained = tokio::time::timeout(DRAIN_TIME, draining).await;
    if drained == Ok(true) && head.persists && !head.switches {
        destination.h1.put(callee);
    }
    true
}

async fn wait_for_head(
    callee: &mut Box<dyn Stream>,
    read: &mut Buffer,
    limit: usize,
    method: &str,
) -> Option<AnswerHead> {
    loop {
        match AnswerHead::read(read.held(), method) {
            Ok(Some(head)) if head.is_interim() => read.consume(head.len),
            Ok(Some(head)) => return Some(head),
            Ok(None) if read.len() < limit => {
                read.fill(callee, limit).await?;
            }
            _ => return None,
        }
    }
}

/// Reads the body; whether the connection can be used again.
async fn drain(callee: &mut Box<dyn Stream>, read: &mut Buffer, framing: Framing) -> bool {
    let mut body = Body::new(framing);
    let mut drained = 0;
    loop {
        match body.scan(read.held()) {
            Err(_) => return false,
            Ok(used) => {
                drained += used;
                read.consume(used);
            }
        }
        if body.ended() || drained > DRAIN_LIMIT {
            return body.ended() && read.is_empty();
        }
        if read.fill(callee, LARGE).await.is_none() {
            return false;
        }
    }
}

//! Callers in this process.
//!
//! A declared request is Murphy's own, sent thousands of times a second. It
//! needs no socket to reach the proxy that names it: both ends of the
//! connection are here, and the proxy's end is served on the runtime of
//! whoever connects. Owns what such a connection is; what is asked and
//! answered on it is as on any other.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;

use crate::caller::CallerStream;
use crate::door::Door;
use crate::h1;

/// The most that is on its way from one end to the other.
const ON_ITS_WAY: usize = 64 * 1024;

/// A door for callers in this process, who speak HTTP/1.1.
#[derive(Clone)]
pub struct Near(Arc<Door>);

impl Near {
    pub(crate) fn new(door: Arc<Door>) -> Self {
        Near(door)
    }

    /// A connection, served on the current runtime until it is dropped.
    pub fn connect(&self) -> NearStream {
        let (caller, served) = pair();
        tokio::spawn(h1::serve(self.0.clone(), Box::new(served), BytesMut::new()));
        caller
    }
}

/// The caller's end and the proxy's.
fn pair() -> (NearStream, NearStream) {
    let was_reset = Arc::new(AtomicBool::new(false));
    let end = |stream| NearStream {
        stream,
        was_reset: was_reset.clone(),
    };
    let (caller, served) = tokio::io::duplex(ON_ITS_WAY);
    (end(caller), end(served))
}

/// One end of a connection in this process.
pub struct NearStream {
    stream: DuplexStream,
    /// Whether it ends with a reset, which is no proper end.
    was_reset: Arc<AtomicBool>,
}

impl NearStream {
    /// Whether the other side has neither closed it nor sent anything unasked;
    /// what it sent is lost then.
    pub fn is_open(&mut self) -> bool {
        let mut unasked = [0];
        let mut unasked = ReadBuf::new(&mut unasked);
        let mut nobody = Context::from_waker(Waker::noop());
        let read = Pin::new(&mut self.stream).poll_read(&mut nobody, &mut unasked);
        read.is_pending()
    }
}

impl CallerStream for NearStream {
    fn reset(self: Box<Self>) {
        // Before it is dropped, which is what the other end sees.
        self.was_reset.store(true, Ordering::Release);
    }

    fn still_reads(&self) -> bool {
        // Its callers close it only when they are done.
        false
    }

    fn into_socket(self: Box<Self>) -> Option<TcpStream> {
        None
    }
}

impl AsyncRead for NearStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let ended = buffer.filled().len() == before && buffer.remaining() > 0;
        Poll::Ready(match ended && self.was_reset.load(Ordering::Acquire) {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => Ok(()),
        })
    }
}

impl AsyncWrite for NearStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_close_and_a_reset_are_told_apart() {
        let (mut caller, mut served) = pair();
        served.write_all(b"all of it").await.unwrap();
        drop(served);
        let mut read = String::new();
        caller.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "all of it");

        let (mut caller, mut served) = pair();
        served.write_all(b"half").await.unwrap();
        Box::new(served).reset();
        let mut read = Vec::new();
        let end = caller.read_to_end(&mut read).await.unwrap_err();
        assert_eq!(
            (&read[..], end.kind()),
            (&b"half"[..], io::ErrorKind::ConnectionReset)
        );
    }

    #[tokio::test]
    async fn it_is_open_until_something_comes_unasked_or_nothing_ever_will() {
        let (mut caller, mut served) = pair();
        assert!(caller.is_open());
        served.write_all(b"x").await.unwrap();
        assert!(!caller.is_open());

        let (mut caller, served) = pair();
        drop(served);
        assert!(!caller.is_open());
    }
}

//! Bodies of any size that take no memory.
//!
//! Owns the body that the upstream answers with and that the memory checks
//! send: one piece of data, said as often as needed.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body, Frame, SizeHint};

/// A body made of one piece of data, repeated until its length is reached.
#[derive(Clone, Debug)]
pub struct Repeated {
    piece: Bytes,
    remaining: u64,
    trailers: Option<HeaderMap>,
}

/// What fits a frame of HTTP/2 as most peers set it.
const PIECE: usize = 16 * 1024;

impl Repeated {
    /// No body.
    pub fn empty() -> Self {
        Self::once(Bytes::new())
    }

    /// The data, once.
    pub fn once(piece: Bytes) -> Self {
        Self {
            remaining: piece.len() as u64,
            piece,
            trailers: None,
        }
    }

    /// That many zero bytes.
    pub fn zeros(length: u64) -> Self {
        Self {
            piece: Bytes::from_static(&[0; PIECE]),
            remaining: length,
            trailers: None,
        }
    }

    /// The same body, followed by trailers; its length is then not announced,
    /// as is usual for gRPC.
    pub fn followed_by(self, trailers: HeaderMap) -> Self {
        Self {
            trailers: Some(trailers),
            ..self
        }
    }

    fn next_piece(&mut self) -> Bytes {
        let length = self.remaining.min(self.piece.len() as u64);
        self.remaining -= length;
        self.piece.slice(..length as usize)
    }
}

impl Body for Repeated {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(if self.remaining > 0 {
            Some(Ok(Frame::data(self.next_piece())))
        } else {
            self.trailers.take().map(Frame::trailers).map(Ok)
        })
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0 && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.trailers {
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.remaining),
        }
    }
}

//! What bodies are made of, and how they are sent on.
//!
//! Owns reading the parts of a body so that its end is known with its last
//! part, and waiting for room, so that no more of a body piles up than the
//! send buffer holds. Both directions of an exchange use it.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Where gRPC says how a call went.
pub(super) static GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// From this many bytes on, the sender is told that there is room for more.
/// Far below any window, and rare enough not to be noticed.
const WORTH_TELLING: usize = 32 * 1024;

/// The next part of a body.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Some of it, with more to come.
    Data(Bytes),
    /// The rest of it; empty if the end came alone.
    Last(Bytes),
    /// The end, with trailers.
    Trailers(HeaderMap),
}

impl Part {
    /// Whether nothing comes after it.
    pub(super) fn ends(&self) -> bool {
        !matches!(self, Part::Data(_))
    }

    /// How many bytes of the body it has.
    pub(super) fn len(&self) -> usize {
        match self {
            Part::Data(data) | Part::Last(data) => data.len(),
            Part::Trailers(_) => 0,
        }
    }

    /// The gRPC status, if it ends a gRPC answer.
    pub(super) fn grpc_status(&self) -> Option<&HeaderValue> {
        match self {
            Part::Trailers(trailers) => trailers.get(&GRPC_STATUS),
            Part::Data(_) | Part::Last(_) => None,
        }
    }

    /// Hands it to a stream to be sent. Fails if that stream takes no more.
    pub(super) fn send(self, to: &mut SendStream<Bytes>) -> Result<(), h2::Error> {
        match self {
            Part::Data(data) => to.send_data(data, false),
            Part::Last(data) => to.send_data(data, true),
            Part::Trailers(trailers) => to.send_trailers(trailers),
        }
    }
}

/// The body of a request or an answer, as it comes in.
pub(super) struct Incoming {
    stream: RecvStream,
    /// Bytes sent on that the sender was not told about yet.
    untold: usize,
}

impl Incoming {
    pub(super) fn new(stream: RecvStream) -> Self {
        Incoming { stream, untold: 0 }
    }

    /// Whether there is nothing more to come.
    pub(super) fn ended(&self) -> bool {
        self.stream.is_end_stream()
    }

    /// The next part; not to be asked for after the end.
    pub(super) fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Result<Part, h2::Error>> {
        match ready!(self.stream.poll_data(cx)) {
            Some(Ok(data)) if self.ended() => Poll::Ready(Ok(Part::Last(data))),
            Some(Ok(data)) => Poll::Ready(Ok(Part::Data(data))),
            Some(Err(error)) => Poll::Ready(Err(error)),
            None => Poll::Ready(match ready!(self.stream.poll_trailers(cx)) {
                Ok(Some(trailers)) => Ok(Part::Trailers(trailers)),
                Ok(None) => Ok(Part::Last(Bytes::new())),
                Err(error) => Err(error),
            }),
        }
    }

    /// This many bytes were sent on: as many more may come.
    pub(super) fn release(&mut self, bytes: usize) {
        self.untold += bytes;
        if self.untold >= WORTH_TELLING {
            // It fails only for more than ever came.
            let _ = self.stream.flow_control().release_capacity(self.untold);
            self.untold = 0;
        }
    }
}

/// How many bytes a stream has room for, once it is some; `None`: it takes no
/// more.
pub(super) fn poll_room(
    to: &mut SendStream<Bytes>,
    wanted: usize,
    cx: &mut Context<'_>,
) -> Poll<Option<usize>> {
    to.reserve_capacity(wanted);
    loop {
        match to.capacity() {
            0 => match ready!(to.poll_capacity(cx)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Poll::Ready(None),
            },
            room => return Poll::Ready(Some(room)),
        }
    }
}

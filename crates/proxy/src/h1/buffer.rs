//! What has been read from a socket and not been dealt with yet.
//!
//! Owns the memory of a connection: it is allocated once, filled from the
//! socket, sent from where it lies, and bounded by whoever asks for room.
//! What the bytes mean is for others.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Enough for nearly every message; what an idle connection costs.
const SMALL: usize = 8 * 1024;

/// Enough for long bodies: larger reads save little.
pub(super) const LARGE: usize = 64 * 1024;

/// Bytes in the order they came.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub(super) fn holding(bytes: &[u8]) -> Self {
        let mut buffer = Buffer::default();
        buffer.grow(SMALL.max(bytes.len()));
        buffer.bytes[..bytes.len()].copy_from_slice(bytes);
        buffer.end = bytes.len();
        buffer
    }

    pub(super) fn held(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// How many bytes are held.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether nothing is held.
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Forgets the first `count` bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
        if self.start >= self.end {
            self.clear();
        }
    }

    /// Puts other bytes in the place of the first `count`.
    pub(super) fn replace(&mut self, count: usize, with: &[u8]) {
        let rest = &self.held()[count..];
        *self = Buffer::holding(&[with, rest].concat());
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// Forgets everything after the first `count` bytes.
    pub(super) fn truncate(&mut self, count: usize) {
        self.end = self.end.min(self.start + count);
    }

    /// Gives memory back that only an unusual message needed.
    pub(super) fn shrink(&mut self) {
        if self.bytes.len() > LARGE && self.len() <= SMALL {
            *self = Buffer::holding(self.held());
        }
    }

    /// Reads what there is, without holding more than `most` in all; 0 at the
    /// end of the stream. Waits while there is no room.
    ///
    /// A read that does not fill the buffer tells the runtime that the socket
    /// is empty, so that asking again costs no system call.
    pub(super) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut (impl AsyncRead + Unpin),
        most: usize,
    ) -> Poll<io::Result<usize>> {
        let room = self.room(most);
        if room.is_empty() {
            return Poll::Pending;
        }
        let mut read = ReadBuf::new(room);
        ready!(Pin::new(stream).poll_read(cx, &mut read))?;
        let count = read.filled().len();
        self.end += count;
        if self.end == self.bytes.len() {
            // There is more where this came from.
            self.grow(LARGE.min(most));
        }
        Poll::Ready(Ok(count))
    }

    /// Waits for more, without holding more than `most` in all; `None` once
    /// the stream has ended, however it did.
    pub(super) async fn fill(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        most: usize,
    ) -> Option<usize> {
        let read = poll_fn(|cx| self.poll_fill(cx, stream, most)).await;
        read.ok().filter(|count| *count > 0)
    }

    fn room(&mut self, most: usize) -> &mut [u8] {
        let allowed = most.saturating_sub(self.len());
        if self.end == self.bytes.len() && allowed > 0 {
            self.make_room(most);
        }
        let till = self.bytes.len().min(self.end + allowed);
        &mut self.bytes[self.end..till]
    }

    /// Moves what is held to the front, or grows if it is there already.
    fn make_room(&mut self, most: usize) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            self.grow((2 * self.len()).clamp(SMALL, most.max(SMALL)));
        }
    }

    fn grow(&mut self, size: usize) {
        if self.bytes.len() < size {
            self.bytes.resize(size, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(buffer: &mut Buffer, bytes: &[u8], most: usize) -> usize {
        let room = buffer.room(most);
        let count = room.len().min(bytes.len());
        room[..count].copy_from_slice(&bytes[..count]);
        buffer.end += count;
        count
    }

    #[test]
    fn bytes_come_out_in_the_order_they_went_in() {
        let mut buffer = Buffer::default();
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for round in 0..200_usize {
            let bytes = vec![round as u8; round * 37 % 5000];
            let count = put(&mut buffer, &bytes, 10_000);
            sent.extend_from_slice(&bytes[..count]);
            let taken = buffer.len() * (round % 4) / 3;
            let taken = taken.min(buffer.len());
            received.extend_from_slice(&buffer.held()[..taken]);
            buffer.consume(taken);
        }
        received.extend_from_slice(buffer.held());
        assert_eq!(sent, received);
    }

    #[test]
    fn no_more_is_held_than_allowed() {
        let mut buffer = Buffer::default();
        while put(&mut buffer, &[1; 1000], 20_000) > 0 {}
        assert_eq!(buffer.len(), 20_000);
        assert_eq!(put(&mut buffer, &[1], 20_001), 1);
    }

    #[test]
    fn unusual_memory_is_given_back() {
        let mut buffer = Buffer::default();
        while put(&mut buffer, &[7; 1000], 4 * LARGE) > 0 {}
        buffer.consume(4 * LARGE - 10);
        buffer.shrink();
        assert_eq!(buffer.held(), [7; 10]);
        assert_eq!(buffer.bytes.len(), SMALL);
    }
}

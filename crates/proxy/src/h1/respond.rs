//! Answering in the callee's stead.
//!
//! Owns whether the connection can go on afterwards: only if the rest of the
//! request's body can be had, since the next request comes after it.

use std::time::Duration;

use super::buffer::LARGE;
use super::canned;
use super::closing::Then;
use super::exchange::{Connection, H1};
use crate::exchange::{Canned, Gone};

/// How much of a request nobody wants is read to keep the connection, and for
/// how long. A new connection is cheaper than more.
const DRAIN_LIMIT: usize = 256 * 1024;
const DRAIN_TIME: Duration = Duration::from_secs(5);

impl H1<'_> {
    /// Sends an answer that is not the callee's.
    pub(super) async fn answer_ourselves(&mut self, answer: Canned) -> Result<(), Gone> {
        self.callee = None;
        if self.began_answer {
            // Half of another answer is with the caller already.
            self.then = Then::Reset;
            return Ok(());
        }
        self.began_answer = true;
        let goes_on = self.can_go_on() && answer.status >= 200;
        let to_head = self.connection.head.method() == "HEAD";
        self.connection.rendered.clear();
        canned::render(&answer, to_head, !goes_on, &mut self.connection.rendered);
        self.write_rendered().await?;
        self.then = match goes_on && self.drain_request().await {
            true => Then::Next,
            false => Then::Linger,
        };
        Ok(())
    }

    fn can_go_on(&mut self) -> bool {
        let well_formed = self.upload.scan(&self.connection.inbound).is_ok();
        let head = &self.connection.head;
        // Callers of HTTP/1.0 would have to be told that we go on.
        let wanted = head.persists() && !head.is_http_1_0();
        let too_long = self.upload.body().is_longer_than(DRAIN_LIMIT);
        let is_well = well_formed && wanted && !too_long;
        is_well && !self.awaits_continue() && !self.flooded && !self.is_last()
    }

    /// Reads the rest of the request; false if it takes too much.
    async fn drain_request(&mut self) -> bool {
        if self.upload.is_whole() {
            return true;
        }
        let drained = tokio::time::timeout(DRAIN_TIME, self.drain()).await;
        drained.unwrap_or(false)
    }

    async fn drain(&mut self) -> bool {
        let mut read = 0;
        loop {
            let malformed = self.upload.scan(&self.connection.inbound).is_err();
            if malformed || self.upload.is_whole() || read > DRAIN_LIMIT {
                return !malformed && self.upload.is_whole();
            }
            self.upload.discard(&mut self.connection.inbound);
            let Connection {
                caller, inbound, ..
            } = &mut *self.connection;
            match inbound.fill(caller, LARGE).await {
                Some(count) => read += count,
                None => return false,
            }
        }
    }

    /// Makes room where nothing will be done with what the caller sends, or
    /// it could not be seen to go away. True if there was anything to throw
    /// away; the connection cannot go on then.
    pub(super) fn throw_away_flood(&mut self) -> bool {
        let inbound = &mut self.connection.inbound;
        let full = inbound.len() >= self.upload.seen() + LARGE;
        let awaited = self.callee.is_some() && !self.upload.is_over();
        if !full || awaited {
            return false;
        }
        inbound.truncate(self.upload.seen());
        self.flooded = true;
        true
    }
}

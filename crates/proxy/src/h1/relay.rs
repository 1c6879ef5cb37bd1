//! Passing the callee's answer on as it is.
//!
//! Owns the moment at which an answer counts as given: before its last bytes
//! are sent, so that whatever the caller does next comes after it.

use std::future::poll_fn;
use std::task::Poll;

use murphy_registry::Organic;

use super::buffer::LARGE;
use super::chunked::{Sink, Unseen};
use super::closing::Then;
use super::exchange::{Answer, Connection, H1};
use super::framing::Framing;
use super::{last, tunnel};
use crate::body_copy::BodyCopy;
use crate::call_guard::CallGuard;
use crate::exchange::Failure;

/// The callee began an answer and did not end it.
pub(super) const BROKEN: Failure = Failure::Callee(Organic::BrokenAnswer);

impl Sink for BodyCopy {
    fn data(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }

    fn trailer(&mut self, _: u8) {}
}

impl H1<'_> {
    /// Passes the answer on and says what came of it.
    pub(super) async fn relay_answer(&mut self, mut guard: Option<&mut CallGuard<'_>>) {
        if self
            .answer
            .as_ref()
            .is_some_and(|answer| answer.head.switches)
        {
            return self.join(guard).await;
        }
        // Interim answers are none of this one.
        self.sent_to_caller = 0;
        match self.pass_answer(&mut guard).await {
            Ok(()) => self.conclude().await,
            Err(failure) => self.break_off(failure, guard),
        }
    }

    async fn pass_answer(&mut self, guard: &mut Option<&mut CallGuard<'_>>) -> Result<(), Failure> {
        self.tell_to_close();
        let answer = self.answer.as_ref().ok_or(BROKEN)?;
        let mut ready = match answer.head_bytes.is_empty() {
            true => answer.head.len,
            false => 0,
        };
        self.began_answer = true;
        if let Some(guard) = guard {
            self.copy_body(guard);
        }
        loop {
            let copy = guard.as_mut().and_then(|guard| guard.body_copy());
            ready += self.scan_answer(ready, copy)?;
            if self.answer_ended() {
                self.note_answered(guard);
                self.release(ready);
                self.write_heard(ready).await?;
                return Ok(());
            }
            self.write_heard(ready).await?;
            ready = 0;
            self.hear_answer().await?;
        }
    }

    /// Tells the caller in the head of the answer if nothing is to follow.
    pub(super) fn tell_to_close(&mut self) {
        let is_last = self.is_last();
        let Some(answer) = self.answer.as_mut().filter(|_| is_last) else {
            return;
        };
        self.told_to_close = true;
        if answer.head_bytes.is_empty() {
            let outbound = &mut self.connection.outbound;
            let told = last::closing(&outbound.held()[..answer.head.len]);
            outbound.replace(answer.head.len, &told);
            answer.head.len = told.len();
        } else {
            answer.head_bytes = last::closing(&answer.head_bytes);
        }
    }

    /// Lets the body be copied, if the answer can have one.
    fn copy_body(&self, guard: &mut CallGuard<'_>) {
        if let Some(Answer { head, .. }) = &self.answer
            && head.framing != Framing::None
        {
            let coding = match guard.wants_grpc_status() {
                true => head.grpc_coding,
                false => head.content_coding,
            };
            guard.copy_body(head.status, coding);
        }
    }

    fn scan_answer(&mut self, after: usize, copy: Option<&mut BodyCopy>) -> Result<usize, Failure> {
        let bytes = &self.connection.outbound.held()[after..];
        let answer = self.answer.as_mut().ok_or(BROKEN)?;
        let scanned = match copy {
            Some(copy) => answer.body.feed(bytes, copy),
            None => answer.body.feed(bytes, &mut Unseen),
        };
        scanned.map_err(|_| BROKEN)
    }

    /// Whether all of the answer has come.
    pub(super) fn answer_ended(&self) -> bool {
        let body = self.answer.as_ref().map(|answer| &answer.body);
        body.is_none_or(|body| body.ended())
    }

    /// Waits for more of the answer, or its end.
    pub(super) async fn hear_answer(&mut self) -> Result<(), Failure> {
        let read = self.hear(LARGE).await?.map_err(|_| BROKEN)?;
        let answer = self.answer.as_mut().ok_or(BROKEN)?;
        match read > 0 || answer.body.ends_here() {
            true => Ok(()),
            false => Err(BROKEN),
        }
    }

    fn note_answered(&self, guard: &mut Option<&mut CallGuard<'_>>) {
        if let (Some(guard), Some(answer)) = (guard, &self.answer) {
            let grpc_status = answer.head.grpc_status.as_deref();
            guard.answered(answer.head.status, grpc_status);
        }
    }

    /// The answer is not complete: the caller must not take it for complete.
    fn break_off(&mut self, failure: Failure, guard: Option<&mut CallGuard<'_>>) {
        if let (Some(guard), Some(answer)) = (guard, &self.answer) {
            if self.sent_to_caller >= answer.head.len as u64 {
                guard.head_sent(answer.head.status);
            }
            guard.broke(failure);
        }
        self.callee = None;
        if failure != Failure::Gone {
            self.then = Then::Reset;
        }
    }

    /// Gives the callee's connection back once nothing more is to be sent or
    /// to come; `unsent` bytes of the answer are still in the buffer.
    pub(super) fn release(&mut self, unsent: usize) {
        if !self.upload.is_over() {
            return;
        }
        let Some(callee) = self.callee.take() else {
            return;
        };
        let nothing_else = self.connection.outbound.len() == unsent;
        if nothing_else && self.upload.is_done() && self.both_go_on() {
            self.destination.h1.put(callee);
        }
    }

    /// Whether request and answer both say that there may be another. Each
    /// side saw what the other said, so it holds for both connections.
    fn both_go_on(&self) -> bool {
        let answer_does = |answer: &Answer| {
            let head = &answer.head;
            head.persists && !head.switches && head.framing != Framing::UntilClose
        };
        self.connection.head.persists() && self.answer.as_ref().is_some_and(answer_does)
    }

    /// Whether the answer ends where its connection does.
    pub(super) fn ends_with_connection(&self) -> bool {
        let framing = self.answer.as_ref().map(|answer| answer.head.framing);
        framing == Some(Framing::UntilClose)
    }

    /// The answer was given: says what becomes of the connection.
    pub(super) async fn conclude(&mut self) {
        let goes_on = self.both_go_on() && !self.flooded && !self.told_to_close;
        if goes_on && !self.upload.is_over() && !self.awaits_continue() {
            self.finish_upload().await;
        }
        if goes_on && self.upload.is_whole() {
            self.then = Then::Next;
        }
    }

    /// The answer came early: the callee may still want the rest of the
    /// request, and says so by keeping its connection open.
    async fn finish_upload(&mut self) {
        poll_fn(|cx| {
            if self.poll_caller(cx).is_err() || self.upload.is_over() {
                return Poll::Ready(());
            }
            let outbound = &mut self.connection.outbound;
            match &mut self.callee {
                Some(callee) => outbound.poll_fill(cx, callee, LARGE).map(|_| ()),
                None => Poll::Ready(()),
            }
        })
        .await;
        self.release(0);
    }

    async fn join(&mut self, mut guard: Option<&mut CallGuard<'_>>) {
        self.note_answered(&mut guard);
        let Connection {
            caller,
            inbound,
            outbound,
            ..
        } = &mut *self.connection;
        // What follows the request, and the answer's head with what follows
        // it, are still in the buffers.
        inbound.consume(self.upload.sent());
        self.upload.forget();
        let Some(callee) = &mut self.callee else {
            return;
        };
        let joined = tunnel::join((caller, inbound), (callee, outbound)).await;
        if joined.is_err() {
            self.then = Then::Reset;
            callee.reset();
        }
    }
}

//! Sending a request to the callee, and waiting for the head of its answer.
//!
//! Owns which connection is used, that a request is sent to the callee once,
//! and what happens to interim answers.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use murphy_registry::Organic;

use super::answer::{AnswerHead, NotHttp};
use super::body::Body;
use super::exchange::{Answer, H1};
use super::framing::Framing;
use super::head::may_end;
use crate::connect::{Protocol, connect};
use crate::exchange::{Abort, Failure, Head};
use crate::stream::Stream;

impl H1<'_> {
    /// Sends the request and waits for the head of the answer.
    pub(super) async fn ask_callee(&mut self) -> Result<Head, Failure> {
        if let Err(malformed) = self.upload.scan(&self.connection.inbound) {
            return Err(self.stop(malformed.into()).await.into());
        }
        if self.flooded {
            return Err(Failure::Gone);
        }
        self.render_head();
        if let Some(kept) = self.destination.h1.take() {
            match self.ask(kept).await {
                // It was found dead before the callee could see anything of
                // the request. From the first byte on that cannot be told from
                // a callee that was asked and hung up, which is its answer:
                // asked again, it would do its work twice.
                Err(Failure::HungUp(..)) if !self.upload.has_begun() => {}
                answered => return answered,
            }
        }
        let fresh = self.connect().await?;
        self.ask(fresh).await
    }

    fn render_head(&mut self) {
        self.connection.lead.clear();
        if self.connection.head.is_changed() {
            self.connection.head.render(&mut self.connection.lead);
        }
    }

    async fn connect(&mut self) -> Result<Box<dyn Stream>, Failure> {
        let mut connecting = pin!(connect(self.destination, Protocol::Http1));
        let connected = poll_fn(|cx| match connecting.as_mut().poll(cx) {
            Poll::Ready(connected) => Poll::Ready(Ok(connected)),
            Poll::Pending => match self.poll_caller(cx) {
                Err(stopped) => Poll::Ready(Err(stopped)),
                Ok(()) => Poll::Pending,
            },
        });
        match connected.await {
            Ok(connected) => connected.map_err(Failure::Callee),
            Err(stopped) => Err(self.stop(stopped).await.into()),
        }
    }

    async fn ask(&mut self, callee: Box<dyn Stream>) -> Result<Head, Failure> {
        let replaced = match self.connection.lead.is_empty() {
            true => 0,
            false => self.connection.head.len(),
        };
        self.upload.begin(replaced);
        self.connection.outbound.clear();
        self.callee = Some(callee);
        let asked = self.wait_for_head().await;
        if asked.is_err() {
            self.callee = None;
        }
        asked
    }

    async fn wait_for_head(&mut self) -> Result<Head, Failure> {
        let limit = self.destination.settings.head_limit;
        let mut known = 0;
        loop {
            let read = match self.hear(limit).await? {
                Ok(0) => return Err(hung_up(Abort::Close, known)),
                Err(_) => return Err(hung_up(Abort::Reset, known)),
                Ok(read) => read,
            };
            debug_assert!(read > 0);
            while let Some(head) = self.read_head(known)? {
                known = 0;
                if !head.is_interim() {
                    return Ok(self.accept(head));
                }
                self.pass_interim(&head).await?;
            }
            known = self.connection.outbound.len();
            if known >= limit {
                return Err(Failure::Callee(Organic::NotHttp));
            }
        }
    }

    fn read_head(&self, known: usize) -> Result<Option<AnswerHead>, Failure> {
        let bytes = self.connection.outbound.held();
        if bytes.is_empty() || (known > 0 && !may_end(bytes, known)) {
            return Ok(None);
        }
        let read = AnswerHead::read(bytes, self.connection.head.method());
        read.map_err(|NotHttp| Failure::Callee(Organic::NotHttp))
    }

    /// Passes a 1xx on, but for the `100 Continue` that the caller has already
    /// had from us.
    async fn pass_interim(&mut self, head: &AnswerHead) -> Result<(), Failure> {
        let is_continue = head.status == 100;
        self.continued |= is_continue;
        if is_continue && std::mem::take(&mut self.continued_by_us) {
            self.connection.outbound.consume(head.len);
            return Ok(());
        }
        self.write_heard(head.len).await?;
        Ok(())
    }

    fn accept(&mut self, head: AnswerHead) -> Head {
        let shown = Head {
            status: head.status,
            length: match head.framing {
                Framing::Length(length) => Some(length),
                _ => None,
            },
            grpc_status: head.grpc_status.clone(),
            coding: head.content_coding,
        };
        self.answer = Some(Answer {
            body: Body::new(head.framing),
            head,
            head_bytes: Vec::new(),
            trailers: Vec::new(),
        });
        shown
    }
}

/// The callee's connection ended after `known` bytes of a head.
fn hung_up(how: Abort, known: usize) -> Failure {
    let organic = match known {
        0 => Organic::Reset,
        _ => Organic::BrokenAnswer,
    };
    Failure::HungUp(how, organic)
}

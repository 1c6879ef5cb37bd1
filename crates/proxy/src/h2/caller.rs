//! The caller's side of an exchange: where answers go.
//!
//! Owns sending a head, a body and an end in this order, and noticing that the
//! caller has gone.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::Response;

use super::outlet::Outlet;
use super::parts::{Part, poll_room};
use crate::exchange::Gone;

/// Where the answer goes.
pub(super) struct Caller {
    respond: SendResponse<Bytes>,
    /// Where its body goes, once its head was sent.
    body: Option<SendStream<Bytes>>,
    outlet: Arc<Outlet>,
}

impl Caller {
    pub(super) fn new(respond: SendResponse<Bytes>, outlet: Arc<Outlet>) -> Self {
        Caller {
            respond,
            body: None,
            outlet,
        }
    }

    /// Sends an interim answer. One that cannot be sent does not matter.
    pub(super) fn inform(&mut self, interim: Response<()>) {
        let _ = self.respond.send_informational(interim);
    }

    /// Sends the head of the answer, which may be all of it.
    pub(super) fn start(&mut self, head: Response<()>, ends: bool) -> Result<(), Gone> {
        let body = self.respond.send_response(head, ends);
        self.body = Some(body.map_err(|_| Gone)?);
        Ok(())
    }

    /// Sends a part of the body, whether there is room or not.
    pub(super) fn send(&mut self, part: Part) -> Result<(), Gone> {
        let body = self.body.as_mut().expect("the head is sent first");
        part.send(body).map_err(|_| Gone)
    }

    /// How much of the body there is room for, once it is some.
    pub(super) fn poll_room(
        &mut self,
        wanted: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, Gone>> {
        let body = self.body.as_mut().expect("the head is sent first");
        poll_room(body, wanted, cx).map(|room| room.ok_or(Gone))
    }

    /// Waits until the caller, or its connection, has gone.
    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.body {
            Some(body) => body.poll_reset(cx).map(drop),
            None => self.respond.poll_reset(cx).map(drop),
        }
    }

    /// Whether any of the answer was sent.
    pub(super) fn started(&self) -> bool {
        self.body.is_some()
    }

    /// What tells when all that was sent so far is out.
    pub(super) fn outlet(&self) -> Arc<Outlet> {
        self.outlet.clone()
    }

    /// Ends the stream at once; what is not out is lost.
    pub(super) fn reset(&mut self, reason: Reason) {
        self.respond.send_reset(reason);
    }
}

//! Watches over a call until its end is reported.
//!
//! Owns the promise that every call that arrived is finished exactly once:
//! also when its connection breaks, its task is dropped or a bug loses it.

use murphy_model::Reply;
use murphy_registry::{CallKey, Control, Decision, Ending, LostAnswer, Organic};
use tokio::time::Instant;

use crate::body_copy::BodyCopy;
use crate::coding::Coding;
use crate::exchange::Failure;
use crate::grpc;

/// A call of an execution, from its arrival to its end.
pub(crate) struct CallGuard<'a> {
    control: &'a dyn Control,
    key: CallKey,
    arrived: Instant,
    grpc: bool,
    landed: bool,
    finished: bool,
    /// The status of the answer whose head the caller was sent.
    head_sent: Option<u16>,
    /// What was copied of the body, where the answer is the callee's own.
    body: Option<BodyCopy>,
    /// What the callee had answered, and its caller never gets.
    lost: Option<LostAnswer>,
    /// The error code in the answer that is injected.
    code: Option<String>,
    /// Whether a library at the caller's side raises a time-out when told to.
    can_raise: bool,
}

impl<'a> CallGuard<'a> {
    /// Watches over the call that this was decided for; `grpc`: its answer is
    /// one of gRPC.
    pub(crate) fn new(control: &'a dyn Control, decision: &Decision, grpc: bool) -> Self {
        CallGuard {
            control,
            key: decision.key,
            arrived: decision.arrived,
            grpc,
            landed: false,
            finished: false,
            head_sent: None,
            body: None,
            lost: None,
            code: None,
            can_raise: false,
        }
    }

    /// The name of the call.
    pub(crate) fn key(&self) -> CallKey {
        self.key
    }

    /// Whether the answer has a gRPC status that matters.
    pub(crate) fn wants_grpc_status(&self) -> bool {
        self.grpc
    }

    /// A library at the caller's side raises a time-out when told to.
    pub(crate) fn caller_can_raise(&mut self) {
        self.can_raise = true;
    }

    /// Whether there is such a library.
    pub(crate) fn can_caller_raise(&self) -> bool {
        self.can_raise
    }

    /// Whether the answer is still to be lost or replaced, now that its status
    /// is known.
    pub(crate) fn is_still_to_fail(&self, status: u16) -> bool {
        self.control.is_still_to_fail(self.key, status)
    }

    /// An empty copy of the body of an answer that its caller never gets.
    pub(crate) fn copy_of_lost(&self, coding: Coding) -> BodyCopy {
        BodyCopy::new(coding, self.grpc)
    }

    /// The callee had answered this, and its caller never gets it.
    pub(crate) fn lost(&mut self, status: u16, copy: BodyCopy, ended: bool) {
        let body = copy.finish(ended);
        self.lost = Some(LostAnswer { status, body });
    }

    /// The answer that is injected has this error code.
    pub(crate) fn says(&mut self, code: String) {
        self.code = Some(code);
    }

    /// The fault meant for this call took effect.
    pub(crate) fn landed(&mut self) {
        self.landed = true;
    }

    /// The callee's own answer begins, and is passed on unchanged: from now on
    /// its body is copied as it passes. Errors are distinguished by their status
    /// alone, so that of theirs nothing is copied.
    pub(crate) fn copy_body(&mut self, status: u16, coding: Coding) {
        if (200..300).contains(&status) {
            self.body = Some(BodyCopy::new(coding, self.grpc));
        }
    }

    /// Where the body is copied to, if it is.
    pub(crate) fn body_copy(&mut self) -> Option<&mut BodyCopy> {
        self.body.as_mut()
    }

    /// An answer came: its status and, from headers or trailers, its gRPC
    /// status. To be called before the end of the answer is sent on.
    pub(crate) fn answered(&mut self, status: u16, grpc_status: Option<&[u8]>) {
        let reply = match self.grpc && status == 200 {
            true => grpc::reply(grpc_status),
            false => Reply::Status(status),
        };
        self.report(reply, None, false);
    }

    /// The caller was shown this.
    pub(crate) fn replied(&mut self, reply: Reply) {
        self.report(reply, None, false);
    }

    /// The callee failed on its own, and the caller was shown this.
    pub(crate) fn failed(&mut self, organic: Organic, shown: Reply) {
        self.report(shown, Some(organic), false);
    }

    /// The caller was sent the head of the callee's answer.
    pub(crate) fn head_sent(&mut self, status: u16) {
        self.head_sent = Some(status);
    }

    /// The caller went away before the answer was complete.
    pub(crate) fn gave_up(&mut self) {
        self.report(self.seen_so_far(), None, true);
    }

    /// What a caller has seen of the call that goes away now. With the head it
    /// has the status, and whether it wants the body is its own business. A
    /// gRPC status comes last; there a message says that the call went well,
    /// as for a caller that takes the first of a stream and cancels the rest.
    fn seen_so_far(&self) -> Reply {
        let has_message = || self.body.as_ref().is_some_and(BodyCopy::has_message);
        match self.head_sent {
            Some(200) if self.grpc && has_message() => Reply::GrpcOk,
            Some(200) if self.grpc => Reply::TimedOut,
            Some(status) => Reply::Status(status),
            None => Reply::TimedOut,
        }
    }

    /// There is no answer, or only a part of it: for this reason.
    pub(crate) fn broke(&mut self, failure: Failure) {
        match failure {
            Failure::Gone => self.gave_up(),
            Failure::Callee(organic) | Failure::HungUp(_, organic) => {
                self.failed(organic, Reply::Broken);
            }
        }
    }

    /// Reports the end, unless that was done.
    fn report(&mut self, reply: Reply, organic: Option<Organic>, gave_up: bool) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        let body = self.body.take().filter(|_| reply.is_ok());
        let ending = Ending {
            reply,
            organic,
            landed: self.landed,
            gave_up,
            took: self.arrived.elapsed(),
            body: body.map(|body| body.finish(!gave_up)),
            lost: self.lost.take(),
            code: self.code.take(),
        };
        self.control.finish(self.key, ending);
    }
}

impl Drop for CallGuard<'_> {
    /// A call nobody waits for any more: the caller's connection is gone.
    fn drop(&mut self) {
        self.gave_up();
    }
}

//! Calls and traces: what was seen in one execution.
//!
//! Owns the tree of calls, their order and overlap. What a trace says about
//! the services' behaviour is for `search` to learn.

mod form;

use crate::{Edge, Fault, Faultload, GrpcCode, Mode, PayloadHash, Place, Point, TlsFault};

/// What a caller saw of the answer to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reply {
    /// An HTTP status.
    Status(u16),
    /// A gRPC status other than OK.
    Grpc(GrpcCode),
    /// gRPC OK.
    GrpcOk,
    /// The connection was refused or reset.
    Reset,
    /// The connection was closed before an answer.
    Closed,
    /// The caller gave up waiting.
    TimedOut,
    /// An answer came whose body could not be used.
    Broken,
    /// The TLS handshake failed, before there was a request.
    NoTls(TlsFault),
}

impl Reply {
    /// Whether the call went well: any 2xx, or gRPC OK.
    pub fn is_ok(&self) -> bool {
        matches!(self, Reply::Status(200..=299) | Reply::GrpcOk)
    }

    /// Whether the call failed. A redirect or "not modified" did not: it is
    /// less than [`Reply::is_ok`], and nothing for the caller to handle.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Reply::Status(100..=399) | Reply::GrpcOk)
    }
}

/// The place of a call in its [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u32);

/// One request seen on its way to a service, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its identity across executions.
    pub point: Point,
    /// The call it was made from; `None` if the scenario itself made it.
    pub parent: Option<CallId>,
    /// When it arrived, counted in events (arrivals and answers) of the trace.
    pub arrived: u32,
    /// When its answer was on its way back, counted likewise; `None` if the
    /// execution ended first.
    pub finished: Option<u32>,
    /// What the caller saw; `None` if the execution ended first.
    pub reply: Option<Reply>,
    /// The fault injected into it, if any: the faultload's fault (whose
    /// target may be wider than this one call).
    pub injected: Option<Fault>,
    /// The body of the callee's own successful answer, volatile fields left
    /// out; `None` for errors, for answers that a fault replaced or spoiled,
    /// and where nobody saw it.
    pub body: Option<PayloadHash>,
}

impl Call {
    /// What was injected, if anything was.
    pub fn mode(&self) -> Option<Mode> {
        self.injected.as_ref().map(|fault| fault.mode)
    }
}

/// All calls of one execution, in the order they arrived.
///
/// The calls form a forest: a scenario may send more than one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    calls: Vec<Call>,
}

impl Trace {
    /// A trace of calls in order of arrival.
    ///
    /// # Panics
    /// If a call's parent does not come before it.
    pub fn new(calls: Vec<Call>) -> Self {
        for (i, call) in calls.iter().enumerate() {
            let before = call.parent.is_none_or(|parent| (parent.0 as usize) < i);
            assert!(before, "call {i} arrives before the call it was made from");
        }
        Trace { calls }
    }

    /// The trace without some calls and all that was called for them; and the
    /// places that its calls had, in order.
    pub fn without(&self, is_left_out: impl Fn(CallId) -> bool) -> (Self, Vec<CallId>) {
        let mut places: Vec<Option<CallId>> = Vec::with_capacity(self.calls.len());
        let (mut calls, mut kept) = (Vec::new(), Vec::new());
        for id in self.ids() {
            let call = self.call(id);
            let parent = call.parent.map(|CallId(parent)| places[parent as usize]);
            if parent == Some(None) || is_left_out(id) {
                places.push(None);
                continue;
            }
            places.push(Some(CallId(calls.len() as u32)));
            kept.push(id);
            calls.push(Call {
                parent: parent.flatten(),
                ..call.clone()
            });
        }
        (Trace { calls }, kept)
    }

    /// The calls, in order of arrival.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The call with this place.
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id.0 as usize]
    }

    /// The places of all calls, in order of arrival.
    pub fn ids(&self) -> impl Iterator<Item = CallId> {
        (0..self.calls.len() as u32).map(CallId)
    }

    /// The calls made from `parent` (from the scenario itself, if `None`), in
    /// order of arrival.
    pub fn children(&self, parent: Option<CallId>) -> impl Iterator<Item = CallId> {
        self.ids().filter(move |id| self.call(*id).parent == parent)
    }

    /// The scenario's own requests, in order of arrival.
    pub fn entries(&self) -> impl Iterator<Item = CallId> {
        self.children(None)
    }

    /// The calls that `id` was made under, nearest first.
    pub fn ancestors(&self, id: CallId) -> impl Iterator<Item = CallId> {
        let parent = |id: &CallId| self.call(*id).parent;
        std::iter::successors(parent(&id), parent)
    }

    /// Who called whom for what.
    pub fn edge(&self, id: CallId) -> Edge {
        let call = self.call(id);
        let caller = call.parent.map(|parent| &self.call(parent).point);
        Edge {
            caller: caller.map(Place::of),
            callee: Place::of(&call.point),
        }
    }

    /// What the scenario saw of its last request.
    pub fn final_reply(&self) -> Option<Reply> {
        self.entries().last().and_then(|id| self.call(id).reply)
    }

    /// Whether the two calls were under way at the same time.
    pub fn overlap(&self, a: CallId, b: CallId) -> bool {
        a != b && !self.finished_before(a, b) && !self.finished_before(b, a)
    }

    /// Whether another call of the same caller, equal in all that identifies
    /// it but its count, was under way at the same time: which of them is the
    /// first is luck.
    pub fn has_twin(&self, id: CallId) -> bool {
        let call = self.call(id);
        let is_twin = |other: &CallId| {
            self.overlap(id, *other) && self.call(*other).point.same_call(&call.point)
        };
        call.parent.is_some() && self.children(call.parent).any(|other| is_twin(&other))
    }

    /// Whether `a` was answered before `b` arrived, so that `a`'s answer may
    /// have had a part in `b` being made.
    pub fn finished_before(&self, a: CallId, b: CallId) -> bool {
        self.call(a)
            .finished
            .is_some_and(|finished| finished < self.call(b).arrived)
    }

    /// The faults that were injected, each once.
    pub fn injected(&self) -> Faultload {
        let mut faults: Vec<Fault> = self
            .calls
            .iter()
            .filter_map(|c| c.injected.clone())
            .collect();
        faults.sort();
        faults.dedup();
        Faultload::new(faults).expect("faults of one faultload have different targets")
    }
}

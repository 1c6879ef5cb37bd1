//! Which call made this one, when nothing on the wire says so for certain.
//!
//! Owns the rules, from the surest to the weakest: a parent span that exactly
//! one call carried; then the calls in flight that were passed on to the
//! calling service (to any service, where the caller is not known). Callers
//! that make one call at a time leave a single chain of calls in flight, and
//! its deepest must be the caller. Anything else is taken for ambiguous and
//! reported so.
//!
//! A listener that was made for one caller may be called when that caller has
//! nothing in flight. If it ran in this execution it goes on working after its
//! answer, as a background worker does; if it did not, it passed the address
//! on to somebody who has, unless it is a service that nobody calls. Calls that
//! are known to be made in the background belong to no other call, whatever is
//! in flight; what is made while one of them and another call are, is the
//! other's unless it is known to follow.

use std::sync::Arc;

use murphy_model::CallId;
use rustc_hash::FxHashMap;

use crate::call_graph::CallGraph;
use crate::call_record::{CallRecord, Part};
use crate::{Link, SpanId, Spans};

/// A request whose caller is looked for.
pub(crate) struct Request<'r> {
    /// The service it is sent to.
    pub(crate) callee: &'r Arc<str>,
    /// What it says of spans.
    pub(crate) spans: Spans,
    /// The only service that knows the address, if one does.
    pub(crate) caller: Option<&'r Arc<str>>,
    /// Whether the caller is known to make it by itself.
    pub(crate) is_background: bool,
    /// Whether it is known to be made for a call in the background.
    pub(crate) may_follow_background: bool,
    /// Whether the test itself may have sent it.
    pub(crate) maybe_test: bool,
    /// Which services may call which.
    pub(crate) graph: &'r CallGraph,
}

impl Request<'_> {
    /// Whether a service can have sent it, while it served a call. What comes
    /// to an address that the test knows, while the service there serves the
    /// test, is rather the test's next call than one of the service to itself.
    fn may_come_from(&self, service: &str) -> bool {
        let to_itself = service == &**self.callee;
        let is_bare = self.spans == Spans::default();
        match to_itself && self.maybe_test && is_bare {
            true => self.graph.calls(service, service),
            false => self.graph.may_call(service, self.callee),
        }
    }
}

/// The calls of one execution as inference sees them.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// Calls that are at their callee now, in the order they arrived in, which
    /// is that of their numbers.
    open: Vec<CallId>,
    /// All that were, in the same order.
    reached: Vec<CallId>,
    /// Which call carried a span; `None` once two did.
    spans: FxHashMap<SpanId, Option<CallId>>,
}

impl InFlight {
    /// A call is on its way to its callee.
    pub(crate) fn open(&mut self, id: CallId) {
        self.open.push(id);
        self.reached.push(id);
    }

    pub(crate) fn carries(&mut self, id: CallId, span: SpanId) {
        let first = self.spans.entry(span).or_insert(Some(id));
        if *first != Some(id) {
            *first = None;
        }
    }

    /// A call was answered, or its caller went away.
    pub(crate) fn finished(&mut self, id: CallId) {
        if let Ok(at) = self.open.binary_search(&id) {
            self.open.remove(at);
        }
    }

    /// What has been answered has nothing to do with what comes from now on.
    pub(crate) fn forget_finished(&mut self) {
        self.reached.clone_from(&self.open);
    }

    /// The call that a request was made from.
    pub(crate) fn parent(&self, calls: &[CallRecord], request: &Request) -> (Option<CallId>, Link) {
        if let Some(parent) = self.by_span(request.spans.parent) {
            return (Some(parent), Link::Spans);
        }
        if request.is_background {
            return (None, Link::Background);
        }
        let at = |id: &CallId| &calls[id.0 as usize].first.frame().destination;
        let able = |id: &&CallId| request.may_come_from(at(id));
        let is_at_caller = |id: &&CallId| request.caller.is_none_or(|caller| caller == at(id));
        let open = self.open.iter().filter(able);
        let candidates: Vec<CallId> = open.clone().filter(is_at_caller).copied().collect();
        let candidates = likely(calls, candidates, request);
        if let Some(found) = deepest(calls, &candidates) {
            return found;
        }
        if let Some(caller) = request.caller {
            let served = self.reached.iter().filter(able).filter(is_at_caller);
            if let Some(found) = self.after_its_answer(served) {
                return found;
            }
            if request.graph.is_uncalled(caller) {
                return (None, Link::Orphan);
            }
            let anybody = likely(calls, open.copied().collect(), request);
            return deepest(calls, &anybody).unwrap_or((None, Link::Orphan));
        }
        match request.maybe_test {
            true => (None, Link::Inferred),
            false => (None, Link::Orphan),
        }
    }

    /// The last call that the caller has served: sure if it is the only one and
    /// nobody else is at work.
    fn after_its_answer<'c>(
        &self,
        served: impl Iterator<Item = &'c CallId>,
    ) -> Option<(Option<CallId>, Link)> {
        let served: Vec<CallId> = served.copied().collect();
        let link = match served.len() == 1 && self.open.is_empty() {
            true => Link::Inferred,
            false => Link::Background,
        };
        Some((Some(*served.last()?), link))
    }

    fn by_span(&self, span: Option<SpanId>) -> Option<CallId> {
        self.spans.get(&span?).copied().flatten()
    }
}

/// Those that are left when one in the background can hardly have made it.
fn likely(calls: &[CallRecord], mut candidates: Vec<CallId>, request: &Request) -> Vec<CallId> {
    let is_foreground = |id: &CallId| calls[id.0 as usize].part != Part::Background;
    if !request.may_follow_background && candidates.iter().any(is_foreground) {
        candidates.retain(is_foreground);
    }
    candidates
}

/// The deepest of some calls in flight, if there are any.
fn deepest(calls: &[CallRecord], candidates: &[CallId]) -> Option<(Option<CallId>, Link)> {
    let link = match is_chain(calls, candidates) {
        true => Link::Inferred,
        false => Link::Ambiguous,
    };
    Some((Some(*candidates.last()?), link))
}

/// Whether each candidate was made, directly or not, from the one before it.
fn is_chain(calls: &[CallRecord], candidates: &[CallId]) -> bool {
    candidates
        .windows(2)
        .all(|pair| is_ancestor(calls, pair[0], pair[1]))
}

fn is_ancestor(calls: &[CallRecord], ancestor: CallId, of: CallId) -> bool {
    let mut at = calls[of.0 as usize].parent;
    while let Some(parent) = at {
        if parent == ancestor {
            return true;
        }
        at = calls[parent.0 as usize].parent;
    }
    false
}

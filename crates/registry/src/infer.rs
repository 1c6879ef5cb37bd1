//! Which call made this one, when nothing on the wire says so for certain.
//!
//! Owns the rules, from the surest to the weakest: a parent span that exactly
//! one call carried; then the calls in flight that were passed on to the
//! calling service (to any service, where the caller is not known). Callers
//! that make one call at a time leave a single chain of calls in flight, and
//! its deepest must be the caller. Anything else is taken for ambiguous and
//! reported so.

use std::sync::Arc;

use murphy_model::CallId;
use rustc_hash::FxHashMap;

use crate::seen::Seen;
use crate::{Link, SpanId, Spans};

/// The calls of one execution as inference sees them.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// Calls that are at their callee now, in the order they arrived in, which
    /// is that of their numbers.
    open: Vec<CallId>,
    /// Which call carried a span; `None` once two did.
    spans: FxHashMap<SpanId, Option<CallId>>,
}

impl InFlight {
    /// A call is on its way to its callee.
    pub(crate) fn open(&mut self, id: CallId) {
        self.open.push(id);
    }

    /// A call carries this span.
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

    /// The call that a request with these spans was made from.
    pub(crate) fn parent(
        &self,
        calls: &[Seen],
        spans: Spans,
        caller: Option<&Arc<str>>,
    ) -> (Option<CallId>, Link) {
        if let Some(parent) = self.by_span(spans.parent) {
            return (Some(parent), Link::Spans);
        }
        let at_caller = |id: &CallId| {
            let destination = &calls[id.0 as usize].first.frame().destination;
            caller.is_none_or(|caller| caller == destination)
        };
        let candidates: Vec<CallId> = self.open.iter().copied().filter(at_caller).collect();
        match candidates.as_slice() {
            [] => (None, Link::Orphan),
            [.., latest] if is_chain(calls, &candidates) => (Some(*latest), Link::Inferred),
            [.., latest] => (Some(*latest), Link::Ambiguous),
        }
    }

    fn by_span(&self, span: Option<SpanId>) -> Option<CallId> {
        self.spans.get(&span?).copied().flatten()
    }
}

/// Whether each candidate was made, directly or not, from the one before it.
fn is_chain(calls: &[Seen], candidates: &[CallId]) -> bool {
    candidates
        .windows(2)
        .all(|pair| is_ancestor(calls, pair[0], pair[1]))
}

fn is_ancestor(calls: &[Seen], ancestor: CallId, of: CallId) -> bool {
    let mut at = calls[of.0 as usize].parent;
    while let Some(parent) = at {
        if parent == ancestor {
            return true;
        }
        at = calls[parent.0 as usize].parent;
    }
    false
}

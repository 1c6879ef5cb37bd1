//! One execution, prepared for learning.
//!
//! Owns the canonical order of calls. A caller's calls are put in an order in
//! which each comes after everything that was answered before it was made;
//! calls that overlapped are put in the order their points were first seen.
//! Sequential callers keep their order of arrival, and concurrent callers get
//! the same order whatever the schedule was.

use std::hash::{DefaultHasher, Hash, Hasher};

use murphy_model::{CallId, Execution, Reply, Trace};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, ModeId, PointId};
use crate::options::Options;

/// What a caller saw of a call, as far as it can matter to what it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Label {
    /// The reply; `None` if none came while anyone watched.
    pub(crate) reply: Option<Reply>,
    /// The fault that struck without keeping the callee from running: what it
    /// does beyond the reply (lateness, a lost effect) is part of what happened.
    pub(crate) altered: Option<ModeId>,
}

/// A call of the execution, in canonical order (callers before their calls).
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) point: PointId,
    pub(crate) label: Label,
    pub(crate) injected: Option<FaultKey>,
    /// What the callee answered on its own account, where that was visible.
    pub(crate) answer: Option<Option<Reply>>,
    /// Everything that happened at and below the call: tells apart answers of
    /// equal status that came about differently.
    pub(crate) story: u64,
    /// Its own calls, in canonical order, as indices.
    pub(crate) children: Vec<usize>,
    /// One past the last call below it.
    pub(crate) end: usize,
    /// Whether its service ran at all.
    pub(crate) ran: bool,
}

/// One execution in canonical order.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) calls: Vec<Seen>,
    /// The scenario's own requests.
    pub(crate) entries: Vec<usize>,
    /// The faults that struck.
    pub(crate) struck: FaultSet,
}

impl Observation {
    /// Prepares an execution, numbering points not seen before.
    pub(crate) fn new(execution: &Execution, catalogue: &mut Catalogue, options: &Options) -> Self {
        let trace = &execution.trace;
        let points: Vec<PointId> = trace
            .calls()
            .iter()
            .map(|call| catalogue.number(&call.point, call.parent.is_none(), options))
            .collect();
        let mut children: Vec<Vec<CallId>> = vec![Vec::new(); trace.calls().len()];
        let mut entries = Vec::new();
        for id in trace.ids() {
            match trace.call(id).parent {
                Some(parent) => children[parent.0 as usize].push(id),
                None => entries.push(id),
            }
        }
        let mut builder = Builder {
            trace,
            points: &points,
            children: &children,
            catalogue,
            calls: Vec::with_capacity(points.len()),
        };
        let entries = builder.visit_all(&entries);
        let calls = builder.calls;
        let struck = FaultSet::new(calls.iter().filter_map(|call| call.injected).collect());
        Observation {
            calls,
            entries,
            struck,
        }
    }

    /// Where in canonical order the last fault struck for the first time.
    pub(crate) fn last_strike(&self) -> Option<usize> {
        let first_strike =
            |key: &FaultKey| self.calls.iter().position(|c| c.injected == Some(*key));
        self.struck.keys().iter().filter_map(first_strike).max()
    }

    /// The faults that struck before the call at `index`, in canonical order.
    pub(crate) fn struck_before(&self, index: usize) -> FaultSet {
        FaultSet::new(
            self.calls[..index]
                .iter()
                .filter_map(|c| c.injected)
                .collect(),
        )
    }

    /// The faults that struck below the call at `index`.
    pub(crate) fn struck_below(&self, index: usize) -> FaultSet {
        let below = &self.calls[index + 1..self.calls[index].end];
        FaultSet::new(below.iter().filter_map(|c| c.injected).collect())
    }

    /// Indices, each call after all its own calls.
    pub(crate) fn post_order(&self) -> Vec<usize> {
        fn visit(observation: &Observation, index: usize, order: &mut Vec<usize>) {
            for child in &observation.calls[index].children {
                visit(observation, *child, order);
            }
            order.push(index);
        }
        let mut order = Vec::with_capacity(self.calls.len());
        for entry in &self.entries {
            visit(self, *entry, &mut order);
        }
        order
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    points: &'a [PointId],
    children: &'a [Vec<CallId>],
    catalogue: &'a mut Catalogue,
    calls: Vec<Seen>,
}

impl Builder<'_> {
    fn visit_all(&mut self, siblings: &[CallId]) -> Vec<usize> {
        let ordered = canonical(self.trace, self.points, siblings);
        ordered.into_iter().map(|id| self.visit(id)).collect()
    }

    fn visit(&mut self, id: CallId) -> usize {
        let index = self.calls.len();
        let call = self.trace.call(id);
        let injected = call
            .injected
            .as_ref()
            .and_then(|fault| self.catalogue.key(fault));
        let mode = call.mode();
        let altered = mode
            .filter(|mode| !mode.is_blocking())
            .map(|mode| self.catalogue.mode_number(mode));
        // A fault hides the callee's own answer when it replaces it, and when
        // it keeps it back until the caller has given up.
        let gave_up = matches!(call.reply, None | Some(Reply::TimedOut));
        let hidden = mode.is_some_and(|mode| mode.reply().is_some() || gave_up);
        self.calls.push(Seen {
            point: self.points[id.0 as usize],
            label: Label {
                reply: call.reply,
                altered,
            },
            injected,
            answer: (!hidden).then_some(call.reply),
            story: 0,
            children: Vec::new(),
            end: index + 1,
            ran: mode.is_none_or(|mode| !mode.is_blocking()),
        });
        let children = self.visit_all(&self.children[id.0 as usize]);
        let story = self.story(index, &children);
        let end = self.calls.len();
        let seen = &mut self.calls[index];
        (seen.children, seen.story, seen.end) = (children, story, end);
        index
    }

    fn story(&self, index: usize, children: &[usize]) -> u64 {
        let mut hasher = DefaultHasher::new();
        let seen = &self.calls[index];
        (seen.label, seen.injected.is_some()).hash(&mut hasher);
        for child in children {
            let child = &self.calls[*child];
            (child.point, child.story).hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn canonical(trace: &Trace, points: &[PointId], siblings: &[CallId]) -> Vec<CallId> {
    let one_by_one = siblings
        .windows(2)
        .all(|pair| trace.finished_before(pair[0], pair[1]));
    if one_by_one {
        return siblings.to_vec();
    }
    let mut waiting = siblings.to_vec();
    let mut ordered = Vec::with_capacity(siblings.len());
    while !waiting.is_empty() {
        let free = |id: &CallId| {
            !waiting
                .iter()
                .any(|other| trace.finished_before(*other, *id))
        };
        let next = waiting
            .iter()
            .copied()
            .filter(free)
            .min_by_key(|id| (points[id.0 as usize], *id))
            .expect("answered-before has no cycles");
        waiting.retain(|id| *id != next);
        ordered.push(next);
    }
    ordered
}

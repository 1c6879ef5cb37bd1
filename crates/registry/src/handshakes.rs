//! Which call a TLS handshake is for.
//!
//! A handshake comes before its request, so that nothing on the wire says which
//! call it belongs to. But in every execution a caller asks a service for the
//! same things in the same order, as long as the same has failed: so what came
//! next in an execution before is what comes next in this one.
//!
//! Owns that memory, and what has come so far in an execution that runs. What
//! is not known for certain is not guessed: where several calls came next, or
//! where calls were under way beside each other, no handshake fails.

use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{CallId, Fault, Faultload, Mode, Point, Target, TlsFault};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::time::Instant;

use crate::Link;
use crate::control::{Arrival, ExecutionId, Origin};

/// How many situations and executions are remembered. All are forgotten beyond
/// that, and learnt anew.
const MOST: usize = 20_000;

/// How long it takes at most until we hear of a handshake that was broken off.
/// A caller that says nothing for longer has taken the certificate.
const SETTLED: Duration = Duration::from_secs(1);

/// A handshake that is to fail.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// How.
    pub fault: TlsFault,
    pub(crate) execution: ExecutionId,
    pub(crate) edge: Edge,
    pub(crate) expected: Arc<Expected>,
    /// The call that it is made for; `None`: the scenario makes it itself.
    pub(crate) parent: Option<CallId>,
    pub(crate) begun: Instant,
    /// What had happened on the edge then.
    pub(crate) events: u64,
}

/// What is to become of a handshake.
#[derive(Clone, Debug)]
pub enum Greeting {
    /// It succeeds.
    Goes,
    /// It fails like this.
    Fails(Handshake),
    /// That is known once another one is over that is to fail: its caller may
    /// act on it before we hear of it.
    Waits,
}

/// Who calls whom over TLS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Edge {
    caller: Caller,
    callee: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Caller {
    Test,
    Service(Arc<str>),
    Anybody,
}

impl Edge {
    /// The one of those who call a service at such a listener.
    pub(crate) fn new(origin: &Origin, callee: &Arc<str>) -> Option<Self> {
        let caller = match origin {
            Origin::Entry(_) => Caller::Test,
            Origin::Service { caller: Some(name) } => Caller::Service(name.clone()),
            Origin::Service { caller: None } | Origin::Fixed { .. } => Caller::Anybody,
            Origin::Murphy => return None,
        };
        let callee = callee.clone();
        Some(Edge { caller, callee })
    }
}

/// A request that came over TLS, as it will come again.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) arrival: Arrival,
    /// The call that it was made for.
    pub(crate) parent: Option<Point>,
    pub(crate) link: Link,
    /// What tells it from others on all edges, whichever attempt it is.
    key: u64,
}

/// The services with calls whose handshakes are to fail.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    services: Vec<Arc<str>>,
    any: bool,
}

impl Wanted {
    pub(crate) fn by(faultload: &Faultload) -> Self {
        let mut wanted = Wanted::default();
        for fault in faultload.faults() {
            if fault.mode.tls().is_some() {
                wanted.add(&fault);
            }
        }
        wanted
    }

    fn add(&mut self, fault: &Fault) {
        let service = match &fault.target {
            Target::Call(point) | Target::Every(point) => Some(&point.frame().destination),
            Target::Matching(pattern) => pattern
                .frames
                .last()
                .and_then(|frame| frame.destination.literal()),
        };
        match service {
            Some(service) => self.services.push(service.clone()),
            None => self.any = true,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.any && self.services.is_empty()
    }

    pub(crate) fn covers(&self, service: &str) -> bool {
        self.any || self.services.iter().any(|it| &**it == service)
    }
}

/// A call over TLS that has a name now.
pub(crate) struct Named<'c> {
    pub(crate) id: CallId,
    pub(crate) first: &'c Point,
    pub(crate) count: u32,
    pub(crate) parent: Option<Point>,
    pub(crate) link: Link,
}

/// What executions under one identity have shown.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    requests: FxHashMap<u64, Arc<Expected>>,
    /// What came next, by the situation.
    next: FxHashMap<u64, Next>,
    /// Requests during which others came on the same edge, and those others.
    beside: FxHashSet<u64>,
    /// Requests after which others came on the same edge.
    followed: FxHashSet<u64>,
    /// The faultloads that were seen.
    seen: FxHashSet<u64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// This request, in this attempt.
    Only(u64, u32),
    Several,
}

impl Memory {
    /// Whether an execution under this faultload was seen to its end.
    pub(crate) fn has_seen(&self, faultload: &Faultload) -> bool {
        self.seen.contains(&hash(faultload))
    }

    pub(crate) fn note_seen(&mut self, faultload: &Faultload) {
        self.make_room();
        self.seen.insert(hash(faultload));
    }

    fn make_room(&mut self) {
        if self.next.len().max(self.seen.len()) >= MOST {
            *self = Memory::default();
        }
    }

    fn note_next(&mut self, situation: u64, request: u64, count: u32) {
        self.make_room();
        let next = Next::Only(request, count);
        match self.next.entry(situation) {
            Entry::Vacant(vacant) => {
                vacant.insert(next);
            }
            Entry::Occupied(mut known) if *known.get() != next => {
                known.insert(Next::Several);
            }
            Entry::Occupied(_) => {}
        }
    }
}

/// What has come over TLS in an execution, edge by edge.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    edges: FxHashMap<Edge, Came>,
    /// All that was injected, wherever: it makes callers do other things.
    injected: u64,
}

/// What has come on one edge.
#[derive(Debug, Default)]
struct Came {
    /// The calls, whatever their order: those under way together come in any.
    calls: u64,
    /// How many handshakes and calls there were.
    events: u64,
    /// The requests that are under way.
    open: Vec<(CallId, u64)>,
    /// The requests after which only equal ones came.
    unfollowed: Vec<u64>,
    /// Since when a handshake is to fail, if nothing came since.
    failing: Option<Instant>,
    /// The request whose handshake failed, if nothing came since.
    failed: Option<Arc<Expected>>,
}

impl Edges {
    /// Whether a handshake is under way on an edge that is to fail.
    pub(crate) fn is_failing(&self, edge: &Edge) -> bool {
        self.edges
            .get(edge)
            .is_some_and(|came| came.failing.is_some())
    }

    /// Until when an execution is not over: a caller has broken a handshake off
    /// before we hear of it.
    pub(crate) fn settled(&self) -> Option<Instant> {
        let failing = self.edges.values().filter_map(|came| came.failing);
        failing.max().map(|since| since + SETTLED)
    }

    /// A handshake begins on an edge that is watched: the request it is for, if
    /// that is known.
    pub(crate) fn begin(&mut self, edge: &Edge, memory: &Memory) -> Option<Arc<Expected>> {
        let situation = self.situation(edge);
        let came = self.edges.entry(edge.clone()).or_default();
        came.events += 1;
        if !came.open.is_empty() {
            return None;
        }
        let expected = match memory.next.get(&situation) {
            Some(Next::Only(request, _)) => memory.requests.get(request)?.clone(),
            Some(Next::Several) => return None,
            // A caller whose handshake failed, and that asks for nothing else
            // here, can only be trying again.
            None => {
                let failed = came.failed.clone()?;
                Some(failed).filter(|it| !memory.followed.contains(&it.key))?
            }
        };
        (!memory.beside.contains(&expected.key)).then_some(expected)
    }

    /// What had happened on an edge so far.
    pub(crate) fn events(&self, edge: &Edge) -> u64 {
        self.edges.get(edge).map_or(0, |came| came.events)
    }

    /// The handshake that has just begun is to fail: what happened so far.
    pub(crate) fn failing(&mut self, edge: &Edge) -> u64 {
        let came = self.edges.entry(edge.clone()).or_default();
        came.failing = Some(Instant::now());
        came.events
    }

    /// A call has come over TLS.
    pub(crate) fn arrived(&mut self, arrival: &Arrival, call: &Named<'_>, memory: &mut Memory) {
        let origin = arrival.over_tls.as_ref();
        let edge = origin.and_then(|origin| Edge::new(origin, &arrival.destination));
        let Some(edge) = edge else {
            return;
        };
        let request = hash(&(&edge, call.first, &call.parent));
        memory.note_next(self.situation(&edge), request, call.count);
        let known = memory.requests.entry(request);
        known.or_insert_with(|| expected(arrival, call, request));
        let came = self.edges.entry(edge).or_default();
        came.note_beside(request, memory);
        came.note_followed(request, memory);
        came.open.push((call.id, request));
        came.failing = None;
        came.failed = None;
        came.events += 1;
        let this = hash(&(call.first, call.count));
        came.calls = came.calls.wrapping_add(this);
    }

    /// The handshake of the request that has just come failed.
    pub(crate) fn failed(&mut self, handshake: &Handshake) {
        if let Some(came) = self.edges.get_mut(&handshake.edge) {
            came.failed = Some(handshake.expected.clone());
        }
    }

    /// A fault was injected into a call, over TLS or not.
    pub(crate) fn injected(&mut self, first: &Point, count: u32, mode: Mode) {
        let this = hash(&(first, count, mode));
        self.injected = self.injected.wrapping_add(this);
    }

    /// A call is over.
    pub(crate) fn finished(&mut self, id: CallId) {
        for came in self.edges.values_mut() {
            came.open.retain(|(open, _)| *open != id);
        }
    }

    fn situation(&self, edge: &Edge) -> u64 {
        let calls = self.edges.get(edge).map_or(0, |came| came.calls);
        hash(&(edge, calls, self.injected))
    }
}

impl Came {
    fn note_beside(&self, request: u64, memory: &mut Memory) {
        if !self.open.is_empty() {
            memory.beside.insert(request);
            memory
                .beside
                .extend(self.open.iter().map(|(_, open)| *open));
        }
    }

    fn note_followed(&mut self, request: u64, memory: &mut Memory) {
        let others = self.unfollowed.iter().filter(|it| **it != request);
        memory.followed.extend(others);
        self.unfollowed.retain(|it| *it == request);
        if self.unfollowed.is_empty() {
            self.unfollowed.push(request);
        }
    }
}

fn expected(arrival: &Arrival, call: &Named<'_>, key: u64) -> Arc<Expected> {
    Arc::new(Expected {
        arrival: Arrival {
            hints: Vec::new(),
            ..arrival.clone()
        },
        parent: call.parent.clone(),
        link: call.link,
        key,
    })
}

fn hash(it: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    it.hash(&mut hasher);
    hasher.finish()
}

//! One running execution.
//!
//! Owns its calls while they happen: names them by `model`'s identity, injects
//! them by the armed faultload, notes how they end. Locked for the length of
//! one report, never across I/O.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use murphy_model::{
    Armed, CallId, Detail, Fault, Faultload, Identifier, Identity, Link, Mode, Point, Reply, Trace,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::call_graph::CallGraph;
use crate::call_record::{CallRecord, Part, SeenBody};
use crate::control::{
    Arrival, CallKey, ContextHint, Decision, Ending, ExecutionId, Parent, SpanId, TraceKey,
};
use crate::handshakes::{Edge, Edges, Expected, Greeting, Handshake, Memory, Named, Wanted};
use crate::infer::{InFlight, Request};
use crate::injector::SharedInjector;
use crate::name_cache::Alike;
use crate::places::Places;
use crate::polling::Polling;
use crate::record::Recorded;
use crate::registry::Plan;

/// What is kept of requests once they have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Nothing,
    Requests,
}

/// What is known of a system before it is seen at work.
pub(crate) struct Known {
    pub(crate) places: Arc<Places>,
    pub(crate) graph: Arc<CallGraph>,
    pub(crate) identity: Arc<Identity>,
    /// What came over TLS in executions before.
    pub(crate) memory: Arc<Mutex<Memory>>,
}

pub(crate) struct Execution {
    id: ExecutionId,
    trace: TraceKey,
    faultload: Faultload,
    armed: Armed,
    /// Where handshakes are to fail.
    pub(crate) handshakes: Wanted,
    /// Whether entry calls may fail.
    entries: bool,
    injector: Option<SharedInjector>,
    known: Known,
    keep: Keep,
    begun: Instant,
    pub(crate) expires: Instant,
    calls: Mutex<Calls>,
    changed: Notify,
    ended: AtomicBool,
}

struct Calls {
    names: Names,
    /// The names of calls in phases that are no part of the search: neither
    /// side counts the other's.
    names_beside: Option<Box<Names>>,
    /// Whether the scenario is in a phase in which calls may fail.
    is_armed: bool,
    in_flight: InFlight,
    polling: Polling,
    edges: Edges,
    calls: Vec<CallRecord>,
    requests: Vec<Arrival>,
    events: u32,
    unfinished: usize,
    last_event: Instant,
    /// How many bytes of answers are kept.
    kept: usize,
}

/// What names calls, and counts them.
struct Names {
    identifier: Identifier,
    alike: Alike,
}

impl Names {
    fn new(identity: &Arc<Identity>) -> Self {
        Names {
            identifier: Identifier::new(identity.clone()),
            alike: Alike::default(),
        }
    }

    /// The point of the first call like this one, and how many there are now.
    fn count(
        &mut self,
        parent: Option<CallId>,
        point: impl FnOnce(CallId) -> Point,
        arrival: &Arrival,
        places: &Places,
    ) -> (Point, u32) {
        if let Some(first) = self.alike.get(parent, arrival)
            && let Some(count) = self.identifier.count_on(first)
        {
            return (first.clone(), count);
        }
        let named = self.identifier.count(
            parent.map(point).as_ref(),
            murphy_model::Arrival {
                destination: &arrival.destination,
                interface: &arrival.interface,
                query: &places.named_text(&arrival.query),
                body: &places.named(&arrival.body),
                site: arrival.site.as_deref(),
            },
        );
        self.alike.remember(parent, arrival, &named.0);
        named
    }

    /// The name that a call would get if it came now.
    fn preview(&self, parent: Option<&Point>, arrival: &Arrival, places: &Places) -> (Point, u32) {
        let mut identifier = self.identifier.clone();
        let arrival = murphy_model::Arrival {
            destination: &arrival.destination,
            interface: &arrival.interface,
            query: &places.named_text(&arrival.query),
            body: &places.named(&arrival.body),
            site: arrival.site.as_deref(),
        };
        identifier.count(parent, arrival)
    }
}

/// How it is known that a call was made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Its request came.
    Request,
    /// Its caller broke the handshake off because of the fault.
    Handshake,
    /// The same, but it may have been another call's handshake.
    SomeHandshake,
}

impl By {
    /// Whether a fault is injected that way. A request has its handshake
    /// behind it, or never had one.
    fn injects(self, mode: Mode) -> bool {
        match self {
            By::Request => mode.tls().is_none(),
            By::Handshake => mode.tls().is_some(),
            By::SomeHandshake => false,
        }
    }
}

/// How many bytes of answers an execution keeps until its record is taken;
/// beyond that, answers are hashed as they come.
const MOST_KEPT: usize = 8 * 1024 * 1024;

impl Execution {
    pub(crate) fn new(
        id: ExecutionId,
        plan: &Plan,
        known: Known,
        time_to_live: Duration,
        keep: Keep,
    ) -> Self {
        let begun = Instant::now();
        Execution {
            id,
            trace: id.trace(),
            faultload: plan.faultload.clone(),
            armed: Armed::new(&plan.faultload),
            handshakes: Wanted::by(&plan.faultload),
            entries: plan.entries,
            injector: plan.injector.clone(),
            known,
            keep,
            begun,
            expires: begun + time_to_live,
            calls: Mutex::new(Calls {
                names: Names::new(&plan.identity),
                names_beside: None,
                is_armed: true,
                in_flight: InFlight::default(),
                polling: Polling::default(),
                edges: Edges::default(),
                calls: Vec::new(),
                requests: Vec::new(),
                events: 0,
                unfinished: 0,
                last_event: begun,
                kept: 0,
            }),
            changed: Notify::new(),
            ended: AtomicBool::new(false),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().expect("no panic while calls are noted")
    }

    pub(crate) fn arrive(&self, arrival: &Arrival, now: Instant) -> Decision {
        let mut calls = self.calls();
        let id = calls.add(self, arrival, now);
        let call = &calls.calls[id.0 as usize];
        Decision {
            key: self.key(id),
            trace: self.trace,
            fault: call.mode(),
            arrived: self.begun + call.detail.arrived,
        }
    }

    pub(crate) fn finish(&self, id: CallId, ending: Ending) {
        let calls = self.calls();
        let known = calls.calls.get(id.0 as usize);
        if known.is_some_and(|call| call.finished.is_none()) {
            if let Some(injector) = &self.injector {
                injector.lock().finish(id, &ending);
            }
            self.finish_in(calls, id, ending);
        }
    }

    fn finish_in(&self, mut calls: MutexGuard<'_, Calls>, id: CallId, ending: Ending) {
        calls.finish(id, ending, &self.known.places);
        // Whoever waits for quiet waits for the last.
        let last = calls.unfinished == 0;
        drop(calls);
        if last {
            self.changed.notify_waiters();
        }
    }

    /// The callee has answered a call whose answer is to be lost: whether that
    /// is still to be.
    pub(crate) fn is_still_to_fail(&self, id: CallId, status: u16) -> bool {
        let injector = self.injector.as_ref();
        injector.is_none_or(|injector| injector.lock().is_still_to_fail(id, status))
    }

    /// A handshake begins: the fault that is to be injected, if it is known that
    /// the next call on this edge is to have one.
    pub(crate) fn handshake(&self, edge: Edge) -> Greeting {
        let mut calls = self.calls();
        if calls.edges.is_failing(&edge) {
            return Greeting::Waits;
        }
        let failing = self.failing(&mut calls, edge);
        failing.map_or(Greeting::Goes, Greeting::Fails)
    }

    fn failing(&self, calls: &mut Calls, edge: Edge) -> Option<Handshake> {
        let expected = calls.edges.begin(&edge, &self.memory())?;
        let parent = calls.parent_again(&expected)?;
        let part = calls.part(parent, expected.link);
        let (first, count) = calls.preview(part, parent, &expected.arrival, &self.known)?;
        let is_left_out = calls.is_left_out(part, parent, (&first, count), &self.known.identity);
        let fault = self.fault(parent, is_left_out, (&first, count))?;
        Some(Handshake {
            fault: fault.mode.tls()?,
            execution: self.id,
            events: calls.edges.failing(&edge),
            edge,
            expected,
            parent,
            begun: Instant::now(),
        })
    }

    /// A caller broke a handshake off, and its call is over. If meanwhile
    /// something else happened on the edge, this may have been the handshake of
    /// another call: then nobody can say that what was planned was injected.
    pub(crate) fn broke_off(&self, handshake: &Handshake) {
        let mut calls = self.calls();
        let is_sure = calls.edges.events(&handshake.edge) == handshake.events;
        let expected = &handshake.expected;
        let (by, link) = match is_sure {
            true => (By::Handshake, expected.link),
            false => (By::SomeHandshake, Link::Ambiguous),
        };
        let made = (handshake.parent, link, by);
        let id = calls.enter(self, &expected.arrival, made, handshake.begun);
        calls.edges.failed(handshake);
        let ending = Ending {
            reply: Reply::NoTls(handshake.fault),
            organic: None,
            landed: is_sure,
            gave_up: false,
            took: handshake.begun.elapsed(),
            body: None,
            lost: None,
            code: None,
        };
        self.finish_in(calls, id, ending);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        let memory = self.known.memory.lock();
        memory.expect("no panic while it is held")
    }

    /// The fault that is planned for a call, if it may fail.
    fn fault(
        &self,
        parent: Option<CallId>,
        is_left_out: bool,
        (first, count): (&Point, u32),
    ) -> Option<&Arc<Fault>> {
        let may_fail = !is_left_out && (parent.is_some() || self.entries);
        match may_fail && !self.armed.is_empty() {
            true => self.armed.fault_at_attempt(first, count),
            false => None,
        }
    }

    /// The faults that have been injected so far, but for those that turned out to
    /// take no effect.
    pub(crate) fn injected(&self) -> Vec<(Point, Mode)> {
        let calls = self.calls();
        let took_effect =
            |detail: &Detail| detail.finished.is_none() || detail.landed == Some(true);
        let of_call = |call: &CallRecord| {
            let mode = call.mode().filter(|_| took_effect(&call.detail))?;
            Some((call.point(), mode))
        };
        calls.calls.iter().filter_map(of_call).collect()
    }

    /// Calls that the scenario begins from now on may fail, or are only
    /// recorded. How many calls are in flight.
    pub(crate) fn arm(&self, is_armed: bool) -> usize {
        let mut calls = self.calls();
        if calls.is_armed != is_armed {
            calls.is_armed = is_armed;
            calls.in_flight.forget_finished();
        }
        calls.unfinished
    }

    /// Waits until no call has been in flight, and none was new, for `grace`;
    /// at most `patience`. Says whether it got quiet.
    pub(crate) async fn quiet(&self, grace: Duration, patience: Duration) -> bool {
        let give_up = Instant::now() + patience;
        loop {
            let changed = self.changed.notified();
            let now = Instant::now();
            let quiet_at = self.quiet_at(grace);
            if quiet_at.is_some_and(|at| at <= now) {
                return true;
            }
            if give_up <= now || self.ended.load(Ordering::Relaxed) {
                return false;
            }
            let until = quiet_at.unwrap_or(give_up).min(give_up);
            // Woken early or not, the loop looks again.
            let _ = tokio::time::timeout_at(until, changed).await;
        }
    }

    /// From when on it is quiet, if nothing happens until then.
    fn quiet_at(&self, grace: Duration) -> Option<Instant> {
        let calls = self.calls();
        let quiet = calls.last_event + grace;
        let quiet = calls.edges.settled().map_or(quiet, |at| at.max(quiet));
        (calls.unfinished == 0).then_some(quiet)
    }

    /// Nothing more will be reported: nobody need wait for it.
    pub(crate) fn end(&self) {
        self.memory().note_seen(&self.faultload);
        self.ended.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub(crate) fn recorded(&self, quiet: bool) -> Recorded {
        let calls = self.calls();
        let hash = |point: &Point, body: &[u8]| {
            let named = self.known.places.named(body);
            calls.names.identifier.answer(point, &named)
        };
        let seen = calls.calls.iter();
        let recorded = Recorded {
            execution: self.id,
            trace: Trace::new(seen.clone().map(|call| call.call(hash)).collect()),
            details: seen.clone().map(|call| call.detail).collect(),
            requests: calls.requests.clone(),
            answers: match self.keep {
                Keep::Nothing => Vec::new(),
                Keep::Requests => seen.clone().map(|call| self.answer(call)).collect(),
            },
            unarmed: seen
                .clone()
                .filter(|call| call.part == Part::Unarmed)
                .map(CallRecord::point)
                .collect(),
            quiet,
        };
        let is_left_out = |CallId(id): CallId| calls.calls[id as usize].is_left_out;
        match seen.clone().any(|call| call.is_left_out) {
            true => recorded.without(is_left_out),
            false => recorded,
        }
    }

    /// The body of a call's answer as it is compared, if it was kept.
    fn answer(&self, call: &CallRecord) -> Option<Bytes> {
        match &call.body {
            SeenBody::Raw(bytes) => Some(self.known.places.named(bytes).into_owned().into()),
            SeenBody::None | SeenBody::Hashed(_) => None,
        }
    }

    pub(crate) fn trace(&self) -> TraceKey {
        self.trace
    }

    fn key(&self, id: CallId) -> CallKey {
        CallKey {
            execution: self.id,
            call: Some(id),
        }
    }
}

impl Calls {
    fn add(&mut self, execution: &Execution, arrival: &Arrival, now: Instant) -> CallId {
        let (parent, link) = self.parent(arrival, &execution.known);
        self.enter(execution, arrival, (parent, link, By::Request), now)
    }

    fn enter(
        &mut self,
        execution: &Execution,
        arrival: &Arrival,
        (parent, link, by): (Option<CallId>, Link, By),
        now: Instant,
    ) -> CallId {
        let part = self.part(parent, link);
        let (first, count) = self.name(part, parent, arrival, &execution.known);
        let is_idle = self.is_idle(parent, link);
        let goes_on = is_idle && self.polling.goes_on(arrival, link);
        let identity = &execution.known.identity;
        let above = parent.map(|CallId(parent)| &self.calls[parent as usize]);
        let is_awaited = part != Part::Background
            && !goes_on
            && above.is_none_or(|parent| parent.is_awaited || is_idle);
        let is_left_out = self.is_left_out(part, parent, (&first, count), identity);
        let id = CallId(self.calls.len() as u32);
        let injected = match &execution.injector {
            None => execution
                .fault(parent, is_left_out, (&first, count))
                .cloned(),
            Some(injector) => injector
                .lock()
                .arrive(id, arrival)
                .map(|mode| Arc::new(Fault::at(first.attempt(count), mode))),
        };
        let injected = injected.filter(|fault| by.injects(fault.mode));
        let is_blocking = |fault: &Arc<Fault>| fault.mode.is_blocking();
        let blocked = by != By::Request || injected.as_ref().is_some_and(is_blocking);
        if arrival.over_tls.is_some() {
            let named = Named {
                id,
                first: &first,
                count,
                parent: above.map(CallRecord::point),
                link,
            };
            self.edges.arrived(arrival, &named, &mut execution.memory());
        }
        if let Some(fault) = &injected {
            self.edges.injected(&first, count, fault.mode);
        }
        let arrived = self.tick();
        if is_awaited {
            self.happened(now);
            self.unfinished += 1;
        }
        self.calls.push(CallRecord {
            first,
            count,
            parent,
            part,
            is_left_out,
            is_awaited,
            arrived,
            finished: None,
            reply: None,
            body: SeenBody::None,
            detail: Detail {
                arrived: now - execution.begun,
                finished: None,
                gave_up: None,
                organic: None,
                // A callee that is never reached is how those faults land.
                landed: injected.as_ref().map(|_| blocked),
                body_cut: arrival.body_cut,
                idempotency_key: arrival.idempotency_key,
                link,
            },
            injected,
        });
        if !blocked {
            self.in_flight.open(id);
        }
        for span in spans(arrival) {
            self.in_flight.carries(id, span);
        }
        if parent.is_none() {
            // Where it brings no span, the proxy makes one.
            let made = execution.key(id).span();
            self.in_flight.carries(id, made);
        }
        if execution.keep == Keep::Requests {
            // As it was named, so that it can be named anew.
            self.requests.push(Arrival {
                query: execution
                    .known
                    .places
                    .named_text(&arrival.query)
                    .into_owned(),
                body: execution
                    .known
                    .places
                    .named(&arrival.body)
                    .into_owned()
                    .into(),
                ..arrival.clone()
            });
        }
        id
    }

    fn part(&self, parent: Option<CallId>, link: Link) -> Part {
        match parent {
            Some(CallId(parent)) => self.calls[parent as usize].part,
            None if !self.is_armed => Part::Unarmed,
            None if link == Link::Background => Part::Background,
            None => Part::Search,
        }
    }

    /// Whether a call is in no record.
    fn is_left_out(
        &self,
        part: Part,
        parent: Option<CallId>,
        (first, count): (&Point, u32),
        identity: &Identity,
    ) -> bool {
        let above = parent.map(|CallId(parent)| &self.calls[parent as usize]);
        part != Part::Search
            || above.is_some_and(|parent| parent.is_left_out)
            || (!identity.left_out.is_empty() && identity.leaves_out(&first.attempt(count)))
    }

    /// The call for which a request came in another execution, if it was made
    /// here: rather one that is under way than one that is over.
    fn parent_again(&self, expected: &Expected) -> Option<Option<CallId>> {
        let Some(parent) = &expected.parent else {
            return Some(None);
        };
        let is_it = |call: &CallRecord| call.point() == *parent;
        let is_open = |call: &CallRecord| call.finished.is_none() && is_it(call);
        let mut calls = self.calls.iter();
        let at = calls
            .clone()
            .rposition(is_open)
            .or_else(|| calls.rposition(is_it))?;
        Some(Some(CallId(at as u32)))
    }

    /// The name that a call would get if it came now; `None` in phases in which
    /// nothing fails.
    fn preview(
        &self,
        part: Part,
        parent: Option<CallId>,
        arrival: &Arrival,
        known: &Known,
    ) -> Option<(Point, u32)> {
        let parent = parent.map(|CallId(id)| self.calls[id as usize].point());
        let preview = || self.names.preview(parent.as_ref(), arrival, &known.places);
        (part == Part::Search).then(preview)
    }

    fn name(
        &mut self,
        part: Part,
        parent: Option<CallId>,
        arrival: &Arrival,
        known: &Known,
    ) -> (Point, u32) {
        let calls = &self.calls;
        let point = |CallId(id): CallId| calls[id as usize].point();
        let names = names_of(&mut self.names, &mut self.names_beside, part, known);
        names.count(parent, point, arrival, &known.places)
    }

    fn parent(
        &self,
        arrival: &Arrival,
        Known {
            graph, identity, ..
        }: &Known,
    ) -> (Option<CallId>, Link) {
        match &arrival.claim.parent {
            Parent::Entry => (None, Link::Certain),
            // A stamp of a call we never made is a forgery or a mix-up.
            Parent::Known(id) if id.0 as usize >= self.calls.len() => (None, Link::Orphan),
            Parent::Known(id) => (Some(*id), Link::Certain),
            Parent::Infer {
                spans,
                caller,
                maybe_test,
            } => {
                let (callee, interface) = (&arrival.destination, &arrival.interface);
                let request = Request {
                    callee,
                    spans: *spans,
                    caller: caller.as_ref(),
                    is_background: identity.is_background(caller.as_deref(), callee, interface),
                    may_follow_background: identity.is_made_in_background(callee, interface),
                    maybe_test: *maybe_test,
                    graph,
                };
                self.in_flight.parent(&self.calls, &request)
            }
        }
    }

    /// Whether a call is made while its caller serves nobody.
    fn is_idle(&self, parent: Option<CallId>, link: Link) -> bool {
        let has_ended = |CallId(id): CallId| self.calls[id as usize].finished.is_some();
        match link {
            Link::Background | Link::Orphan => true,
            Link::Inferred => parent.is_some_and(has_ended),
            Link::Certain | Link::Spans | Link::Ambiguous => false,
        }
    }

    /// What is kept of the body of an answer. Of one that its caller did not
    /// wait for, it is luck how much has passed.
    fn body(&mut self, first: &Point, ending: &mut Ending, places: &Places) -> SeenBody {
        let Some(body) = ending.body.take().filter(|_| !ending.gave_up) else {
            return SeenBody::None;
        };
        self.kept += body.bytes.len();
        match self.kept <= MOST_KEPT {
            true => SeenBody::Raw(body.bytes),
            false => {
                let named = places.named(&body.bytes);
                SeenBody::Hashed(self.names.identifier.answer(first, &named))
            }
        }
    }

    fn finish(&mut self, id: CallId, mut ending: Ending, places: &Places) {
        let finished = self.tick();
        let at = id.0 as usize;
        let first = self.calls[at].first.clone();
        let body = self.body(&first, &mut ending, places);
        let call = &mut self.calls[at];
        call.body = body;
        call.finished = Some(finished);
        call.reply = Some(ending.reply);
        let is_awaited = call.is_awaited;
        if ending.reply.is_failure() {
            self.polling.failed();
        }
        let call = &mut self.calls[at];
        if !call.is_left_out {
            let names = &mut self.names.identifier;
            names.finish_attempt(&call.first, call.count);
        }
        let injected = call.injected.is_some();
        let detail = &mut call.detail;
        detail.finished = Some(detail.arrived + ending.took);
        detail.gave_up = ending.gave_up.then_some(ending.took);
        detail.organic = ending.organic;
        detail.landed = injected.then_some(ending.landed);
        self.in_flight.finished(id);
        self.edges.finished(id);
        if is_awaited {
            self.unfinished -= 1;
        }
        if is_awaited && self.unfinished == 0 {
            // When, is of interest only then: while others are in flight it is
            // not quiet anyway.
            self.happened(Instant::now());
        }
    }

    fn tick(&mut self) -> u32 {
        self.events += 1;
        self.events
    }

    fn happened(&mut self, now: Instant) {
        // Whoever waited for the lock may have looked at the clock before.
        self.last_event = self.last_event.max(now);
    }
}

/// The names that a call of this part is counted among.
fn names_of<'n>(
    names: &'n mut Names,
    beside: &'n mut Option<Box<Names>>,
    part: Part,
    known: &Known,
) -> &'n mut Names {
    match part {
        Part::Search | Part::Background => names,
        Part::Unarmed => beside.get_or_insert_with(|| Box::new(Names::new(&known.identity))),
    }
}

/// The spans a request carries, whichever carriers brought them.
fn spans(arrival: &Arrival) -> impl Iterator<Item = SpanId> + '_ {
    arrival.hints.iter().filter_map(|hint| match hint {
        ContextHint::Trace(_, spans) => spans.own,
        ContextHint::Stamp(_) => None,
    })
}

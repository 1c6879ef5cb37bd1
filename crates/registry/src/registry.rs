//! The registry: all executions that are live in this process.
//!
//! Owns beginning, finding and ending them. The tables are read for the length
//! of a look-up; every report then locks its own execution only, so its cost
//! does not depend on how many executions or calls there are.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use murphy_model::{Faultload, Identity, Mode, Point};
use rustc_hash::FxHashMap;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::call_graph::CallGraph;
use crate::control::{
    Arrival, CallKey, ContextHint, Control, Decision, Ending, ExecutionId, Origin, Owner, Parent,
    SpanId, Spans, TraceKey, Unclaimed, Unknown, WorkerId,
};
use crate::execution::{Execution, Keep, Known};
use crate::handshakes::{Edge, Greeting, Handshake, Memory};
use crate::injector::SharedInjector;
use crate::places::Places;
use crate::record::Recorded;
use crate::unattributed::{Counts, Unattributed};

/// How patient a registry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long nothing may have happened before an execution counts as quiet.
    pub grace: Duration,
    /// How long to wait for calls that are still in flight.
    pub patience: Duration,
    /// After how long an execution that nobody ended is forgotten.
    pub time_to_live: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            // Long enough for a fire-and-forget call that its sender has
            // scheduled already; every execution pays it once.
            grace: Duration::from_millis(20),
            patience: Duration::from_secs(10),
            // Longer than any sensible test, short enough for a killed
            // campaign not to be noticed by the next one.
            time_to_live: Duration::from_secs(600),
        }
    }
}

/// What an execution is to be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is to fail.
    pub faultload: Faultload,
    /// How calls are named.
    pub identity: Arc<Identity>,
    /// The worker that runs it: what enters at this worker's listeners without
    /// context belongs to it.
    pub worker: Option<WorkerId>,
    /// Whether every call without context belongs to it, wherever it comes
    /// from: for systems that propagate nothing. Only one at a time.
    pub solo: bool,
    /// Whether faults may be injected into entry calls, which are otherwise
    /// only observed.
    pub entries: bool,
    /// What decides instead of the faultload, if anything does: also about
    /// entry calls, and in phases in which nothing else fails.
    pub injector: Option<SharedInjector>,
}

/// An execution that cannot begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// The worker has not ended its last one.
    #[error("worker {} still runs execution {running}; end it first", .worker.0)]
    WorkerBusy {
        /// The worker.
        worker: WorkerId,
        /// What it runs.
        running: ExecutionId,
    },
    /// Two at once could not be distinguished.
    #[error(
        "execution {running} is live, and calls without context could belong to either: solo executions run one at a time"
    )]
    NotAlone {
        /// The one that is live.
        running: ExecutionId,
    },
}

/// All live executions of this process.
pub struct Registry {
    settings: Settings,
    live: AtomicUsize,
    /// How many calls came when their execution was over.
    late: AtomicUsize,
    /// What was passed on while executions ran and belongs to none.
    unattributed: Mutex<Counts>,
    /// The services with calls that are ignored.
    ignored: Mutex<BTreeSet<Arc<str>>>,
    /// How many live executions want handshakes to fail.
    wanting: AtomicUsize,
    /// Told when there is one more.
    wanted: watch::Sender<()>,
    /// What came over TLS, by how calls are named; the latest last.
    memories: Mutex<Memories>,
    places: RwLock<Arc<Places>>,
    graph: RwLock<Arc<CallGraph>>,
    tables: RwLock<Tables>,
}

/// What was seen of executions whose calls are named alike.
type Memories = VecDeque<(Arc<Identity>, Arc<Mutex<Memory>>)>;

/// How many ways of naming calls are remembered: a campaign has a few, until it
/// has settled on one.
const IDENTITIES: usize = 8;

#[derive(Default)]
struct Tables {
    executions: FxHashMap<ExecutionId, Arc<Execution>>,
    traces: FxHashMap<TraceKey, ExecutionId>,
    /// What each execution put into `traces`, to be taken out again.
    learned: FxHashMap<ExecutionId, Vec<TraceKey>>,
    workers: FxHashMap<WorkerId, ExecutionId>,
    solo: Option<ExecutionId>,
    /// In order of expiry, since all live equally long.
    begun: VecDeque<(Instant, ExecutionId)>,
    /// Those that ended last, the latest at the end.
    ended: VecDeque<ExecutionId>,
}

/// How many executions are remembered after their end, for calls that come too
/// late. Those of more than so many executions ago are hardly on their way.
const REMEMBERED: usize = 256;

impl Registry {
    /// An empty registry.
    pub fn new(settings: Settings) -> Self {
        Registry {
            settings,
            live: AtomicUsize::new(0),
            late: AtomicUsize::new(0),
            unattributed: Mutex::default(),
            ignored: Mutex::default(),
            wanting: AtomicUsize::new(0),
            wanted: watch::Sender::new(()),
            memories: Mutex::default(),
            places: RwLock::default(),
            graph: RwLock::default(),
            tables: RwLock::new(Tables::default()),
        }
    }

    /// Services listen at these ports this time: what is sent with such an
    /// address counts as sent with the service's name, from the next execution
    /// on.
    pub fn listening(&self, places: Places) {
        *self.places.write().expect("no panic while it is held") = Arc::new(places);
    }

    /// Services call these others, from the next execution on: who made a call
    /// is inferred accordingly where nothing else says so.
    pub fn calling(&self, graph: CallGraph) {
        *self.graph.write().expect("no panic while it is held") = Arc::new(graph);
    }

    /// Whether calls to a service were seen that are ignored.
    pub fn has_ignored(&self, service: &str) -> bool {
        let ignored = self.ignored.lock().expect("no panic while noting");
        ignored.contains(service)
    }

    /// Calls to services that arrived while executions ran and that belong to
    /// none of them, since they were last forgotten. No record has them.
    pub fn unattributed(&self) -> Vec<Unattributed> {
        self.counts().all()
    }

    /// The same, and forgets them.
    pub fn take_unattributed(&self) -> Vec<Unattributed> {
        std::mem::take(&mut *self.counts()).all()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.unattributed.lock().expect("no panic while counting")
    }

    /// How many executions are live.
    pub fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// How many calls arrived up to now that carry the mark of an execution
    /// which was over. Such a call is passed on, and no record has it.
    pub fn late(&self) -> usize {
        self.late.load(Ordering::Relaxed)
    }

    /// Arms a faultload; calls that belong to the execution are recorded and
    /// failed from now on.
    pub fn begin(&self, plan: Plan) -> Result<ExecutionId, BeginError> {
        self.enter(plan, Keep::Nothing)
    }

    /// The same, and the requests themselves are kept, bodies included: for
    /// reference executions, of which is to be learnt what varies.
    pub fn begin_keeping_requests(&self, plan: Plan) -> Result<ExecutionId, BeginError> {
        self.enter(plan, Keep::Requests)
    }

    fn enter(&self, plan: Plan, keep: Keep) -> Result<ExecutionId, BeginError> {
        let id = ExecutionId(fastrand::u64(1..));
        let lifetime = self.settings.time_to_live;
        let places = self.places.read().expect("no panic while it is held");
        let known = Known {
            places: places.clone(),
            graph: self.graph.read().expect("no panic while held").clone(),
            identity: plan.identity.clone(),
            memory: self.memory(&plan.identity),
        };
        let execution = Execution::new(id, &plan, known, lifetime, keep);
        let execution = Arc::new(execution);
        let wants_handshakes = !execution.handshakes.is_empty();
        self.sweep();
        let mut tables = self.write();
        tables.check_free(plan.worker, plan.solo)?;
        if let Some(worker) = plan.worker {
            tables.workers.insert(worker, id);
        }
        if plan.solo {
            tables.solo = Some(id);
        }
        tables.learn(id, execution.trace());
        tables.begun.push_back((execution.expires, id));
        tables.executions.insert(id, execution);
        self.count(&tables);
        drop(tables);
        if wants_handshakes {
            self.wanted.send_replace(());
        }
        Ok(id)
    }

    /// Whether an execution under this faultload was seen, with calls named
    /// like this: only then is it known for which call a handshake is that
    /// comes in its course.
    pub fn has_seen(&self, identity: &Arc<Identity>, faultload: &Faultload) -> bool {
        let memory = self.memory(identity);
        let memory = memory.lock().expect("no panic while it is held");
        memory.has_seen(faultload)
    }

    /// What executions have shown whose calls are named like this.
    fn memory(&self, identity: &Arc<Identity>) -> Arc<Mutex<Memory>> {
        let mut memories = self.memories.lock().expect("no panic in a look-up");
        let known = memories
            .iter()
            .position(|(it, _)| Arc::ptr_eq(it, identity));
        let (identity, memory) = match known.and_then(|at| memories.remove(at)) {
            Some(known) => known,
            None => (identity.clone(), Arc::default()),
        };
        memories.push_back((identity, memory.clone()));
        if memories.len() > IDENTITIES {
            memories.pop_front();
        }
        memory
    }

    /// The faults that have been injected in an execution so far, but for those that
    /// turned out to take no effect: a scenario that expects something of a
    /// fault must not expect it of these.
    pub fn injected(&self, id: ExecutionId) -> Result<Vec<(Point, Mode)>, Unknown> {
        Ok(self.execution(id)?.injected())
    }

    /// Calls that the scenario of an execution begins from now on may fail, or
    /// are only recorded, and so is what is called for them: a test's set-up is
    /// not what is tested. An execution begins armed. How many calls are in
    /// flight.
    pub fn arm(&self, id: ExecutionId, is_armed: bool) -> Result<usize, Unknown> {
        Ok(self.execution(id)?.arm(is_armed))
    }

    /// What was seen of an execution, once it is quiet or waiting for that is
    /// given up.
    pub async fn collect(&self, id: ExecutionId) -> Result<Recorded, Unknown> {
        let Settings {
            grace, patience, ..
        } = self.settings;
        self.collect_within(id, grace, patience).await
    }

    /// The same, with a grace and a patience of its own.
    pub async fn collect_within(
        &self,
        id: ExecutionId,
        grace: Duration,
        patience: Duration,
    ) -> Result<Recorded, Unknown> {
        let execution = self.execution(id)?;
        let quiet = execution.quiet(grace, patience).await;
        Ok(execution.recorded(quiet))
    }

    /// Forgets an execution; its later calls are nobody's. Ending one twice is
    /// no error.
    pub fn end(&self, id: ExecutionId) {
        let mut tables = self.write();
        tables.forget(id);
        self.count(&tables);
    }

    /// Forgets executions whose time to live is over. Beginning another does
    /// the same.
    pub fn sweep(&self) {
        let mut tables = self.write();
        tables.forget_expired(Instant::now());
        self.count(&tables);
    }

    /// For those who ask without waiting for a change.
    fn count(&self, tables: &Tables) {
        self.live.store(tables.executions.len(), Ordering::Relaxed);
        let wants = |execution: &&Arc<Execution>| !execution.handshakes.is_empty();
        let wanting = tables.executions.values().filter(wants).count();
        self.wanting.store(wanting, Ordering::Relaxed);
    }

    fn execution(&self, id: ExecutionId) -> Result<Arc<Execution>, Unknown> {
        let tables = self.read();
        tables.executions.get(&id).cloned().ok_or(Unknown)
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().expect("no panic in a look-up")
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().expect("no panic in a change")
    }

    /// Ties the trace ids that an entry call brought along to its execution.
    fn learn_from(&self, arrival: &Arrival) {
        if arrival.claim.parent != Parent::Entry {
            return;
        }
        let id = arrival.claim.execution;
        let known = |tables: &Tables, key: &TraceKey| tables.traces.get(key) == Some(&id);
        let keys = arrival.hints.iter().filter_map(|hint| match hint {
            ContextHint::Trace(key, _) => Some(*key),
            ContextHint::Stamp(_) => None,
        });
        for key in keys {
            if !known(&self.read(), &key) {
                self.write().learn_if_live(id, key);
            }
        }
    }
}

impl Tables {
    fn check_free(&self, worker: Option<WorkerId>, solo: bool) -> Result<(), BeginError> {
        if let Some(worker) = worker
            && let Some(running) = self.workers.get(&worker).copied()
        {
            return Err(BeginError::WorkerBusy { worker, running });
        }
        let other = match solo {
            true => self.executions.keys().min().copied(),
            false => self.solo,
        };
        match other {
            Some(running) => Err(BeginError::NotAlone { running }),
            None => Ok(()),
        }
    }

    fn learn(&mut self, id: ExecutionId, key: TraceKey) {
        // A test that sends the same trace id in every execution means the
        // latest; the older ones are distinguished by their stamps.
        self.traces.insert(key, id);
        self.learned.entry(id).or_default().push(key);
    }

    /// An execution can end while its call is under way: what is learnt of it
    /// then, nobody would take out again.
    fn learn_if_live(&mut self, id: ExecutionId, key: TraceKey) {
        if self.executions.contains_key(&id) {
            self.learn(id, key);
        }
    }

    fn forget(&mut self, id: ExecutionId) {
        let Some(execution) = self.executions.remove(&id) else {
            return;
        };
        execution.end();
        self.ended.push_back(id);
        if self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
        for key in self.learned.remove(&id).unwrap_or_default() {
            if self.traces.get(&key) == Some(&id) {
                self.traces.remove(&key);
            }
        }
        self.workers.retain(|_, running| *running != id);
        self.solo = self.solo.filter(|solo| *solo != id);
        self.drop_ended_from_queue();
    }

    fn forget_expired(&mut self, now: Instant) {
        while let Some((expires, id)) = self.begun.front().copied() {
            if expires > now {
                break;
            }
            self.begun.pop_front();
            self.forget(id);
        }
    }

    /// Executions end roughly in the order they began, so the front of the
    /// queue is where ended ones gather; one that lives long holds back at
    /// most as many as began in its lifetime.
    fn drop_ended_from_queue(&mut self) {
        while let Some((_, id)) = self.begun.front()
            && !self.executions.contains_key(id)
        {
            self.begun.pop_front();
        }
    }

    fn claim(&self, hint: &ContextHint, hints: &[ContextHint], origin: &Origin) -> Option<Owner> {
        match hint {
            ContextHint::Stamp(key) => {
                self.executions.contains_key(&key.execution).then(|| Owner {
                    execution: key.execution,
                    parent: key.call.map_or(Parent::Entry, Parent::Known),
                })
            }
            ContextHint::Trace(trace, spans) => {
                let execution = *self.traces.get(trace)?;
                let spans = Spans {
                    parent: hints.iter().find_map(parent_span),
                    ..*spans
                };
                let parent = self.infer(spans, origin);
                Some(Owner { execution, parent })
            }
        }
    }

    /// Whose a handshake is. It brings no context: at a listener that is not a
    /// worker's own, it is known only where one execution is live.
    fn owner_of_handshake(&self, origin: &Origin) -> Option<ExecutionId> {
        let of_worker = |worker: &WorkerId| self.workers.get(worker).copied();
        let only = match self.executions.len() {
            1 => self.executions.keys().next().copied(),
            _ => None,
        };
        match origin {
            Origin::Entry(worker) => of_worker(worker),
            Origin::Service { .. } | Origin::Fixed { .. } => only,
            Origin::Murphy => None,
        }
    }

    /// Whether a request brings the mark of an execution that has ended.
    fn is_late(&self, hints: &[ContextHint]) -> bool {
        hints.iter().any(|hint| match hint {
            ContextHint::Stamp(key) => self.ended.contains(&key.execution),
            ContextHint::Trace(..) => false,
        })
    }

    /// Whose a request is that brings no hint we know.
    fn claim_by_place(&self, origin: &Origin) -> Option<Owner> {
        let of_worker = |worker: &WorkerId| self.workers.get(worker).copied();
        let execution = match origin {
            Origin::Entry(worker) => of_worker(worker),
            Origin::Service { .. } => self.solo,
            Origin::Fixed { worker } => self.solo.or(worker.as_ref().and_then(of_worker)),
            Origin::Murphy => None,
        };
        Some(Owner {
            execution: execution?,
            parent: self.infer(Spans::default(), origin),
        })
    }

    /// What enters at a worker's listener was sent by the scenario; elsewhere
    /// the caller is another call. At a fixed address it may be either: in a
    /// solo execution that is inferred, too, since services bring no context
    /// there.
    fn infer(&self, spans: Spans, origin: &Origin) -> Parent {
        let (caller, maybe_test) = match origin {
            Origin::Entry(_) => return Parent::Entry,
            Origin::Fixed { worker: Some(_) } if self.solo.is_none() => return Parent::Entry,
            Origin::Fixed { .. } => (None, true),
            Origin::Service { caller } => (caller.clone(), false),
            Origin::Murphy => (None, false),
        };
        Parent::Infer {
            spans,
            caller,
            maybe_test,
        }
    }
}

/// The span a request was made under, if this carrier has it.
fn parent_span(hint: &ContextHint) -> Option<SpanId> {
    match hint {
        ContextHint::Trace(_, spans) => spans.parent,
        ContextHint::Stamp(_) => None,
    }
}

impl Control for Registry {
    fn idle(&self) -> bool {
        self.live() == 0
    }

    fn recognise(&self, hints: &[ContextHint], origin: &Origin) -> Option<Owner> {
        let tables = self.read();
        let by_clue = hints
            .iter()
            .find_map(|hint| tables.claim(hint, hints, origin));
        if by_clue.is_none() && tables.is_late(hints) {
            // It says whose it is, so it is not the one's that runs now.
            self.late.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        by_clue.or_else(|| tables.claim_by_place(origin))
    }

    fn ignored(&self, service: &Arc<str>) {
        let mut ignored = self.ignored.lock().expect("no panic while noting");
        if !ignored.contains(service) {
            ignored.insert(service.clone());
        }
    }

    fn unclaimed(&self, request: &Unclaimed<'_>) {
        let is_for_scenario = matches!(request.origin, Origin::Entry(_));
        // What brings a mark is late, or another campaign's.
        let is_marked = request
            .hints
            .iter()
            .any(|it| matches!(it, ContextHint::Stamp(_)));
        if !is_for_scenario && !is_marked {
            self.counts().add(request.destination, request.interface);
        }
    }

    fn arrive(&self, arrival: Arrival) -> Result<Decision, Unknown> {
        let execution = self.execution(arrival.claim.execution)?;
        let now = Instant::now();
        if execution.expires <= now {
            self.sweep();
            return Err(Unknown);
        }
        self.learn_from(&arrival);
        Ok(execution.arrive(&arrival, now))
    }

    fn handshake(&self, origin: &Origin, service: &Arc<str>) -> Greeting {
        if !self.wants_handshakes(service) {
            return Greeting::Goes;
        }
        let id = self.read().owner_of_handshake(origin);
        let execution = id.and_then(|id| self.execution(id).ok());
        match (execution, Edge::new(origin, service)) {
            (Some(execution), Some(edge)) => execution.handshake(edge),
            _ => Greeting::Goes,
        }
    }

    fn broke_off(&self, handshake: Handshake) {
        if let Ok(execution) = self.execution(handshake.execution) {
            execution.broke_off(&handshake);
        }
    }

    fn wants_handshakes(&self, service: &Arc<str>) -> bool {
        let covers = |execution: &Arc<Execution>| execution.handshakes.covers(service);
        self.wanting.load(Ordering::Relaxed) > 0 && self.read().executions.values().any(covers)
    }

    fn handshakes_wanted(&self) -> Option<watch::Receiver<()>> {
        Some(self.wanted.subscribe())
    }

    fn is_still_to_fail(&self, key: CallKey, status: u16) -> bool {
        match (self.execution(key.execution), key.call) {
            (Ok(execution), Some(call)) => execution.is_still_to_fail(call, status),
            _ => true,
        }
    }

    fn finish(&self, key: CallKey, ending: Ending) {
        if let (Ok(execution), Some(call)) = (self.execution(key.execution), key.call) {
            execution.finish(call, ending);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use murphy_model::Interface;

    fn plan(worker: u32) -> Plan {
        Plan {
            faultload: Faultload::none(),
            identity: Arc::default(),
            worker: Some(WorkerId(worker)),
            solo: false,
            entries: false,
            injector: None,
        }
    }

    /// One entry call that brings a trace id of its own, as a test's would.
    fn entry(execution: ExecutionId, number: u64) -> Arrival {
        let claim = Owner {
            execution,
            parent: Parent::Entry,
        };
        Arrival {
            claim,
            destination: "shop".into(),
            interface: Interface::http("GET", "/"),
            query: String::new(),
            body: bytes::Bytes::new(),
            body_cut: false,
            idempotency_key: None,
            site: None,
            hints: vec![ContextHint::Trace(
                TraceKey(u128::from(number)),
                Spans::default(),
            )],
            over_tls: None,
            noted: Vec::new(),
        }
    }

    fn enter(registry: &Registry, execution: ExecutionId, number: u64) {
        let decision = registry.arrive(entry(execution, number));
        decision.expect("the execution is live");
    }

    fn assert_empty(registry: &Registry) {
        let Tables {
            executions,
            traces,
            learned,
            workers,
            solo,
            begun,
            ended,
        } = &*registry.read();
        assert!(ended.len() <= REMEMBERED);
        let entries = [
            executions.len(),
            traces.len(),
            learned.len(),
            workers.len(),
            begun.len(),
        ];
        assert_eq!((entries, *solo, registry.live()), ([0; 5], None, 0));
        assert!(registry.idle());
    }

    #[test]
    fn executions_that_have_ended_leave_nothing_behind() {
        let registry = Registry::new(Settings::default());
        let mut live = VecDeque::new();
        for number in 0..10_000u32 {
            let id = registry.begin(plan(number % 64)).unwrap();
            enter(&registry, id, u64::from(number));
            live.push_back(id);
            if live.len() == 64 {
                // Neither the order they began in nor its reverse.
                let next = usize::from(number % 3 == 0);
                registry.end(live.remove(next).unwrap());
                registry.end(live.pop_front().unwrap());
                live.drain(..).for_each(|id| registry.end(id));
            }
        }
        live.drain(..).for_each(|id| registry.end(id));
        assert_empty(&registry);
    }

    #[tokio::test(start_paused = true)]
    async fn executions_that_nobody_ended_leave_nothing_behind() {
        let registry = Registry::new(Settings::default());
        for number in 0..100 {
            let id = registry.begin(plan(number)).unwrap();
            enter(&registry, id, u64::from(number));
        }
        tokio::time::advance(Settings::default().time_to_live).await;
        registry.sweep();
        assert_empty(&registry);
    }

    #[test]
    fn an_execution_that_ends_as_a_call_arrives_leaves_nothing_behind() {
        let registry = Registry::new(Settings::default());
        let id = registry.begin(plan(0)).unwrap();
        let arrival = entry(id, 7);
        registry.end(id);
        // What `arrive` does once it has found the execution.
        registry.learn_from(&arrival);
        assert_empty(&registry);
    }

    #[test]
    fn calls_that_come_when_their_execution_is_over_are_counted() {
        let registry = Registry::new(Settings::default());
        let id = registry.begin(plan(0)).unwrap();
        let mark = |execution| {
            let key = CallKey {
                execution,
                call: None,
            };
            [ContextHint::Stamp(key)]
        };
        let anyone = Origin::Service { caller: None };
        assert!(registry.recognise(&mark(id), &anyone).is_some());
        assert_eq!(registry.late(), 0);
        registry.end(id);
        assert!(registry.recognise(&mark(id), &anyone).is_none());
        // Somebody else's, such as another campaign's.
        let foreign = ExecutionId(id.0.wrapping_add(1));
        assert!(registry.recognise(&mark(foreign), &anyone).is_none());
        assert_eq!(registry.late(), 1);
    }
}

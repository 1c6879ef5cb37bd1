//! Whether an execution on sockets is the simulated one.
//!
//! Points with their parents, replies, faults, the scenario's last reply and
//! the verdict must be equal. Of the order of events (a call arrives, a call
//! ends) that must be equal which does not depend on luck: the simulator runs
//! under several seeds, and what comes in the same order under all of them
//! must come so on sockets too. For systems that do one thing at a time that
//! is the order of all events.

use std::collections::BTreeMap;
use std::fmt::Write;

use murphy_corpus::Simulator;
use murphy_model::{Call, Execution, Fault, Faultload, Point, Reply, Trace};

/// How many seeds show what depends on luck.
const SEEDS: u64 = 8;

/// How many more are tried before an order counts as one that never comes.
const DOUBTS: u64 = 2_000;

/// The simulator under any seed.
pub struct Simulated(Box<dyn Fn(u64) -> Simulator>);

impl Simulated {
    pub fn new(make: impl Fn() -> Simulator + 'static) -> Self {
        Simulated(Box::new(move |seed| make().seed(seed)))
    }

    /// The simulated execution under the first seed.
    pub fn run(&self, faultload: &Faultload) -> Execution {
        self.seeded(0, faultload)
    }

    fn seeded(&self, seed: u64, faultload: &Faultload) -> Execution {
        (self.0)(seed).run(faultload)
    }

    /// What is different in an execution on sockets, with both traces.
    pub fn differences(&self, played: &Execution) -> Option<String> {
        let expected = self.run(&played.faultload);
        let what = self
            .content_differs(&expected, played)
            .or_else(|| self.order_differs(played))?;
        let mut differences = format!("under {}\n  {what}\n", played.faultload);
        write_trace(&mut differences, "simulated", &expected);
        write_trace(&mut differences, "on sockets", played);
        Some(differences)
    }

    /// Where equal calls are made side by side luck decides which is the
    /// first, and then any luck will do.
    fn content_differs(&self, expected: &Execution, played: &Execution) -> Option<String> {
        let what = content_differs(expected, played)?;
        let mut others = (0..SEEDS).map(|seed| self.seeded(seed, &played.faultload));
        if others.all(|other| content(&other.trace) == content(&expected.trace)) {
            return Some(what);
        }
        let mut others = (0..DOUBTS).map(|seed| self.seeded(seed, &played.faultload));
        let as_played = others.any(|other| content_differs(&other, played).is_none());
        (!as_played).then_some(what)
    }

    fn order_differs(&self, played: &Execution) -> Option<String> {
        let alike = |seed| {
            let other = self.seeded(seed, &played.faultload);
            let is_alike = content(&other.trace) == content(&played.trace);
            is_alike.then(|| events(&other.trace))
        };
        let order = events(&played.trace);
        let first: Vec<_> = (0..SEEDS).filter_map(alike).collect();
        let mut never = inversions(&order, &first);
        never.retain(|(a, b)| !is_farewell(a, b, &played.trace));
        for another in (SEEDS..SEEDS + DOUBTS).map(alike) {
            if never.is_empty() {
                return None;
            }
            never.retain(|(a, b)| another.as_ref().is_none_or(|order| order[a] < order[b]));
        }
        let ((a, a_ends), (b, b_ends)) = never.first()?;
        let word = |ends: bool| if ends { "ends" } else { "arrives" };
        let (a_word, b_word) = (word(*a_ends), word(*b_ends));
        Some(format!(
            "{a} {a_word} after {b} {b_word}, but always before it in the simulator"
        ))
    }
}

/// Whether these are the end of a call that its caller gave up on and the arrival
/// of another: the two reach the proxies by different connections, so the
/// kernel decides which is seen first.
fn is_farewell((ended, ends): &Event, (_, also_ends): &Event, trace: &Trace) -> bool {
    let mut calls = trace.calls().iter();
    let gave_up = |call: &Call| call.point == *ended && matches!(call.reply, Some(Reply::TimedOut));
    *ends && !*also_ends && calls.any(gave_up)
}

fn content_differs(expected: &Execution, played: &Execution) -> Option<String> {
    let last = |execution: &Execution| execution.trace.final_reply();
    calls_differ(&expected.trace, &played.trace)
        .or_else(|| differ("the last reply", &last(expected), &last(played)))
        .or_else(|| differ("the verdict", &expected.verdict, &played.verdict))
}

fn differ<T: PartialEq + std::fmt::Debug>(what: &str, simulated: &T, played: &T) -> Option<String> {
    (simulated != played).then(|| format!("{what}: {simulated:?} simulated, {played:?} on sockets"))
}

/// A call without its place in time.
type Content = (Option<Point>, Option<Reply>, Option<Fault>);

fn content(trace: &Trace) -> BTreeMap<Point, Content> {
    let parent = |call: &Call| call.parent.map(|id| trace.call(id).point.clone());
    let content = |call: &Call| (parent(call), call.reply, call.injected.clone());
    let calls = trace.calls().iter();
    calls
        .map(|call| (call.point.clone(), content(call)))
        .collect()
}

fn calls_differ(simulated: &Trace, played: &Trace) -> Option<String> {
    let (expected, got) = (content(simulated), content(played));
    if simulated.calls().len() != played.calls().len() {
        let missing = expected.keys().find(|point| !got.contains_key(point));
        let extra = got.keys().find(|point| !expected.contains_key(point));
        return Some(format!("calls: {missing:?} is missing, {extra:?} is new"));
    }
    expected.iter().find_map(|(point, content)| {
        let other = got.get(point);
        (other != Some(content))
            .then(|| format!("{point}: {content:?} simulated, {other:?} on sockets"))
    })
}

/// When a call arrives (false) or ends (true).
type Event = (Point, bool);

fn events(trace: &Trace) -> BTreeMap<Event, u32> {
    let of_call = |call: &Call| {
        let arrived = Some(((call.point.clone(), false), call.arrived));
        let finished = call.finished.map(|at| ((call.point.clone(), true), at));
        [arrived, finished].into_iter().flatten()
    };
    trace.calls().iter().flat_map(of_call).collect()
}

/// The pairs of events that come the other way round in all these orders.
fn inversions(
    order: &BTreeMap<Event, u32>,
    others: &[BTreeMap<Event, u32>],
) -> Vec<(Event, Event)> {
    let pairs = order.keys().flat_map(|a| order.keys().map(move |b| (a, b)));
    pairs
        .filter(|(a, b)| order[a] > order[b])
        .filter(|(a, b)| others.iter().all(|other| other[a] < other[b]))
        .map(|(a, b)| (a.clone(), b.clone()))
        .collect()
}

fn write_trace(out: &mut String, title: &str, execution: &Execution) {
    writeln!(out, "  {title}: {:?}", execution.verdict).unwrap();
    for call in execution.trace.calls() {
        let end = call.finished.map_or("-".to_owned(), |at| at.to_string());
        let reply = call.reply.map_or("-".to_owned(), |reply| reply.to_string());
        let mode = call
            .mode()
            .map_or(String::new(), |mode| format!(" ({mode})"));
        let (arrived, point) = (call.arrived, &call.point);
        writeln!(out, "    {arrived:>3}..{end:<3} {reply:<12}{mode} {point}").unwrap();
    }
}

//! What the executions without faults showed.
//!
//! Owns the measure that executions under faults are held against: what
//! happens anyway is nobody's fault.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use murphy_model::{Edge, Observed, PayloadHash, Place, Reply, Trace};

use crate::attempts::repeats;

/// What the executions without faults showed, taken together.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    executions: usize,
    /// Everything that some service was asked for.
    asked: BTreeSet<Place>,
    /// The most calls alike that one caller made.
    alike: BTreeMap<(Edge, Option<PayloadHash>), usize>,
    answers: BTreeMap<Place, BTreeSet<Reply>>,
    /// The bodies of successful answers, where they were seen.
    bodies: BTreeMap<Place, BTreeSet<PayloadHash>>,
    given_up: BTreeSet<Edge>,
    outputs: Vec<String>,
    slowest: Option<Duration>,
    /// The longest that each request of the scenario took.
    requests: BTreeMap<Place, Duration>,
}

impl Reference {
    /// What these executions showed; those in which a fault was injected are left
    /// out.
    pub fn of<'o>(executions: impl IntoIterator<Item = &'o Observed>) -> Self {
        let mut reference = Reference::default();
        for observed in executions {
            if observed.execution.trace.injected().is_empty() {
                reference.take(observed);
            }
        }
        reference
    }

    fn take(&mut self, observed: &Observed) {
        self.executions += 1;
        self.take_calls(&observed.execution.trace);
        self.outputs.extend(observed.output.clone());
        self.slowest = self.slowest.max(Some(observed.took));
        self.take_times(observed);
    }

    fn take_times(&mut self, observed: &Observed) {
        let trace = &observed.execution.trace;
        for id in trace.entries() {
            if let Some(took) = observed.time_of(id) {
                let place = Place::of(&trace.call(id).point);
                let longest = self.requests.entry(place).or_default();
                *longest = took.max(*longest);
            }
        }
    }

    fn take_calls(&mut self, trace: &Trace) {
        for id in trace.ids() {
            let call = trace.call(id);
            self.asked.insert(Place::of(&call.point));
            if call.reply == Some(Reply::TimedOut) {
                self.given_up.insert(trace.edge(id));
            }
            let answers = self.answers.entry(Place::of(&call.point)).or_default();
            answers.extend(call.reply);
            let bodies = self.bodies.entry(Place::of(&call.point)).or_default();
            bodies.extend(call.body);
        }
        for group in repeats(trace) {
            let kind = (
                trace.edge(group[0]),
                trace.call(group[0]).point.frame().payload,
            );
            let most = self.alike.entry(kind).or_default();
            *most = group.len().max(*most);
        }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.executions == 0
    }

    /// How many calls alike one caller makes anyway; `None` where the caller
    /// was never seen at work.
    pub(crate) fn alike(&self, edge: &Edge, payload: Option<PayloadHash>) -> Option<usize> {
        let known = match &edge.caller {
            Some(caller) => self.asked.contains(caller),
            None => !self.is_empty(),
        };
        let count = || self.alike.get(&(edge.clone(), payload)).copied();
        known.then(|| count().unwrap_or(0))
    }

    /// Whether anyone asks for this anyway.
    pub(crate) fn asked(&self, place: &Place) -> bool {
        self.asked.contains(place)
    }

    /// Whether whoever asks gets this answer anyway.
    pub(crate) fn answers(&self, place: &Place, reply: Reply) -> bool {
        let answers = self.answers.get(place);
        answers.is_some_and(|answers| answers.contains(&reply))
    }

    /// Whether a successful answer has a body that it does not have anyway;
    /// not if it is unknown.
    pub(crate) fn is_other_body(&self, place: &Place, body: Option<PayloadHash>) -> bool {
        let usual = self.bodies.get(place).filter(|usual| !usual.is_empty());
        usual.is_some_and(|usual| body.is_some_and(|body| !usual.contains(&body)))
    }

    /// Whether callers give up on this edge anyway.
    pub(crate) fn gives_up(&self, edge: &Edge) -> bool {
        self.given_up.contains(edge)
    }

    /// Whether the scenario prints this anyway; expects lower case.
    pub(crate) fn prints(&self, text: &str) -> bool {
        let mut outputs = self.outputs.iter();
        outputs.any(|output| output.to_lowercase().contains(text))
    }

    /// How long a request of the scenario took at most; where it was not made,
    /// how long any did.
    pub(crate) fn slowest_request(&self, place: &Place) -> Option<Duration> {
        let own = self.requests.get(place);
        own.or(self.requests.values().max()).copied()
    }

    /// How long the slowest took.
    pub(crate) fn slowest(&self) -> Option<Duration> {
        self.slowest
    }
}

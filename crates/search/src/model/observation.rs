//! One execution, prepared for learning.
//!
//! Owns the translation of a trace into numbers and labels, with all calls in
//! one order: callers before their calls, siblings as [`super::order`] says.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use murphy_model::{Call, CallId, Execution, Outcome, Reply, Trace};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, ModeId, PointId};
use crate::options::Options;

use super::bodies::{Bodies, BodyClass};
use super::order::{CallOrder, Item, OrderNews};
use super::predict::effect;

/// What a callee answered, as far as callers can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Answer {
    /// The reply; `None` if none came while anyone watched.
    pub(crate) reply: Option<Reply>,
    /// What its body was like.
    pub(crate) body: BodyClass,
}

impl Answer {
    /// As the caller sees it, if no fault has a part in it.
    pub(crate) fn untouched(self) -> Label {
        Label {
            reply: self.reply,
            body: self.body,
            altered: None,
        }
    }
}

/// What a caller saw of a call, as far as it can matter to what it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Label {
    /// The reply; `None` if none came while anyone watched.
    pub(crate) reply: Option<Reply>,
    /// What its body was like.
    pub(crate) body: BodyClass,
    /// The fault that was injected without keeping the callee from running: what it
    /// does beyond the reply (lateness, a lost effect) is part of what happened.
    pub(crate) altered: Option<ModeId>,
}

impl Label {
    /// The same reply with its body left out.
    pub(crate) fn without_body(self) -> Self {
        Label {
            body: BodyClass::BASE,
            ..self
        }
    }

    /// The reply and its body.
    pub(crate) fn answer(self) -> Answer {
        Answer {
            reply: self.reply,
            body: self.body,
        }
    }
}

/// A call of the execution, in canonical order (callers before their calls).
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) point: PointId,
    /// The call it was made from; `None`: the scenario made it.
    pub(crate) caller: Option<PointId>,
    pub(crate) label: Label,
    /// The call among its siblings.
    pub(crate) item: Item,
    pub(crate) injected: Option<FaultKey>,
    /// What the callee answered on its own account, where that was visible.
    pub(crate) answer: Option<Answer>,
    /// Everything that happened at and below the call: distinguishes answers of
    /// equal status that came about differently.
    pub(crate) story: u64,
    /// Its own calls, in canonical order, as indices.
    pub(crate) children: Vec<usize>,
    /// One past the last call below it.
    pub(crate) end: usize,
    /// Whether its service ran at all.
    pub(crate) ran: bool,
    /// Whether its service was asked twice: what it did then is two runs of it.
    pub(crate) twice: bool,
}

/// One execution in canonical order.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) calls: Vec<Seen>,
    /// The scenario's own requests.
    pub(crate) entries: Vec<usize>,
    pub(crate) injected: FaultSet,
}

impl Observation {
    /// Which of the scenario's requests a call was made for.
    pub(crate) fn entry_of(&self, call: usize) -> usize {
        let holds = |entry: &usize| (*entry..self.calls[*entry].end).contains(&call);
        self.entries.iter().position(holds).unwrap_or(0)
    }

    /// The first of the scenario's requests that a fault was injected into, or
    /// below.
    pub(crate) fn first_faulty_entry(&self) -> Option<usize> {
        let is_faulty = |entry: &usize| {
            let calls = &self.calls[*entry..self.calls[*entry].end];
            calls.iter().any(|call| call.injected.is_some())
        };
        self.entries.iter().position(is_faulty)
    }

    /// Prepares an execution, numbering points not seen before. Also says
    /// what it adds to what is known of the order of calls, by caller.
    pub(crate) fn new(
        execution: &Execution,
        catalogue: &mut Catalogue,
        options: &Options,
        orders: &mut Orders,
        bodies: &mut Bodies,
    ) -> (Self, Vec<(Option<PointId>, OrderNews)>) {
        let trace = &execution.trace;
        let mut item = |call: &Call| {
            let point = catalogue.number(&call.point, call.parent.is_none(), options);
            Item {
                point,
                label: label(call, bodies.learn(point, call), catalogue),
                arrived: call.arrived,
                finished: call.finished,
            }
        };
        let items: Vec<Item> = trace.calls().iter().map(&mut item).collect();
        let mut children: Vec<Vec<CallId>> = vec![Vec::new(); items.len()];
        let mut entries = Vec::new();
        for id in trace.ids() {
            match trace.call(id).parent {
                Some(parent) => children[parent.0 as usize].push(id),
                None => entries.push(id),
            }
        }
        let mut builder = Builder {
            trace,
            items: &items,
            children: &children,
            catalogue,
            orders,
            reordered: Vec::new(),
            calls: Vec::with_capacity(items.len()),
        };
        let entries = builder.visit_all(None, &entries);
        let (calls, reordered) = (builder.calls, builder.reordered);
        let injected = FaultSet::new(calls.iter().filter_map(|call| call.injected).collect());
        let observation = Observation {
            calls,
            entries,
            injected,
        };
        (observation, reordered)
    }

    /// The calls whose service ran, once: of one that was asked twice it is
    /// not known which of its calls belong to which time.
    pub(crate) fn once(&self) -> impl Iterator<Item = usize> + '_ {
        let once = |call: &Seen| call.ran && (!call.twice || call.children.is_empty());
        (0..self.calls.len()).filter(move |index| once(&self.calls[*index]))
    }

    /// The scenario's own requests and the replies to them.
    pub(crate) fn scenario_replies(&self) -> u64 {
        let own = self.entries.iter().map(|index| &self.calls[*index]);
        effect(own.map(|call| (call.point, call.label)))
    }

    /// Where in canonical order the last fault was injected for the first time.
    pub(crate) fn last_injected(&self) -> Option<usize> {
        let first_injected =
            |key: &FaultKey| self.calls.iter().position(|c| c.injected == Some(*key));
        self.injected.keys().iter().filter_map(first_injected).max()
    }

    /// The faults that were injected before the call at `index`, in canonical order.
    pub(crate) fn injected_before(&self, index: usize) -> FaultSet {
        FaultSet::new(
            self.calls[..index]
                .iter()
                .filter_map(|c| c.injected)
                .collect(),
        )
    }

    /// The faults that were injected the call at `index` or below it.
    pub(crate) fn injected_at(&self, index: usize) -> FaultSet {
        let at = &self.calls[index..self.calls[index].end];
        FaultSet::new(at.iter().filter_map(|c| c.injected).collect())
    }

    /// The faults that were injected below the call at `index`.
    pub(crate) fn injected_below(&self, index: usize) -> FaultSet {
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

/// What is known of the order of calls, by caller (`None`: the scenario).
pub(crate) type Orders = HashMap<Option<PointId>, CallOrder>;

fn label(call: &Call, body: BodyClass, catalogue: &mut Catalogue) -> Label {
    let lets_run = call.mode().filter(|mode| !mode.is_blocking());
    Label {
        reply: call.reply,
        body,
        altered: lets_run.map(|mode| catalogue.mode_number(mode)),
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    items: &'a [Item],
    children: &'a [Vec<CallId>],
    catalogue: &'a mut Catalogue,
    orders: &'a mut Orders,
    reordered: Vec<(Option<PointId>, OrderNews)>,
    calls: Vec<Seen>,
}

impl Builder<'_> {
    fn visit_all(&mut self, caller: Option<PointId>, siblings: &[CallId]) -> Vec<usize> {
        if siblings.is_empty() {
            return Vec::new();
        }
        let items: Vec<Item> = siblings
            .iter()
            .map(|id| self.items[id.0 as usize])
            .collect();
        let order = self.orders.entry(caller).or_default();
        match order.learn(&items) {
            OrderNews::Nothing => {}
            news => self.reordered.push((caller, news)),
        }
        let arranged = order.arrange(&items);
        arranged
            .into_iter()
            .map(|place| self.visit(caller, siblings[place]))
            .collect()
    }

    fn visit(&mut self, caller: Option<PointId>, id: CallId) -> usize {
        let index = self.calls.len();
        let call = self.trace.call(id);
        let item = self.items[id.0 as usize];
        let injected = call
            .injected
            .as_ref()
            .and_then(|fault| self.catalogue.key(fault));
        let mode = call.mode();
        // A fault hides the callee's own answer when it replaces it, and when
        // it keeps it back until the caller has given up.
        let gave_up = matches!(call.reply, None | Some(Reply::TimedOut));
        let hidden = mode.is_some_and(|mode| mode.reply().is_some() || gave_up);
        self.calls.push(Seen {
            point: item.point,
            caller,
            label: item.label,
            item,
            injected,
            answer: (!hidden).then_some(item.label.answer()),
            story: 0,
            children: Vec::new(),
            end: index + 1,
            ran: mode.is_none_or(|mode| !mode.is_blocking()),
            twice: mode.is_some_and(|mode| mode.outcome() == Outcome::Duplicate),
        });
        let children = self.visit_all(Some(item.point), &self.children[id.0 as usize]);
        let story = self.story(index, &children);
        let end = self.calls.len();
        let seen = &mut self.calls[index];
        (seen.children, seen.story, seen.end) = (children, story, end);
        index
    }

    fn story(&self, index: usize, children: &[usize]) -> u64 {
        let seen = &self.calls[index];
        let children = children.iter().map(|child| &self.calls[*child]);
        let below = children.map(|child| (child.point, child.story));
        story(seen.label, seen.injected.is_some(), below)
    }
}

/// Everything that happened at a call, given the stories of the calls below.
pub(crate) fn story(
    label: Label,
    injected: bool,
    below: impl Iterator<Item = (PointId, u64)>,
) -> u64 {
    let mut hasher = DefaultHasher::new();
    // By what was injected, not by what bodies look like: those follow from it,
    // and may turn out to be noise.
    (label.without_body(), injected).hash(&mut hasher);
    // In the order of points: what is known of the order of calls may
    // change, what happened does not.
    let mut below: Vec<(PointId, u64)> = below.collect();
    below.sort_unstable();
    below.hash(&mut hasher);
    hasher.finish()
}

//! The behaviour model: what was learnt of the system, and what follows.
//!
//! Owns one [`decisions`] tree per caller and the prediction of a faultload's
//! behaviours from them. It knows what was seen and what that implies, never
//! what to try: that is the strategy's business.

pub(crate) mod bodies;
pub(crate) mod count;
pub(crate) mod decisions;
pub(crate) mod observation;
pub(crate) mod order;
pub(crate) mod predict;
pub(crate) mod verdicts;

use std::collections::{HashMap, HashSet};

use murphy_model::{Execution, Flag, Place};

use crate::catalogue::{Catalogue, FaultSet, ModeId, PointId};
use crate::options::{Options, Replies};
use bodies::Bodies;
use decisions::{Decisions, Fit, Path};
use observation::{Answer, Label, Observation, Orders};
use order::{CallOrder, OrderNews};

/// What was learnt of the system.
#[derive(Debug, Default)]
pub(crate) struct Model {
    scenario: Decisions,
    services: HashMap<PointId, Decisions>,
    pub(crate) orders: Orders,
    /// The points of the reference execution.
    pub(crate) reference: HashSet<PointId>,
    /// Points that stood for several calls: of one execution, or of different
    /// callers.
    pub(crate) ambiguous: HashSet<PointId>,
    /// The caller of every point.
    callers: HashMap<PointId, Option<PointId>>,
    /// What a caller saw when a fault was injected: by point, mode and the callee's
    /// own answer (`None` where it did not run).
    /// Where it differed between calls, nothing is known.
    effects: HashMap<(PointId, ModeId, Option<Answer>), Effect>,
    organic: HashMap<PointId, OwnReplies>,
    /// The bodies of answers.
    pub(crate) bodies: Bodies,
    /// The first request of the scenario with a fault below it, by the number of
    /// the execution; none where there is no fault.
    first_faulty: HashMap<usize, usize>,
    /// What speaks against the assumptions.
    pub(crate) flags: Vec<Flag>,
    /// Whether some service contradicted itself.
    pub(crate) any_disputed: bool,
}

/// The replies a callee gave on its own account.
#[derive(Debug, Default)]
struct OwnReplies {
    replies: Vec<OwnReply>,
    labels: HashSet<Label>,
    stories: HashSet<(Label, u64)>,
}

impl OwnReplies {
    /// Leaves bodies out; replies that differ in nothing else become one.
    fn forget_bodies(&mut self) {
        let stories = std::mem::take(&mut self.stories);
        let without = |(label, story): (Label, u64)| (label.without_body(), story);
        self.stories = stories.into_iter().map(without).collect();
        self.labels = self.stories.iter().map(|(label, _)| *label).collect();
        for reply in &mut self.replies {
            reply.label = reply.label.without_body();
        }
    }
}

/// A reply with a story of its own.
#[derive(Clone, Debug)]
pub(crate) struct OwnReply {
    pub(crate) label: Label,
    /// Faults below the callee that bring it about.
    pub(crate) below: FaultSet,
}

/// What a caller saw when a fault was injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Always this.
    Always(Label),
    /// Now this, now that: callers that wait for different times, say.
    Varies,
}

/// What an execution added to the model.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Calls (indices of the observation) made where they were not known.
    pub(crate) fresh: HashSet<usize>,
    /// Calls whose callee gave a reply of its own that was not known.
    pub(crate) replies: Vec<usize>,
    /// Callers whose trees were rebuilt: all their branches may be open again.
    pub(crate) rebuilt: Vec<Option<PointId>>,
    /// Whether calls are now known to come in another order than before.
    pub(crate) reordered: bool,
    /// Whether something that predictions were made of came into doubt.
    pub(crate) doubt: bool,
}

impl Model {
    /// Nothing is known yet, where this is what callers see of a reply.
    pub(crate) fn new(replies: Replies) -> Self {
        Model {
            bodies: Bodies::new(replies),
            ..Model::default()
        }
    }

    /// What is known of the service behind a point, or of the scenario.
    pub(crate) fn decisions(&self, caller: Option<PointId>) -> Option<&Decisions> {
        match caller {
            None => Some(&self.scenario),
            Some(point) => self.services.get(&point),
        }
    }

    /// The replies a callee gave on its own account, with faults below it
    /// that bring each about: one for each story where its caller
    /// distinguishes them, otherwise one for each label.
    pub(crate) fn own_replies(&self, caller: Option<PointId>, point: PointId) -> Vec<OwnReply> {
        let distinguished = self.distinguishes(caller);
        let known = self.organic.get(&point).map_or(&[][..], |own| &own.replies);
        let mut labels = HashSet::new();
        let wanted = known
            .iter()
            .filter(|reply| labels.insert(reply.label) || distinguished);
        wanted.cloned().collect()
    }

    /// Whether a caller was seen to distinguish replies of equal status.
    pub(crate) fn distinguishes(&self, caller: Option<PointId>) -> bool {
        self.decisions(caller).is_some_and(|d| d.precise)
    }

    /// What a caller was seen to get when this fault was injected, given the
    /// callee's own answer; where that was hidden, any answer.
    fn effect(&self, point: PointId, mode: ModeId, answer: Option<Answer>) -> Option<Effect> {
        let exact = self.effects.get(&(point, mode, answer));
        exact
            .or_else(|| self.effects.get(&(point, mode, None)))
            .copied()
    }

    /// Takes in an execution, numbering points not seen before.
    pub(crate) fn learn(
        &mut self,
        execution: &Execution,
        number: usize,
        catalogue: &mut Catalogue,
        options: &Options,
    ) -> (Observation, News) {
        let (mut seen, mut reordered) = self.observe(execution, catalogue, options);
        let mut forgotten = Vec::new();
        while let Some((at, earlier)) = self.varying_body(&seen, number) {
            forgotten.extend(self.ignore_bodies(at, earlier, number, catalogue));
            let (anew, more) = self.observe(execution, catalogue, options);
            seen = anew;
            reordered.extend(more);
        }
        let mut news = self.learn_seen(&seen, number, catalogue);
        reordered.extend(self.found_concurrent(&seen));
        news.doubt |= !forgotten.is_empty();
        news.rebuilt.extend(forgotten);
        news.rebuilt.extend(&reordered);
        news.reordered = !reordered.is_empty();
        (seen, news)
    }

    /// An execution as the model sees it now, and the callers whose calls
    /// turned out to come in another order.
    fn observe(
        &mut self,
        execution: &Execution,
        catalogue: &mut Catalogue,
        options: &Options,
    ) -> (Observation, Vec<Option<PointId>>) {
        let (orders, bodies) = (&mut self.orders, &mut self.bodies);
        let (mut seen, order_news) =
            Observation::new(execution, catalogue, options, orders, bodies);
        let mut reordered = Vec::new();
        for (caller, news) in &order_news {
            if self.reorder(*caller, news) {
                reordered.push(*caller);
            }
        }
        if !order_news.is_empty() {
            // What earlier executions say about the order was not known yet.
            let (orders, bodies) = (&mut self.orders, &mut self.bodies);
            (seen, _) = Observation::new(execution, catalogue, options, orders, bodies);
        }
        (seen, reordered)
    }

    /// A call whose answer has another body than it had under the very same
    /// circumstances, and an execution that showed the other.
    fn varying_body(&self, seen: &Observation, number: usize) -> Option<(PointId, usize)> {
        seen.once().find_map(|index| {
            let point = seen.calls[index].point;
            let known = self.services.get(&point)?;
            let earlier = known.other_body(&Path::of(seen, Some(index), number))?;
            Some((point, earlier))
        })
    }

    /// Compares the answers of an interface by their status alone from now on:
    /// their bodies vary by themselves. Returns the callers whose branches may
    /// be open again.
    fn ignore_bodies(
        &mut self,
        at: PointId,
        earlier: usize,
        number: usize,
        catalogue: &Catalogue,
    ) -> Vec<Option<PointId>> {
        let place = Place::of(catalogue.point(at));
        let of = |point: PointId| Place::of(catalogue.point(point)) == place;
        let mut callers = Vec::new();
        let scenario = std::iter::once((None, &mut self.scenario));
        let services = self.services.iter_mut().map(|(at, it)| (Some(*at), it));
        for (caller, decisions) in scenario.chain(services) {
            let own = caller.is_some_and(of);
            if own || decisions.choices().any(|choice| of(choice.child)) {
                let order = self.orders.entry(caller).or_default();
                decisions.forget_bodies(own, &of, order);
                callers.push(caller);
            }
        }
        callers.sort();
        self.forget_bodies_of_effects(&of);
        for (_, own) in self.organic.iter_mut().filter(|(point, _)| of(**point)) {
            own.forget_bodies();
        }
        self.flags.push(Flag::BodyVaries {
            at: catalogue.point(at).clone(),
            first: earlier,
            second: number,
        });
        self.bodies.ignore(place);
        callers
    }

    fn forget_bodies_of_effects(&mut self, of: &dyn Fn(PointId) -> bool) {
        for ((point, mode, answer), effect) in std::mem::take(&mut self.effects) {
            let forget = of(point);
            let answer = answer.map(|answer| match forget {
                true => answer.untouched().without_body().answer(),
                false => answer,
            });
            let effect = match effect {
                Effect::Always(label) if forget => Effect::Always(label.without_body()),
                effect => effect,
            };
            let known = self.effects.entry((point, mode, answer)).or_insert(effect);
            if *known != effect {
                *known = Effect::Varies;
            }
        }
    }

    fn decisions_mut(&mut self, caller: Option<PointId>) -> Option<&mut Decisions> {
        match caller {
            None => Some(&mut self.scenario),
            Some(point) => self.services.get_mut(&point),
        }
    }

    /// Puts what is known of a caller in order again; says whether that
    /// changed anything.
    fn reorder(&mut self, caller: Option<PointId>, news: &OrderNews) -> bool {
        let mut order = self.orders.remove(&caller).unwrap_or_default();
        let decisions = self.decisions_mut(caller);
        let changed = decisions.is_some_and(|decisions| decisions.reorder(&mut order, news));
        self.orders.insert(caller, order);
        changed
    }

    /// Callers of this execution that turn out to make calls side by side,
    /// though none were ever under way together.
    fn found_concurrent(&mut self, seen: &Observation) -> Vec<Option<PointId>> {
        let services = seen.calls.iter().filter(|call| call.children.len() > 1);
        let services = services.map(|call| Some(call.point));
        let scenario = (seen.entries.len() > 1).then_some(None);
        let mut found = Vec::new();
        for caller in scenario.into_iter().chain(services) {
            let known = self
                .orders
                .get(&caller)
                .is_some_and(|order| order.is_concurrent());
            let alternatives = self
                .decisions(caller)
                .is_some_and(Decisions::has_alternatives);
            if !known && alternatives {
                self.orders.entry(caller).or_default().set_concurrent();
                self.reorder(caller, &OrderNews::Concurrent);
                found.push(caller);
            }
        }
        found
    }

    fn learn_seen(&mut self, seen: &Observation, number: usize, catalogue: &Catalogue) -> News {
        if self.reference.is_empty() {
            self.reference
                .extend(seen.calls.iter().map(|call| call.point));
        }
        self.note_ambiguity(seen, number, catalogue);
        self.note_effects(seen);
        if let Some(entry) = seen.first_faulty_entry() {
            self.first_faulty.insert(number, entry);
        }
        let mut news = News {
            replies: self.note_replies(seen),
            ..News::default()
        };
        for caller in std::iter::once(None).chain(seen.once().map(Some)) {
            self.learn_path(seen, caller, number, catalogue, &mut news);
        }
        news
    }

    fn learn_path(
        &mut self,
        seen: &Observation,
        caller: Option<usize>,
        number: usize,
        catalogue: &Catalogue,
        news: &mut News,
    ) {
        let path = Path::of(seen, caller, number);
        let point = caller.map(|index| seen.calls[index].point);
        let children = match caller {
            None => &seen.entries,
            Some(index) => &seen.calls[index].children,
        };
        let decisions = match point {
            None => &mut self.scenario,
            Some(point) => self.services.entry(point).or_default(),
        };
        let (fit, fresh) = decisions.learn(path, self.orders.entry(point).or_default());
        news.fresh
            .extend(fresh.into_iter().map(|step| children[step]));
        let at = point.map(|point| catalogue.point(point).clone());
        match fit {
            Fit::Agrees => {}
            Fit::Unexplained { earlier } => {
                news.rebuilt.push(point);
                news.doubt = true;
                self.flags.push(Flag::Unexplained {
                    at,
                    first: earlier,
                    second: number,
                });
            }
            Fit::Contradicts { earlier } => {
                self.any_disputed = true;
                let entry = caller.map_or(0, |index| seen.entry_of(index));
                let is_after = |execution: &usize| {
                    let faulty = self.first_faulty.get(execution);
                    faulty.is_some_and(|faulty| *faulty < entry)
                };
                let after_faults = [earlier, number].iter().any(is_after);
                news.doubt |= self.flag_once(Flag::Nondeterminism {
                    at,
                    first: earlier,
                    second: number,
                    after_faults,
                });
            }
        }
    }

    /// Flags a caller that contradicts itself; says whether it is the first
    /// time it does.
    fn flag_once(&mut self, flag: Flag) -> bool {
        let at = |flag: &Flag| match flag {
            Flag::Nondeterminism { at, .. } => Some(at.clone()),
            _ => None,
        };
        let first = !self.flags.iter().any(|known| at(known) == at(&flag));
        if first {
            self.flags.push(flag);
        }
        first
    }

    /// Whether some caller makes calls side by side.
    pub(crate) fn any_concurrent(&self) -> bool {
        self.orders.values().any(CallOrder::is_concurrent)
    }

    fn note_ambiguity(&mut self, seen: &Observation, number: usize, catalogue: &Catalogue) {
        let mut once = HashSet::new();
        for call in &seen.calls {
            let caller = *self.callers.entry(call.point).or_insert(call.caller);
            let several = !once.insert(call.point) || caller != call.caller;
            if several && self.ambiguous.insert(call.point) {
                self.flags.push(Flag::Ambiguous {
                    at: catalogue.point(call.point).clone(),
                    execution: number,
                });
            }
        }
    }

    fn note_effects(&mut self, seen: &Observation) {
        for call in &seen.calls {
            if let Some(fault) = call.injected {
                let key = (
                    call.point,
                    fault.mode,
                    if call.ran { call.answer } else { None },
                );
                let effect = self
                    .effects
                    .entry(key)
                    .or_insert(Effect::Always(call.label));
                if *effect != Effect::Always(call.label) {
                    *effect = Effect::Varies;
                }
            }
        }
    }

    /// Calls whose reply, given by the callee itself, is news to the caller.
    fn note_replies(&mut self, seen: &Observation) -> Vec<usize> {
        let mut news = Vec::new();
        for (index, call) in seen.calls.iter().enumerate() {
            if call.injected.is_some() {
                continue;
            }
            let distinguished = self.distinguishes(call.caller);
            let own = self.organic.entry(call.point).or_default();
            let new_label = own.labels.insert(call.label);
            let new_story = own.stories.insert((call.label, call.story));
            if new_story {
                own.replies.push(OwnReply {
                    label: call.label,
                    below: seen.injected_below(index),
                });
            }
            if new_label || (new_story && distinguished) {
                news.push(index);
            }
        }
        news
    }
}

//! Prediction: what an execution under a faultload would show.
//!
//! Follows the decision trees from the scenario down. A prediction is made of
//! observed pieces only: where the trees have no branch for what would happen,
//! there is none, and the place where knowledge ends is the answer instead.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use murphy_model::Outcome;

use crate::catalogue::{Catalogue, FaultKey, FaultSet, PointId};

use super::decisions::{Decisions, NodeId};
use super::observation::{Answer, Label, story};
use super::{Effect, Model};

/// A call that would be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) point: PointId,
    /// The call it would be made from; `None`: the scenario makes it.
    pub(crate) caller: Option<PointId>,
    pub(crate) label: Label,
    pub(crate) injected: Option<FaultKey>,
}

/// What an execution would show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prediction {
    /// The calls, callers before their calls.
    pub(crate) calls: Vec<Expected>,
    /// For every caller, the execution that showed the same path first.
    pub(crate) witnesses: Vec<(Option<PointId>, usize)>,
    /// Whether there would be more calls than these: those of services that
    /// are asked a second time.
    pub(crate) partial: bool,
    /// Replies first seen as the callee's own and now put there by a fault,
    /// with the execution that showed them.
    pub(crate) propagated: Vec<(PointId, usize)>,
}

impl Prediction {
    /// The faults that would not be injected.
    pub(crate) fn idle(&self, faults: &FaultSet) -> Vec<FaultKey> {
        let hits = |key: &FaultKey| self.calls.iter().any(|call| call.injected == Some(*key));
        faults
            .keys()
            .iter()
            .filter(|key| !hits(key))
            .copied()
            .collect()
    }

    /// What would be the same for faults that act alike: all calls but those
    /// at `point`, and all replies.
    pub(crate) fn effect_without(&self, point: PointId) -> u64 {
        let others = self.calls.iter().filter(|call| call.point != point);
        effect(others.map(|call| (call.point, call.label)))
    }

    /// The scenario's own requests and the replies to them.
    pub(crate) fn scenario_replies(&self) -> u64 {
        let own = self.calls.iter().filter(|call| call.caller.is_none());
        effect(own.map(|call| (call.point, call.label)))
    }
}

/// Calls and replies as one number; their order is left out, because it may
/// differ from schedule to schedule.
pub(crate) fn effect(calls: impl Iterator<Item = (PointId, Label)>) -> u64 {
    let mut calls: Vec<(PointId, Label)> = calls.collect();
    calls.sort_unstable();
    let mut hasher = DefaultHasher::new();
    calls.hash(&mut hasher);
    hasher.finish()
}

/// Where knowledge ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Nobody has seen what the caller does after this reply.
    Reply { to: PointId },
    /// The service behind this point was never seen running.
    Service { at: PointId },
    /// The caller contradicted itself, so nothing is certain.
    Disputed { caller: Option<PointId> },
}

/// Predicts an execution under these faults.
pub(crate) fn predict(
    model: &Model,
    catalogue: &Catalogue,
    faults: &FaultSet,
) -> Result<Prediction, Unknown> {
    let mut predictor = Predictor {
        model,
        catalogue,
        faults,
        known: HashMap::new(),
        depth: 0,
        partial: false,
    };
    let scenario = predictor.walk(None)?;
    let mut prediction = Prediction {
        partial: predictor.partial,
        ..Prediction::default()
    };
    predictor.collect(None, &scenario, &mut prediction);
    Ok(prediction)
}

/// How a service would go through its tree.
#[derive(Clone, Debug)]
struct Walk {
    children: Vec<PointId>,
    answer: Option<Answer>,
    execution: usize,
    propagated: Vec<(PointId, usize)>,
}

/// What a call would come to.
#[derive(Clone, Debug)]
struct Known {
    label: Label,
    story: u64,
    injected: Option<FaultKey>,
    walk: Option<Walk>,
}

/// Deeper chains of calls than this are taken for a loop: without the path in
/// the identity a point may be its own ancestor.
const DEEPEST: usize = 200;

struct Predictor<'a> {
    model: &'a Model,
    catalogue: &'a Catalogue,
    faults: &'a FaultSet,
    known: HashMap<PointId, Result<Known, Unknown>>,
    depth: usize,
    partial: bool,
}

impl Predictor<'_> {
    fn walk(&mut self, caller: Option<PointId>) -> Result<Walk, Unknown> {
        let model = self.model;
        let decisions = match (model.decisions(caller), caller) {
            (Some(decisions), _) if decisions.is_known() => decisions,
            (_, Some(at)) => return Err(Unknown::Service { at }),
            (_, None) => return Err(Unknown::Disputed { caller }),
        };
        if decisions.disputed {
            return Err(Unknown::Disputed { caller });
        }
        let mut walk = Walk {
            children: Vec::new(),
            answer: None,
            execution: 0,
            propagated: Vec::new(),
        };
        self.walk_from(caller, decisions, Decisions::ROOT, &mut walk)?;
        Ok(walk)
    }

    /// Goes on from a node. Where several calls were seen next, their order
    /// is a matter of schedule: any that leads to an end will do.
    fn walk_from(
        &mut self,
        caller: Option<PointId>,
        decisions: &Decisions,
        node: NodeId,
        walk: &mut Walk,
    ) -> Result<(), Unknown> {
        let node = decisions.node(node);
        if let (Some(leaf), true) = (node.leaf, node.choices.is_empty()) {
            walk.answer = leaf.answer;
            walk.execution = leaf.execution;
            return Ok(());
        }
        let mut end = Unknown::Disputed { caller };
        for choice in &node.choices {
            let call = match self.call(choice.child) {
                Ok(call) => call,
                Err(unknown) => {
                    end = unknown;
                    continue;
                }
            };
            let Some(edge) = decisions.edge(choice, call.label, call.story) else {
                end = Unknown::Reply { to: choice.child };
                continue;
            };
            let propagated =
                (edge.organic && call.injected.is_some()).then_some((choice.child, edge.execution));
            let (children, noted) = (walk.children.len(), walk.propagated.len());
            walk.children.push(choice.child);
            walk.propagated.extend(propagated);
            match self.walk_from(caller, decisions, edge.to, walk) {
                Ok(()) => return Ok(()),
                Err(unknown) => end = unknown,
            }
            walk.children.truncate(children);
            walk.propagated.truncate(noted);
        }
        Err(end)
    }

    fn call(&mut self, point: PointId) -> Result<Known, Unknown> {
        if let Some(known) = self.known.get(&point) {
            return known.clone();
        }
        if self.depth > DEEPEST {
            return Err(Unknown::Service { at: point });
        }
        self.depth += 1;
        let known = self.call_anew(point);
        self.depth -= 1;
        self.known.insert(point, known.clone());
        known
    }

    fn call_anew(&mut self, point: PointId) -> Result<Known, Unknown> {
        let Some(fault) = self.catalogue.fault_at(self.faults, point) else {
            let walk = self.walk(Some(point))?;
            let answer = walk.answer.ok_or(Unknown::Service { at: point })?;
            let label = answer.untouched();
            return Ok(Known {
                story: self.story(label, false, &walk.children),
                label,
                injected: None,
                walk: Some(walk),
            });
        };
        let mode = self.catalogue.mode(fault.mode);
        // What a service calls when it is asked again is not in its tree.
        self.partial |= mode.outcome() == Outcome::Duplicate && self.has_calls(point);
        // A point that stands for several calls hides nothing for certain.
        let runs = !mode.is_blocking() || self.model.ambiguous.contains(&point);
        let walk = match runs {
            true => Some(self.walk(Some(point))?),
            false => None,
        };
        let answer = match mode.is_blocking() {
            true => None,
            false => walk.as_ref().and_then(|walk| walk.answer),
        };
        let altered = (!mode.is_blocking()).then_some(fault.mode);
        let from_mode = mode.reply().map(|reply| Label {
            reply: Some(reply),
            body: self.model.bodies.of_injected(reply),
            altered,
        });
        let label = match self.model.effect(point, fault.mode, answer) {
            Some(Effect::Always(label)) => Some(label),
            Some(Effect::Varies) => None,
            None => from_mode,
        };
        let label = label.ok_or(Unknown::Reply { to: point })?;
        let children = walk.as_ref().map_or(&[][..], |walk| &walk.children);
        Ok(Known {
            story: self.story(label, true, children),
            label,
            injected: Some(fault),
            walk,
        })
    }

    fn story(&self, label: Label, injected: bool, children: &[PointId]) -> u64 {
        let of = |child: &PointId| match self.known.get(child) {
            Some(Ok(known)) => Some((*child, known.story)),
            _ => None,
        };
        story(label, injected, children.iter().filter_map(of))
    }

    fn has_calls(&self, point: PointId) -> bool {
        let decisions = self.model.decisions(Some(point));
        decisions.is_some_and(|decisions| decisions.choices().next().is_some())
    }

    fn collect(&self, caller: Option<PointId>, walk: &Walk, prediction: &mut Prediction) {
        prediction.witnesses.push((caller, walk.execution));
        prediction.propagated.extend(&walk.propagated);
        for child in &walk.children {
            let Some(Ok(known)) = self.known.get(child) else {
                unreachable!("a walk only takes calls that are known");
            };
            prediction.calls.push(Expected {
                point: *child,
                caller,
                label: known.label,
                injected: known.injected,
            });
            if let Some(walk) = &known.walk {
                self.collect(Some(*child), walk, prediction);
            }
        }
    }
}

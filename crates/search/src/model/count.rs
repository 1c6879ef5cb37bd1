//! Counting: how many faultloads there are, and how many can happen.
//!
//! Owns the arithmetic behind a certificate. The decision trees say for every
//! service which replies lead to which answer, so the faultloads that are injected
//! in full can be counted from the leaves up, without running or listing them.

use std::collections::{BTreeMap, HashMap, HashSet};

use murphy_model::Skips;
use num_bigint::BigUint;
use num_traits::CheckedSub;

use crate::catalogue::{Catalogue, PointId};
use crate::policy::Policy;

use super::decisions::{Decisions, NodeId};
use super::observation::{Answer, Label};
use super::{Effect, Model};

/// The points of a catalogue, as certificates count them.
pub(crate) struct Points {
    pub(crate) total: usize,
    pub(crate) conditional: usize,
    pub(crate) space: BigUint,
}

/// Counts points and the space they span. Points that differ in their
/// predecessors only are one point to a reader, though not to the space.
pub(crate) fn points(catalogue: &Catalogue, reference: &HashSet<PointId>) -> Points {
    let place = |id: PointId| catalogue.entry(id).place;
    let all: HashSet<PointId> = catalogue.fallible().map(place).collect();
    let reference: HashSet<PointId> = reference.iter().copied().map(place).collect();
    Points {
        total: all.len(),
        conditional: all.difference(&reference).count(),
        space: catalogue.ids().map(|id| ways_of(catalogue, id)).product(),
    }
}

fn ways_of(catalogue: &Catalogue, id: PointId) -> BigUint {
    BigUint::from(1 + catalogue.entry(id).modes.len())
}

/// Divides the space among the policies, given how many faultloads were run
/// that were injected in full. `None` where the model cannot be counted: faults that
/// let the callee run, points that stand for several calls, contradictions.
pub(crate) fn divide(catalogue: &Catalogue, model: &Model, run: usize) -> Option<Skips> {
    let blocking = |id: PointId| {
        let modes = &catalogue.entry(id).modes;
        modes.iter().all(|mode| catalogue.mode(*mode).is_blocking())
    };
    if !model.ambiguous.is_empty() || model.any_disputed || !catalogue.ids().all(blocking) {
        return None;
    }
    let everywhere = |_: PointId| true;
    let in_reference = |id: PointId| model.reference.contains(&id);
    let space: BigUint = catalogue.ids().map(|id| ways_of(catalogue, id)).product();
    let possible = possible(catalogue, model, &everywhere)?;
    let unhidden = unhidden(catalogue, &everywhere);
    let reference = self::unhidden(catalogue, &in_reference);
    let reference_possible = self::possible(catalogue, model, &in_reference)?;
    // A difference below nothing means that the model is wrong about
    // something; then no figure is better than a wrong one.
    let less = |all: &BigUint, some: &BigUint| all.checked_sub(some);
    let excluded = less(&reference, &reference_possible)?;
    let included = less(&less(&unhidden, &possible)?, &excluded)?;
    let by_policy = BTreeMap::from([
        (Policy::Downstream.name().into(), less(&space, &unhidden)?),
        (Policy::Exclusion.name().into(), excluded),
        (Policy::Inclusion.name().into(), included),
        (
            Policy::Encapsulation.name().into(),
            less(&possible, &BigUint::from(run))?,
        ),
    ]);
    Some(Skips {
        possible,
        by_policy,
    })
}

/// Faultloads in which no fault is below another.
fn unhidden(catalogue: &Catalogue, faultable: &dyn Fn(PointId) -> bool) -> BigUint {
    let mut below: HashMap<Option<PointId>, Vec<PointId>> = HashMap::new();
    for id in catalogue.ids() {
        let parent = catalogue.entry(id).ancestors.first().copied();
        below.entry(parent).or_default().push(id);
    }
    fn ways(
        caller: Option<PointId>,
        below: &HashMap<Option<PointId>, Vec<PointId>>,
        own: &dyn Fn(PointId) -> usize,
    ) -> BigUint {
        let children = below.get(&caller).map_or(&[][..], Vec::as_slice);
        let of = |id: &PointId| BigUint::from(own(*id)) + ways(Some(*id), below, own);
        children.iter().map(of).product()
    }
    let own = |id: PointId| match faultable(id) {
        true => catalogue.entry(id).modes.len(),
        false => 0,
    };
    ways(None, &below, &own)
}

/// Faultloads whose every fault is injected.
fn possible(
    catalogue: &Catalogue,
    model: &Model,
    faultable: &dyn Fn(PointId) -> bool,
) -> Option<BigUint> {
    let mut counter = Counter {
        catalogue,
        model,
        faultable,
        known: HashMap::new(),
    };
    let by_answer = counter.caller(None)?;
    Some(by_answer.into_values().sum())
}

/// The number of ways a reply can come about, by reply.
type Ways = HashMap<Label, BigUint>;

struct Counter<'a> {
    catalogue: &'a Catalogue,
    model: &'a Model,
    faultable: &'a dyn Fn(PointId) -> bool,
    known: HashMap<PointId, Ways>,
}

impl Counter<'_> {
    /// The ways a call's reply can come about: a fault at it, or its service.
    fn call(&mut self, point: PointId) -> Option<Ways> {
        if let Some(ways) = self.known.get(&point) {
            return Some(ways.clone());
        }
        // A service only ever seen blocked has no ways of its own.
        let mut ways = match self.model.decisions(Some(point)) {
            Some(_) => self.caller(Some(point))?,
            None => Ways::new(),
        };
        if (self.faultable)(point) {
            for mode in &self.catalogue.entry(point).modes {
                let label = match self.model.effect(point, *mode, None) {
                    Some(Effect::Always(label)) => label,
                    Some(Effect::Varies) => return None,
                    None => {
                        let reply = self.catalogue.mode(*mode).reply()?;
                        Label {
                            reply: Some(reply),
                            body: self.model.bodies.of_injected(reply),
                            altered: None,
                        }
                    }
                };
                *ways.entry(label).or_default() += 1u32;
            }
        }
        self.known.insert(point, ways.clone());
        Some(ways)
    }

    /// The ways a service's answer can come about: one for each combination
    /// of ways its calls can go, leaf by leaf.
    fn caller(&mut self, caller: Option<PointId>) -> Option<Ways> {
        let model = self.model;
        let decisions = model.decisions(caller)?;
        if decisions.precise {
            return None;
        }
        let mut ways = Ways::new();
        let mut leaves = HashSet::new();
        self.leaves(
            decisions,
            Decisions::ROOT,
            &mut Vec::new(),
            &mut |answer, path| {
                // Schedules may lead to one leaf by several orders of its calls.
                let mut calls = path.to_vec();
                calls.sort_unstable_by_key(|(call, _)| *call);
                let calls: Vec<(PointId, Label)> =
                    calls.into_iter().map(|(call, _)| call).collect();
                if leaves.insert(calls) {
                    let product: BigUint = path.iter().map(|(_, ways)| ways).product();
                    *ways.entry(answer.untouched()).or_default() += product;
                }
            },
        )?;
        Some(ways)
    }

    #[expect(clippy::type_complexity, reason = "a callback over one leaf's path")]
    fn leaves(
        &mut self,
        decisions: &Decisions,
        node: NodeId,
        path: &mut Vec<((PointId, Label), BigUint)>,
        each: &mut dyn FnMut(Answer, &[((PointId, Label), BigUint)]),
    ) -> Option<()> {
        let node = decisions.node(node);
        if let Some(leaf) = node.leaf {
            each(leaf.answer?, path);
        }
        for choice in &node.choices {
            let ways = self.call(choice.child)?;
            for edge in &choice.edges {
                let label = edge.label();
                let count = ways.get(&label).cloned().unwrap_or_default();
                path.push(((choice.child, label), count));
                self.leaves(decisions, edge.to, path, each)?;
                path.pop();
            }
        }
        Some(())
    }
}

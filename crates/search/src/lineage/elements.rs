//! What can fail, numbered for the solvers.
//!
//! Owns the numbers: an *element* is one way for one point to fail, a *spot*
//! is a point that can fail at all, and a *label* stands for the spots that
//! may take each other's place: replicas of one service asked the same, and
//! attempts of one call. Labels only choose what to probe; a wrong one costs
//! executions.

use std::collections::HashMap;
use std::sync::Arc;

use murphy_hitting::Set;
use murphy_model::{Interface, PayloadHash, Point};

use crate::catalogue::{Catalogue, FaultKey, FaultSet, ModeId, PointId};

/// All elements, spots and labels seen so far.
#[derive(Debug, Default)]
pub(super) struct Elements {
    faults: Vec<FaultKey>,
    spot_of: Vec<usize>,
    spots: Vec<Spot>,
    by_point: HashMap<PointId, usize>,
    labels: HashMap<Label, usize>,
    members: Vec<Vec<usize>>,
    /// How many points of the catalogue have been looked at.
    taken_in: usize,
}

/// A point that can fail.
#[derive(Debug)]
struct Spot {
    point: PointId,
    label: usize,
    elements: Set,
}

/// What spots that may take each other's place have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Label {
    caller: Option<Box<Label>>,
    /// The destination without what numbers its replicas.
    service: Box<str>,
    interface: Interface,
    payload: Option<PayloadHash>,
    site: Option<Arc<str>>,
}

impl Label {
    fn of(point: &Point) -> Self {
        let frame = point.frame();
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | ':');
        Label {
            caller: point.parent().map(|caller| Box::new(Label::of(caller))),
            service: frame.destination.trim_end_matches(is_number).into(),
            interface: frame.interface.clone(),
            payload: frame.payload,
            site: frame.site.clone(),
        }
    }
}

impl Elements {
    /// Takes in the points that were numbered since.
    pub(super) fn update(&mut self, catalogue: &Catalogue) {
        let new: Vec<PointId> = catalogue.ids().skip(self.taken_in).collect();
        self.taken_in += new.len();
        for id in new {
            if !catalogue.entry(id).modes.is_empty() {
                self.insert(id, catalogue);
            }
        }
    }

    fn insert(&mut self, id: PointId, catalogue: &Catalogue) {
        let spot = self.spots.len();
        let mut elements = Set::new();
        for mode in &catalogue.entry(id).modes {
            elements.insert(self.faults.len());
            self.spot_of.push(spot);
            self.faults.push(FaultKey::at(id, *mode));
        }
        let fresh = self.labels.len();
        let label = Label::of(catalogue.point(id));
        let label = *self.labels.entry(label).or_insert(fresh);
        self.members.resize(self.labels.len(), Vec::new());
        self.members[label].push(spot);
        self.by_point.insert(id, spot);
        self.spots.push(Spot {
            point: id,
            label,
            elements,
        });
    }

    pub(super) fn spots(&self) -> std::ops::Range<usize> {
        0..self.spots.len()
    }

    /// The spot of a point, if it can fail.
    pub(super) fn spot(&self, point: PointId) -> Option<usize> {
        self.by_point.get(&point).copied()
    }

    pub(super) fn point(&self, spot: usize) -> PointId {
        self.spots[spot].point
    }

    pub(super) fn spot_of(&self, element: usize) -> usize {
        self.spot_of[element]
    }

    pub(super) fn mode(&self, element: usize) -> ModeId {
        self.faults[element].mode
    }

    pub(super) fn label(&self, spot: usize) -> usize {
        self.spots[spot].label
    }

    pub(super) fn labels(&self) -> std::ops::Range<usize> {
        0..self.members.len()
    }

    /// The spots of a label, in the order first seen.
    pub(super) fn members(&self, label: usize) -> &[usize] {
        &self.members[label]
    }

    /// All ways for a spot to fail.
    pub(super) fn ways(&self, spot: usize) -> &Set {
        &self.spots[spot].elements
    }

    /// The first way for a spot to fail.
    pub(super) fn first_way(&self, spot: usize) -> usize {
        let ways = self.ways(spot);
        ways.first().expect("a spot can fail in some way")
    }

    pub(super) fn element(&self, fault: FaultKey) -> Option<usize> {
        let spot = self.spot(fault.point)?;
        let mut ways = self.ways(spot).iter();
        ways.find(|element| self.faults[*element] == fault)
    }

    pub(super) fn fault_set(&self, elements: &Set) -> FaultSet {
        FaultSet::new(
            elements
                .iter()
                .map(|element| self.faults[element])
                .collect(),
        )
    }

    pub(super) fn len(&self) -> usize {
        self.faults.len()
    }

    /// The spots at which a set of elements lies.
    pub(super) fn spots_of(&self, elements: &Set) -> Set {
        elements
            .iter()
            .map(|element| self.spot_of(element))
            .collect()
    }
}

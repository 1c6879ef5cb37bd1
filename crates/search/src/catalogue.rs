//! The points seen so far, numbered, with how each may fail.
//!
//! Owns the numbering. Everything else in this crate speaks of points, modes
//! and faults by number, because a search compares them millions of times.

use std::collections::HashMap;

use murphy_model::{Fault, Faultload, Mode, Point, Target};

use crate::options::Options;

/// The number of a point, in the order points were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PointId(pub(crate) u32);

/// The number of a mode, in the order modes were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModeId(pub(crate) u16);

/// A fault by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FaultKey {
    /// The point; for a persistent fault its first attempt.
    pub(crate) point: PointId,
    /// Whether every attempt is meant.
    pub(crate) every: bool,
    pub(crate) mode: ModeId,
}

impl FaultKey {
    /// At this call alone.
    pub(crate) fn at(point: PointId, mode: ModeId) -> Self {
        FaultKey {
            point,
            every: false,
            mode,
        }
    }
}

/// A faultload by numbers: sorted, at most one fault per target.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FaultSet(Box<[FaultKey]>);

impl FaultSet {
    pub(crate) fn new(mut faults: Vec<FaultKey>) -> Self {
        faults.sort_unstable();
        faults.dedup();
        FaultSet(faults.into())
    }

    pub(crate) fn keys(&self) -> &[FaultKey] {
        &self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all of these are among the others.
    pub(crate) fn is_subset(&self, others: &FaultSet) -> bool {
        let among = |key: &FaultKey| others.0.binary_search(key).is_ok();
        self.0.iter().all(among)
    }

    /// Both sets together; `None` if they want one target to fail two ways.
    pub(crate) fn union(&self, other: &[FaultKey]) -> Option<FaultSet> {
        let mut faults = self.0.to_vec();
        faults.extend_from_slice(other);
        let union = FaultSet::new(faults);
        let clash =
            |pair: &[FaultKey]| pair[0].point == pair[1].point && pair[0].every == pair[1].every;
        (!union.0.windows(2).any(clash)).then_some(union)
    }
}

/// What is known of a point apart from behaviour.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) point: Point,
    /// Whether it is the scenario's own request and never fails.
    pub(crate) observed_only: bool,
    /// How it may fail, by the options.
    pub(crate) modes: Vec<ModeId>,
    /// The first point seen that differs in its predecessors at most.
    pub(crate) place: PointId,
    /// The first attempt of the same call (itself, if it is that).
    pub(crate) base: PointId,
    /// The points it was made under, nearest first.
    pub(crate) ancestors: Vec<PointId>,
}

/// All points seen, numbered.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    entries: Vec<Entry>,
    by_point: HashMap<Point, PointId>,
    by_place: HashMap<Point, PointId>,
    modes: Vec<Mode>,
    by_mode: HashMap<Mode, ModeId>,
}

impl Catalogue {
    /// The number of a point, new if need be. `entry` says whether it is the
    /// scenario's own request, which fails only if that is asked for.
    pub(crate) fn number(&mut self, point: &Point, entry: bool, options: &Options) -> PointId {
        if let Some(id) = self.by_point.get(point) {
            return *id;
        }
        let id = PointId(self.entries.len() as u32);
        let observed_only = entry && !options.entries;
        let allowed = !observed_only && options.filter.allows(point);
        let modes = match allowed {
            true => options
                .modes
                .of(point)
                .iter()
                .map(|mode| self.mode_number(*mode))
                .collect(),
            false => Vec::new(),
        };
        let base = match point.frame().count {
            1 => id,
            _ => self
                .by_point
                .get(&point.with_count(1))
                .copied()
                .unwrap_or(id),
        };
        let ancestors = point
            .ancestors()
            .filter_map(|above| self.by_point.get(above).copied());
        let place = *self
            .by_place
            .entry(point.without_predecessors())
            .or_insert(id);
        self.entries.push(Entry {
            point: point.clone(),
            place,
            observed_only,
            modes,
            base,
            ancestors: ancestors.collect(),
        });
        self.by_point.insert(point.clone(), id);
        id
    }

    pub(crate) fn mode_number(&mut self, mode: Mode) -> ModeId {
        if let Some(id) = self.by_mode.get(&mode) {
            return *id;
        }
        let id = ModeId(self.modes.len() as u16);
        self.modes.push(mode);
        self.by_mode.insert(mode, id);
        id
    }

    pub(crate) fn find(&self, point: &Point) -> Option<PointId> {
        self.by_point.get(point).copied()
    }

    pub(crate) fn entry(&self, id: PointId) -> &Entry {
        &self.entries[id.0 as usize]
    }

    pub(crate) fn point(&self, id: PointId) -> &Point {
        &self.entry(id).point
    }

    pub(crate) fn mode(&self, id: ModeId) -> Mode {
        self.modes[usize::from(id.0)]
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = PointId> + use<> {
        (0..self.entries.len() as u32).map(PointId)
    }

    /// Those that can fail.
    pub(crate) fn fallible(&self) -> impl Iterator<Item = PointId> {
        let can_fail = |id: &PointId| !self.entry(*id).modes.is_empty();
        self.ids().filter(can_fail)
    }

    /// Whether the fault is injected into the call at `point`.
    pub(crate) fn hits(&self, fault: FaultKey, point: PointId) -> bool {
        match fault.every {
            true => self.entry(point).base == fault.point,
            false => fault.point == point,
        }
    }

    /// The fault of a set that is injected into the call at `point`, the one aimed at
    /// this call alone first.
    pub(crate) fn fault_at(&self, faults: &FaultSet, point: PointId) -> Option<FaultKey> {
        let exact = |key: &&FaultKey| !key.every && key.point == point;
        let wide = |key: &&FaultKey| key.every && self.hits(**key, point);
        let keys = faults.keys();
        keys.iter()
            .find(exact)
            .or_else(|| keys.iter().find(wide))
            .copied()
    }

    /// The faultload a set of numbers stands for.
    pub(crate) fn faultload(&self, faults: &FaultSet) -> Faultload {
        let spelled = faults.keys().iter().map(|key| {
            let point = self.point(key.point);
            let mode = self.mode(key.mode);
            match key.every {
                true => Fault::every(point, mode),
                false => Fault::at(point.clone(), mode),
            }
        });
        Faultload::new(spelled).expect("a fault set has one fault per target")
    }

    /// The number of a fault, if its target is a known point (not a pattern).
    pub(crate) fn key(&mut self, fault: &Fault) -> Option<FaultKey> {
        self.mode_number(fault.mode);
        self.key_of(fault)
    }

    /// The number of a fault, if its target and its mode are known.
    pub(crate) fn key_of(&self, fault: &Fault) -> Option<FaultKey> {
        let (point, every) = match &fault.target {
            Target::Call(point) => (point, false),
            Target::Every(point) => (point, true),
            Target::Matching(_) => return None,
        };
        Some(FaultKey {
            point: self.find(point)?,
            every,
            mode: *self.by_mode.get(&fault.mode)?,
        })
    }
}

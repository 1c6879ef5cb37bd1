//! Faults and faultloads: what is to fail, and how.
//!
//! Owns which faults go together. A faultload holds at most one fault per
//! target; whether its faults can all be injected in one execution is for `search`
//! to find out.

use std::collections::BTreeMap;

use crate::{Attempts, Mode, Pattern, Point};

/// Which calls a fault is injected into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Exactly the call at this point: one transient failure.
    Call(Point),
    /// Every attempt of the call at this point: a persistent failure. The
    /// count of the point's last frame is 1 and stands for all of them.
    Every(Point),
    /// Every call that the pattern matches.
    Matching(Pattern),
}

impl Target {
    /// All attempts of the call at `point`.
    pub fn every(point: &Point) -> Self {
        Target::Every(point.with_count(1))
    }

    /// The plainest target that means what the pattern means.
    ///
    /// A pattern without wildcards is the call it spells out; one whose only
    /// wildcard is the last count is every attempt of that call.
    pub fn from_pattern(pattern: Pattern) -> Self {
        if let Some(point) = pattern.as_point() {
            return Target::Call(point);
        }
        let mut first = pattern.clone();
        if let Some(last) = first.frames.last_mut()
            && std::mem::replace(&mut last.count, Attempts::Exactly(1)) == Attempts::Any
            && let Some(point) = first.as_point()
        {
            return Target::Every(point);
        }
        Target::Matching(pattern)
    }

    /// Whether it is injected into the call at `point`.
    pub fn matches(&self, point: &Point) -> bool {
        match self {
            Target::Call(target) => target == point,
            Target::Every(target) => target.same_call(point),
            Target::Matching(pattern) => pattern.injects(point),
        }
    }
}

/// A mode at a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// Which calls fail.
    pub target: Target,
    /// How they fail.
    pub mode: Mode,
}

impl Fault {
    /// A transient fault: this one call fails.
    pub fn at(point: Point, mode: Mode) -> Self {
        Fault {
            target: Target::Call(point),
            mode,
        }
    }

    /// A persistent fault: every attempt of the call fails.
    pub fn every(point: &Point, mode: Mode) -> Self {
        Fault {
            target: Target::every(point),
            mode,
        }
    }
}

/// A set of faults, at most one per target; printed in the order of targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Faultload(BTreeMap<Target, Mode>);

/// Two faults of one faultload want the same target to fail in two ways.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two faults for one target: it cannot fail both ways in one execution")]
pub struct Conflict {
    /// The fault that came second.
    pub fault: Fault,
    /// The mode the target has already.
    pub already: Mode,
}

impl Faultload {
    /// No faults: the reference execution.
    pub fn none() -> Self {
        Faultload::default()
    }

    /// A faultload of these faults, refused if two share a target.
    pub fn new(faults: impl IntoIterator<Item = Fault>) -> Result<Self, Conflict> {
        let mut load = Faultload::none();
        for fault in faults {
            load.insert(fault)?;
        }
        Ok(load)
    }

    /// Adds a fault, refused if its target is to fail already.
    pub(crate) fn insert(&mut self, fault: Fault) -> Result<(), Conflict> {
        if let Some(already) = self.0.get(&fault.target).copied() {
            return Err(Conflict { already, fault });
        }
        self.0.insert(fault.target, fault.mode);
        Ok(())
    }

    /// The faults, in the order of their targets.
    pub fn faults(&self) -> impl Iterator<Item = Fault> + '_ {
        self.iter().map(|(target, mode)| Fault {
            target: target.clone(),
            mode,
        })
    }

    /// Targets and modes, in the order of the targets.
    pub fn iter(&self) -> impl Iterator<Item = (&Target, Mode)> {
        self.0.iter().map(|(target, mode)| (target, *mode))
    }

    /// The modes of its faults, in the order of the targets.
    pub fn modes(&self) -> impl Iterator<Item = Mode> {
        self.0.values().copied()
    }

    /// How many faults there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is to fail.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every fault of `self` is in `other` too.
    pub fn is_subset(&self, other: &Faultload) -> bool {
        self.0
            .iter()
            .all(|(target, mode)| other.0.get(target) == Some(mode))
    }
}

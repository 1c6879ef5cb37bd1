//! What a written faultload means: which of the points seen so far.
//!
//! Owns the reading of patterns and of points that leave something out. What
//! became of the faultloads that are meant is for the strategies to say.

use murphy_model::{Fault, Faultload, Mode, Pattern, Point, Target};

use crate::catalogue::{Catalogue, FaultSet};

/// A target that no call seen so far fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverSeen(pub Target);

impl std::fmt::Display for NeverSeen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no call that was seen fits `{}`", self.0)
    }
}

impl std::error::Error for NeverSeen {}

impl Catalogue {
    /// Every point seen that can be injected, in the order first seen.
    pub(crate) fn fallible_points(&self) -> Vec<&Point> {
        self.fallible().map(|id| self.point(id)).collect()
    }

    /// The faultloads over points seen that a faultload may mean, at most
    /// `most` of them: patterns, and points written without payload or
    /// predecessors, may fit several.
    pub(crate) fn resolve(
        &self,
        faultload: &Faultload,
        most: usize,
    ) -> Result<Vec<Faultload>, NeverSeen> {
        let mut choices = Vec::new();
        for fault in faultload.faults() {
            let targets = self.targets(&fault.target);
            if targets.is_empty() {
                return Err(NeverSeen(fault.target));
            }
            let at = |target| Fault {
                target,
                mode: fault.mode,
            };
            choices.push(targets.into_iter().map(at).collect());
        }
        let mut resolved = Vec::new();
        choose(&choices, &mut Vec::new(), most, &mut resolved);
        Ok(resolved)
    }

    /// A faultload over points seen, by numbers; or the first mode in it that
    /// was not asked for anywhere and so has no number.
    pub(crate) fn numbered(
        &self,
        faultload: &Faultload,
    ) -> Result<Result<FaultSet, Mode>, NeverSeen> {
        let mut keys = Vec::new();
        for fault in faultload.faults() {
            match self.key_of(&fault) {
                Some(key) => keys.push(key),
                None if matches!(fault.target, Target::Matching(_)) => {
                    return Err(NeverSeen(fault.target));
                }
                None if self.targets(&fault.target).is_empty() => {
                    return Err(NeverSeen(fault.target));
                }
                None => return Ok(Err(fault.mode)),
            }
        }
        Ok(Ok(FaultSet::new(keys)))
    }

    fn targets(&self, target: &Target) -> Vec<Target> {
        let known = |point: &Point| self.find(point).is_some();
        match target {
            Target::Call(point) if known(point) => vec![target.clone()],
            Target::Every(point) if known(point) => vec![target.clone()],
            Target::Call(point) => self.loosely(point, point.frame().count, Target::Call),
            Target::Every(point) => self.loosely(point, 1, |point| Target::every(&point)),
            Target::Matching(pattern) => self.matching(pattern),
        }
    }

    /// Targets at points that are what was written, at this last count.
    fn loosely(
        &self,
        written: &Point,
        count: u32,
        target: impl Fn(Point) -> Target,
    ) -> Vec<Target> {
        let known = self.ids().map(|id| self.point(id));
        let meant = known.filter(|point| loosely(written, point, |c| *c == count));
        meant.cloned().map(target).collect()
    }

    fn matching(&self, pattern: &Pattern) -> Vec<Target> {
        let mut fits = self.fallible_points();
        fits.retain(|point| pattern.matches(point));
        let mut targets: Vec<Target> = fits.into_iter().cloned().map(Target::Call).collect();
        targets.dedup();
        targets
    }
}

/// One fault of each choice, all at different targets, in every way until there
/// are `most`.
fn choose(
    choices: &[Vec<Fault>],
    chosen: &mut Vec<Fault>,
    most: usize,
    resolved: &mut Vec<Faultload>,
) {
    let Some((first, rest)) = choices.split_first() else {
        let faultload = Faultload::new(chosen.iter().cloned()).expect("targets differ");
        if !resolved.contains(&faultload) {
            resolved.push(faultload);
        }
        return;
    };
    for fault in first {
        let taken = chosen.iter().any(|other| other.target == fault.target);
        if taken || resolved.len() == most {
            continue;
        }
        chosen.push(fault.clone());
        choose(rest, chosen, most, resolved);
        chosen.pop();
    }
}

/// Whether a known point is what was written, where that leaves out payload,
/// predecessors and call site.
fn loosely(written: &Point, known: &Point, count: impl Fn(&u32) -> bool) -> bool {
    let (written_frames, known_frames) = (written.frames(), known.frames());
    let last = written_frames.len() - 1;
    written_frames.len() == known_frames.len()
        && written_frames
            .iter()
            .zip(&known_frames)
            .enumerate()
            .all(|(i, (w, k))| {
                let counts = if i == last {
                    count(&k.count)
                } else {
                    w.count == k.count
                };
                counts
                    && w.destination == k.destination
                    && w.interface == k.interface
                    && (w.payload.is_none() || w.payload == k.payload)
                    && (w.predecessors.is_none() || w.predecessors == k.predecessors)
                    && (w.site.is_none() || w.site == k.site)
            })
}

//! A faultload made ready for look-ups: which fault strikes this call?
//!
//! Owns the index. The cost of a look-up does not depend on how many calls
//! the faultload names; only patterns for the same destination are tried one
//! by one. What striking means is up to the simulator or the proxy.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::point::AnyCount;
use crate::{Fault, Faultload, Point, Target};

/// The faults of one faultload, found by the point they strike.
#[derive(Clone, Debug, Default)]
pub struct Armed {
    /// Those of single attempts, found by the call and then by the count, so
    /// that no point need be made for an attempt that nothing strikes.
    attempts: FxHashMap<AnyCount, FxHashMap<u32, Arc<Fault>>>,
    every: FxHashMap<AnyCount, Arc<Fault>>,
    /// Patterns by the destination of their last frame; those for several
    /// destinations under `None`.
    patterns: FxHashMap<Option<Arc<str>>, Vec<Arc<Fault>>>,
}

impl Armed {
    /// Makes a faultload ready.
    pub fn new(faultload: &Faultload) -> Self {
        let mut armed = Armed::default();
        for fault in faultload.faults() {
            armed.add(Arc::new(fault));
        }
        armed
    }

    fn add(&mut self, fault: Arc<Fault>) {
        match &fault.target {
            Target::Call(point) => {
                let attempts = self.attempts.entry(AnyCount(point.clone()));
                let count = point.frame().count;
                attempts.or_default().insert(count, fault.clone());
            }
            Target::Every(point) => {
                self.every.insert(AnyCount(point.clone()), fault.clone());
            }
            Target::Matching(pattern) => {
                let last = pattern.frames.last();
                let destination = last.and_then(|frame| frame.destination.literal().cloned());
                let patterns = self.patterns.entry(destination).or_default();
                patterns.push(fault.clone());
            }
        }
    }

    /// Whether nothing can be struck.
    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.every.is_empty() && self.patterns.is_empty()
    }

    /// The fault that strikes the call at `point`, most specific target first:
    /// the call itself, then all its attempts, then patterns that name its
    /// destination, then other patterns; in the order of the faultload.
    pub fn strike(&self, point: &Point) -> Option<&Fault> {
        let struck = self.strike_attempt(point, point.frame().count);
        struck.map(|fault| &**fault)
    }

    /// The same for the `count`-th attempt of the call at `point`, to be kept
    /// without a copy.
    pub fn strike_attempt(&self, point: &Point, count: u32) -> Option<&Arc<Fault>> {
        let call = AnyCount(point.clone());
        let attempts = self.attempts.get(&call);
        let struck = attempts
            .and_then(|attempts| attempts.get(&count))
            .or_else(|| self.every.get(&call));
        if struck.is_some() || self.patterns.is_empty() {
            return struck;
        }
        let point = &point.attempt(count);
        let here = Some(point.frame().destination.clone());
        self.first_match(&here, point)
            .or_else(|| self.first_match(&None, point))
    }

    fn first_match(&self, destination: &Option<Arc<str>>, point: &Point) -> Option<&Arc<Fault>> {
        let mut patterns = self.patterns.get(destination)?.iter();
        patterns.find(|fault| fault.target.matches(point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> Point {
        text.parse().unwrap()
    }

    fn struck(faults: &str, at: &str) -> Option<String> {
        let armed = Armed::new(&faults.parse().unwrap());
        armed.strike(&point(at)).map(|fault| fault.mode.to_string())
    }

    #[test]
    fn the_most_specific_target_wins() {
        let faults = "a GET / > b GET / #2 = 500, a GET / > b GET / #* = 501, ** > b GET /* #* = 502, ** > * #* = 503";
        let cases = [
            ("a GET / > b GET / #2", Some("500")),
            ("a GET / > b GET /", Some("501")),
            ("a GET / > b GET /x", Some("502")),
            ("a GET / > c GET /", Some("503")),
        ];
        for (at, mode) in cases {
            assert_eq!(struck(faults, at).as_deref(), mode, "{at}");
        }
    }

    #[test]
    fn nothing_strikes_elsewhere() {
        assert_eq!(
            struck("a GET / > b GET / #* = 500", "c GET / > b GET /"),
            None
        );
        assert_eq!(struck("none", "a GET /"), None);
    }

    #[test]
    fn the_first_attempts_can_be_meant() {
        let faults = "a GET / > b GET / #..2 = 500";
        let counts =
            [1, 2, 3].map(|n| struck(faults, &format!("a GET / > b GET / #{n}")).is_some());
        assert_eq!(counts, [true, true, false]);
    }
}

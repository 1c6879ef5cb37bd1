//! A faultload made ready for look-ups: which fault is injected into this call?
//!
//! Owns the index. The cost of a look-up does not depend on how many calls
//! the faultload names; only patterns for the same destination, or for any,
//! are tried one by one. What injecting means is up to the simulator or the proxy.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::point::AnyCount;
use crate::{Fault, Faultload, Point, Target};

/// The faults of one faultload, found by the point they are injected into.
#[derive(Clone, Debug, Default)]
pub struct Armed {
    /// Those of single calls. One look-up tells for all attempts of a call, and
    /// no point need be made for an attempt without a fault.
    calls: FxHashMap<AnyCount, Attempts>,
    /// Patterns by the destination of their last frame.
    patterns: FxHashMap<Arc<str>, Vec<Arc<Fault>>>,
    /// Patterns for several destinations.
    anywhere: Vec<Arc<Fault>>,
}

/// The faults of one call.
#[derive(Clone, Debug, Default)]
struct Attempts {
    single: FxHashMap<u32, Arc<Fault>>,
    every: Option<Arc<Fault>>,
}

impl Attempts {
    fn fault_at(&self, count: u32) -> Option<&Arc<Fault>> {
        self.single.get(&count).or(self.every.as_ref())
    }
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
                let count = point.frame().count;
                self.attempts(point).single.insert(count, fault.clone());
            }
            Target::Every(point) => self.attempts(point).every = Some(fault.clone()),
            Target::Matching(pattern) => {
                let last = pattern.frames.last();
                let patterns = match last.and_then(|frame| frame.destination.literal()) {
                    Some(destination) => self.patterns.entry(destination.clone()).or_default(),
                    None => &mut self.anywhere,
                };
                patterns.push(fault.clone());
            }
        }
    }

    fn attempts(&mut self, point: &Point) -> &mut Attempts {
        self.calls.entry(AnyCount(point.clone())).or_default()
    }

    /// Whether nothing can be injected.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.patterns.is_empty() && self.anywhere.is_empty()
    }

    /// The fault that is injected into the call at `point`, most specific target first:
    /// the call itself, then all its attempts, then patterns that name its
    /// destination, then other patterns; in the order of the faultload.
    pub fn fault_at(&self, point: &Point) -> Option<&Fault> {
        let injected = self.fault_at_attempt(point, point.frame().count);
        injected.map(|fault| &**fault)
    }

    /// The same for the `count`-th attempt of the call at `point`, to be kept
    /// without a copy.
    pub fn fault_at_attempt(&self, point: &Point, count: u32) -> Option<&Arc<Fault>> {
        let attempts = self.calls.get(&AnyCount(point.clone()));
        attempts
            .and_then(|attempts| attempts.fault_at(count))
            .or_else(|| self.first_match(point, count))
    }

    fn first_match(&self, point: &Point, count: u32) -> Option<&Arc<Fault>> {
        let here = self.patterns.get(&point.frame().destination);
        if here.is_none() && self.anywhere.is_empty() {
            return None;
        }
        let point = point.attempt(count);
        let mut patterns = here.into_iter().flatten().chain(&self.anywhere);
        patterns.find(|fault| fault.target.matches(&point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> Point {
        text.parse().unwrap()
    }

    fn injected(faults: &str, at: &str) -> Option<String> {
        let armed = Armed::new(&faults.parse().unwrap());
        armed
            .fault_at(&point(at))
            .map(|fault| fault.mode.to_string())
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
            assert_eq!(injected(faults, at).as_deref(), mode, "{at}");
        }
    }

    #[test]
    fn nothing_is_injected_elsewhere() {
        assert_eq!(
            injected("a GET / > b GET / #* = 500", "c GET / > b GET /"),
            None
        );
        assert_eq!(
            injected("** > c GET /* #* = 500", "a GET / > b GET / #2"),
            None
        );
        assert_eq!(injected("none", "a GET /"), None);
    }

    #[test]
    fn the_first_attempts_can_be_meant() {
        let faults = "a GET / > b GET / #..2 = 500";
        let counts =
            [1, 2, 3].map(|n| injected(faults, &format!("a GET / > b GET / #{n}")).is_some());
        assert_eq!(counts, [true, true, false]);
    }
}

//! Which call an arrival became, for arrivals that are reported twice.
//!
//! Owns how long that is remembered: a proxy that lost the answer asks again at
//! once, so the latest few thousand are enough, however many calls there are.
//! All of them would be the one thing about an execution that is looked up all
//! over its memory, and slow for that.

use murphy_model::CallId;
use rustc_hash::FxHashMap;

/// How many are remembered at least.
const REMEMBERED: usize = 4096;

/// The calls that the latest arrivals became.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    latest: FxHashMap<u64, CallId>,
    /// Those before, as many at most.
    earlier: FxHashMap<u64, CallId>,
}

impl Arrivals {
    /// The call that this arrival became, if it is not new.
    pub(crate) fn get(&self, arrival: u64) -> Option<CallId> {
        let earlier = || self.earlier.get(&arrival);
        self.latest.get(&arrival).or_else(earlier).copied()
    }

    /// This arrival became that call.
    pub(crate) fn insert(&mut self, arrival: u64, call: CallId) {
        if self.latest.len() == REMEMBERED {
            std::mem::swap(&mut self.latest, &mut self.earlier);
            self.latest.clear();
        }
        self.latest.insert(arrival, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_and_memory_is_bounded() {
        let mut arrivals = Arrivals::default();
        for number in 0..10 * REMEMBERED as u32 {
            assert_eq!(arrivals.get(number.into()), None);
            arrivals.insert(number.into(), CallId(number));
            let oldest = number.saturating_sub(REMEMBERED as u32 - 1);
            assert_eq!(arrivals.get(oldest.into()), Some(CallId(oldest)));
        }
        let held = arrivals.latest.len() + arrivals.earlier.len();
        assert!(held <= 2 * REMEMBERED);
    }
}

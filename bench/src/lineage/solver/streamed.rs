//! What going through very many sets takes in memory.

use std::time::Instant;

use super::super::bars::Bars;
use super::super::instance;
use super::super::timing::seconds;
use super::formula;
use crate::proxy::resident::Resident;

/// The largest instance, gone through once without keeping a set.
pub(super) struct Streamed {
    seconds: f64,
    found: usize,
    resident_mib: f64,
    grown_mib: f64,
}

/// How many sets there are: 30 to the fourth power.
const SETS: usize = 810_000;

/// A hundred pages or so, for what else the process does meanwhile. The sets
/// themselves would take 40 MiB.
const FLAT_MIB: f64 = 0.5;

impl Streamed {
    /// To be called before anything else has used memory and given it back.
    pub(super) fn measure() -> Self {
        let start = Instant::now();
        let mut sets = formula(&instance::disjoint(30)).minimal();
        // With the first set, the stack of the search is there.
        let first = usize::from(sets.next().is_some());
        let before = resident_mib();
        let found = first + sets.count();
        let (seconds, resident_mib) = (start.elapsed().as_secs_f64(), resident_mib());
        Streamed {
            seconds,
            found,
            resident_mib,
            grown_mib: resident_mib - before,
        }
    }

    pub(super) fn judge(&self, bars: &mut Bars) {
        let is_kept = self.seconds < 1.0 && self.found == SETS && self.grown_mib < FLAT_MIB;
        let what = format!(
            "4 x 30 clauses streamed under 1 s in flat memory: {} sets in {}, resident {:.1} MiB, {:+.2} MiB since the first set",
            self.found,
            seconds(self.seconds),
            self.resident_mib,
            self.grown_mib
        );
        bars.judge(is_kept, what);
    }
}

fn resident_mib() -> f64 {
    Resident::of(std::process::id()).map_or(f64::NAN, |resident| resident.now)
}

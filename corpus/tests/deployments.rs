//! The deployments behave as published: where FastFI's algorithm explores them
//! in the simulator, the paths it observes overlap as much as those in the
//! published table 6, and it ends with one minimal combination per API.
//!
//! Calling each API once would miss half of the overlaps, by up to 0.3. The
//! largest deployments take minutes and are left out.

use std::collections::{BTreeMap, BTreeSet};

use murphy_corpus::deployments::{self, Request};
use murphy_corpus::{Simulator, find, overlap};
use murphy_model::{Execution, Fault, Faultload, Mode, Point};

/// How far apart the overlaps may be. Paths of requests that call two APIs are
/// too short for more.
const MARGIN: f64 = 0.04;

/// How many runs a mean is taken of.
const RUNS: u32 = 4;

/// A point is a bit: no deployment has more than 75.
type Bits = u128;

/// FastFI's loop, with a complete solver: tries minimal hitting sets of the
/// observed paths, of one point first, until all that are left are known to
/// fail.
struct FastFi {
    simulator: Simulator,
    points: BTreeMap<Point, u32>,
    paths: Vec<Bits>,
    failing: Vec<Bits>,
}

impl FastFi {
    fn explore(request: &Request, seed: u32) -> Self {
        let app = find("replicas").unwrap();
        let settings = format!("{} seed={seed}", request.settings());
        let settings = app.settings_from_text(&settings).unwrap();
        let mut fast_fi = FastFi {
            simulator: Simulator::new(app, settings),
            points: BTreeMap::new(),
            paths: Vec::new(),
            failing: Vec::new(),
        };
        fast_fi.inject(0);
        for most in 1..=request.replicas {
            while let Some(candidate) = fast_fi.candidate(0, 0, most) {
                fast_fi.inject(candidate);
            }
        }
        fast_fi
    }

    fn inject(&mut self, down: Bits) {
        let is_down = |(point, bit): (&Point, &u32)| {
            (down >> bit & 1 == 1).then(|| Fault::at(point.clone(), Mode::status(503)))
        };
        let faults = self.points.iter().filter_map(is_down);
        let execution = self.simulator.run(&Faultload::new(faults).unwrap());
        match execution.verdict.is_failure() {
            true => self.failing.push(down),
            false => {
                let path = self.path(&execution);
                self.paths.push(path);
            }
        }
    }

    /// The replicas that answered.
    fn path(&mut self, execution: &Execution) -> Bits {
        let calls = execution.trace.calls().iter();
        let answered = calls.filter(|call| call.parent.is_some() && call.injected.is_none());
        answered.fold(0, |path, call| {
            let next = self.points.len() as u32;
            path | 1 << *self.points.entry(call.point.clone()).or_insert(next)
        })
    }

    /// A minimal hitting set of at most so many points, among them `chosen` and
    /// none of `without`, that does not hold one that fails.
    fn candidate(&self, chosen: Bits, without: Bits, most: u32) -> Option<Bits> {
        let unhit = self.paths.iter().filter(|path| *path & chosen == 0);
        let Some(path) = unhit.min_by_key(|path| (*path & !without).count_ones()) else {
            return self.is_minimal(chosen).then_some(chosen);
        };
        if chosen.count_ones() + self.disjoint(chosen) > most {
            return None;
        }
        let mut without = without;
        for bit in bits(path & !without) {
            let more = chosen | bit;
            if !self
                .failing
                .iter()
                .any(|failing| failing & more == *failing)
                && let Some(found) = self.candidate(more, without, most)
            {
                return Some(found);
            }
            without |= bit;
        }
        None
    }

    /// How many paths at least need a point each of their own.
    fn disjoint(&self, chosen: Bits) -> u32 {
        let mut seen = chosen;
        let unmet = self.paths.iter().filter(|path| {
            let is_apart = *path & seen == 0;
            seen |= if is_apart { **path } else { 0 };
            is_apart
        });
        unmet.count() as u32
    }

    fn is_minimal(&self, hitting: Bits) -> bool {
        bits(hitting).all(|bit| self.paths.iter().any(|path| path & hitting == bit))
    }

    fn overlap(&self) -> f64 {
        let paths = self.paths.iter().map(|path| bits(*path).collect());
        overlap::of(&paths.collect::<Vec<BTreeSet<Bits>>>())
    }
}

fn bits(set: Bits) -> impl Iterator<Item = Bits> {
    (0..Bits::BITS)
        .map(|bit| 1 << bit)
        .filter(move |bit| set & bit != 0)
}

#[test]
fn paths_overlap_as_published() {
    let small = |request: &Request| request.apis * request.replicas <= 50 && request.replicas < 6;
    let mut checked = 0;
    for request in deployments::all().filter(small) {
        let mut mean = 0.0;
        for seed in 0..RUNS {
            let explored = FastFi::explore(&request, seed);
            let columns = explored.failing.len() as u32;
            assert_eq!(columns, request.apis, "{request:?}");
            mean += explored.overlap() / f64::from(RUNS);
        }
        let apart = (mean - request.overlap).abs();
        assert!(apart < MARGIN, "{mean:.3} for {request:?}");
        checked += 1;
    }
    assert_eq!(checked, 18);
}

//! Which faultloads to run: all single faults, all combinations of small
//! systems, and a seeded sample of larger ones.

use std::collections::BTreeSet;

use murphy_corpus::Simulator;
use murphy_corpus::brute::{every_case, http_modes};
use murphy_model::{Execution, Fault, Faultload, Mode, Point};

/// Modes that take no time of their own.
pub const QUICK: &str = "500,502,503,504,reset,close,after:503,after:reset,after:truncate:1,\
    after:malformed,duplicate";

/// The same with what only gRPC has.
pub const QUICK_GRPC: &str = "500,503,429,404,reset,close,after:503,after:reset,after:truncate:1,\
    after:truncate:100000,after:malformed,duplicate,grpc:UNAVAILABLE,grpc:NOT_FOUND,\
    grpc:DATA_LOSS,after:grpc:ABORTED";

pub fn modes(text: &str) -> Vec<Mode> {
    Mode::parse_list(text).unwrap()
}

/// More faultloads (`MURPHY_FAULTLOADS=10`) or fewer (`0.1`).
pub fn scaled(count: usize) -> usize {
    let factor = std::env::var("MURPHY_FAULTLOADS").ok();
    let factor = factor.map_or(1.0, |text| text.parse().expect("a number"));
    (count as f64 * factor).ceil() as usize
}

/// Points beyond this many are not injected one by one.
const POINTS: usize = 40;

/// Makes up faultloads for one system.
pub struct Planner {
    simulator: Simulator,
    modes: Vec<Mode>,
    random: fastrand::Rng,
    points: Vec<Point>,
}

impl Planner {
    /// A planner that knows every point of the system, also those that show
    /// only when others fail.
    pub fn new(simulator: Simulator, modes: Vec<Mode>, seed: u64) -> Self {
        let mut planner = Planner {
            simulator,
            modes,
            random: fastrand::Rng::with_seed(seed),
            points: Vec::new(),
        };
        planner.discover();
        planner
    }

    fn discover(&mut self) {
        let mut waiting = vec![Faultload::none()];
        let mut seen = BTreeSet::new();
        while let Some(faultload) = waiting.pop() {
            let execution = self.simulator.run(&faultload);
            for call in left_alone(&execution) {
                if self.points.len() < POINTS && seen.insert(call.clone()) {
                    self.points.push(call.clone());
                    let more = [Mode::status(500), Mode::RESET]
                        .map(|mode| plus(&faultload, &call, mode))
                        .into_iter()
                        .flatten();
                    waiting.extend(more);
                }
            }
        }
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Nothing, and every point in every mode.
    pub fn singles(&self) -> Vec<Faultload> {
        let each = |point: &Point| -> Vec<Faultload> {
            let single = |mode: &Mode| plus(&Faultload::none(), point, *mode);
            self.modes.iter().filter_map(single).collect()
        };
        let singles = self.points.iter().flat_map(each);
        [Faultload::none()].into_iter().chain(singles).collect()
    }

    /// Every faultload of HTTP errors that an exhaustive search would run, if
    /// there are not more than `most`.
    pub fn all(&mut self, most: usize) -> Vec<Faultload> {
        let mut all = Vec::new();
        every_case(
            &mut self.simulator,
            &http_modes,
            usize::MAX,
            &mut |execution| {
                all.push(execution.faultload);
                all.len() <= most
            },
        );
        match all.len() <= most {
            true => all,
            false => Vec::new(),
        }
    }

    /// Faultloads of two and three faults. Most of them are injected in full; every
    /// fourth has a fault at some known point that may never be reached.
    pub fn sample(&mut self, count: usize) -> Vec<Faultload> {
        if self.points.is_empty() {
            return Vec::new();
        }
        (0..count).map(|_| self.combination()).collect()
    }

    fn combination(&mut self) -> Faultload {
        let mut faultload = Faultload::none();
        for _ in 0..self.random.usize(2..=3) {
            let blind = self.random.u8(..4) == 0;
            let candidates = match blind {
                true => self.points.clone(),
                false => left_alone(&self.simulator.run(&faultload)),
            };
            let Some(point) = self.random.choice(candidates) else {
                break;
            };
            let mode = self.random.choice(self.modes.clone()).expect("some mode");
            faultload = plus(&faultload, &point, mode).unwrap_or(faultload);
        }
        faultload
    }

    /// Everything above, each faultload once, at most `most` of them beside
    /// the exhaustive ones of a small system.
    pub fn mixture(&mut self, small: usize, most: usize) -> Vec<Faultload> {
        let mut some = self.singles();
        some.extend(self.sample(most / 2));
        let some = self.fewer(some, most);
        let all: BTreeSet<Faultload> = self.all(small).into_iter().chain(some).collect();
        all.into_iter().collect()
    }

    fn fewer(&mut self, mut faultloads: Vec<Faultload>, most: usize) -> Vec<Faultload> {
        faultloads.sort();
        faultloads.dedup();
        self.random.shuffle(&mut faultloads);
        faultloads.truncate(most);
        faultloads
    }
}

/// The points of calls that could have been injected and were not.
fn left_alone(execution: &Execution) -> Vec<Point> {
    let calls = execution.trace.calls().iter();
    calls
        .filter(|call| call.parent.is_some() && call.injected.is_none())
        .map(|call| call.point.clone())
        .collect()
}

fn plus(faultload: &Faultload, point: &Point, mode: Mode) -> Option<Faultload> {
    let fault = Fault::at(point.clone(), mode);
    Faultload::new(faultload.faults().chain([fault])).ok()
}

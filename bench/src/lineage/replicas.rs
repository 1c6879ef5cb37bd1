//! Success paths of a deployment in which every API has replicas.
//!
//! A request calls each API a few times, each call goes to a random replica
//! that is up, and the path is the set of replicas that answered. Owns the
//! model and how paths are gathered; what the published deployments looked
//! like is not known, so `calls` stands in for it. The corpus has a system
//! that behaves so; solvers need its clauses only, by the thousand, so these
//! are drawn without running it.

use fastrand::Rng;
use murphy_hitting::{Formula, Set};

/// APIs with replicas, numbered API by API.
#[derive(Clone, Copy, Debug)]
pub struct Replicas {
    /// How many APIs a request needs.
    pub apis: usize,
    /// How many replicas each has.
    pub replicas: usize,
    /// How often a request calls each API; the fraction is the chance of one
    /// more call.
    pub calls: f64,
}

impl Replicas {
    /// The replicas that answered while those in `down` did not; none if an
    /// API had nobody left.
    pub fn path(&self, down: &Set, rng: &mut Rng) -> Option<Set> {
        let mut path = Set::new();
        for api in 0..self.apis {
            let all = api * self.replicas..(api + 1) * self.replicas;
            let up: Vec<usize> = all.filter(|replica| !down.contains(*replica)).collect();
            for _ in 0..self.calls_now(rng) {
                path.insert(*rng.choice(&up)?);
            }
        }
        Some(path)
    }

    fn calls_now(&self, rng: &mut Rng) -> usize {
        self.calls as usize + usize::from(rng.f64() < self.calls.fract())
    }

    /// Paths of requests that nothing happened to.
    pub fn calm(&self, count: usize, rng: &mut Rng) -> Vec<Set> {
        let path = |_| self.path(&Set::new(), rng).expect("all replicas are up");
        (0..count).map(path).collect()
    }

    /// The paths seen until every set of up to `replicas` elements that hits
    /// them all takes an API down: the clauses a complete search ends with.
    pub fn explored(&self, seed: u64) -> Vec<Set> {
        let mut rng = Rng::with_seed(seed);
        let mut paths = self.calm(1, &mut rng);
        let mut formula = Formula::of(paths.clone()).expect("a path is not empty");
        for size in 1..=self.replicas {
            while let Some(path) = self.surprise(&formula, size, &mut rng) {
                formula.add(path.clone()).expect("a path is not empty");
                paths.push(path);
            }
        }
        paths
    }

    /// The path of a request that succeeds although every path known is hit.
    /// What is down is drawn at random, so that the paths do not hang on the
    /// order in which a solver finds its sets.
    fn surprise(&self, formula: &Formula, size: usize, rng: &mut Rng) -> Option<Set> {
        let drawn = (0..DRAWS).map(|_| drawn(formula, rng));
        let drawn: Vec<Set> = drawn.filter(|down| down.len() <= size).collect();
        if let Some(path) = drawn.iter().find_map(|down| self.path(down, rng)) {
            return Some(path);
        }
        let sets = formula.minimal().at_most(size);
        let survived = sets.filter(|down| self.survives(down)).min()?;
        self.path(&survived, rng)
    }

    fn survives(&self, down: &Set) -> bool {
        let all: Vec<usize> = (0..self.apis * self.replicas).collect();
        let mut apis = all.chunks(self.replicas);
        apis.all(|api| api.iter().any(|replica| !down.contains(*replica)))
    }
}

/// How many sets are drawn before all of them are looked at.
const DRAWS: usize = 40;

/// A minimal hitting set: an element of a path not hit yet, until all are.
fn drawn(formula: &Formula, rng: &mut Rng) -> Set {
    let mut set = Set::new();
    for clause in formula.clauses() {
        if !clause.meets(&set) {
            let elements: Vec<usize> = clause.iter().collect();
            set.extend(rng.choice(elements));
        }
    }
    formula.shrunk(set)
}

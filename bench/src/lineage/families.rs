//! Random formulas of the kinds on which algorithm 1 was found to lose sets.
//!
//! Owns their making, in an order that is random too, since what is lost
//! depends on it.

use fastrand::Rng;
use murphy_hitting::Set;

use super::replicas::Replicas;

/// Clauses in the order in which a search meets them and their elements.
pub type Clauses = Vec<Vec<usize>>;

/// A kind of formula.
#[derive(Clone, Copy, Debug)]
pub enum Family {
    /// Clauses of a number of elements between two, anywhere.
    Random {
        /// How many elements there are.
        elements: usize,
        /// How many clauses.
        clauses: usize,
        /// Their smallest and largest size.
        sizes: (usize, usize),
    },
    /// Paths through replicas, one call to each API, nothing down.
    Observed {
        /// The deployment.
        replicas: Replicas,
        /// How many paths were seen.
        paths: usize,
    },
    /// Every path through APIs with these numbers of replicas.
    AllPaths(&'static [usize]),
    /// Every path through a tree of calls of which all are needed or one is
    /// enough.
    AndOr {
        /// How many calls there are.
        calls: usize,
    },
}

impl Family {
    /// One formula.
    pub fn draw(&self, rng: &mut Rng) -> Clauses {
        let sets = match *self {
            Family::Random {
                elements,
                clauses,
                sizes,
            } => (0..clauses)
                .map(|_| subset(elements, rng.usize(sizes.0..=sizes.1), rng))
                .collect(),
            Family::Observed { replicas, paths } => replicas.calm(paths, rng),
            Family::AllPaths(counts) => all_paths(counts),
            Family::AndOr { calls } => tree_paths(0, calls, true, rng),
        };
        shuffled(sets, rng)
    }
}

fn subset(elements: usize, size: usize, rng: &mut Rng) -> Set {
    rng.choose_multiple(0..elements, size).into_iter().collect()
}

fn all_paths(counts: &[usize]) -> Vec<Set> {
    let (mut paths, mut first) = (vec![Set::new()], 0);
    for count in counts {
        let longer = |path: Set| (first..first + count).map(move |replica| with(&path, replica));
        paths = paths.into_iter().flat_map(longer).collect();
        first += count;
    }
    paths
}

fn with(path: &Set, element: usize) -> Set {
    let mut path = path.clone();
    path.insert(element);
    path
}

/// The paths of a random tree over the calls `from..to`; the kinds of node
/// take turns.
fn tree_paths(from: usize, to: usize, all_needed: bool, rng: &mut Rng) -> Vec<Set> {
    if to - from == 1 {
        return vec![Set::from_iter([from])];
    }
    let middle = rng.usize(from + 1..to);
    let parts = [(from, middle), (middle, to)];
    let [left, right] = parts.map(|(from, to)| tree_paths(from, to, !all_needed, rng));
    match all_needed {
        true => left
            .iter()
            .flat_map(|a| right.iter().map(|b| joined(a, b)))
            .collect(),
        false => left.into_iter().chain(right).collect(),
    }
}

fn joined(a: &Set, b: &Set) -> Set {
    let mut both = a.clone();
    both.add(b);
    both
}

fn shuffled(sets: Vec<Set>, rng: &mut Rng) -> Clauses {
    let mut clauses: Clauses = sets.iter().map(|set| set.iter().collect()).collect();
    rng.shuffle(&mut clauses);
    for clause in &mut clauses {
        rng.shuffle(clause);
    }
    clauses
}

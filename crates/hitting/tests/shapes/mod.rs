//! Small random formulas of the shapes that occur, as bit masks, and what is
//! true of them by trying every set.

use fastrand::Rng;
use murphy_hitting::Set;

/// Clauses as bit masks over few variables.
pub(crate) struct Shape {
    pub(crate) variables: usize,
    pub(crate) clauses: Vec<u32>,
}

/// One formula, of a shape that `rng` chooses.
pub(crate) fn any(rng: &mut Rng) -> Shape {
    match rng.u8(0..4) {
        0 => random(rng),
        1 => replicas(rng),
        2 => nested(rng),
        _ => disjoint(rng),
    }
}

/// Clauses of one to five elements, anywhere.
fn random(rng: &mut Rng) -> Shape {
    let variables = rng.usize(1..=10);
    let clause =
        |rng: &mut Rng| (0..rng.u8(1..=5)).fold(0, |mask, _| mask | 1 << rng.usize(0..variables));
    let clauses = (0..rng.usize(0..=12)).map(|_| clause(rng)).collect();
    Shape { variables, clauses }
}

/// A path touches one or two replicas of every API.
fn replicas(rng: &mut Rng) -> Shape {
    let counts: Vec<usize> = (0..rng.usize(1..=4)).map(|_| rng.usize(1..=3)).collect();
    let path = |rng: &mut Rng| {
        let mut first = 0;
        counts.iter().fold(0, |mask, count| {
            let pick = |rng: &mut Rng| 1 << (first + rng.usize(0..*count));
            let replicas = pick(rng) | if rng.bool() { pick(rng) } else { 0 };
            first += count;
            mask | replicas
        })
    };
    let clauses = (0..rng.usize(1..=10)).map(|_| path(rng)).collect();
    Shape {
        variables: counts.iter().sum(),
        clauses,
    }
}

/// All success paths of a tree of calls that are all needed or stand in for
/// one another.
fn nested(rng: &mut Rng) -> Shape {
    let variables = rng.usize(2..=9);
    Shape {
        variables,
        clauses: paths(rng, 0, variables, true),
    }
}

fn paths(rng: &mut Rng, from: usize, to: usize, all_needed: bool) -> Vec<u32> {
    if to - from == 1 {
        return vec![1 << from];
    }
    let middle = rng.usize(from + 1..to);
    let left = paths(rng, from, middle, !all_needed);
    let right = paths(rng, middle, to, !all_needed);
    if all_needed {
        let both = |a: u32| right.iter().map(move |b| a | b);
        return left.into_iter().flat_map(both).collect();
    }
    left.into_iter().chain(right).collect()
}

/// Clauses that share nothing: every choice of one element each is minimal.
fn disjoint(rng: &mut Rng) -> Shape {
    let mut shape = Shape {
        variables: 0,
        clauses: Vec::new(),
    };
    while shape.variables < 8 {
        let width = rng.usize(1..=4);
        shape.clauses.push(((1 << width) - 1) << shape.variables);
        shape.variables += width;
    }
    shape
}

impl Shape {
    /// The clauses with elements far apart, so that sets need several words.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = Set> + '_ {
        self.clauses.iter().map(|mask| set(*mask))
    }

    /// Every minimal hitting set, in order.
    pub(crate) fn minimal(&self) -> Vec<Set> {
        let hits = |mask: u32| self.clauses.iter().all(|clause| clause & mask != 0);
        let minimal = |mask: &u32| hits(*mask) && bits(*mask).all(|bit| !hits(mask & !(1 << bit)));
        sorted((0..1 << self.variables).filter(minimal).map(set))
    }
}

/// A mask as a set; the distance leaves words of a set empty in between.
fn set(mask: u32) -> Set {
    bits(mask).map(|bit| bit * 23 + 1).collect()
}

fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..u32::BITS as usize).filter(move |bit| mask >> bit & 1 == 1)
}

pub(crate) fn sorted(sets: impl Iterator<Item = Set>) -> Vec<Set> {
    let mut sets: Vec<Set> = sets.collect();
    sets.sort();
    sets
}

//! FastFI's algorithm 1, as printed.
//!
//! A depth-first search over the clauses not hit, with a table of the smallest
//! depth at which the same clauses were left before. Owns that algorithm,
//! losses included: a longer way to the same clauses is dropped although the
//! set it leads to may be minimal. Line 17 is read as the lowest set bit
//! (printed `u & !u`). Two things are done better than printed: what is
//! chosen is the path of the search and not copied, and the solutions found
//! are looked up in a hash set and not in a list.

use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

/// What the algorithm found.
pub struct Found {
    /// The solutions, their elements in ascending order.
    pub sets: Vec<Vec<usize>>,
    /// Whether it came to its end within the time given.
    pub ended: bool,
}

/// The minimal solutions of up to `most` elements that algorithm 1 finds.
/// The order of clauses, and of elements within them, is its search order.
pub fn algorithm_1(clauses: &[Vec<usize>], most: Option<usize>, limit: Duration) -> Found {
    match clauses.len().div_ceil(64) {
        0 | 1 => Search::<1>::over(clauses, most, limit).run(),
        2 => Search::<2>::over(clauses, most, limit).run(),
        3 | 4 => Search::<4>::over(clauses, most, limit).run(),
        5..=24 => Search::<24>::over(clauses, most, limit).run(),
        words => panic!("{words} words of clauses are more than any instance has"),
    }
}

/// One bit per clause.
type Mask<const W: usize> = [u64; W];

struct Search<const W: usize> {
    clauses: Vec<Vec<usize>>,
    /// The clauses each element hits.
    hits: Vec<Mask<W>>,
    full: Mask<W>,
    most: usize,
    best_depth: FxHashMap<Mask<W>, usize>,
    found: FxHashSet<Vec<usize>>,
    in_order: Vec<Vec<usize>>,
    until: Instant,
}

/// How many states are taken between two looks at the clock.
const BETWEEN_LOOKS: usize = 4096;

impl<const W: usize> Search<W> {
    fn over(clauses: &[Vec<usize>], most: Option<usize>, limit: Duration) -> Self {
        let elements = clauses
            .iter()
            .flatten()
            .max()
            .map_or(0, |largest| largest + 1);
        let (mut hits, mut full) = (vec![[0; W]; elements], [0; W]);
        for (at, clause) in clauses.iter().enumerate() {
            full[at / 64] |= 1 << (at % 64);
            for element in clause {
                hits[*element][at / 64] |= 1 << (at % 64);
            }
        }
        Search {
            clauses: clauses.to_vec(),
            most: most.unwrap_or(elements),
            hits,
            full,
            best_depth: FxHashMap::default(),
            found: FxHashSet::default(),
            in_order: Vec::new(),
            until: Instant::now() + limit,
        }
    }

    fn run(mut self) -> Found {
        let mut stack = vec![(self.full, 0usize, usize::MAX)];
        let mut chosen = Vec::new();
        let mut taken = 0;
        let mut ended = true;
        while let Some((open, depth, element)) = stack.pop() {
            chosen.truncate(depth.saturating_sub(1));
            if depth > 0 {
                chosen.push(element);
            }
            self.step(open, &chosen, &mut stack);
            taken += 1;
            if taken % BETWEEN_LOOKS == 0 && Instant::now() > self.until {
                ended = stack.is_empty();
                break;
            }
        }
        Found {
            sets: self.in_order,
            ended,
        }
    }

    fn step(&mut self, open: Mask<W>, chosen: &[usize], stack: &mut Vec<(Mask<W>, usize, usize)>) {
        if open == [0; W] {
            self.keep(chosen);
            return;
        }
        let depth = chosen.len();
        let best = self.best_depth.entry(open).or_insert(usize::MAX);
        if depth >= self.most || depth > *best {
            return;
        }
        *best = depth;
        for element in &self.clauses[lowest(&open)] {
            if !chosen.contains(element) {
                stack.push((without(&open, &self.hits[*element]), depth + 1, *element));
            }
        }
    }

    fn keep(&mut self, chosen: &[usize]) {
        let mut set = chosen.to_vec();
        set.sort_unstable();
        if self.found.contains(&set) || !self.is_minimal(&set) {
            return;
        }
        self.found.insert(set.clone());
        self.in_order.push(set);
    }

    fn is_minimal(&self, set: &[usize]) -> bool {
        (0..set.len()).all(|spared| {
            let others = set.iter().enumerate().filter(|(at, _)| *at != spared);
            let open = others.fold(self.full, |open, (_, other)| {
                without(&open, &self.hits[*other])
            });
            open != [0; W]
        })
    }
}

fn lowest<const W: usize>(mask: &Mask<W>) -> usize {
    let word = mask.iter().position(|word| *word != 0);
    let word = word.expect("something is open");
    word * 64 + mask[word].trailing_zeros() as usize
}

fn without<const W: usize>(mask: &Mask<W>, hits: &Mask<W>) -> Mask<W> {
    std::array::from_fn(|at| mask[at] & !hits[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(clauses: &[Vec<usize>], most: usize) -> Vec<Vec<usize>> {
        let mut found = algorithm_1(clauses, Some(most), Duration::MAX / 4);
        assert!(found.ended);
        found.sets.sort();
        found.sets
    }

    /// The example of the paper's figure 8, with its three solutions.
    #[test]
    fn the_example_of_the_paper_comes_out_as_printed() {
        let [a, b, c, d] = [0, 1, 2, 3];
        let clauses = [vec![a, d], vec![b, c], vec![a, b]];
        assert_eq!(found(&clauses, 2), [vec![a, b], vec![a, c], vec![b, d]]);
    }

    /// {a, b, c} is minimal too, and is dropped: choosing y leaves the same
    /// clause open with one element less.
    #[test]
    fn a_minimal_set_is_lost_where_a_shorter_way_came_first() {
        let [a, b, c, y] = [0, 1, 2, 3];
        let clauses = [vec![a, y], vec![b, y], vec![c]];
        assert_eq!(found(&clauses, 3), [vec![c, y]]);
    }

    #[test]
    fn the_bound_and_wide_masks_are_kept_to() {
        let clauses: Vec<Vec<usize>> = (0..130).map(|at| vec![at % 2, 2 + at % 3]).collect();
        assert_eq!(found(&clauses, 2), [vec![0, 1]]);
        assert_eq!(found(&clauses, 3), [vec![0, 1], vec![2, 3, 4]]);
    }
}

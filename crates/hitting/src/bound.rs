//! How far a branch of the search may go, and what to try next.
//!
//! Owns the size asked for and every cut made because of it. Each cut drops
//! only branches without a set of up to that size, so none is lost:
//! a set can not hit more disjoint clauses than it has places left, nor more
//! clauses than its places hit at best, and the last places are looked at
//! together.

use crate::matrix::Matrix;
use crate::minimal::Level;
use crate::words;

/// The largest size asked for, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound {
    most: Option<usize>,
    /// How many open clauses each free column hits, at the node at hand.
    reach: Vec<(usize, usize)>,
    /// Columns that hit all that another leaves open.
    partners: Vec<u64>,
}

/// From this many places on it pays to count what every free column hits.
/// Below, trying them is cheaper.
const COUNTED_FROM: usize = 4;

impl Bound {
    pub(crate) fn up_to(size: usize) -> Self {
        Bound {
            most: Some(size),
            ..Bound::default()
        }
    }

    /// Writes down what is to be tried at a node with `size` chosen elements
    /// and something open; false if no set asked for lies below.
    pub(crate) fn plan(&mut self, matrix: &Matrix, level: &mut Level, size: usize) -> bool {
        let open = words::count(&level.open);
        match self.most.map(|most| most - size) {
            Some(left) if left < open => self.plan_within(matrix, level, left, open),
            _ => smallest(matrix, level).is_some_and(|row| level.try_each(matrix.clause(row))),
        }
    }

    /// The same where the places left may not do.
    fn plan_within(
        &mut self,
        matrix: &Matrix,
        level: &mut Level,
        left: usize,
        open: usize,
    ) -> bool {
        match left {
            0 => false,
            1 => plan_last(matrix, level),
            2 => self.plan_last_two(matrix, level),
            _ => self.plan_branch(matrix, level, left, open),
        }
    }

    /// Tries each free element of a clause that has a partner for what it
    /// leaves open.
    fn plan_last_two(&mut self, matrix: &Matrix, level: &mut Level) -> bool {
        let Some(row) = smallest(matrix, level) else {
            return false;
        };
        let clause = matrix.clause(row);
        level.untried.fill(0);
        for column in words::ones_of_both(clause, &level.free) {
            if self.has_partner(matrix, level, column) {
                words::set(&mut level.untried, column);
            }
        }
        words::subtract(&mut level.free, clause);
        !words::is_empty(&level.untried)
    }

    fn has_partner(&mut self, matrix: &Matrix, level: &Level, column: usize) -> bool {
        self.partners.clone_from(&level.free);
        let mut still_open = words::ones_of_first(&level.open, matrix.hits(column));
        still_open.all(|row| words::keep(&mut self.partners, matrix.clause(row)))
    }

    fn plan_branch(
        &mut self,
        matrix: &Matrix,
        level: &mut Level,
        left: usize,
        open: usize,
    ) -> bool {
        if left >= COUNTED_FROM && !self.drop_weak(matrix, level, left, open) {
            return false;
        }
        smallest(matrix, level)
            .is_some_and(|row| fits(matrix, level, row, left) && level.try_each(matrix.clause(row)))
    }

    /// Frees the level of columns that hit too little for the places left;
    /// false if even the best hit too little together.
    fn drop_weak(&mut self, matrix: &Matrix, level: &mut Level, left: usize, open: usize) -> bool {
        let reach = |column| words::shared(matrix.hits(column), &level.open);
        let free = words::ones(&level.free);
        self.reach.clear();
        self.reach
            .extend(free.map(|column| (reach(column), column)));
        if self.reach.len() > left {
            self.reach.select_nth_unstable_by(left - 1, |a, b| b.cmp(a));
        }
        let (best, others) = self.reach.split_at(left.min(self.reach.len()));
        let together: usize = best.iter().map(|best| best.0).sum();
        if together < open {
            return false;
        }
        let weakest = best.iter().map(|best| best.0).min().unwrap_or(0);
        for (reach, column) in others {
            // In place of the weakest of the best.
            if together - weakest + reach < open {
                words::clear(&mut level.free, *column);
            }
        }
        true
    }
}

/// Tries every free column that hits all that is open.
fn plan_last(matrix: &Matrix, level: &mut Level) -> bool {
    level.untried.copy_from_slice(&level.free);
    words::ones(&level.open).all(|row| words::keep(&mut level.untried, matrix.clause(row)))
}

/// The open clause with the fewest free elements; none if one has no element
/// left.
fn smallest(matrix: &Matrix, level: &Level) -> Option<usize> {
    let mut best = (usize::MAX, 0);
    for row in words::ones(&level.open) {
        let size = words::shared(matrix.clause(row), &level.free);
        if size < best.0 {
            best = (size, row);
            if size < 2 {
                break;
            }
        }
    }
    (best.0 > 0).then_some(best.1)
}

/// Whether no more than `left` open clauses, gathered greedily from `row` on,
/// are pairwise disjoint in what is free.
fn fits(matrix: &Matrix, level: &mut Level, row: usize, left: usize) -> bool {
    // `untried` is written after this, so that it can hold what is taken.
    let taken = &mut level.untried;
    taken.fill(0);
    words::add_shared(taken, matrix.clause(row), &level.free);
    let mut disjoint = 1;
    for row in words::ones(&level.open) {
        let clause = matrix.clause(row);
        if !words::meets(clause, taken) {
            disjoint += 1;
            words::add_shared(taken, clause, &level.free);
        }
        if disjoint > left {
            return false;
        }
    }
    true
}

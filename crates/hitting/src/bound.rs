//! How far a branch of the search may go, and where it should go next.
//!
//! Owns the sizes asked for and every cut made because of them. Each cut
//! drops only branches without a set of the sizes asked for, so none is lost:
//! a set of at most k elements can not hit more disjoint clauses than it has
//! places left, nor more clauses than its places hit at best.

use crate::matrix::Matrix;
use crate::minimal::Level;
use crate::words;

/// The sizes asked for, and whether larger sets were cut off.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    least: usize,
    most: Option<usize>,
    has_cut: bool,
    /// How many open clauses each free column hits, at the node at hand.
    reach: Vec<(usize, usize)>,
}

/// What to try at a node.
pub(crate) enum Plan {
    /// Nothing: no set asked for lies below.
    Nothing,
    /// What the level's `untried` says: each of it hits all that is open.
    Last,
    /// The free elements of this clause.
    Branch(usize),
}

impl Bound {
    pub(crate) fn none() -> Self {
        Bound {
            least: 0,
            most: None,
            has_cut: false,
            reach: Vec::new(),
        }
    }

    pub(crate) fn up_to(size: usize) -> Self {
        Bound {
            most: Some(size),
            ..Bound::none()
        }
    }

    pub(crate) fn exactly(size: usize) -> Self {
        Bound {
            least: size,
            ..Bound::up_to(size)
        }
    }

    pub(crate) fn most(&self) -> Option<usize> {
        self.most
    }

    /// Whether a branch was dropped that might hold larger sets.
    pub(crate) fn has_cut(&self) -> bool {
        self.has_cut
    }

    pub(crate) fn admits(&self, size: usize) -> bool {
        self.least <= size && self.most.is_none_or(|most| size <= most)
    }

    /// What to try at a node with `size` chosen elements and something open.
    pub(crate) fn plan(&mut self, matrix: &Matrix, level: &mut Level, size: usize) -> Plan {
        let open = words::count(&level.open);
        // Each further element needs an open clause of its own.
        if size + open < self.least {
            return Plan::Nothing;
        }
        let left = self.most.map(|most| most - size);
        match left.filter(|left| *left < open) {
            None => smallest(matrix, level).map_or(Plan::Nothing, Plan::Branch),
            Some(left) => self.plan_within(matrix, level, left, open),
        }
    }

    fn plan_within(
        &mut self,
        matrix: &Matrix,
        level: &mut Level,
        left: usize,
        open: usize,
    ) -> Plan {
        let plan = match left {
            0 => Plan::Nothing,
            1 => last(matrix, level),
            _ => self.branch_within(matrix, level, left, open),
        };
        self.has_cut |= matches!(plan, Plan::Nothing | Plan::Last);
        plan
    }

    fn branch_within(
        &mut self,
        matrix: &Matrix,
        level: &mut Level,
        left: usize,
        open: usize,
    ) -> Plan {
        if !self.drop_weak(matrix, level, left, open) {
            return Plan::Nothing;
        }
        match smallest(matrix, level) {
            Some(row) if fits(matrix, level, row, left) => Plan::Branch(row),
            _ => Plan::Nothing,
        }
    }

    /// Frees the level of columns that hit too little for the places left;
    /// false if even the best hit too little together.
    fn drop_weak(&mut self, matrix: &Matrix, level: &mut Level, left: usize, open: usize) -> bool {
        let reach = |column| words::shared(matrix.hits(column), &level.open);
        self.reach.clear();
        let free = words::ones(&level.free);
        self.reach
            .extend(free.map(|column| (reach(column), column)));
        if self.reach.len() > left {
            self.reach.select_nth_unstable_by(left - 1, |a, b| b.cmp(a));
        }
        let best = self.reach.iter().take(left);
        let (all, weakest) = best.fold((0, usize::MAX), |(sum, least), (reach, _)| {
            (sum + reach, least.min(*reach))
        });
        if all < open {
            return false;
        }
        // With one of the weaker instead of the weakest of the best.
        for (reach, column) in self.reach.iter().skip(left) {
            if all - weakest + reach < open {
                words::clear(&mut level.free, *column);
                self.has_cut = true;
            }
        }
        true
    }
}

/// Everything free that hits all that is open.
fn last(matrix: &Matrix, level: &mut Level) -> Plan {
    level.untried.copy_from_slice(&level.free);
    for row in words::ones(&level.open) {
        words::keep(&mut level.untried, matrix.clause(row));
        if words::is_empty(&level.untried) {
            return Plan::Nothing;
        }
    }
    Plan::Last
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
/// are pairwise disjoint.
fn fits(matrix: &Matrix, level: &mut Level, row: usize, left: usize) -> bool {
    // `untried` is written only after this, so it can hold what is taken.
    let taken = &mut level.untried;
    taken.fill(0);
    words::add_shared(taken, matrix.clause(row), &level.free);
    let mut disjoint = 1;
    for row in words::ones(&level.open) {
        let clause = matrix.clause(row);
        if !words::meets(clause, taken) {
            disjoint += 1;
            if disjoint > left {
                taken.fill(0);
                return false;
            }
            words::add_shared(taken, clause, &level.free);
        }
    }
    true
}

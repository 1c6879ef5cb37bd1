//! A question of cover with its clauses as rows and its elements as columns.
//!
//! Owns the numbering, and the unit in which weights are shared out so that
//! sums stay exact. Rows are the hard clauses first, then the soft ones.

use std::collections::BTreeMap;

use crate::matrix::Matrix;
use crate::{Set, words};

/// A question of cover, fixed for the whole search.
pub(super) struct Instance {
    pub(super) matrix: Matrix,
    /// The columns of each row.
    pub(super) members: Vec<Vec<usize>>,
    /// The rows of each column.
    pub(super) rows: Vec<Vec<usize>>,
    /// The rank of each column's element.
    pub(super) rank: Vec<u128>,
    hard: usize,
    weights: Vec<u64>,
    total: u64,
    /// A weight of one is this many shares, as a power of two.
    shift: u32,
}

/// Fine enough for the bounds: shares move by whole numbers, and more than a
/// ten-thousandth of a weight does not change what is cut.
const MOST_SHIFT: u32 = 16;

/// Sums of all shares stay below this many bits, so that a sign fits too.
const SHARE_BITS: u32 = 62;

/// How many bits are left for a fraction of a weight; none if not even whole
/// weights can be summed.
pub(super) fn spare_bits(total: u64, incidences: usize) -> Option<u32> {
    let weight = u64::BITS - total.leading_zeros() + 1;
    let places = usize::BITS - incidences.leading_zeros() + 1;
    SHARE_BITS.checked_sub(weight + places)
}

impl Instance {
    pub(super) fn of(hard: &[Set], soft: &BTreeMap<Set, u64>, rank: &[u64]) -> Self {
        let clauses: Vec<Set> = hard.iter().chain(soft.keys()).cloned().collect();
        let matrix = Matrix::of(&clauses);
        let total = soft.values().sum();
        let spare = spare_bits(total, clauses.iter().map(Set::len).sum());
        let columns = 0..matrix.width();
        let rank_of = |column| rank.get(matrix.element(column)).copied().unwrap_or(0);
        Instance {
            members: listed(clauses.len(), |row| matrix.clause(row)),
            rows: listed(matrix.width(), |column| matrix.hits(column)),
            rank: columns.map(|column| rank_of(column).into()).collect(),
            hard: hard.len(),
            weights: hard
                .iter()
                .map(|_| 0)
                .chain(soft.values().copied())
                .collect(),
            shift: spare.expect("a cover is small enough").min(MOST_SHIFT),
            total,
            matrix,
        }
    }

    pub(super) fn is_hard(&self, row: usize) -> bool {
        row < self.hard
    }

    /// What hitting a row earns; nothing if it is hard.
    pub(super) fn weight(&self, row: usize) -> u64 {
        self.weights[row]
    }

    /// The same in shares.
    pub(super) fn worth(&self, row: usize) -> i64 {
        self.in_shares(self.weights[row])
    }

    /// In shares, more than all rows together are worth.
    pub(super) fn priceless(&self) -> i64 {
        self.in_shares(self.total + 1)
    }

    pub(super) fn in_shares(&self, weight: u64) -> i64 {
        (weight as i64) << self.shift
    }
}

fn listed<'a>(count: usize, row: impl Fn(usize) -> &'a [u64]) -> Vec<Vec<usize>> {
    (0..count)
        .map(|at| words::ones(row(at)).collect())
        .collect()
}

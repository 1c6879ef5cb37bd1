//! A place in the search for the best choice.
//!
//! Owns what is chosen, what may still be, and what follows from either
//! without a bound. Where to go next is the search's to say.

use std::cmp::Reverse;

use super::instance::Instance;
use crate::words;

/// How good a choice is; larger is better. Weight, then fewer elements, then
/// the smaller sum of ranks; beyond that the order of elements decides.
pub(super) type Merit = (u64, Reverse<usize>, Reverse<u128>);

#[derive(Clone)]
pub(super) struct Node {
    pub(super) chosen: Vec<usize>,
    pub(super) covered: u64,
    pub(super) rank: u128,
    /// Columns neither chosen nor ruled out.
    pub(super) free: Vec<u64>,
    /// Rows nothing chosen hits.
    pub(super) open: Vec<u64>,
    /// Rows that must be hit: the hard ones, and those without which the best
    /// known can not be reached.
    must: Vec<u64>,
    /// What each row promises the columns that hit it; see
    /// [`bound`](super::bound).
    pub(super) shares: Vec<i64>,
}

/// Nothing below a node is wanted.
pub(super) struct Hopeless;

impl Node {
    pub(super) fn root(instance: &Instance) -> Self {
        let (height, width) = (instance.matrix.height(), instance.matrix.width());
        let mut node = Node {
            chosen: Vec::new(),
            covered: 0,
            rank: 0,
            free: vec![0; words::width(width)],
            open: vec![0; words::width(height)],
            must: vec![0; words::width(height)],
            shares: (0..height).map(|row| instance.worth(row)).collect(),
        };
        words::fill(&mut node.free, width);
        words::fill(&mut node.open, height);
        for row in (0..height).take_while(|row| instance.is_hard(*row)) {
            words::set(&mut node.must, row);
        }
        node
    }

    pub(super) fn size(&self) -> usize {
        self.chosen.len()
    }

    pub(super) fn merit(&self) -> Merit {
        (self.covered, Reverse(self.size()), Reverse(self.rank))
    }

    pub(super) fn is_free(&self, column: usize) -> bool {
        words::has(&self.free, column)
    }

    pub(super) fn is_open(&self, row: usize) -> bool {
        words::has(&self.open, row)
    }

    pub(super) fn must_hit(&self, row: usize) -> bool {
        words::has(&self.must, row)
    }

    pub(super) fn demand(&mut self, row: usize) {
        words::set(&mut self.must, row);
    }

    /// Whether every row that must be hit is.
    pub(super) fn is_complete(&self) -> bool {
        !words::meets(&self.open, &self.must)
    }

    pub(super) fn open_rows(
        &self,
        instance: &Instance,
        column: usize,
    ) -> impl Iterator<Item = usize> {
        let rows = instance.rows[column].iter().copied();
        rows.filter(|row| self.is_open(*row))
    }

    pub(super) fn choose(&mut self, instance: &Instance, column: usize) {
        for row in &instance.rows[column] {
            if self.is_open(*row) {
                self.covered += instance.weight(*row);
                words::clear(&mut self.open, *row);
            }
        }
        words::clear(&mut self.free, column);
        self.chosen.push(column);
        self.rank += instance.rank[column];
    }

    pub(super) fn rule_out(&mut self, column: usize) {
        words::clear(&mut self.free, column);
    }

    /// Rules out every column that can not be part of the best choice,
    /// because it hits nothing that is open, or nothing that another does not
    /// hit too, and the other comes first by rank and order. Beside the
    /// other it would be idle; in place of it, worse.
    pub(super) fn drop_dominated(&mut self, instance: &Instance) {
        let key = |column: usize| (instance.rank[column], column);
        let columns = 0..instance.matrix.width();
        for column in words::ones(&self.free.clone()) {
            let hits = instance.matrix.hits(column);
            let is_worse = |other: usize| {
                key(other) < key(column)
                    && words::within(hits, instance.matrix.hits(other), &self.open)
            };
            if !words::meets(hits, &self.open) || columns.clone().any(is_worse) {
                self.rule_out(column);
            }
        }
    }

    /// Demands the rows that are too heavy to be missed if `goal` is to be
    /// covered.
    pub(super) fn demand_heavy(&mut self, instance: &Instance, goal: u64) -> Result<(), Hopeless> {
        let open = words::ones(&self.open).map(|row| instance.weight(row));
        let possible = self.covered + open.sum::<u64>();
        let slack = possible.checked_sub(goal).ok_or(Hopeless)?;
        for row in words::ones(&self.open) {
            if instance.weight(row) > slack {
                words::set(&mut self.must, row);
            }
        }
        Ok(())
    }

    /// Chooses what is the only one left to hit a row that must be hit.
    pub(super) fn choose_forced(&mut self, instance: &Instance) -> Result<(), Hopeless> {
        let mut demanded = self.open.clone();
        words::keep(&mut demanded, &self.must);
        for row in words::ones(&demanded) {
            let members = instance.members[row].iter().copied();
            let mut free = members.filter(|column| self.is_free(*column));
            match (free.next(), free.next()) {
                _ if !self.is_open(row) => {}
                (None, _) => return Err(Hopeless),
                (Some(only), None) => self.choose(instance, only),
                _ => {}
            }
        }
        Ok(())
    }
}

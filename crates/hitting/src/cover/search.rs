//! The exact search for the best choice.
//!
//! Branch and bound, twice: first for how good a choice can be (its
//! [`Merit`]), then for the first choice in order that is as good. Owns the
//! branching and what the bound forces; how much a branch can cover is
//! [`bound`](super::bound)'s to say.

use std::cmp::Reverse;

use super::Choice;
use super::bound::{Sheet, tightened};
use super::instance::Instance;
use super::node::{Hopeless, Merit, Node};
use crate::words;

/// The best choice of up to `budget` columns, given one that hits what must
/// be hit.
pub(super) fn best(instance: &Instance, budget: usize, feasible: &[usize]) -> Choice {
    let start = filled_up(instance, budget, feasible);
    let mut search = Search {
        instance,
        budget,
        merit: start.merit(),
        best: start.chosen,
        aim: Aim::Better,
    };
    search.visit(Node::root(instance));
    search.aim = Aim::First;
    search.visit(Node::root(instance));
    Choice {
        chosen: search
            .best
            .into_iter()
            .map(|column| instance.matrix.element(column))
            .collect(),
        covered: search.merit.0,
    }
}

/// A choice to start from: always the column that gains most.
fn filled_up(instance: &Instance, budget: usize, feasible: &[usize]) -> Node {
    let mut node = Node::root(instance);
    for column in feasible {
        node.choose(instance, *column);
    }
    while node.size() < budget {
        let gain = |column| {
            node.open_rows(instance, column)
                .map(|row| instance.weight(row))
        };
        let gains = words::ones(&node.free).map(|column| (gain(column).sum::<u64>(), column));
        match gains.max() {
            Some((1.., column)) => node.choose(instance, column),
            _ => break,
        }
    }
    node
}

struct Search<'a> {
    instance: &'a Instance,
    budget: usize,
    /// Of the best choice known.
    merit: Merit,
    best: Vec<usize>,
    aim: Aim,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// A choice of more merit than the best known.
    Better,
    /// The first choice in order that has the merit of the best.
    First,
    /// Nothing more.
    Reached,
}

impl Search<'_> {
    fn visit(&mut self, mut node: Node) {
        if self.aim == Aim::Reached || self.settle(&mut node).is_err() {
            return;
        }
        let Some(column) = self.branch(&node) else {
            return;
        };
        let mut with = node.clone();
        with.choose(self.instance, column);
        self.visit(with);
        node.rule_out(column);
        self.visit(node);
    }

    /// Does all that leaves no choice.
    fn settle(&mut self, node: &mut Node) -> Result<(), Hopeless> {
        // Once per node: what became idle since costs less than looking again.
        node.drop_dominated(self.instance);
        loop {
            node.demand_heavy(self.instance, self.merit.0)?;
            node.choose_forced(self.instance)?;
            if node.size() > self.budget {
                return Err(Hopeless);
            }
            self.offer(node);
            if !self.fix(node)? {
                return Ok(());
            }
        }
    }

    fn offer(&mut self, node: &Node) {
        let is_wanted = match self.aim {
            Aim::Better => node.merit() > self.merit,
            Aim::First => node.merit() == self.merit,
            Aim::Reached => false,
        };
        if is_wanted && node.is_complete() {
            self.merit = node.merit();
            self.best.clone_from(&node.chosen);
            if self.aim == Aim::First {
                self.aim = Aim::Reached;
            }
        }
    }

    /// Fixes what the bound leaves no choice about; says whether that was
    /// anything.
    fn fix(&self, node: &mut Node) -> Result<bool, Hopeless> {
        let goal = self.instance.in_shares(self.merit.0) - self.instance.in_shares(node.covered);
        let more = goal + self.instance.in_shares(1);
        let open: i64 = words::ones(&node.open)
            .map(|row| self.instance.worth(row))
            .sum();
        // Where no more weight can be had, it must be had with less.
        let must_tie = self.aim == Aim::First || open < more;
        let mut left = self.left(node, must_tie)?;
        let mut sheet = self.reaching(node, left, goal)?;
        if !must_tie && sheet.most < more {
            left = self.left(node, true)?;
            sheet = self.reaching(node, left, goal)?;
        }
        if left == 0 {
            return Err(Hopeless);
        }
        Ok(self.fix_by(node, &sheet, left, goal))
    }

    /// How many more columns a wanted choice below `node` may have.
    fn left(&self, node: &Node, must_tie: bool) -> Result<usize, Hopeless> {
        let left = self.budget - node.size();
        match must_tie {
            true => Ok(left.min(self.left_for_a_tie(node)?)),
            false => Ok(left),
        }
    }

    fn reaching(&self, node: &mut Node, left: usize, goal: i64) -> Result<Sheet, Hopeless> {
        let sheet = tightened(self.instance, node, left, goal);
        Some(sheet)
            .filter(|sheet| sheet.most >= goal)
            .ok_or(Hopeless)
    }

    /// How many more columns a choice below `node` may have that covers no
    /// more than the best known: one fewer, unless its ranks can make it wanted.
    fn left_for_a_tie(&self, node: &Node) -> Result<usize, Hopeless> {
        let (_, Reverse(size), Reverse(rank)) = self.merit;
        let left = size.checked_sub(node.size()).ok_or(Hopeless)?;
        let least = self.least_rank(node, left);
        let is_wanted = match self.aim {
            Aim::Better => least.is_some_and(|least| least < rank),
            _ => least.is_some_and(|least| least <= rank),
        };
        match self.aim {
            _ if is_wanted => Ok(left),
            Aim::Better => left.checked_sub(1).ok_or(Hopeless),
            _ => Err(Hopeless),
        }
    }

    /// The smallest sum of ranks with `count` more columns.
    fn least_rank(&self, node: &Node, count: usize) -> Option<u128> {
        let mut ranks: Vec<u128> = words::ones(&node.free)
            .map(|column| self.instance.rank[column])
            .collect();
        ranks.sort_unstable();
        let least = ranks.get(..count)?;
        Some(node.rank + least.iter().sum::<u128>())
    }

    /// Chooses, rules out and demands what can not be otherwise if `goal` is
    /// to be reached: the bound with the other choice would be below it.
    fn fix_by(&self, node: &mut Node, sheet: &Sheet, left: usize, goal: i64) -> bool {
        let room = sheet.most - goal;
        let (best, others) = sheet.promised.split_at(left.min(sheet.promised.len()));
        let last = best.get(left - 1).map_or(0, |last| last.0);
        let next = others.first().map_or(0, |next| next.0);
        let needed = best.iter().filter(|(promise, _)| promise - next > room);
        let weak = others.iter().filter(|(promise, _)| last - promise > room);
        for row in words::ones(&node.open.clone()) {
            if self.instance.worth(row) - node.shares[row] > room {
                node.demand(row);
            }
        }
        let mut has_fixed = false;
        for (_, column) in weak {
            node.rule_out(*column);
            has_fixed = true;
        }
        for (_, column) in needed {
            node.choose(self.instance, *column);
            has_fixed = true;
        }
        has_fixed
    }

    fn branch(&self, node: &Node) -> Option<usize> {
        if self.aim == Aim::First {
            return words::ones(&node.free).next();
        }
        let demanded = words::ones(&node.open).filter(|row| node.must_hit(*row));
        let tightest =
            demanded.min_by_key(|row| words::shared(self.instance.matrix.clause(*row), &node.free));
        match tightest {
            Some(row) => self.most_promised(node, self.instance.matrix.clause(row)),
            None => self.most_promised(node, &node.free),
        }
    }

    fn most_promised(&self, node: &Node, among: &[u64]) -> Option<usize> {
        let promise = |column| {
            node.open_rows(self.instance, column)
                .map(|row| node.shares[row])
        };
        let free = words::ones(among).filter(|column| node.is_free(*column));
        free.max_by_key(|column| (promise(*column).sum::<i64>(), Reverse(*column)))
    }
}

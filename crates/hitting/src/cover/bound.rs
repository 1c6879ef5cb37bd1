//! How much a node of the search can still cover.
//!
//! Every open row promises a share of its worth to each free column that hits
//! it, and keeps the rest. No choice of t columns covers more than what is
//! kept and the t largest promises: a row that is hit once pays exactly its
//! worth, one hit more often pays too much, and one not hit keeps something
//! it need not. A row that must be hit may promise more than it is worth and
//! keep a debt. This holds for any shares (it is Lagrange's relaxation of the
//! 0-1 program), so they are moved to where the bound is tight; whole numbers
//! keep it proven.
//!
//! Owns the bound; what follows from it is the search's.

use super::instance::Instance;
use super::node::Node;
use crate::words;

/// What the shares say about a node, for a number of further columns.
#[derive(Clone)]
pub(super) struct Sheet {
    /// The free columns and what they are promised, the largest first.
    pub(super) promised: Vec<(i64, usize)>,
    /// What the rows keep, and the largest promises: in shares, the most that
    /// can still be covered.
    pub(super) most: i64,
}

/// How often shares are moved at a node. A child starts from its parent's, so
/// few steps do: with 40 columns and 92 rows, 12 make a search take half as
/// long again, and 50 four times as long.
const STEPS: usize = 6;

impl Sheet {
    fn of(instance: &Instance, node: &Node, left: usize) -> Self {
        let promise = |column| node.open_rows(instance, column).map(|row| node.shares[row]);
        let free = words::ones(&node.free);
        let mut promised: Vec<(i64, usize)> =
            free.map(|column| (promise(column).sum(), column)).collect();
        promised.sort_unstable_by(|a, b| b.cmp(a));
        let kept = words::ones(&node.open).map(|row| instance.worth(row) - node.shares[row]);
        let most = kept.sum::<i64>() + promised.iter().take(left).map(|best| best.0).sum::<i64>();
        Sheet { promised, most }
    }
}

/// The best bound found for `left` further columns; looks no further once it
/// is below `goal`. Leaves the shares of the node as they were for it.
pub(super) fn tightened(instance: &Instance, node: &mut Node, left: usize, goal: i64) -> Sheet {
    let mut sheet = Sheet::of(instance, node, left);
    let mut best = (sheet.clone(), node.shares.clone());
    let mut pace = 1.0;
    for _ in 0..STEPS {
        if best.0.most < goal {
            break;
        }
        let excess = pace * (sheet.most - goal + 1) as f64;
        move_shares(
            instance,
            node,
            &sheet.promised[..left.min(sheet.promised.len())],
            excess,
        );
        sheet = Sheet::of(instance, node, left);
        match sheet.most < best.0.most {
            true => best = (sheet.clone(), node.shares.clone()),
            false => pace /= 2.0,
        }
    }
    node.shares = best.1;
    best.0
}

/// Takes from rows that the best columns hit more than once and gives to
/// those that they miss, in proportion (a step along the subgradient).
fn move_shares(instance: &Instance, node: &mut Node, best: &[(i64, usize)], excess: f64) {
    let pulls = pulls(instance, node, best);
    let length: i64 = pulls.iter().map(|(_, pull)| pull * pull).sum();
    for (row, pull) in pulls {
        let by = excess * pull as f64 / length as f64;
        let most = most_share(instance, node, row);
        node.shares[row] = (node.shares[row] - by as i64).clamp(0, most);
    }
}

/// How many of the best columns hit each open row beyond one, where its share
/// can move that way.
fn pulls(instance: &Instance, node: &Node, best: &[(i64, usize)]) -> Vec<(usize, i64)> {
    let mut beyond = vec![-1; instance.matrix.height()];
    for (_, column) in best {
        for row in &instance.rows[*column] {
            beyond[*row] += 1;
        }
    }
    let pulls = words::ones(&node.open).map(|row| (row, beyond[row]));
    let can_move = |(row, pull): &(usize, i64)| match pull {
        0 => false,
        1.. => node.shares[*row] > 0,
        _ => node.shares[*row] < most_share(instance, node, *row),
    };
    pulls.filter(can_move).collect()
}

fn most_share(instance: &Instance, node: &Node, row: usize) -> i64 {
    match node.must_hit(row) {
        true => instance.priceless(),
        false => instance.worth(row),
    }
}

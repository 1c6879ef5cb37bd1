//! Minimal sets: which failing faultloads contain no smaller failing one.
//!
//! Owns the comparison, on plain numbers and in a tree of prefixes: thousands
//! of failing faultloads are compared with each other, and looking at all of
//! them for every new one would cost more than the search that found them.

use murphy_model::{Fault, Faultload};
use rustc_hash::FxHashMap;

/// A set of numbered faults, in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Numbers(Vec<u32>);

impl Numbers {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Numbers faults, equal ones alike.
#[derive(Debug, Default)]
pub(crate) struct Numbering(FxHashMap<Fault, u32>);

impl Numbering {
    pub(crate) fn of(&mut self, faultload: &Faultload) -> Numbers {
        let mut numbers: Vec<u32> = faultload.faults().map(|fault| self.number(fault)).collect();
        numbers.sort_unstable();
        Numbers(numbers)
    }

    /// The numbers of those that have one, and whether all do.
    pub(crate) fn known(&self, faultload: &Faultload) -> (Numbers, bool) {
        let numbers = faultload.faults().map(|fault| self.0.get(&fault).copied());
        let numbers: Vec<Option<u32>> = numbers.collect();
        let are_all = numbers.iter().all(Option::is_some);
        let mut numbers: Vec<u32> = numbers.into_iter().flatten().collect();
        numbers.sort_unstable();
        (Numbers(numbers), are_all)
    }

    fn number(&mut self, fault: Fault) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(fault).or_insert(next)
    }
}

/// The place of a set among those of its [`Sets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SetId(u32);

impl SetId {
    /// Sets are counted from 0 as they are taken in.
    pub(crate) fn at(index: usize) -> Self {
        SetId(index as u32)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What taking in a set has shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Added {
    /// Which set it is.
    pub(crate) id: SetId,
    /// Sets that were minimal before and that this one explains.
    pub(crate) demoted: Vec<SetId>,
}

/// Sets of one family, each minimal as long as no other explains it: by being
/// part of it, or of what it comes down to.
///
/// The empty set is minimal and stands apart: it would be part of every other.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    tree: PrefixTree,
    /// By what sets come down to, where that is less than they hold.
    cores: PrefixTree,
    is_minimal: Vec<bool>,
}

impl Sets {
    /// Takes in a set, which may be there already. What it comes down to, its
    /// `core`, has fewer numbers; `None` if it is all of it.
    pub(crate) fn add(&mut self, set: &Numbers, core: Option<&Numbers>) -> Added {
        let mut demoted = Vec::new();
        if let Some(id) = self.tree.ends(set).first() {
            return Added { id: *id, demoted };
        }
        let id = SetId::at(self.is_minimal.len());
        let is_explained = |parts: &Numbers| self.tree.holds_part_of(parts);
        let is_minimal = !is_explained(set) && !core.is_some_and(is_explained);
        self.is_minimal.push(is_minimal);
        if !set.is_empty() {
            demoted = self.demote_around(set);
        }
        self.tree.insert(set, id);
        if let Some(core) = core {
            self.cores.insert(core, id);
        }
        Added { id, demoted }
    }

    /// Takes note that this set explains those that contain it.
    fn demote_around(&mut self, set: &Numbers) -> Vec<SetId> {
        let mut around = self.tree.around(set, 1);
        around.extend(self.cores.around(set, 0));
        let mut demoted = Vec::new();
        for id in around {
            if std::mem::replace(&mut self.is_minimal[id.index()], false) {
                demoted.push(id);
            }
        }
        demoted
    }

    /// Whether no other set explains this one.
    pub(crate) fn is_minimal(&self, id: SetId) -> bool {
        self.is_minimal[id.index()]
    }

    /// The minimal sets within this one, or this one itself.
    pub(crate) fn minimal_within(&self, set: &Numbers) -> Vec<SetId> {
        let mut found = self.tree.parts_of(set);
        found.retain(|id| self.is_minimal(*id));
        found
    }
}

/// Sets of numbers, found by their parts: those that begin alike share a node.
#[derive(Debug)]
pub(crate) struct PrefixTree {
    /// The first is the root: the empty prefix.
    nodes: Vec<Node>,
}

/// The sets that begin alike.
#[derive(Debug, Default)]
struct Node {
    /// How they go on, in order.
    next: Vec<(u32, usize)>,
    /// Those that end here.
    ends: Vec<SetId>,
    /// The most numbers that follow.
    height: usize,
}

impl Node {
    fn next(&self, number: u32) -> Option<usize> {
        let place = self.next.binary_search_by_key(&number, |(next, _)| *next);
        place.ok().map(|place| self.next[place].1)
    }
}

impl Default for PrefixTree {
    fn default() -> Self {
        PrefixTree {
            nodes: vec![Node::default()],
        }
    }
}

impl PrefixTree {
    pub(crate) fn insert(&mut self, set: &Numbers, id: SetId) {
        let mut at = 0;
        for (i, number) in set.0.iter().enumerate() {
            let height = self.nodes[at].height.max(set.0.len() - i);
            self.nodes[at].height = height;
            at = match self.nodes[at].next(*number) {
                Some(next) => next,
                None => self.branch(at, *number),
            };
        }
        self.nodes[at].ends.push(id);
    }

    fn branch(&mut self, at: usize, number: u32) -> usize {
        let new = self.nodes.len();
        self.nodes.push(Node::default());
        let next = &mut self.nodes[at].next;
        let place = next.partition_point(|(before, _)| *before < number);
        next.insert(place, (number, new));
        new
    }

    /// What was inserted under just this set.
    pub(crate) fn ends(&self, set: &Numbers) -> &[SetId] {
        let mut numbers = set.0.iter();
        let node = numbers.try_fold(0, |at, number| self.nodes[at].next(*number));
        node.map_or(&[], |at| &self.nodes[at].ends)
    }

    /// What was inserted under parts of this set, the set itself included and
    /// the empty set left out.
    pub(crate) fn parts_of(&self, set: &Numbers) -> Vec<SetId> {
        let mut found = Vec::new();
        self.walk_parts(0, &set.0, &mut |ids| {
            found.extend(ids);
            true
        });
        found
    }

    fn holds_part_of(&self, set: &Numbers) -> bool {
        !self.walk_parts(0, &set.0, &mut |ids| ids.is_empty())
    }

    /// Shows what ends below a node and goes on with some of `rest`, until
    /// `visit` has seen enough; whether it never had.
    fn walk_parts(&self, at: usize, rest: &[u32], visit: &mut dyn FnMut(&[SetId]) -> bool) -> bool {
        for (i, number) in rest.iter().enumerate() {
            let Some(next) = self.nodes[at].next(*number) else {
                continue;
            };
            let goes_on =
                visit(&self.nodes[next].ends) && self.walk_parts(next, &rest[i + 1..], visit);
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// What was inserted under sets that contain this one and at least so
    /// many numbers more.
    fn around(&self, set: &Numbers, more: usize) -> Vec<SetId> {
        let mut around = Vec::new();
        self.collect_around(0, &set.0, more, &mut around);
        around
    }

    /// Collects what ends below a node and goes on with all of `rest` and at
    /// least so many more.
    fn collect_around(&self, at: usize, rest: &[u32], more: usize, around: &mut Vec<SetId>) {
        let node = &self.nodes[at];
        if node.height < rest.len() + more {
            return;
        }
        for (number, next) in &node.next {
            // Numbers are in order: what was passed over does not come again.
            if rest.first().is_some_and(|first| first < number) {
                break;
            }
            let is_first = rest.first() == Some(number);
            let rest = &rest[usize::from(is_first)..];
            let more = more.saturating_sub(usize::from(!is_first));
            if rest.is_empty() && more == 0 {
                around.extend(&self.nodes[*next].ends);
            }
            self.collect_around(*next, rest, more, around);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(numbers: &[u32]) -> Numbers {
        Numbers(numbers.to_vec())
    }

    #[test]
    fn what_comes_later_may_be_smaller() {
        let mut sets = Sets::default();
        let mut add = |numbers: &[u32]| sets.add(&set(numbers), None);
        let three = add(&[1, 2, 3]).id;
        let empty = add(&[]).id;
        let two = add(&[2, 3]);
        assert_eq!(two.demoted, [three]);
        let four = add(&[2, 3, 4]).id;
        assert_eq!(add(&[2, 3]).id, two.id);
        let minimal = [empty, two.id, three, four].map(|id| sets.is_minimal(id));
        assert_eq!(minimal, [true, true, false, false]);
        assert_eq!(sets.minimal_within(&set(&[1, 2, 3])), [two.id]);
    }

    #[test]
    fn a_set_is_explained_by_what_it_comes_down_to_whichever_comes_first() {
        let (resent, core) = (set(&[1, 2]), set(&[3]));
        let mut sets = Sets::default();
        let first = sets.add(&resent, Some(&core)).id;
        assert!(sets.is_minimal(first));
        assert_eq!(sets.add(&core, None).demoted, [first]);
        let mut sets = Sets::default();
        sets.add(&core, None);
        let second = sets.add(&resent, Some(&core)).id;
        assert!(!sets.is_minimal(second));
    }

    proptest! {
        #[test]
        fn the_tree_tells_what_comparing_all_with_all_tells(
            family in proptest::collection::vec(
                proptest::collection::btree_set(0u32..7, 0..5), 0..30),
        ) {
            let family: Vec<Numbers> =
                family.into_iter().map(|it| Numbers(it.into_iter().collect())).collect();
            let mut sets = Sets::default();
            let mut minimal = std::collections::BTreeSet::new();
            let ids: Vec<SetId> = family.iter().map(|it| {
                let Added { id, demoted } = sets.add(it, None);
                if sets.is_minimal(id) { minimal.insert(id); }
                for id in demoted { assert!(minimal.remove(&id), "each is demoted once"); }
                id
            }).collect();
            let within = |a: &Numbers, b: &Numbers| {
                !a.is_empty() && a != b && a.0.iter().all(|n| b.0.contains(n))
            };
            for (it, id) in family.iter().zip(&ids) {
                let expected = !family.iter().any(|other| within(other, it));
                prop_assert_eq!(sets.is_minimal(*id), expected, "{:?}", it);
                prop_assert_eq!(minimal.contains(id), expected, "{:?}", it);
                let mut found = sets.minimal_within(it);
                let mut brute: Vec<SetId> = family.iter().zip(&ids)
                    .filter(|(other, id)| sets.is_minimal(**id) && !other.is_empty()
                        && (within(other, it) || *other == it))
                    .map(|(_, id)| *id).collect();
                found.sort();
                brute.sort();
                brute.dedup();
                prop_assert_eq!(found, brute);
            }
        }
    }
}

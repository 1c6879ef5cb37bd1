//! The exact cover against every choice tried, ties included: what is chosen
//! must be the same set, not only as good. A greedy or two-stage choice fails
//! on these instances.

use std::cmp::Reverse;

use fastrand::Rng;
use murphy_hitting::{Choice, Cover, CoverError, Infeasible, Set};

const INSTANCES: u64 = 2_000;

fn set<const N: usize>(elements: [usize; N]) -> Set {
    Set::from_iter(elements)
}

/// An instance over few elements, as bit masks.
struct Small {
    elements: usize,
    hard: Vec<usize>,
    soft: Vec<(usize, u64)>,
    rank: Vec<u64>,
}

impl Small {
    fn any(rng: &mut Rng) -> Self {
        // Trying every choice of 20 elements takes as long as the search of
        // hundreds of small instances; few suffice.
        let elements = rng.usize(1..=20).min(rng.usize(1..=20));
        let mask = |rng: &mut Rng| {
            (0..rng.u8(1..=5)).fold(0, |mask, _| mask | 1 << rng.usize(0..elements))
        };
        let heaviest = if rng.bool() { 1 } else { 20 };
        let highest = rng.u64(0..=3);
        let (hard, soft) = (rng.usize(0..=elements.min(6)), rng.usize(0..=3 * elements));
        Small {
            elements,
            hard: (0..hard).map(|_| mask(rng)).collect(),
            soft: (0..soft)
                .map(|_| (mask(rng), rng.u64(0..=heaviest)))
                .collect(),
            rank: (0..rng.usize(0..=elements))
                .map(|_| rng.u64(0..=highest))
                .collect(),
        }
    }

    fn cover(&self) -> Cover {
        let hard = self.hard.iter().map(|mask| unmasked(*mask)).collect();
        let soft = self
            .soft
            .iter()
            .map(|(mask, weight)| (unmasked(*mask), *weight))
            .collect();
        Cover::new(hard, soft, self.rank.clone()).unwrap()
    }

    /// Per choice the weight of soft clauses it misses, by summing over the
    /// subsets of what it leaves out.
    fn missed(&self) -> Vec<u64> {
        let mut inside = vec![0; 1 << self.elements];
        for (mask, weight) in &self.soft {
            inside[*mask] += weight;
        }
        for bit in 0..self.elements {
            for mask in (0..inside.len()).filter(|mask| mask >> bit & 1 == 1) {
                inside[mask] += inside[mask ^ 1 << bit];
            }
        }
        inside.reverse();
        inside
    }

    /// For each number of elements the best choice of that many, as the rule
    /// for ties says it.
    fn best_of_each_size(&self) -> Vec<Option<(u64, usize)>> {
        let missed = self.missed();
        let total: u64 = self.soft.iter().map(|(_, weight)| weight).sum();
        let key = |mask: usize| {
            (
                total - missed[mask],
                Reverse(self.rank_of(mask)),
                first(mask),
            )
        };
        let mut best: Vec<Option<usize>> = vec![None; self.elements + 1];
        for mask in 0..1 << self.elements {
            if self.hard.iter().any(|clause| clause & mask == 0) {
                continue;
            }
            let known = &mut best[mask.count_ones() as usize];
            if known.is_none_or(|known| key(known) < key(mask)) {
                *known = Some(mask);
            }
        }
        let best = best.into_iter();
        best.map(|mask| mask.map(|mask| (key(mask).0, mask)))
            .collect()
    }

    fn rank_of(&self, mask: usize) -> u64 {
        let ranked = self.rank.iter().enumerate();
        ranked
            .filter(|(bit, _)| mask >> bit & 1 == 1)
            .map(|(_, rank)| rank)
            .sum()
    }
}

/// Larger for the choice that comes first: of two with as many elements, the
/// one that has the smallest element in which they differ.
fn first(mask: usize) -> usize {
    mask.reverse_bits()
}

fn unmasked(mask: usize) -> Set {
    (0..usize::BITS as usize)
        .filter(|bit| mask >> bit & 1 == 1)
        .collect()
}

#[test]
fn at_every_budget_the_choice_is_the_one_found_by_trying_all() {
    for seed in 0..INSTANCES {
        let small = Small::any(&mut Rng::with_seed(seed));
        let (cover, by_size) = (small.cover(), small.best_of_each_size());
        let smallest = by_size.iter().position(Option::is_some).unwrap();
        let mut best: Option<(u64, usize)> = None;
        for budget in 0..=small.elements + 1 {
            // A larger choice has to cover more.
            let same_size = by_size.get(budget).copied().flatten();
            let is_better = |new: &(u64, usize)| best.is_none_or(|best| best.0 < new.0);
            best = same_size.filter(is_better).or(best);
            let expected = best.map(|(covered, mask)| Choice {
                chosen: unmasked(mask),
                covered,
            });
            assert_eq!(
                cover.best(budget),
                expected.ok_or(Infeasible { smallest }),
                "seed {seed}, budget {budget}"
            );
        }
    }
}

#[test]
fn without_a_budget_nothing_is_chosen() {
    let cover = Cover::new(vec![], vec![(set([1]), 4)], vec![]).unwrap();
    let nothing = Choice {
        chosen: Set::new(),
        covered: 0,
    };
    assert_eq!(cover.best(0), Ok(nothing));
}

#[test]
fn without_clauses_nothing_is_chosen() {
    let cover = Cover::new(vec![], vec![], vec![3, 1]).unwrap();
    let nothing = Choice {
        chosen: Set::new(),
        covered: 0,
    };
    assert_eq!(cover.best(0), Ok(nothing.clone()));
    assert_eq!(cover.best(7), Ok(nothing));
}

#[test]
fn equal_clauses_count_as_often_as_they_are_there() {
    let soft = vec![(set([1]), 2), (set([0]), 3), (set([1]), 2)];
    let cover = Cover::new(vec![set([0, 1]), set([0, 1])], soft, vec![]).unwrap();
    let twice = Choice {
        chosen: set([1]),
        covered: 4,
    };
    assert_eq!(cover.best(1), Ok(twice));
}

#[test]
fn a_weight_of_nothing_is_not_worth_an_element() {
    let cover = Cover::new(vec![], vec![(set([0]), 0), (set([1]), 1)], vec![]).unwrap();
    let one = Choice {
        chosen: set([1]),
        covered: 1,
    };
    assert_eq!(cover.best(2), Ok(one));
}

#[test]
fn too_small_a_budget_is_told_the_smallest_that_would_do() {
    let hard = vec![set([0, 1]), set([2, 3]), set([1, 4]), set([5])];
    let cover = Cover::new(hard, vec![(set([9]), 1)], vec![]).unwrap();
    for budget in 0..3 {
        let error = cover.best(budget).unwrap_err();
        assert_eq!(error, Infeasible { smallest: 3 });
    }
    assert_eq!(
        cover.best(2).unwrap_err().to_string(),
        "the hard clauses can not be hit with fewer than 3 elements"
    );
    let best = Choice {
        chosen: set([1, 2, 5, 9]),
        covered: 1,
    };
    assert_eq!(cover.best(4), Ok(best));
}

#[test]
fn among_equals_fewer_then_lower_ranked_then_earlier_elements_win() {
    let soft = vec![(set([0, 2, 3]), 1), (set([1, 2, 3]), 1)];
    let chosen = |rank| {
        Cover::new(vec![], soft.clone(), rank)
            .unwrap()
            .best(2)
            .unwrap()
            .chosen
    };
    assert_eq!(chosen(vec![]), set([2]));
    assert_eq!(chosen(vec![0, 0, 5, 4]), set([3]));
    assert_eq!(chosen(vec![0, 0, 5, 5]), set([2]));
    assert_eq!(chosen(vec![0, 0, 5]), set([3]));
}

#[test]
fn a_clause_that_can_not_be_hit_is_named() {
    let hard = Cover::new(vec![set([1]), Set::new()], vec![], vec![]);
    assert_eq!(hard.unwrap_err(), CoverError::EmptyHard(1));
    let soft = Cover::new(vec![], vec![(Set::new(), 1)], vec![]);
    assert_eq!(soft.unwrap_err(), CoverError::EmptySoft(0));
}

#[test]
fn weights_that_can_not_be_added_are_refused() {
    let soft = vec![(set([1]), u64::MAX), (set([2]), 1)];
    let error = Cover::new(vec![], soft, vec![]).unwrap_err();
    assert_eq!(error, CoverError::TooHeavy);
    let large = vec![(set([1]), 1 << 50), (set([2]), (1 << 50) - 1)];
    let best = Cover::new(vec![], large, vec![u64::MAX; 3])
        .unwrap()
        .best(1)
        .unwrap();
    assert_eq!((best.chosen, best.covered), (set([1]), 1 << 50));
}

/// Stage one of a two-stage choice takes 0, which hits most, and has then
/// nothing to add.
#[test]
fn what_hits_most_at_first_need_not_be_best() {
    let soft = [set([0, 2]), set([0, 2]), set([1]), set([2])];
    let soft = soft.map(|clause| (clause, 1)).into();
    let cover = Cover::new(vec![set([0, 1])], soft, vec![]).unwrap();
    let best = Choice {
        chosen: set([1, 2]),
        covered: 4,
    };
    assert_eq!(cover.best(2), Ok(best));
}

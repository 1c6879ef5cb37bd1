//! The published ways to choose what to harden: FastFI's two stages, and
//! greedily.
//!
//! Owns both as described in the paper, sections 3.3 and 4.5.1; the exact
//! choice they are compared with is [`murphy_hitting::Cover`]'s.

use std::cmp::Reverse;

use murphy_hitting::{Cover, Formula, Set};

/// Faults that must be covered, faults that should be, and how many APIs may
/// be hardened.
#[derive(Clone, Debug)]
pub struct Hardening {
    /// The faults of important requests.
    pub hard: Vec<Set>,
    /// The faults of other requests.
    pub soft: Vec<Set>,
    /// How many APIs may be chosen.
    pub budget: usize,
}

/// How equation 6 is read: the paper does not say which solutions of the
/// first stage compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All minimal solutions, also those that do not fit the budget.
    All,
    /// Those that fit the budget.
    WithinBudget,
}

impl Hardening {
    /// The exact problem.
    pub fn cover(&self) -> Cover {
        let soft = self.soft.iter().map(|fault| (fault.clone(), 1));
        let cover = Cover::new(self.hard.clone(), soft.collect(), Vec::new());
        cover.expect("no fault is empty")
    }

    /// The faults covered by two stages: of the minimal solutions of the hard
    /// faults the one that covers most soft ones, then the best use of what
    /// is left of the budget. None if that solution does not fit.
    pub fn two_stage(&self, reading: Reading) -> Option<u64> {
        let hard = Formula::of(self.hard.clone()).expect("no fault is empty");
        let fits = |set: &Set| reading == Reading::All || set.len() <= self.budget;
        // The paper leaves ties open; the smaller solution is the better guess.
        let worth = |set: &Set| (self.covered(set), Reverse(set.len()));
        let first = hard.minimal().filter(fits).max_by_key(worth)?;
        let left = self.budget.checked_sub(first.len())?;
        Some(self.covered(&first) + self.without(&first).best_soft(left))
    }

    /// The faults covered by always taking the API that is in most of the hard
    /// faults left, then of the soft ones. None if the hard ones do not fit.
    pub fn greedy(&self) -> Option<u64> {
        let mut chosen = Set::new();
        for faults in [&self.hard, &self.soft] {
            while let Some(best) = most_frequent(faults, &chosen) {
                if chosen.len() == self.budget {
                    break;
                }
                chosen.insert(best);
            }
        }
        let is_complete = self.hard.iter().all(|fault| fault.meets(&chosen));
        is_complete.then(|| self.covered(&chosen))
    }

    fn covered(&self, chosen: &Set) -> u64 {
        self.soft.iter().filter(|fault| fault.meets(chosen)).count() as u64
    }

    /// What is left when `chosen` is.
    fn without(&self, chosen: &Set) -> Hardening {
        let soft = self.soft.iter().filter(|fault| !fault.meets(chosen));
        Hardening {
            hard: Vec::new(),
            soft: soft.cloned().collect(),
            budget: self.budget - chosen.len(),
        }
    }

    fn best_soft(&self, budget: usize) -> u64 {
        let best = self.cover().best(budget);
        best.expect("nothing is hard").covered
    }
}

/// The element of most of the faults that are not hit; the smallest of
/// several.
fn most_frequent(faults: &[Set], chosen: &Set) -> Option<usize> {
    let left: Vec<&Set> = faults.iter().filter(|fault| !fault.meets(chosen)).collect();
    let elements: Set = left.iter().flat_map(|fault| fault.iter()).collect();
    let frequency = |element: &usize| left.iter().filter(|fault| fault.contains(*element)).count();
    elements
        .iter()
        .max_by_key(|element| (frequency(element), Reverse(*element)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets<const N: usize>(sets: [&[usize]; N]) -> Vec<Set> {
        sets.map(|set| set.iter().copied().collect()).into()
    }

    /// Hard (a|b); soft (a|c)(a|c)(b)(c): the first stage takes a.
    #[test]
    fn two_stages_miss_the_best_choice() {
        let [a, b, c] = [0, 1, 2];
        let hardening = Hardening {
            hard: sets([&[a, b]]),
            soft: sets([&[a, c], &[a, c], &[b], &[c]]),
            budget: 2,
        };
        assert_eq!(hardening.two_stage(Reading::All), Some(3));
        assert_eq!(hardening.cover().best(2).unwrap().covered, 4);
    }

    /// Hard (a1|b)..(a4|b): the first stage prefers the four by one fault.
    #[test]
    fn a_first_stage_may_not_fit_the_budget() {
        let b = 9;
        let own = [vec![0], vec![1], vec![b, 5]];
        let hardening = Hardening {
            hard: sets([&[0, b], &[1, b], &[2, b], &[3, b]]),
            soft: own.map(Set::from_iter).into(),
            budget: 3,
        };
        assert_eq!(hardening.two_stage(Reading::All), None);
        assert_eq!(hardening.two_stage(Reading::WithinBudget), Some(3));
    }

    #[test]
    fn greedy_takes_the_most_frequent_and_may_run_out() {
        let hardening = Hardening {
            hard: sets([&[0, 1], &[0, 2], &[3]]),
            soft: sets([&[1], &[4], &[4]]),
            budget: 3,
        };
        assert_eq!(hardening.greedy(), Some(2));
        let tighter = Hardening {
            budget: 1,
            ..hardening
        };
        assert_eq!(tighter.greedy(), None);
    }
}

//! The best choice of call sites, and what every other budget would cover.
//!
//! Owns the question that is put to the exact solver (FastFI, equation 5):
//! combinations of high priority must be covered, of the others as many as
//! can be, each counting once. Of choices that are equally good the one with
//! fewer call sites is taken, then the one whose call sites have a part in
//! more combinations, then the one that comes first by name.

use std::collections::BTreeSet;

use murphy_hitting::{Cover, Infeasible, Set};
use murphy_report::hardening::{Best, Curve, Row, Step};

use super::problem::Problem;

/// Budgets beyond this are not listed one by one.
const MOST_ROWS: usize = 20;

/// What to harden.
pub struct Choice {
    /// The call sites.
    pub(super) chosen: Set,
    /// The same in the order of their gain.
    pub steps: Vec<Step>,
    /// What every other budget would cover.
    pub curve: Curve,
}

impl Choice {
    /// The best within the budget; without one, the smallest that covers
    /// everything. Fails where the budget is too small for what is of high
    /// priority.
    pub fn of(problem: &Problem, budget: Option<usize>) -> Result<Self, Infeasible> {
        let clauses: Vec<Set> = problem.clauses().collect();
        let cover = cover(problem, &clauses);
        let chosen = cover.best(budget.unwrap_or(usize::MAX))?.chosen;
        Ok(Choice {
            steps: in_order(&chosen, &clauses),
            chosen,
            curve: curve(&cover, budget),
        })
    }
}

fn cover(problem: &Problem, clauses: &[Set]) -> Cover {
    let (mut hard, mut soft) = (Vec::new(), Vec::new());
    for (one, clause) in problem.combinations.iter().zip(clauses) {
        match one.high {
            true => hard.push(clause.clone()),
            false => soft.push((clause.clone(), 1)),
        }
    }
    let sites = 0..problem.sites.names().len();
    let without = |site: usize| clauses.iter().filter(|it| !it.contains(site)).count() as u64;
    let rank = sites.map(without).collect();
    Cover::new(hard, soft, rank).expect("a combination has call sites, and each counts once")
}

/// The call sites in the order of what each covers beyond those before it.
fn in_order(chosen: &Set, clauses: &[Set]) -> Vec<Step> {
    let mut left: Vec<Step> = chosen
        .iter()
        .map(|site| {
            let with_it = |at: &usize| clauses[*at].contains(site);
            let covers: Vec<usize> = (0..clauses.len()).filter(with_it).collect();
            Step {
                site,
                gains: covers.clone(),
                covers,
            }
        })
        .collect();
    let mut steps: Vec<Step> = Vec::new();
    while !left.is_empty() {
        // The first of the largest: they are in the order of their names.
        left.sort_by_key(|step| std::cmp::Reverse((step.gains.len(), step.covers.len())));
        let next = left.remove(0);
        let covered: BTreeSet<usize> = next.gains.iter().copied().collect();
        for step in &mut left {
            step.gains.retain(|at| !covered.contains(at));
        }
        steps.push(next);
    }
    steps
}

fn curve(cover: &Cover, budget: Option<usize>) -> Curve {
    let best = cover.best(usize::MAX);
    let complete = best.expect("no budget, no limit").chosen.len();
    let feasible = cover.best(0).map_or_else(|it| it.smallest, |_| 0);
    let mut budgets: BTreeSet<usize> = (0..=complete.min(MOST_ROWS)).collect();
    budgets.insert(complete);
    budgets.extend(budget.filter(|budget| *budget < complete));
    let row = |budget: usize| Row {
        budget,
        best: cover.best(budget).ok().map(|choice| Best {
            sites: choice.chosen.iter().collect(),
            covered: choice.covered as usize,
        }),
    };
    Curve {
        rows: budgets.into_iter().map(row).collect(),
        feasible,
        complete,
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::tests::failing;
    use super::*;

    /// Scenarios, each with services that bring it down together.
    type Combinations<'c> = &'c [(&'c str, &'c [&'c str])];

    fn problem(high: &[&str], combinations: Combinations<'_>) -> Problem {
        let found: Vec<_> = combinations
            .iter()
            .map(|(scenario, services)| failing(scenario, services))
            .collect();
        let high = high.iter().map(|name| (*name).to_owned()).collect();
        Problem::of(&found, &high, false)
    }

    fn covered(curve: &Curve) -> Vec<Option<usize>> {
        let rows = curve.rows.iter();
        rows.map(|row| row.best.as_ref().map(|best| best.covered))
            .collect()
    }

    /// Taking the call site that covers most first is not the best here.
    #[test]
    fn the_choice_is_the_best_not_the_greediest() {
        let problem = problem(
            &[],
            &[
                ("buy", &["a", "b"]),
                ("order", &["a", "b"]),
                ("buy", &["a", "c"]),
                ("order", &["a", "c"]),
                ("buy", &["b"]),
                ("buy", &["c"]),
            ],
        );
        let one = Choice::of(&problem, Some(1)).unwrap();
        assert_eq!(one.chosen, Set::from_iter([0]));
        let two = Choice::of(&problem, Some(2)).unwrap();
        assert_eq!(two.chosen, Set::from_iter([1, 2]));
        assert_eq!(covered(&two.curve), [Some(0), Some(4), Some(6)]);
        assert_eq!((two.curve.feasible, two.curve.complete), (0, 2));
    }

    #[test]
    fn what_is_of_high_priority_comes_first_or_the_budget_is_too_small() {
        let problem = problem(
            &["buy"],
            &[
                ("browse", &["a"]),
                ("browse", &["a", "b"]),
                ("browse", &["a", "c"]),
                ("buy", &["b"]),
                ("buy", &["c", "d"]),
            ],
        );
        assert_eq!(Choice::of(&problem, Some(1)).err().unwrap().smallest, 2);
        let two = Choice::of(&problem, Some(2)).unwrap();
        // Both b with c and b with d would do for `buy`; c covers more.
        assert_eq!(two.chosen, Set::from_iter([1, 2]));
        assert_eq!(covered(&two.curve), [None, None, Some(2), Some(3)]);
        assert_eq!((two.curve.feasible, two.curve.complete), (2, 3));
    }

    #[test]
    fn without_a_budget_everything_is_covered_with_as_little_as_possible() {
        let problem = problem(
            &[],
            &[("buy", &["a", "b"]), ("buy", &["b", "c"]), ("buy", &["d"])],
        );
        let choice = Choice::of(&problem, None).unwrap();
        assert_eq!(choice.chosen, Set::from_iter([1, 3]));
    }

    #[test]
    fn steps_are_ordered_by_what_they_add() {
        let clauses: Vec<Set> = [vec![0], vec![1], vec![0, 1], vec![1, 2], vec![2]]
            .map(Set::from_iter)
            .into();
        let steps = in_order(&Set::from_iter([0, 1, 2]), &clauses);
        let told: Vec<(usize, usize)> = steps.iter().map(|it| (it.site, it.gains.len())).collect();
        assert_eq!(told, [(1, 3), (0, 1), (2, 1)]);
        assert_eq!(steps[1].covers, [0, 2]);
    }

    #[test]
    fn equal_choices_are_ordered_by_rank_and_then_by_name() {
        // a and b cover the same here, and b has a part in more.
        let by_rank = problem(&["buy"], &[("buy", &["a", "b"]), ("browse", &["b", "c"])]);
        let choice = Choice::of(&by_rank, Some(1)).unwrap();
        assert_eq!(choice.chosen, Set::from_iter([1]));
        let by_name = problem(&[], &[("buy", &["a", "b"])]);
        let choice = Choice::of(&by_name, Some(1)).unwrap();
        assert_eq!(choice.chosen, Set::from_iter([0]));
    }

    #[test]
    fn long_curves_have_a_gap_and_the_budget_in_it() {
        let names: Vec<String> = (10..40).map(|n| format!("s{n}x")).collect();
        let alone: Vec<[&str; 1]> = names.iter().map(|name| [name.as_str()]).collect();
        let all: Vec<(&str, &[&str])> = alone.iter().map(|it| ("buy", it.as_slice())).collect();
        let problem = problem(&[], &all);
        let choice = Choice::of(&problem, Some(25)).unwrap();
        let budgets: Vec<usize> = choice.curve.rows.iter().map(|row| row.budget).collect();
        let expected: Vec<usize> = (0..=20).chain([25, 30]).collect();
        assert_eq!(budgets, expected);
        assert_eq!(choice.steps.len(), 25);
    }

    #[test]
    fn nothing_to_cover_needs_nothing() {
        let problem = Problem::of(&[], &BTreeSet::new(), false);
        let choice = Choice::of(&problem, Some(3)).unwrap();
        assert!(choice.steps.is_empty());
        assert_eq!(choice.curve.rows.len(), 1);
    }
}

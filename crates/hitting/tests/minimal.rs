//! The searches against every set tried: none lost, none invented, none
//! twice, whatever the bound. Any pruning that is not complete fails here;
//! `(a|y)(b|y)(c)` is the smallest formula on which cutting by the depth at
//! which the same clauses were hit before loses a set.

mod shapes;

use fastrand::Rng;
use murphy_hitting::{Formula, Set};
use shapes::{Shape, sorted};

const FORMULAS: u64 = 20_000;

/// Every formula of the sample, with its minimal sets.
fn each(mut check: impl FnMut(&Shape, &Formula, &[Set])) {
    for seed in 0..FORMULAS {
        let shape = shapes::any(&mut Rng::with_seed(seed));
        let formula = Formula::of(shape.clauses()).unwrap();
        check(&shape, &formula, &shape.minimal());
    }
}

/// Those of up to `size` elements.
fn up_to(sets: &[Set], size: usize) -> Vec<Set> {
    sorted(sets.iter().filter(|set| set.len() <= size).cloned())
}

#[test]
fn every_minimal_set_is_found_once_and_nothing_else() {
    each(|shape, formula, expected| {
        assert_eq!(sorted(formula.minimal()), expected, "{:?}", shape.clauses);
    });
}

#[test]
fn a_bound_on_the_size_loses_nothing_within_it() {
    each(|shape, formula, expected| {
        for size in 0..=shape.variables {
            let found = sorted(formula.minimal().at_most(size));
            assert_eq!(found, up_to(expected, size), "{:?} {size}", shape.clauses);
        }
    });
}

#[test]
fn a_shrunk_set_is_minimal_and_inside() {
    each(|shape, formula, _| {
        let everything = formula
            .clauses()
            .iter()
            .flat_map(Set::iter)
            .collect::<Set>();
        let shrunk = formula.shrunk(everything.clone());
        assert!(formula.is_minimal(&shrunk), "{:?}", shape.clauses);
        assert!(shrunk.is_subset(&everything));
    });
}

/// `(a|y)(b|y)(c)`: {a, b, c} covers the same clauses as {y, c} with more
/// elements, and is still minimal. In every order of the clauses.
#[test]
fn a_longer_way_to_the_same_clauses_is_not_given_up() {
    let [a, b, c, y] = [0, 1, 2, 3];
    let clauses = [vec![a, y], vec![b, y], vec![c]].map(Set::from_iter);
    let expected = sorted([vec![y, c], vec![a, b, c]].map(Set::from_iter).into_iter());
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let formula = Formula::of(order.map(|at| clauses[at].clone())).unwrap();
        assert_eq!(sorted(formula.minimal()), expected);
        assert_eq!(sorted(formula.minimal().at_most(3)), expected);
    }
}

#[test]
fn without_clauses_the_empty_set_is_the_only_solution() {
    let formula = Formula::new();
    assert_eq!(formula.minimal().collect::<Vec<_>>(), [Set::new()]);
    assert_eq!(
        formula.minimal().at_most(0).collect::<Vec<_>>(),
        [Set::new()]
    );
}

#[test]
fn a_bound_of_zero_leaves_nothing_where_there_is_a_clause() {
    let formula = Formula::of([Set::from_iter([4])]).unwrap();
    assert_eq!(formula.minimal().at_most(0).next(), None);
}

/// More clauses and more elements than a word has bits: a chain of elements in
/// which neighbours form a clause, and clauses that share nothing.
#[test]
fn nothing_hangs_on_the_width_of_a_word() {
    let chain = Formula::of((0..150).map(|at| Set::from_iter([at, at + 1]))).unwrap();
    let first: Vec<Set> = chain.minimal().take(1_000).collect();
    assert!(first.iter().all(|set| chain.is_minimal(set)));
    assert_eq!(sorted(first.into_iter()).len(), 1_000);
    assert_eq!(chain.minimal().at_most(74).next(), None);
    assert_eq!(
        chain.minimal().at_most(75).next().map(|it| it.len()),
        Some(75)
    );

    let apart = Formula::of((0..150).map(|at| Set::from_iter([at * 2, at * 2 + 1]))).unwrap();
    assert_eq!(apart.minimal().at_most(149).next(), None);
    assert_eq!(apart.minimal().at_most(150).take(10).count(), 10);
}

#[test]
fn solutions_come_one_by_one_from_a_space_too_large_to_list() {
    let apart = Formula::of((0..40).map(|at| (at * 40..at * 40 + 40).collect())).unwrap();
    let found: Vec<Set> = apart.minimal().take(100).collect();
    assert!(found.iter().all(|set| apart.is_minimal(set)));
    assert_eq!(apart.minimal().at_most(39).next(), None);
}

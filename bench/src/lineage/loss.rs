//! How many minimal sets algorithm 1 loses.
//!
//! Owns the table: kinds of formulas and bounds, the share of formulas with a
//! loss and of sets lost, for algorithm 1 and for our search. What is right
//! is found a third way, clause by clause.

use std::collections::BTreeSet;
use std::time::Duration;

use fastrand::Rng;
use murphy_hitting::{Formula, Set};

use super::bars::Bars;
use super::families::{Clauses, Family};
use super::fastfi::algorithm_1;
use super::replicas::Replicas;

struct Row {
    what: &'static str,
    family: Family,
    bounds: &'static [Option<usize>],
}

const fn observed(apis: usize, replicas: usize, paths: usize) -> Family {
    let calls = 1.0;
    Family::Observed {
        replicas: Replicas {
            apis,
            replicas,
            calls,
        },
        paths,
    }
}

const ROWS: [Row; 6] = [
    Row {
        what: "random, 10 elements, 6 clauses of 2..4",
        family: Family::Random {
            elements: 10,
            clauses: 6,
            sizes: (2, 4),
        },
        bounds: &[Some(4), None],
    },
    Row {
        what: "random, 20 elements, 10 clauses of 3..6",
        family: Family::Random {
            elements: 20,
            clauses: 10,
            sizes: (3, 6),
        },
        bounds: &[Some(4), Some(5), None],
    },
    Row {
        what: "replicas, 6 APIs x 3, 10 paths seen",
        family: observed(6, 3, 10),
        bounds: &[Some(3), Some(4), Some(5)],
    },
    Row {
        what: "replicas, 5 APIs x 4, 12 paths seen",
        family: observed(5, 4, 12),
        bounds: &[Some(4), Some(5), Some(6)],
    },
    Row {
        what: "replicas 1, 2, 3, 4, all paths known",
        family: Family::AllPaths(&[1, 2, 3, 4]),
        bounds: &[Some(4)],
    },
    Row {
        what: "AND/OR trees of 12 calls, all paths known",
        family: Family::AndOr { calls: 12 },
        bounds: &[Some(3), Some(4), None],
    },
];

/// How many formulas of each kind.
const FORMULAS: u64 = 400;

/// What was lost over the formulas of one kind.
#[derive(Default)]
struct Loss {
    formulas: usize,
    sets: usize,
    invented: usize,
}

impl Loss {
    fn add(&mut self, right: &BTreeSet<Set>, found: &BTreeSet<Set>) {
        let lost = right.difference(found).count();
        self.formulas += usize::from(lost > 0);
        self.sets += lost;
        self.invented += found.difference(right).count();
    }
}

/// Prints the table; our search is held to losing nothing.
pub fn run(bars: &mut Bars) {
    println!(
        "{:<44} {:>5} {:>24} {:>20} {:>24} {:>20}",
        "minimal sets lost",
        "k",
        "alg. 1: formulas losing",
        "alg. 1: sets lost",
        "ours: formulas losing",
        "ours: sets lost"
    );
    let mut ours_is_complete = true;
    for row in &ROWS {
        for bound in row.bounds {
            ours_is_complete &= print_row(row, *bound);
        }
    }
    println!("{FORMULAS} formulas a row, clauses and elements in random order.");
    println!();
    bars.judge(
        ours_is_complete,
        "our search loses nothing and invents nothing",
    );
}

fn print_row(row: &Row, bound: Option<usize>) -> bool {
    let (mut theirs, mut ours, mut all) = (Loss::default(), Loss::default(), 0);
    for seed in 0..FORMULAS {
        let clauses = row.family.draw(&mut Rng::with_seed(seed));
        let right = right(&clauses, bound);
        all += right.len();
        theirs.add(&right, &by_algorithm_1(&clauses, bound));
        ours.add(&right, &by_our_search(&clauses, bound));
    }
    let percent =
        |part: usize, whole: usize| format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64);
    println!(
        "{:<44} {:>5} {:>24} {:>20} {:>24} {:>20}",
        row.what,
        bound.map_or("none".to_owned(), |bound| bound.to_string()),
        percent(theirs.formulas, FORMULAS as usize),
        percent(theirs.sets, all),
        percent(ours.formulas, FORMULAS as usize),
        percent(ours.sets, all),
    );
    ours.sets + ours.invented == 0
}

fn sets(clauses: &Clauses) -> impl Iterator<Item = Set> + '_ {
    clauses
        .iter()
        .map(|clause| clause.iter().copied().collect())
}

/// Berge's step: with one clause more, a minimal set either was one before, or
/// is one that misses the clause and one of its elements.
fn right(clauses: &Clauses, bound: Option<usize>) -> BTreeSet<Set> {
    let mut formula = Formula::new();
    let mut right = BTreeSet::from([Set::new()]);
    for clause in sets(clauses) {
        formula.add(clause.clone()).expect("no clause is empty");
        let missing: Vec<Set> = right.extract_if(.., |set| !set.meets(&clause)).collect();
        let larger = missing.iter().flat_map(|set| {
            let with = |element| set.iter().chain([element]).collect::<Set>();
            clause.iter().map(with)
        });
        let fits = |set: &Set| bound.is_none_or(|bound| set.len() <= bound);
        right.extend(larger.filter(|set| fits(set) && formula.is_minimal(set)));
    }
    right
}

fn by_our_search(clauses: &Clauses, bound: Option<usize>) -> BTreeSet<Set> {
    let search = Formula::of(sets(clauses))
        .expect("no clause is empty")
        .minimal();
    match bound {
        Some(bound) => search.at_most(bound).collect(),
        None => search.collect(),
    }
}

fn by_algorithm_1(clauses: &Clauses, bound: Option<usize>) -> BTreeSet<Set> {
    let found = algorithm_1(clauses, bound, Duration::from_secs(60));
    found.sets.into_iter().map(Set::from_iter).collect()
}

//! Every published count is reproduced exactly, but for one whose difference is
//! known. `bench/counts` prints the same rows as a table.

use murphy_bench::published::{Published, all, run};
use murphy_model::Flag;

fn assert_all(rows: Vec<Published>) {
    for row in rows {
        assert_eq!(run(&row).explored, row.expected(), "{row:?}");
    }
}

fn rows(faults: &str, encapsulation: bool) -> Vec<Published> {
    let wanted = |row: &Published| row.faults == faults && row.encapsulation == encapsulation;
    all().into_iter().filter(wanted).collect()
}

#[test]
fn four_http_errors_with_encapsulation() {
    assert_all(rows("500,502,503,504", true));
}

#[test]
fn four_http_errors_without_encapsulation() {
    assert_all(rows("500,502,503,504", false));
}

#[test]
fn declared_faults_with_encapsulation() {
    assert_all(rows("declared", true));
}

#[test]
fn declared_faults_without_encapsulation() {
    assert_all(rows("declared", false));
}

#[test]
fn identity_ablation() {
    assert_all(rows("reset", false));
}

/// The one count that is another: without path, count and call site the two
/// Movies calls of cinema-path are one point. That only one of them fails
/// cannot be said then, and the search warns.
#[test]
fn the_only_count_that_differs_is_explained_by_a_warning() {
    let differing: Vec<Published> = all().into_iter().filter(|r| r.differs.is_some()).collect();
    let [row] = differing.as_slice() else {
        panic!("{differing:?}");
    };
    assert_eq!(
        (row.app, row.explored, row.expected()),
        ("cinema-path", 5, 4)
    );
    let ambiguous = |flag: &Flag| matches!(flag, Flag::Ambiguous { .. });
    assert!(run(row).flags.iter().any(ambiguous));
}

/// What the model counts without running equals what a search without
/// encapsulation runs: 2,444 executions tell of 12,173 cases.
#[test]
fn the_model_counts_the_cases_it_skips() {
    for with in all()
        .into_iter()
        .filter(|row| row.encapsulation && !row.retry)
    {
        let without = all().into_iter().find(|row| {
            !row.encapsulation
                && !row.retry
                && (row.app, row.settings, row.faults, row.identity)
                    == (with.app, with.settings, with.faults, with.identity)
        });
        if let Some(without) = without {
            let skips = run(&with).skips.expect("a complete model is counted");
            assert_eq!(skips.possible, without.explored.into(), "{with:?}");
        }
    }
}

//! The table of the solver part: a line per instance, a column per solver.

use super::super::python::Solver;
use super::super::timing::Timed;
use super::Row;

pub(super) fn print(rows: &[Row]) {
    println!("{HEAD}");
    for row in rows {
        println!("{}", line(row));
    }
    println!("{ABOUT}");
}

const HEAD: &str = "\
all minimal sets of      clauses     sets       ours        alg. 1 (Rust)    alg. 1 (Python)      Z3 + blocking \
  CaDiCaL + block.       Hitman (RC2)  ours/a.1   Z3/ours";

const ABOUT: &str = "\
> seconds (sets): stopped, with so many sets found until then. [sets]: ended, and found only so many.
One thread, wall time, from the list of clauses to the last set; ours and alg. 1 (Rust): median of a few runs.";

fn line(row: &Row) -> String {
    let other = |solver| row.other(solver).unwrap_or(Timed::NOTHING);
    let [python, z3, cadical, hitman] = Solver::ALL.map(other);
    format!(
        "{:<24} {:>7} {:>8} {:>10} {:>20} {:>18} {:>18} {:>18} {:>18} {:>9.3} {:>9}",
        row.instance.name,
        row.instance.clauses.len(),
        row.ours.found,
        row.ours,
        with_loss(row, row.algorithm_1),
        with_loss(row, python),
        z3,
        cadical,
        hitman,
        1.0 / row.times(row.algorithm_1),
        row.other(Solver::Z3)
            .map_or("-".to_owned(), |z3| times(row, z3)),
    )
}

fn with_loss(row: &Row, timed: Timed) -> String {
    match timed.ended && timed.found != row.ours.found {
        true => format!("{timed} [{}]", timed.found),
        false => timed.to_string(),
    }
}

fn times(row: &Row, other: Timed) -> String {
    let at_least = if other.ended { "" } else { "> " };
    format!("{at_least}{:.0}", row.times(other))
}

//! The bars of the solver part.

use super::super::bars::Bars;
use super::super::instance::{CHECKOUT, Kind, LEFT};
use super::super::python::Solver;
use super::super::timing::{Timed, seconds};
use super::Row;

/// So many times as fast as Z3 we are to be, where Z3 takes longer than this.
const TIMES_Z3: f64 = 100.0;
const Z3_IS_SLOW: f64 = 0.1;

/// Algorithm 1 in Rust may be faster than we are by this much.
const TIMES_ALGORITHM_1: f64 = 2.0;

/// How long Z3 has to be let run to show its bar, with something to spare.
pub(super) fn proving_limit(row: &Row) -> f64 {
    row.ours.seconds * TIMES_Z3 * 1.2
}

pub(super) fn all(rows: &[Row], bars: &mut Bars) {
    time(
        rows,
        bars,
        "every skeleton instance under 5 ms",
        0.005,
        |row| row.instance.kind == Kind::Skeleton,
    );
    for (request, most) in [(CHECKOUT, 7), (LEFT, 4)] {
        let name = format!("{request}, k={most}");
        time(rows, bars, &format!("{name} under 0.5 s"), 0.5, |row| {
            row.instance.name == name
        });
    }
    against_algorithm_1(rows, bars);
    if rows.iter().all(|row| row.others.is_some()) {
        against_python(rows, bars);
        against_complete(rows, bars);
    } else {
        println!("{NOT_JUDGED}");
    }
}

const NOT_JUDGED: &str = "\
NOT JUDGED, as the Python packages are missing: the bars against Z3 and algorithm 1 in Python, and whether Z3, CaDiCaL
and Hitman find as many sets.";

fn time(rows: &[Row], bars: &mut Bars, what: &str, most: f64, which: impl Fn(&Row) -> bool) {
    let rows = rows.iter().filter(|row| which(row));
    let slowest = rows.max_by(|a, b| a.ours.seconds.total_cmp(&b.ours.seconds));
    let slowest = slowest.expect("every bar has an instance");
    let time = slowest.ours.seconds;
    let what = format!("{what}: {} ({})", seconds(time), slowest.instance.name);
    bars.judge(time < most, what);
}

fn against_algorithm_1(rows: &[Row], bars: &mut Bars) {
    let ratio = |row: &Row| row.ours.seconds / row.algorithm_1.seconds;
    let worst = rows.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let worst = worst.expect("there are instances");
    let what = format!(
        "nowhere more than {TIMES_ALGORITHM_1} times as slow as algorithm 1 in Rust: at most {:.2} times ({})",
        ratio(worst),
        worst.instance.name
    );
    bars.judge(ratio(worst) <= TIMES_ALGORITHM_1, what);
}

fn against_python(rows: &[Row], bars: &mut Bars) {
    let (z3, where_z3) = least(rows, Solver::Z3, Z3_IS_SLOW);
    let what = format!(
        "at least {TIMES_Z3} times as fast as Z3 where that takes over {Z3_IS_SLOW} s: at least {z3:.0} times ({where_z3})"
    );
    bars.judge(z3 >= TIMES_Z3, what);
    let (python, where_python) = least(rows, Solver::Algorithm1, 0.0);
    let what = format!(
        "faster than algorithm 1 in Python everywhere: at least {python:.1} times ({where_python})"
    );
    bars.judge(python > 1.0, what);
}

/// The smallest number of times a solver took as long as we did, and on
/// which instance, among those on which it took longer than `from` seconds.
fn least(rows: &[Row], solver: Solver, from: f64) -> (f64, &str) {
    let slow = compared(rows, solver).filter(|(_, other)| other.seconds > from);
    let times = slow.map(|(row, other)| (row.times(other), row.instance.name.as_str()));
    let least = times.min_by(|a, b| a.0.total_cmp(&b.0));
    least.unwrap_or((f64::INFINITY, "nowhere"))
}

fn compared(rows: &[Row], solver: Solver) -> impl Iterator<Item = (&Row, Timed)> {
    rows.iter()
        .filter_map(move |row| Some((row, row.other(solver)?)))
}

fn against_complete(rows: &[Row], bars: &mut Bars) {
    let complete = [Solver::Z3, Solver::Cadical, Solver::Hitman];
    let runs = complete
        .into_iter()
        .flat_map(|solver| compared(rows, solver));
    let ended: Vec<(&Row, Timed)> = runs.filter(|(_, other)| other.ended).collect();
    let is_same = ended
        .iter()
        .all(|(row, other)| row.ours.found == other.found);
    let what = format!(
        "as many sets as Z3, CaDiCaL and Hitman in each of their {} runs that ended",
        ended.len()
    );
    bars.judge(is_same, what);
}

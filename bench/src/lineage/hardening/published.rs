//! Table 9, printed next to what the exact choice covers.

use std::time::Instant;

use super::super::table_9::{Deployment, Ours, Row, TABLE_9, at_least};
use super::super::timing::seconds;

/// Prints ours next to the published; true if no published figure is better.
pub(super) fn print() -> bool {
    println!(
        "{:<8} {:>6} {:>20} {:>9} {:>9} {:>14} {:>6} {:>15} {:>9} {:>9}",
        "table 9",
        "budget",
        "covered: heuristic",
        "FastFI",
        "ours",
        "gain: FastFI",
        "ours",
        "left: FastFI",
        "ours",
        "time"
    );
    // All of them are printed, whatever comes out.
    let better = TABLE_9
        .iter()
        .filter(|deployment| !print_deployment(deployment));
    let is_kept = better.count() == 0;
    println!("{ABOUT_TABLE_9}");
    is_kept
}

const ABOUT_TABLE_9: &str = "\
Covered: faults of low-priority requests, in percent (CR). Gain: faults per API added (MCG). Left: mean share of faults
left per request, in percent (AFVR), smaller is better. The paper prints no fault lists: these are fitted to its figures
(bench/src/lineage/table_9.rs).";

fn print_deployment(deployment: &Deployment) -> bool {
    let cover = deployment.cover();
    let mut before = None;
    let mut is_kept = true;
    for row in deployment.rows {
        let start = Instant::now();
        let best = cover.best(row.budget);
        let time = start.elapsed().as_secs_f64();
        let best = best.expect("the first budget covers what is hard");
        let ours = deployment.measure(&best);
        let gain = before
            .map(|(budget, faults)| (ours.faults - faults) as f64 / (row.budget - budget) as f64);
        before = Some((row.budget, ours.faults));
        is_kept &= at_least(ours.covered, row.covered);
        is_kept &= at_least(row.left, ours.left);
        println!(
            "{:<8} {} {:>9}",
            deployment.name,
            figures(row, &ours, gain),
            seconds(time)
        );
    }
    is_kept
}

fn figures(row: &Row, ours: &Ours, gain: Option<f64>) -> String {
    let or_none = |gain: Option<f64>| gain.map_or("-".to_owned(), |gain| format!("{gain:.1}"));
    format!(
        "{:>6} {:>20.2} {:>9.2} {:>9.2} {:>14} {:>6} {:>15.2} {:>9.2}",
        row.budget,
        row.heuristic,
        row.covered,
        ours.covered,
        or_none(row.gain),
        or_none(gain),
        row.left,
        ours.left
    )
}

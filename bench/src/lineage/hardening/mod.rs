//! What to harden: the exact choice next to FastFI's and a greedy one.
//!
//! Owns the order of the part and its bars; `compare` and `published`
//! print the tables.

mod compare;
mod kinds;
mod published;

use std::ops::RangeInclusive;
use std::time::Instant;

use fastrand::Rng;
use murphy_hitting::Cover;

use super::bars::Bars;
use super::timing::seconds;
use kinds::subset;

/// Runs and prints everything.
pub fn run(bars: &mut Bars) {
    compare::print();
    println!();
    let reaches_published = published::print();
    println!();
    bars.judge(
        reaches_published,
        "every budget of table 9: at least as many faults covered as published, at most as many left",
    );
    judge_time(bars);
}

/// 40 APIs and 92 soft clauses, at every budget.
fn judge_time(bars: &mut Bars) {
    let mut times = Vec::new();
    for seed in 0..10 {
        for (heaviest, sizes) in [(1, 1..=5), (20, 1..=5), (1, 2..=6), (20, 2..=6)] {
            let cover = large(heaviest, sizes, &mut Rng::with_seed(seed));
            times.extend((0..=40).map(|budget| time(&cover, budget)));
        }
    }
    let worst = times.iter().copied().fold(0.0, f64::max);
    let what = format!(
        "40 APIs and 92 soft clauses under 50 ms at every budget: at most {}, mean {} over {} runs",
        seconds(worst),
        seconds(times.iter().sum::<f64>() / times.len() as f64),
        times.len()
    );
    bars.judge(worst < 0.05, what);
}

fn time(cover: &Cover, budget: usize) -> f64 {
    let start = Instant::now();
    cover.best(budget).expect("nothing is hard");
    start.elapsed().as_secs_f64()
}

fn large(heaviest: u64, sizes: RangeInclusive<usize>, rng: &mut Rng) -> Cover {
    let clause = |rng: &mut Rng| subset(40, rng.usize(sizes.clone()), rng);
    let soft = (0..92).map(|_| (clause(rng), rng.u64(1..=heaviest)));
    Cover::new(Vec::new(), soft.collect(), Vec::new()).expect("no clause is empty")
}

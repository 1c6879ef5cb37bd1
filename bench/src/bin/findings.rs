//! Prints what findings cost: campaigns in which most executions fail next to
//! their twins in which all pass, and how long it takes to end a campaign with
//! many findings. Fails where a bar is missed.

use std::process::ExitCode;
use std::time::Duration;

use murphy_bench::twins::{Costs, Twin};

/// As in the binary that people run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A failing campaign takes at most this many times as long as its twin.
const MOST_TIMES_THE_PASSING_TWIN: f64 = 1.5;

/// Ending a campaign with 10,000 findings takes at most this long.
const LONGEST_ENDING: Duration = Duration::from_secs(1);

/// The least of so many is taken: what else the machine does only adds.
const ROUNDS: usize = 3;

fn main() -> ExitCode {
    println!("Simulated campaigns, tree strategy; CPU time of one thread, least of {ROUNDS}.");
    println!(
        "{:>10} {:>8} {:>9} {:>12} {:>12} {:>7}",
        "executions", "failed", "findings", "passing ms", "failing ms", "ratio"
    );
    let twins = [(3, 14), (4, 14)].map(|(calls, modes)| compare(calls, modes));
    let ending = end_with_many_findings();
    match twins.iter().all(|met| *met) && ending {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Whether the failing twin is quick enough.
fn compare(calls: usize, modes: u16) -> bool {
    let twin = |fails| Twin {
        calls,
        modes,
        too_many: calls,
        most_faults: None,
        fails,
    };
    let (mut passing, mut failing) = (f64::MAX, f64::MAX);
    let mut last = None;
    for _ in 0..ROUNDS {
        passing = passing.min(cpu_ms(&twin(false).campaign()));
        let costs = twin(true).campaign();
        failing = failing.min(cpu_ms(&costs));
        last = Some(costs);
    }
    let costs = last.expect("there is a round");
    let ratio = failing / passing;
    println!(
        "{:>10} {:>8} {:>9} {passing:>12.1} {failing:>12.1} {ratio:>7.2}",
        costs.executions, costs.failed, costs.findings
    );
    ratio <= MOST_TIMES_THE_PASSING_TWIN
}

fn cpu_ms(costs: &Costs) -> f64 {
    costs
        .campaign
        .cpu_ms
        .expect("processor time is known on Linux")
}

/// Whether a campaign with many findings ends quickly: any three of 41 calls
/// are a bug of their own.
fn end_with_many_findings() -> bool {
    let twin = Twin {
        calls: 41,
        modes: 1,
        too_many: 3,
        most_faults: Some(3),
        fails: true,
    };
    let costs = twin.campaign();
    println!(
        "\nEnding a campaign of {} executions with {} findings, report included: {:.0} ms",
        costs.executions,
        costs.findings,
        costs.ending.as_secs_f64() * 1e3
    );
    costs.ending <= LONGEST_ENDING
}

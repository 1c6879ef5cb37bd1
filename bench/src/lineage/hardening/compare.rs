//! Ways to choose, on many instances: how often and how far each stays below
//! the best.

use std::time::Instant;

use fastrand::Rng;

use super::super::timing::seconds;
use super::super::two_stage::Reading;
use super::kinds::{FAMILIES, Family};

/// How many instances of each kind.
const INSTANCES: u64 = 400;

pub(super) fn print() {
    println!(
        "{:<36} {:>34} {:>34} {:>34} {:>22}",
        "below the best (worst / mean gap)",
        "two-stage",
        "two-stage, arg max within budget",
        "greedy",
        "exact: mean / max"
    );
    for (name, family) in &FAMILIES {
        print_family(name, family);
    }
    println!(
        "{INSTANCES} instances a row. Failed: the first stage's choice does not fit a budget that would do."
    );
}

fn print_family(name: &str, family: &Family) {
    let mut ways: [Behind; 3] = Default::default();
    let mut times = Vec::new();
    for seed in 0..INSTANCES {
        let hardening = family.draw(&mut Rng::with_seed(seed));
        let start = Instant::now();
        let best = hardening.cover().best(hardening.budget);
        times.push(start.elapsed().as_secs_f64());
        let best = best.expect("the budget does").covered;
        let others = [
            hardening.two_stage(Reading::All),
            hardening.two_stage(Reading::WithinBudget),
            hardening.greedy(),
        ];
        for (way, covered) in ways.iter_mut().zip(others) {
            way.add(covered, best);
        }
    }
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let most = times.iter().copied().fold(0.0, f64::max);
    let [two_stage, within, greedy] = ways.map(|way| way.show());
    let time = format!("{} / {}", seconds(mean), seconds(most));
    println!("{name:<36} {two_stage:>34} {within:>34} {greedy:>34} {time:>22}");
}

/// How often and how far a way to choose stays below the best.
#[derive(Default)]
struct Behind {
    below: usize,
    infeasible: usize,
    gaps: Vec<f64>,
}

impl Behind {
    fn add(&mut self, covered: Option<u64>, best: u64) {
        match covered {
            None => self.infeasible += 1,
            Some(covered) if covered < best => {
                self.below += 1;
                self.gaps.push(1.0 - covered as f64 / best as f64);
            }
            Some(_) => {}
        }
    }

    fn show(&self) -> String {
        let percent = |part: usize| 100.0 * part as f64 / INSTANCES as f64;
        let worst = 100.0 * self.gaps.iter().copied().fold(0.0, f64::max);
        let mean = 100.0 * self.gaps.iter().sum::<f64>() / self.gaps.len().max(1) as f64;
        if self.below + self.infeasible == 0 {
            return "never".to_owned();
        }
        let failed = match self.infeasible {
            0 => String::new(),
            count => format!(" + {:.1} % failed", percent(count)),
        };
        format!(
            "{:.1} %{failed} ({worst:.0} % / {mean:.1} %)",
            percent(self.below)
        )
    }
}

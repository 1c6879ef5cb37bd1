//! Prints what finding combinations of faults takes, next to FastFI's
//! algorithms and general solvers. Exits with 1 if a bar is missed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use murphy_bench::lineage::bars::Bars;
use murphy_bench::lineage::{hardening, injections, loss, solver};

/// Prints what finding combinations of faults takes, next to FastFI's algorithms and general
/// solvers.
#[derive(Parser)]
struct Args {
    /// What to run; everything if none is named.
    parts: Vec<Part>,
    /// After how many seconds another solver is stopped; a quarter of it on skeleton instances.
    #[arg(long, default_value_t = 4.0)]
    limit: f64,
    /// The Python that has the packages z3-solver and python-sat.
    #[arg(long)]
    python: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// All minimal sets: times, and what algorithm 1 loses.
    Solver,
    /// How many executions until every minimal combination is known.
    Injections,
    /// Which APIs to harden within a budget.
    Hardening,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let mut bars = Bars::default();
    if args.runs(Part::Solver) {
        solver::run(&args.solver_options(), &mut bars)?;
        println!();
        loss::run(&mut bars);
        println!();
    }
    if args.runs(Part::Injections) {
        injections::run(&mut bars);
        println!();
    }
    if args.runs(Part::Hardening) {
        hardening::run(&mut bars);
    }
    Ok(ExitCode::from(u8::from(bars.missed() > 0)))
}

impl Args {
    fn runs(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    fn solver_options(&self) -> solver::Options<'_> {
        let python = self.python.as_deref().filter(|python| has_solvers(python));
        if python.is_none() {
            eprintln!(
                "THE COLUMNS OF PYTHON, Z3, CADICAL AND HITMAN ARE MISSING: no Python with z3-solver and python-sat"
            );
        }
        solver::Options {
            python,
            limit: self.limit,
        }
    }
}

fn has_solvers(python: &Path) -> bool {
    let mut command = std::process::Command::new(python);
    let output = command.args(["-c", "import pysat, z3"]).output();
    output.is_ok_and(|output| output.status.success())
}

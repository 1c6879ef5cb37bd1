//! All minimal hitting sets: our search next to FastFI's and general solvers.
//!
//! Owns the runs; `table` prints them, `judge` holds them to the bars.

mod judge;
mod streamed;
mod table;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use murphy_hitting::{Formula, Set};

use super::bars::Bars;
use super::fastfi::algorithm_1;
use super::instance::{self, Instance, Kind};
use super::python::{self, Solver};
use super::timing::{Timed, timed};
use streamed::Streamed;

/// What is to be run.
pub struct Options<'a> {
    /// The Python that has the other solvers, if there is one.
    pub python: Option<&'a Path>,
    /// After how many seconds a solver is stopped. Skeletons get a quarter of
    /// it: there are 54 of them, and Z3 uses up what it gets on most.
    pub limit: f64,
}

/// What all solvers did on one instance.
struct Row {
    instance: Instance,
    ours: Timed,
    algorithm_1: Timed,
    others: Option<[Timed; 4]>,
}

/// Runs and prints everything.
pub fn run(options: &Options, bars: &mut Bars) -> Result<()> {
    let streamed = Streamed::measure();
    let instances = instance::all().into_iter();
    let mut rows: Vec<Row> = instances
        .map(|instance| Row::of(instance, options))
        .collect();
    if let Some(python) = options.python {
        add_others(&mut rows, python, options)?;
    }
    table::print(&rows);
    println!();
    streamed.judge(bars);
    judge::all(&rows, bars);
    Ok(())
}

fn add_others(rows: &mut [Row], python: &Path, options: &Options) -> Result<()> {
    let limit = |row: &Row| {
        options
            .limit_for(&row.instance)
            .max(judge::proving_limit(row))
    };
    let instances: Vec<(&Instance, f64)> =
        rows.iter().map(|row| (&row.instance, limit(row))).collect();
    let results = python::timed(python, &instances)?;
    for (row, others) in rows.iter_mut().zip(results) {
        row.others = Some(others);
    }
    Ok(())
}

impl Options<'_> {
    fn limit_for(&self, instance: &Instance) -> f64 {
        match instance.kind {
            Kind::Skeleton => self.limit / 4.0,
            Kind::Replicas | Kind::Disjoint => self.limit,
        }
    }
}

impl Row {
    fn of(instance: Instance, options: &Options) -> Self {
        Row {
            ours: timed(|| ours(&instance)),
            algorithm_1: timed(|| theirs(&instance, options.limit_for(&instance))),
            others: None,
            instance,
        }
    }

    fn other(&self, solver: Solver) -> Option<Timed> {
        self.others.map(|others| others[solver as usize])
    }

    /// How many times as long another solver took; if it was stopped, at
    /// least.
    fn times(&self, other: Timed) -> f64 {
        other.seconds / self.ours.seconds
    }
}

/// From the list of clauses to the last set.
fn ours(instance: &Instance) -> (usize, bool) {
    let sets = formula(instance).minimal();
    let found = match instance.most {
        Some(most) => sets.at_most(most).count(),
        None => sets.count(),
    };
    (found, true)
}

fn formula(instance: &Instance) -> Formula {
    let clauses = instance.clauses.iter();
    let clauses = clauses.map(|clause| clause.iter().copied().collect::<Set>());
    Formula::of(clauses).expect("no path is empty")
}

fn theirs(instance: &Instance, limit: f64) -> (usize, bool) {
    let limit = Duration::from_secs_f64(limit);
    let found = algorithm_1(&instance.clauses, instance.most, limit);
    (found.sets.len(), found.ended)
}

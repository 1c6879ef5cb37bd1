//! Solvers written in or for Python, on the same instances.
//!
//! Owns the conversation with `lineage.py`: all instances in, one line per
//! instance and solver out.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::instance::Instance;
use super::timing::Timed;

/// A solver behind `lineage.py`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// FastFI's algorithm 1.
    Algorithm1,
    /// Z3, each set found shrunk and blocked.
    Z3,
    /// CaDiCaL, each set found shrunk and blocked.
    Cadical,
    /// PySAT's Hitman, over RC2.
    Hitman,
}

impl Solver {
    /// All of them, in the order of the columns.
    pub const ALL: [Solver; 4] = [
        Solver::Algorithm1,
        Solver::Z3,
        Solver::Cadical,
        Solver::Hitman,
    ];

    fn name(self) -> &'static str {
        match self {
            Solver::Algorithm1 => "algorithm 1",
            Solver::Z3 => "z3",
            Solver::Cadical => "cadical",
            Solver::Hitman => "hitman",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|solver| solver.name() == name)
    }
}

/// What each solver took for each instance, in the order of
/// [`Solver::ALL`]; stopped after the seconds given with the instance.
pub fn timed(python: &Path, instances: &[(&Instance, f64)]) -> Result<Vec<[Timed; 4]>> {
    let mut child = start(python)?;
    let mut stdin = child.stdin.take().context("standard input is piped")?;
    write!(stdin, "{}", request(instances))?;
    drop(stdin);
    let mut results = vec![[Timed::NOTHING; 4]; instances.len()];
    let stdout = child.stdout.take().context("standard output is piped")?;
    for line in BufReader::new(stdout).lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let (at, solver, timed) = parsed(&line).with_context(|| format!("not a result: {line}"))?;
        results[at][solver as usize] = timed;
        progress(at + 1, instances.len(), solver);
    }
    progress_ended();
    ensure!(child.wait()?.success(), "lineage.py failed");
    Ok(results)
}

/// A line that is written over, where somebody looks.
fn progress(at: usize, of: usize, solver: Solver) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{at} of {of} instances, {:<12}", solver.name());
    }
}

fn progress_ended() {
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
}

fn start(python: &Path) -> Result<Child> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lineage.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
        .spawn()
        .with_context(|| format!("{} can not be started", python.display()))
}

fn request(instances: &[(&Instance, f64)]) -> Value {
    let instances = instances.iter().map(|(instance, limit)| {
        json!({"clauses": instance.clauses, "most": instance.most, "limit": limit})
    });
    json!({"instances": instances.collect::<Vec<_>>()})
}

fn parsed(line: &Value) -> Option<(usize, Solver, Timed)> {
    let timed = Timed {
        seconds: line["seconds"].as_f64()?,
        found: line["found"].as_u64()? as usize,
        ended: line["ended"].as_bool()?,
    };
    let at = line["instance"].as_u64()? as usize;
    Some((at, Solver::named(line["solver"].as_str()?)?, timed))
}

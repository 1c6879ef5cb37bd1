//! `kill -9` at a random moment, many times over: what `murphy run --resume`
//! makes of it is what a campaign that nobody disturbed makes, and nothing is
//! left behind.
//!
//! The ports are the same in every round, so that a round whose orphans were
//! not stopped keeps the next from starting.

mod support;

use std::collections::BTreeMap;
use std::process::{Child, ExitCode};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use support::{Done, Project, runs};

const ROUNDS: usize = 50;

/// Every so many rounds what was resumed is killed, too.
const KILLED_AGAIN: usize = 8;

/// As many as make a campaign of some length.
const MODES: &str = "--modes=500,503,reset";

const RUN: [&str; 4] = ["run", "--format", "json", MODES];
const RESUME: [&str; 5] = ["run", "--format", "json", MODES, "--resume"];

fn main() -> ExitCode {
    support::shop::serve_if_asked();
    let arguments = Arguments::from_args();
    let trial = Trial::test(
        "a killed campaign is resumed as if nothing had been",
        || {
            killed_and_resumed();
            Ok(())
        },
    );
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

fn killed_and_resumed() {
    let ports = support::free_ports();
    let (expected, full) = undisturbed(&ports);
    let explored = expected["explored"].as_u64().unwrap() as usize;
    println!("undisturbed: {explored} executions in {full:.1?}");
    assert!((50..200).contains(&explored), "{explored} executions");
    assert_eq!(expected["complete"], true);
    assert_eq!(expected["findings"].as_array().unwrap().len(), 2);

    let mut figures = Figures::default();
    for round in 0..ROUNDS {
        let project = Project::on(&ports);
        let rest = Killed::at_random(&project, &RUN, full, &mut figures);
        if round % KILLED_AGAIN == 0 && !rest.had_ended {
            Killed::at_random(&project, &RESUME, full, &mut figures);
        }
        let done = project.run(&RESUME).exited(1);
        assert_eq!(done.result(), expected, "round {round}\n{}", done.stderr);
        let reported = project.run(&["report", "json"]).exited(1);
        assert_eq!(reported.result(), expected, "round {round}, from the store");
        project.check_nothing_is_left();
        figures.resumed(&done, explored);
    }
    figures.print();
    let among = figures.phases.get(AMONG).copied().unwrap_or(0);
    assert!(among >= ROUNDS / 10, "too few kills hit a campaign at work");
}

/// What a campaign comes to, and how long it takes.
fn undisturbed(ports: &[u16]) -> (Value, Duration) {
    let project = Project::on(ports);
    let began = Instant::now();
    let done = project.run(&RUN).exited(1);
    let took = began.elapsed();
    project.check_nothing_is_left();
    (done.result(), took)
}

/// A campaign that was killed.
struct Killed {
    /// Whether it was too late for that.
    had_ended: bool,
}

impl Killed {
    fn at_random(
        project: &Project,
        arguments: &[&str],
        full: Duration,
        figures: &mut Figures,
    ) -> Self {
        let mut child = project.murphy(arguments).spawn().unwrap();
        std::thread::sleep(full.mul_f64(fastrand::f64()));
        let had_ended = !runs(&mut child);
        kill(child);
        figures.kills += usize::from(!had_ended);
        Killed { had_ended }
    }
}

/// The process alone: what it started is left to itself.
fn kill(mut child: Child) {
    let _ = child.kill();
    child.wait().unwrap();
}

const BEFORE: &str = "before the campaign was in the store, or after its end";
const PREPARING: &str = "before its first execution under faults";
const AMONG: &str = "among its executions";

/// What the rounds came to.
#[derive(Default)]
struct Figures {
    kills: usize,
    phases: BTreeMap<&'static str, usize>,
    remembered: usize,
    executions: usize,
    orphaned: usize,
}

impl Figures {
    fn resumed(&mut self, done: &Done, explored: usize) {
        let remembered = done.remembered();
        let phase = match remembered {
            _ if done.stderr.contains("this one starts afresh") => BEFORE,
            0 => PREPARING,
            _ => AMONG,
        };
        *self.phases.entry(phase).or_default() += 1;
        self.remembered += remembered;
        self.executions += explored;
        self.orphaned += usize::from(done.stderr.contains("had left these running"));
    }

    fn print(&self) {
        let Figures {
            kills,
            remembered,
            executions,
            orphaned,
            ..
        } = self;
        println!("{ROUNDS} rounds, {kills} kills; orphans were stopped in {orphaned} rounds");
        for (phase, count) in &self.phases {
            println!("  last killed {phase}: {count}");
        }
        println!("{remembered} of {executions} executions were not made again");
    }
}

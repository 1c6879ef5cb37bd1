//! Every test of a command as a scenario.
//!
//! Owns the first look at all of them, before anything is injected: which tests
//! there are, what each calls, which are left out and why, and which endpoints
//! none of them reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use murphy_config::Usage;
use murphy_model::Trace;
use murphy_system::spec::ScenarioSpec;
use murphy_system::{Endpoint, FirstLook, LiveWorld, RunningSystem};

use crate::error::Error;
use crate::{exit, output};

/// So many tests that reach a call are named; the others are counted.
const NAMED: usize = 3;

/// The time between two lines about how far the first look is.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// So many lines of one kind are shown, unless everything is asked for.
const LINES: usize = 12;

/// Tests that were listed and looked at.
#[derive(Default)]
pub(crate) struct TestsFound {
    /// Those that are searched.
    pub(crate) scenarios: Vec<ScenarioSpec>,
    runner: String,
    listed: usize,
    pub(crate) left_out: Vec<(String, String)>,
    problems: Vec<String>,
    /// The calls between services, each with the tests that make it.
    calls: BTreeMap<String, BTreeSet<String>>,
    /// Services that no test calls.
    uncalled: BTreeSet<String>,
    /// Endpoints that services describe and no test reaches.
    unreached: Vec<Endpoint>,
    described: usize,
    shares: BTreeMap<String, usize>,
    has_failed: bool,
}

impl TestsFound {
    /// Lists the tests of a scenario and runs each of them once without faults.
    pub(crate) async fn look(
        system: &Arc<RunningSystem>,
        scenario: &ScenarioSpec,
        filter: &[String],
    ) -> Result<Self, Error> {
        let tests = system.tests_of(scenario).await?;
        let is_wanted =
            |name: &str| filter.is_empty() || filter.iter().any(|text| name.contains(text));
        let mut wanted = tests.scenarios;
        wanted.retain(|test| is_wanted(&test.name));
        let mut left_out = tests.skipped;
        left_out.retain(|(test, _)| is_wanted(test));
        if wanted.is_empty() && left_out.is_empty() {
            return Err(none_listed(scenario, filter).into());
        }
        let mut found = TestsFound {
            runner: tests.runner,
            listed: wanted.len() + left_out.len(),
            left_out,
            problems: tests.problems,
            ..TestsFound::default()
        };
        found.uncalled = system.expected_calls(&scenario.name);
        let mut unreached = system.described().await;
        found.described = unreached.len();
        let all = wanted.len();
        output::progress(format_args!("first look at {}", counted(all, "test")));
        let mut told = Instant::now();
        for (number, test) in (1..).zip(wanted) {
            if told.elapsed() >= BETWEEN_LINES {
                output::progress(format_args!("first look {number} of {all}: {}", test.name));
                told = Instant::now();
            }
            let world = LiveWorld::in_system(system.clone(), test.clone()).await?;
            let look = world.first_look().await?;
            let why_fresh = world.why_fresh();
            world.stop().await?;
            unreached.retain(|endpoint| !reaches(&look.observed.execution.trace, endpoint));
            let test = match why_fresh {
                Some(_) => test.fresh(),
                None => test,
            };
            found.add(test, look);
        }
        found.unreached = unreached;
        Ok(found)
    }

    fn add(&mut self, test: ScenarioSpec, look: FirstLook) {
        for call in look.observed.execution.trace.calls() {
            self.uncalled.remove(&*call.point.frame().destination);
        }
        for fixture in look.shares {
            *self.shares.entry(fixture).or_default() += 1;
        }
        for call in between_services(&look.observed.execution.trace) {
            self.calls
                .entry(call)
                .or_default()
                .insert(test.name.clone());
        }
        match look.left_out {
            None => self.scenarios.push(test),
            Some(why) => {
                self.has_failed |= why.starts_with("fails");
                self.left_out.push((test.name, why));
            }
        }
    }

    /// What the run comes to where no test is left; otherwise nothing.
    pub(crate) fn code(&self) -> Option<u8> {
        match (self.scenarios.is_empty(), self.has_failed) {
            (false, _) => None,
            (true, true) => Some(exit::REFERENCE_FAILED),
            (true, false) => Some(exit::NOTHING_INJECTED),
        }
    }

    /// Shows what was found; all of it, or a screen.
    pub(crate) fn write(&self, whole: bool, out: &mut dyn Write) -> io::Result<()> {
        let most = if whole { usize::MAX } else { LINES };
        let by = match self.runner.is_empty() {
            true => String::new(),
            false => format!(" ({})", self.runner),
        };
        let searched = self.scenarios.len();
        writeln!(
            out,
            "{} listed{by}; {searched} of them {} calls between services",
            counted(self.listed, "test"),
            if searched == 1 { "makes" } else { "make" },
        )?;
        section(
            out,
            "Calls between services, and the tests that make them",
            most,
            self.calls.iter(),
            |(call, tests)| format!("{call}\n    {}", named(tests, whole)),
        )?;
        section(
            out,
            "Left out",
            most,
            self.left_out.iter(),
            |(test, why)| format!("{test}: {why}"),
        )?;
        section(
            out,
            "Could not be read",
            most,
            self.problems.iter(),
            |line| (*line).clone(),
        )?;
        let uncalled = "Services that no test calls, of which nothing will be known";
        section(out, uncalled, most, self.uncalled.iter(), |it| {
            (*it).clone()
        })?;
        let title = format!(
            "Endpoints that no test reaches ({} of {} that services describe)",
            self.unreached.len(),
            self.described
        );
        section(out, &title, most, self.unreached.iter(), |it| {
            format!("{} {} {}", it.service, it.method, it.path)
        })?;
        section(
            out,
            "Fixtures that tests share (`--fresh-fixtures` tears them down after every execution)",
            most,
            self.shares.iter(),
            |(fixture, tests)| format!("{fixture}: {}", counted(**tests, "test")),
        )?;
        writeln!(out)
    }
}

fn none_listed(scenario: &ScenarioSpec, filter: &[String]) -> Usage {
    let name = &scenario.name;
    match filter.first() {
        None => Usage::new(format!("scenario `{name}` has no tests"))
            .hint("run its command by hand: does it find any?"),
        Some(text) => Usage::new(format!(
            "no test of scenario `{name}` has a name that holds `{text}`"
        ))
        .at("--filter", text, text, "in no name")
        .hint("run without it to see the names, or with a shorter text"),
    }
}

fn section<'i, T: 'i>(
    out: &mut dyn Write,
    title: &str,
    most: usize,
    items: impl ExactSizeIterator<Item = T>,
    line: impl Fn(&T) -> String,
) -> io::Result<()> {
    let all = items.len();
    if all == 0 {
        return Ok(());
    }
    writeln!(out, "{title}")?;
    for item in items.take(most) {
        writeln!(out, "  {}", line(&item))?;
    }
    match all.checked_sub(most).filter(|more| *more > 0) {
        Some(more) => writeln!(out, "  and {more} more (`--verbose` shows all)"),
        None => Ok(()),
    }
}

fn named(tests: &BTreeSet<String>, whole: bool) -> String {
    let most = if whole { usize::MAX } else { NAMED };
    let names: Vec<&str> = tests.iter().take(most).map(|it| short(it)).collect();
    match tests.len().saturating_sub(names.len()) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The last part of a test's name, for lists of many.
fn short(test: &str) -> &str {
    let last = test.rsplit("::").next().unwrap_or(test);
    last.rsplit(" > ").next().unwrap_or(last)
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The calls that services make, as caller and what is called.
fn between_services(trace: &Trace) -> BTreeSet<String> {
    let calls = trace.calls().iter();
    let made = calls.filter_map(|call| {
        let caller = trace.calls().get(call.parent?.0 as usize)?;
        let (caller, callee) = (caller.point.frame(), call.point.frame());
        Some(format!(
            "{} > {} {}",
            caller.destination, callee.destination, callee.interface
        ))
    });
    made.collect()
}

fn reaches(trace: &Trace, endpoint: &Endpoint) -> bool {
    trace.calls().iter().any(|call| {
        let frame = call.point.frame();
        *frame.destination == *endpoint.service && endpoint.is_called_by(&frame.interface)
    })
}

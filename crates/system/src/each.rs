//! From a command with many tests to a scenario for each of them.
//!
//! Owns the names of such scenarios, listing the tests, and the first look at
//! each: what it calls, and why it is left out if it is.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use murphy_campaign::SetupError;
use murphy_model::{Faultload, Observed, Verdict};

use super::LiveWorld;
use super::control::{ListedTest, Listing};
use super::correlate::{by_interface, job};
use super::log::Log;
use super::process::Children;
use super::running_system::RunningSystem;
use super::scenario::command::Program;
use super::spec::{CommandSpec, EachSpec, OneByOne, ScenarioKind, ScenarioSpec, TestSpec};
use super::{How, runner::warmth};

/// How long listing by a command may take: it may compile the tests, or run
/// them once.
const LIST_WITHIN: Duration = Duration::from_secs(600);

/// How much of a list of tests is read.
const LONGEST_LIST: usize = 16 * 1024 * 1024;

/// How long calls may come after a test on the first look. Whether it makes any
/// is all that is asked then.
const LOOKING: Duration = Duration::from_millis(50);

impl ScenarioSpec {
    /// The test that is the scenario with this name, whether the runner knows it
    /// or not.
    pub fn test_named(&self, name: &str) -> Option<ScenarioSpec> {
        let ScenarioKind::Each(each) = &self.kind else {
            return None;
        };
        let id = name.strip_prefix(&each.prefix)?;
        Some(self.test(each, &Arc::new(each.runner.clone()), id))
    }

    /// The same test in a new process for every execution.
    pub fn fresh(&self) -> ScenarioSpec {
        let mut fresh = self.clone();
        if let ScenarioKind::Test(test) = &mut fresh.kind {
            Arc::make_mut(&mut test.runner).fresh = true;
        }
        fresh
    }

    fn test(
        &self,
        each: &EachSpec,
        runner: &Arc<super::spec::RunnerSpec>,
        id: &str,
    ) -> ScenarioSpec {
        ScenarioSpec {
            name: format!("{}{id}", each.prefix),
            kind: match &each.one_by_one {
                None => ScenarioKind::Test(TestSpec {
                    id: id.to_owned(),
                    runner: runner.clone(),
                }),
                Some(how) => ScenarioKind::Command(CommandSpec {
                    command: how.one_command(&each.runner.command.command, id),
                    ..each.runner.command.clone()
                }),
            },
            ..self.clone()
        }
    }
}

impl OneByOne {
    fn list_command(&self, command: &[String]) -> Vec<String> {
        match self {
            OneByOne::Commands { list, .. } => list.clone(),
            OneByOne::Known(known) => known.list_command(command),
        }
    }

    fn one_command(&self, command: &[String], id: &str) -> Vec<String> {
        // What is filled in are templates.
        let id = id.replace('{', "{{").replace('}', "}}");
        match self {
            OneByOne::Commands { one, .. } => {
                let words = one.iter().map(|word| word.replace("{{id}}", &id));
                words.collect()
            }
            OneByOne::Known(known) => known.one_command(command, &id),
        }
    }

    /// The ids in what the first of the two printed, each once: tests that are
    /// called alike are run together, and are one scenario.
    fn tests(&self, printed: &str, directory: &Path) -> Result<Vec<String>, SetupError> {
        let mut all: Vec<String> = match self {
            OneByOne::Commands { .. } => {
                let lines = printed.lines().map(str::trim).filter(|it| !it.is_empty());
                lines.map(str::to_owned).collect()
            }
            OneByOne::Known(known) => known
                .tests(printed, directory)
                .map_err(|error| SetupError::new(format!("the tests cannot be listed: {error}")))?,
        };
        let mut seen = BTreeSet::new();
        all.retain(|id| seen.insert(id.clone()));
        Ok(all)
    }
}

/// The tests of a command.
#[derive(Clone)]
pub struct Tests {
    /// Those that can be run, each with its scenario.
    pub scenarios: Vec<ScenarioSpec>,
    /// Those that the runner skips, and why.
    pub skipped: Vec<(String, String)>,
    /// What it could not read, a line each.
    pub problems: Vec<String>,
    /// Its name and version, if it told.
    pub runner: String,
}

impl RunningSystem {
    /// The services to which the tests of a scenario are expected to lead.
    pub fn expected_calls(&self, scenario: &str) -> BTreeSet<String> {
        super::expected(&self.spec, scenario).into_iter().collect()
    }

    /// The tests of a scenario that stands for several.
    pub async fn tests_of(&self, scenario: &ScenarioSpec) -> Result<Tests, SetupError> {
        let ScenarioKind::Each(each) = &scenario.kind else {
            return Err(SetupError::new(format!(
                "scenario `{}` is one test",
                scenario.name
            )));
        };
        let listing = match &each.one_by_one {
            None => self.list_tests(&each.runner).await?,
            Some(how) => {
                self.list_by_command(scenario, &each.runner.command, how)
                    .await?
            }
        };
        let runner = Arc::new(each.runner.clone());
        let (skipped, tests): (Vec<_>, Vec<_>) =
            listing.tests.into_iter().partition(|it| it.skip.is_some());
        let reason = |test: ListedTest| Some((format!("{}{}", each.prefix, test.id), test.skip?));
        Ok(Tests {
            scenarios: tests
                .iter()
                .map(|test| scenario.test(each, &runner, &test.id))
                .collect(),
            skipped: skipped.into_iter().filter_map(reason).collect(),
            problems: listing.problems,
            runner: listing.runner,
        })
    }

    async fn list_by_command(
        &self,
        scenario: &ScenarioSpec,
        command: &CommandSpec,
        how: &OneByOne,
    ) -> Result<Listing, SetupError> {
        let what = format!("the list of tests of scenario `{}`", scenario.name);
        let list = CommandSpec {
            command: how.list_command(&command.command),
            ..command.clone()
        };
        let mark = self.services.mark();
        let program = Program::new(&what, &list, self.wiring.entries(0), &mark)?;
        let printed = Arc::new(Log::new(LONGEST_LIST));
        let process = program.start([], Children::EndWithIt, &printed)?;
        let exit = tokio::time::timeout(LIST_WITHIN, process.ended()).await;
        let tests = how.tests(&printed.text(), &command.directory)?;
        // One that runs the tests to list them may fail with one of them.
        let is_listed = !tests.is_empty() || exit.is_ok_and(|exit| exit.is_success());
        if !is_listed {
            return Err(SetupError::new(format!(
                "{what} cannot be made: `{}` lists none",
                list.command.join(" ")
            ))
            .hint("run it by hand; it must print the tests and exit with 0")
            .printed("list", printed.tail(20)));
        }
        let test = |id: String| ListedTest {
            id,
            ..ListedTest::default()
        };
        Ok(Listing {
            tests: tests.into_iter().map(test).collect(),
            ..Listing::default()
        })
    }
}

/// The first look at a test.
pub struct FirstLook {
    /// What was seen.
    pub observed: Observed,
    /// Why it is left out, if it is.
    pub left_out: Option<String>,
    /// The fixtures that it shares with other tests.
    pub shares: Vec<String>,
    /// What it leaves changed in its process.
    pub changed: Vec<String>,
}

impl LiveWorld {
    /// Runs the scenario once without faults, to see what it calls and whether
    /// there is anything to test in it.
    pub async fn first_look(&self) -> Result<FirstLook, SetupError> {
        let (none, identity) = (Faultload::none(), by_interface());
        let how = How {
            // Whoever's context is lost: nothing else runs, whatever `--jobs` says.
            solo: true,
            grace: self.options.grace.max(LOOKING),
        };
        let job = job(0, &none, &identity);
        let mut ran = self.beside_others(job, how, self.is_fresh()).await?;
        if ran.observed.execution.verdict != Verdict::Passed && !self.is_fresh() {
            // The runner may have been left changed by another test.
            let fresh = self.beside_others(job, how, true).await?;
            if fresh.observed.execution.verdict == Verdict::Passed {
                let why = warmth::why_not_after(&ran.aftermath);
                let why = why.unwrap_or_else(|| "it fails where other tests ran before".to_owned());
                self.warmth.set_fresh(why);
            }
            ran = fresh;
        }
        let left_out = self.why_left_out(&ran.observed, ran.aftermath.skipped.as_deref());
        Ok(FirstLook {
            left_out,
            observed: ran.observed,
            shares: ran.aftermath.shares,
            changed: ran.aftermath.changed,
        })
    }

    fn why_left_out(&self, observed: &Observed, skipped: Option<&str>) -> Option<String> {
        if let Some(why) = skipped {
            return Some(match why.is_empty() {
                true => "skips itself".to_owned(),
                false => format!("skips itself: {why}"),
            });
        }
        match &observed.execution.verdict {
            Verdict::Passed | Verdict::NotExercised { .. } => {}
            Verdict::Failed { why } | Verdict::Refused { why } => {
                return Some(format!("fails without faults: {why}"));
            }
        }
        let calls = observed.execution.trace.calls();
        let may_fail = |call: &murphy_model::Call| call.parent.is_some() || self.entries;
        match calls.iter().any(may_fail) {
            true => None,
            false if calls.is_empty() => Some("makes no call".to_owned()),
            false => Some("makes no call between services".to_owned()),
        }
    }
}

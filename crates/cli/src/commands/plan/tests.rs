//! The plan of a command whose tests are scenarios one by one.
//!
//! Owns running the tests in one system, and a line for each with what all come
//! to. What one of them is forecast to take is as for any scenario.

use std::io::{self, Write};

use murphy_report::number::{counted, rough_span};
use murphy_system::spec::ScenarioSpec;

use super::{Cases, Forecast};
use crate::args::PlanArgs;
use crate::commands::run::SharedSystem;
use crate::each::TestsFound;
use crate::error::Error;
use crate::project::Project;
use crate::{exit, observe, output, runtime};

/// So many tests have a line; the others are counted with all.
const MOST_TESTS: usize = 30;

/// What is forecast of the tests of a scenario.
#[derive(Default)]
pub(super) struct TestsPlan {
    pub(super) tests: Vec<(ScenarioSpec, Forecast)>,
    /// Those of which nothing can be forecast, and why.
    left_out: Vec<(String, String)>,
    /// What it comes to.
    pub(super) code: u8,
    pub(super) interrupted: bool,
}

/// Runs every test a few times without faults.
pub(super) fn of(
    project: &Project,
    scenario: &ScenarioSpec,
    args: &PlanArgs,
) -> Result<TestsPlan, Error> {
    runtime::block_on(async {
        let mut shared = SharedSystem::default();
        let plan = look(project, scenario, args, &mut shared).await;
        let stopped = runtime::stop(shared.stop(), false).await;
        let mut plan = plan?;
        plan.interrupted = stopped.interrupted;
        plan.code = stopped.with_result(plan.code);
        Ok(plan)
    })?
}

async fn look(
    project: &Project,
    scenario: &ScenarioSpec,
    args: &PlanArgs,
    shared: &mut SharedSystem,
) -> Result<TestsPlan, Error> {
    let jobs = project.jobs(&args.search.typed());
    let system = shared.for_tests(project, jobs, "look").await?;
    let found = TestsFound::look(&system, scenario, &args.tests.filter).await?;
    let mut plan = TestsPlan {
        code: found.code().unwrap_or(exit::OK),
        ..TestsPlan::default()
    };
    for test in found.scenarios {
        output::progress(format_args!("test `{}`", test.name));
        let campaign = project.campaign(&test, &args.search.typed().into())?;
        let (world, _) = project.enter(system.clone(), &test, campaign.jobs).await?;
        let seen = observe::in_world(&world, project, &test, &campaign, campaign.jobs).await;
        world.stop().await?;
        match seen {
            Ok(seen) => {
                let forecast = Forecast::of(&test, &campaign, &seen);
                plan.tests.push((test, forecast));
            }
            Err(
                error @ (Error::Reference { .. } | Error::Flaky { .. } | Error::Unstable { .. }),
            ) => plan.left_out.push((test.name, error.in_one_line())),
            Err(error) => return Err(error),
        }
    }
    plan.left_out.extend(found.suite.left_out);
    Ok(plan)
}

impl TestsPlan {
    pub(super) fn write(&self, scenario: &ScenarioSpec, out: &mut dyn Write) -> io::Result<()> {
        let forecasts = || self.tests.iter().map(|(_, forecast)| forecast);
        let at_once = forecasts().map(|it| it.at_once).min().unwrap_or(1);
        writeln!(
            out,
            "{}: {} with calls that can be injected, {} left out",
            scenario.name,
            counted(self.tests.len(), "test"),
            self.left_out.len()
        )?;
        for (test, why) in &self.left_out {
            writeln!(out, "  left out {test}: {why}")?;
        }
        if self.tests.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "  {:>5}  {:>13}  {:>14}  test",
            "calls", "single faults", "cases at most"
        )?;
        for (test, forecast) in self.tests.iter().take(MOST_TESTS) {
            let [single, all] = [forecast.single(), forecast.all()].map(|it| it.count.to_string());
            let calls = forecast.points;
            writeln!(out, "  {calls:>5}  {single:>13}  {all:>14}  {}", test.name)?;
        }
        if let Some(more) = self
            .tests
            .len()
            .checked_sub(MOST_TESTS)
            .filter(|it| *it > 0)
        {
            writeln!(out, "  and {}", counted(more, "more test"))?;
        }
        let seconds = |cases: fn(&Forecast) -> Cases| -> String {
            rough_span(forecasts().map(|it| it.seconds(&cases(it))).sum())
        };
        writeln!(
            out,
            "Single faults of all tests take about {} ({at_once} at once; `--max-faults 1`), all cases at most about {}.\n\
             What cannot happen or shows nothing new is skipped, which is known only while running: most likely far fewer are run.",
            seconds(Forecast::single),
            seconds(Forecast::all)
        )
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = serde_json::Value> {
        self.tests
            .iter()
            .map(|(test, forecast)| forecast.object(test))
    }
}

//! A test suite whose calls to the cloud fail: its rounds, run in a system.
//!
//! Owns what a round is in terms of processes: a test runner that has just
//! been started, services that are as after a start, and in them one test
//! after the other, each under its own aims. Which rounds there are, and what
//! they say, is for [`murphy_suite`].

mod answers;
mod injector;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use murphy_campaign::SetupError;
use murphy_model::Faultload;
use murphy_registry::SharedInjector;
use murphy_report::redact;
use murphy_suite::{
    Assertion, Case, CaseRun, Exception, Injection, Round, Shot, TestEnd, TestInfo, TestOutcome,
    TestPhase,
};

use self::injector::{NOTED, Shooting};
use super::control::{Outcome, TestResult};
use super::log::Log;
use super::options::LiveOptions;
use super::running_system::RunningSystem;
use super::spec::{ScenarioKind, ScenarioSpec, SystemSpec};
use super::{How, LiveWorld, OUTPUT, Played, correlate};

/// How long any case may take, twice what a slow test may have.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// A system of its own for one round at a time: its proxies, the emulators
/// behind them, and the runner of the tests.
pub struct SuiteSystem {
    system: Arc<RunningSystem>,
    scenario: ScenarioSpec,
}

/// The tests of a suite, as its runner lists them.
pub struct SuiteTests {
    /// Those that can be run.
    pub tests: Vec<TestInfo>,
    /// Those that the runner skips, and why.
    pub skipped: Vec<(String, String)>,
    /// What it could not read, a line each.
    pub problems: Vec<String>,
    /// Its name and version, if it told.
    pub runner: String,
}

impl SuiteSystem {
    /// Starts the services and puts proxies in front of them. The scenario
    /// stands for the tests of a command.
    pub async fn start(
        system: SystemSpec,
        mut scenario: ScenarioSpec,
        mut options: LiveOptions,
    ) -> Result<Self, SetupError> {
        options.workers = 1;
        options.proxy.noted = NOTED;
        // Each case says how long it may take, and nothing of it is forgotten before.
        let longest = ScenarioSpec {
            timeout: LONGEST,
            ..scenario.clone()
        };
        let system = RunningSystem::start(system, &[longest], options).await?;
        let plugins = system.plugins()?;
        if let Some(command) = scenario.kind.command_mut() {
            plugins.load_site_library(command);
        }
        Ok(SuiteSystem { system, scenario })
    }

    /// The system that the tests run in.
    pub fn system(&self) -> &Arc<RunningSystem> {
        &self.system
    }

    /// The tests.
    pub async fn tests(&self) -> Result<SuiteTests, SetupError> {
        let found = self.system.tests_of(&self.scenario).await?;
        let id = |test: &ScenarioSpec| TestInfo {
            id: self.id_of(&test.name).to_owned(),
        };
        let without_prefix = |(name, why): (String, String)| (self.id_of(&name).to_owned(), why);
        Ok(SuiteTests {
            tests: found.scenarios.iter().map(id).collect(),
            skipped: found.skipped.into_iter().map(without_prefix).collect(),
            problems: found.problems,
            runner: found.runner,
        })
    }

    /// What the runner calls the test that is this scenario.
    fn id_of<'n>(&self, name: &'n str) -> &'n str {
        let ScenarioKind::Each(each) = &self.scenario.kind else {
            return name;
        };
        name.strip_prefix(&each.prefix).unwrap_or(name)
    }

    /// Runs a round: everything anew, then its cases one after the other.
    pub async fn run(
        &self,
        round: &Round,
        how: &Injection,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<CaseRun>, SetupError> {
        self.system.stop_runners().await;
        self.system.begin_anew().await?;
        let mut runs = Vec::new();
        for case in round.cases.iter().take_while(|_| !is_stopped()) {
            runs.push(self.run_again_if_broken(case, how).await?);
        }
        Ok(runs)
    }

    /// An emulator or a runner that ended may be luck: once more, everything
    /// anew.
    async fn run_again_if_broken(
        &self,
        case: &Case,
        how: &Injection,
    ) -> Result<CaseRun, SetupError> {
        if let Ok(run) = self.run_case(case, how).await {
            return Ok(run);
        }
        self.system.stop_runners().await;
        self.system.begin_anew().await?;
        let run = self.run_case(case, how).await;
        run.map_err(|error| {
            let message = format!("while `{}` ran: {}", case.test, error.message);
            SetupError { message, ..error }
        })
    }

    async fn run_case(&self, case: &Case, how: &Injection) -> Result<CaseRun, SetupError> {
        let name = match &self.scenario.kind {
            ScenarioKind::Each(each) => format!("{}{}", each.prefix, case.test),
            _ => case.test.clone(),
        };
        let mut test = self.scenario.test_named(&name).ok_or_else(|| {
            SetupError::new(format!("scenario `{}` is one test", self.scenario.name))
        })?;
        test.timeout = case.budget;
        let world = LiveWorld::in_system(self.system.clone(), test).await?;
        let shot = Shot::new(case.aims.clone(), *how).of_test(case.test.clone());
        let shooting = Arc::new(Mutex::new(Shooting::new(shot)));
        let ran = world.shoot(SharedInjector::new(shooting.clone())).await;
        world.stop().await?;
        let (result, took) = ran?;
        let record = std::mem::replace(
            &mut *shooting.lock().expect("no panic in an injector"),
            Shooting::new(Shot::new(Vec::new(), *how)),
        );
        Ok(CaseRun {
            case: case.id,
            result,
            record: record.record(),
            took,
        })
    }

    /// Stops everything.
    pub async fn stop(self) -> Result<(), SetupError> {
        match Arc::into_inner(self.system) {
            Some(system) => system.stop().await,
            None => Ok(()),
        }
    }
}

impl LiveWorld {
    /// Runs the test once, in the runner that is up; `injector` decides what
    /// fails. What came of it, and how long it took.
    async fn shoot(&self, injector: SharedInjector) -> Result<(TestOutcome, Duration), SetupError> {
        let (none, identity) = (Faultload::none(), correlate::by_interface());
        let job = correlate::job(0, &none, &identity);
        self.system.services.revive(&self.system.wiring).await?;
        let runner = self.runner(0, self.is_fresh()).await?;
        let marks = self.system.services.marks();
        let begun = self.begin(job, false, Some(injector))?;
        let printed = Arc::new(Log::new(OUTPUT));
        let how = How {
            solo: false,
            grace: Duration::ZERO,
        };
        let began = Instant::now();
        let played = self.play(0, runner, &begun, &printed, how).await?;
        let took = began.elapsed();
        let ended = self.ended_since(&marks, &played.recorded).await;
        if let Some(why) = ended.first() {
            return Err(SetupError::new(format!(
                "an emulator ended while the tests ran: {why}"
            )));
        }
        Ok((outcome(played, &printed.text(), self.timeout), took))
    }
}

/// What a run says of its test.
fn outcome(played: Played, printed: &str, budget: Duration) -> TestOutcome {
    let Played {
        result,
        took,
        aftermath,
        ..
    } = played;
    if let Some(told) = aftermath.result {
        return told_outcome(*told);
    }
    let end = match (&result, &aftermath.lost) {
        (Ok(()), _) => TestEnd::Passed,
        (Err(_), _) if took >= budget => TestEnd::Hung,
        (Err(_), Some(_)) => TestEnd::Crashed,
        (Err(_), None) => TestEnd::Failed,
    };
    TestOutcome {
        outcome: end,
        phase: TestPhase::Call,
        message: redact::owned(&result.err().unwrap_or_default()),
        output: redact::owned(printed),
        ..TestOutcome::default()
    }
}

fn told_outcome(told: TestResult) -> TestOutcome {
    let message = redact::owned(&told.why());
    TestOutcome {
        outcome: match told.outcome {
            Outcome::Passed => TestEnd::Passed,
            Outcome::Failed => TestEnd::Failed,
            Outcome::Error => TestEnd::Error,
            Outcome::Skipped => TestEnd::Skipped,
        },
        phase: TestPhase::named(&told.phase).unwrap_or(TestPhase::Call),
        message,
        exceptions: told.exceptions.into_iter().map(exception).collect(),
        assertion: told.assertion.map(|assertion| Assertion {
            file: assertion.file,
            line: assertion.line,
            text: redact::owned(&assertion.text),
        }),
        output: redact::owned(&told.output),
    }
}

fn exception(told: super::control::Exception) -> Exception {
    Exception {
        kind: told.kind,
        message: redact::owned(&told.message),
        frames: told.frames,
        status: told.status,
        code: told.code,
        request_id: told.request_id,
        injected: told.injected,
        call: told.call,
    }
}

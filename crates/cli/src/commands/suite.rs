//! `murphy suite`: the tests of a project with the calls to the cloud failing.
//!
//! Owns the course of the three commands and what they say on the way. What is
//! planned and what it means is for `murphy_suite`.

use std::collections::BTreeSet;
use std::time::Instant;

use murphy_campaign::SetupError;
use murphy_project::suite::{Rounds, Suite, SuiteRecord, TypedSuite, Watcher};
use murphy_report::suite as text;
use murphy_suite::{CaseRun, Round, RoundKind, Session, SuiteFinding, SuiteReport, SuiteSettings};
use murphy_system::SuiteSystem;
use murphy_system::SuiteTests;

use crate::args::{Format, SuiteArgs, SuiteCommand, SuiteReplayArgs, SuiteRunArgs};
use crate::context::Context;
use crate::error::Error;
use crate::{exit, output, runtime};
use murphy_config::{Usage, time};

pub(crate) fn run(args: &SuiteArgs, context: &Context) -> Result<u8, Error> {
    match &args.command {
        SuiteCommand::Plan(args) => runtime::block_on(plan(args, context))?,
        SuiteCommand::Run(args) => runtime::block_on(run_all(args, context))?,
        SuiteCommand::Replay(args) => replay(args, context),
    }
}

/// The suite without faults, and what would come after it.
async fn plan(args: &SuiteRunArgs, context: &Context) -> Result<u8, Error> {
    let suite = Suite::open(&args.system.typed(args.settings()), context)?;
    let (ran, interrupted) = with_systems(&suite, 1, async |systems, stopping| {
        let (mut session, tests) = session(&suite, &systems[0]).await?;
        let rounds = Rounds {
            systems,
            how: *suite.how(),
            max_time: None,
            only_references: true,
            stopping,
        };
        let ended = rounds.run(&mut session, &mut Told::new(None)).await;
        if let Some(broken) = ended.broken {
            return Err(broken.into());
        }
        let report = session.report();
        if report.stopped {
            return Err(Error::Interrupted);
        }
        check_reference(&report, &tests)?;
        Ok(session)
    })
    .await?;
    let (plan, report) = (ran.plan(), ran.report());
    output::write(|out| match args.format {
        Format::Human => text::write_plan(&plan, &report, out),
        Format::Json => text::write_plan_json(&plan, &report, out),
    })?;
    Ok(interrupted.unwrap_or(if plan.cases == 0 {
        exit::NOTHING_INJECTED
    } else {
        exit::OK
    }))
}

async fn run_all(args: &SuiteRunArgs, context: &Context) -> Result<u8, Error> {
    let typed = args.system.typed(args.settings());
    let suite = Suite::open(&typed, context)?;
    let began = Instant::now();
    let max_time = args.max_time.as_deref().map(time).transpose()?;
    let mut record = SuiteRecord::begin(&suite, &typed, args.resume)?;
    if record.reused() > 0 {
        output::note(format_args!("reusing {} stored rounds", record.reused()));
    }
    let (ran, interrupted) = with_systems(&suite, suite.jobs(), async |systems, stopping| {
        let (mut session, tests) = session(&suite, &systems[0]).await?;
        let rounds = Rounds {
            systems,
            how: *suite.how(),
            max_time,
            only_references: false,
            stopping,
        };
        let ended = rounds
            .run(&mut session, &mut Told::new(Some(&mut record)))
            .await;
        let report = session.report();
        if ended.broken.is_none() && !report.stopped {
            check_reference(&report, &tests)?;
        }
        Ok((report, ended.broken))
    })
    .await?;
    let (mut report, broken) = ran;
    report.executed.wall_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    record.end(&report);
    output::write(|out| match args.format {
        Format::Human => text::write(&report, out),
        Format::Json => text::write_json(&report, out),
    })?;
    record.say_trouble();
    if !report.stopped {
        record.tell();
    }
    let code = exit_code(&report);
    say_what_is_missing(code, &report);
    let code = crate::reporting::with_broken(code, broken);
    Ok(interrupted.unwrap_or(code))
}

fn replay(args: &SuiteReplayArgs, context: &Context) -> Result<u8, Error> {
    let (typed, finding) = SuiteRecord::find(args.config.as_deref(), &args.id, context)?;
    replay_found(&typed, &finding, context)
}

/// Runs a finding of a suite once more, alone.
pub(super) fn replay_found(
    typed: &TypedSuite,
    finding: &SuiteFinding,
    context: &Context,
) -> Result<u8, Error> {
    runtime::block_on(replay_alone(typed, finding, context))?
}

async fn replay_alone(
    typed: &TypedSuite,
    finding: &SuiteFinding,
    context: &Context,
) -> Result<u8, Error> {
    let suite = Suite::open(typed, context)?;
    let (verdict, interrupted) = with_systems(&suite, 1, async |systems, _| {
        let verdict = suite.replay(&systems[0], finding).await?;
        Ok(verdict)
    })
    .await?;
    let (is_reached, is_failure) = (verdict.is_reached(), verdict.is_failure());
    output::write(|out| text::write_replay(finding, is_reached, is_failure, out))?;
    Ok(interrupted.unwrap_or(match verdict.is_failure() {
        true => exit::FINDINGS,
        false if verdict.is_reached() => exit::OK,
        false => exit::NOTHING_INJECTED,
    }))
}

/// Starts as many systems as rounds run at once, does something with them, and
/// stops them whatever came of it. The exit code where a signal asked to stop.
async fn with_systems<T>(
    suite: &Suite,
    jobs: u32,
    work: impl AsyncFnOnce(&[SuiteSystem], murphy_campaign::Stopping) -> Result<T, Error>,
) -> Result<(T, Option<u8>), Error> {
    let mut systems = Vec::new();
    for number in 0..jobs {
        systems.push(suite.start(number).await?);
    }
    let (done, interrupted) =
        runtime::stoppable(async |stopping| work(&systems, stopping).await).await;
    for system in &systems {
        say_other_hosts(system);
    }
    let stopping = async {
        let mut stopped = Ok(());
        for system in systems {
            stopped = stopped.and(system.stop().await);
        }
        stopped
    };
    let stopped = runtime::stop(stopping, interrupted).await;
    let code = stopped.with_result(exit::OK);
    let done = match done {
        Err(_) if interrupted => return Err(Error::Interrupted),
        done => done?,
    };
    Ok((done, (code != exit::OK).then_some(code)))
}

/// Calls to hosts that are not named were refused; their owner wants to know.
fn say_other_hosts(system: &SuiteSystem) {
    let hosts = system.system().other_hosts();
    if hosts.is_empty() {
        return;
    }
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    output::note(format_args!(
        "calls to hosts that no service is named for were refused: {}",
        hosts.join(", ")
    ));
}

/// A session over the tests that the runner lists.
async fn session(suite: &Suite, system: &SuiteSystem) -> Result<(Session, SuiteTests), Error> {
    let began = Instant::now();
    let tests = system.tests().await?;
    if tests.tests.is_empty() {
        return Err(Usage::new("the command has no tests")
            .hint("run it by hand: does it find any?")
            .into());
    }
    for problem in &tests.problems {
        output::note(format_args!("could not be read: {problem}"));
    }
    let settings = SuiteSettings {
        runner: tests.runner.clone(),
        ..suite.settings().clone()
    };
    output::progress(format_args!("{} tests listed", tests.tests.len()));
    let mut session = Session::new(tests.tests.clone(), settings);
    // A runner was started for that, as for every round.
    session.set_start_up(began.elapsed());
    Ok((session, tests))
}

/// Without a test that passes there is nothing to compare with.
fn check_reference(report: &SuiteReport, tests: &SuiteTests) -> Result<(), Error> {
    if report.suite.passing > 0 {
        return Ok(());
    }
    let failing = report.suite.baseline_failures.len() + report.suite.flaky.len();
    let skipped = tests.skipped.len();
    let first = report.suite.baseline_failures.first();
    Err(SetupError::new(format!(
        "no test passes without faults: {failing} fail, {skipped} are skipped"
    ))
    .hint(match first {
        Some(test) => format!("run the command by hand; the first that fails is {test}"),
        None => "run the command by hand".to_owned(),
    })
    .into())
}

/// How it went, for scripts.
pub(super) fn exit_code(report: &SuiteReport) -> u8 {
    match () {
        () if !report.findings.is_empty() => exit::FINDINGS,
        () if report.executed.landed == 0 => exit::NOTHING_INJECTED,
        () => exit::OK,
    }
}

fn say_what_is_missing(code: u8, report: &SuiteReport) {
    if code != exit::NOTHING_INJECTED {
        return;
    }
    let why = match report.reference.attempts {
        0 => {
            "no call of the tests reached Murphy\nhint: the tests must call the services where the environment says: AWS_ENDPOINT_URL, AZURE_STORAGE_CONNECTION_STRING, or what `--set NAME={…}` sets"
        }
        _ => {
            "no fault was injected\nhint: `murphy suite plan` says which calls are left out, and why"
        }
    };
    crate::error::complain(format_args!("nothing was tested: {why}"));
}

/// Says how far it is, and keeps what comes of each round.
struct Told<'r> {
    record: Option<&'r mut SuiteRecord>,
    announced: BTreeSet<String>,
}

impl<'r> Told<'r> {
    fn new(record: Option<&'r mut SuiteRecord>) -> Self {
        Told {
            record,
            announced: BTreeSet::new(),
        }
    }
}

impl Watcher for Told<'_> {
    fn begins(&mut self, round: &Round) {
        let what = match round.kind {
            RoundKind::Reference => "without faults",
            RoundKind::Group => "a fault at every site of every test",
            RoundKind::Batch => "a fault for each test",
            RoundKind::Alone => "alone",
            RoundKind::Audit => "alone, to check",
        };
        let tests = match &round.cases[..] {
            [only] => only.test.clone(),
            all => format!("{} tests", all.len()),
        };
        output::progress(format_args!("round {}: {tests}, {what}", round.id));
    }

    fn known(&self, round: &Round) -> Option<Vec<CaseRun>> {
        self.record.as_ref()?.known(round)
    }

    fn ended(&mut self, round: &Round, runs: &[CaseRun], session: &Session) {
        if let Some(record) = &mut self.record {
            record.note(round, runs);
        }
        for finding in session.report().findings.iter().filter(|it| it.confirmed) {
            if self.announced.insert(finding.id.clone()) {
                output::progress(format_args!(
                    "found: {} {}",
                    finding.id,
                    text::headline(finding)
                ));
            }
        }
    }
}

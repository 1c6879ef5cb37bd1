//! `murphy run`: test your own system.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use murphy::Finished;
use murphy_campaign::since::{self, Past, Versions};
use murphy_campaign::{Heading, Memory, Settings as Campaign, SetupError, Sink, World};
use murphy_model::{Faultload, Incomplete, Observed};
use murphy_report::json::{self, Suite};
use murphy_report::number::counted;
use murphy_report::shell::quoted;
use murphy_report::terminal::{Detail, RunResult};
use murphy_report::{BugsFound, Known, Summary, redact, terminal};
use murphy_store::{Ndjson, Recorder, Store, output_files};
use murphy_system::RunningSystem;
use murphy_system::spec::{ScenarioKind, ScenarioSpec};

use super::watch::Watched;
use crate::args::{Format, RunArgs};
use crate::baseline_filter::BaselineFilter;
use crate::campaign_record::{self, CampaignRecord};
use crate::context::Context;
use crate::each::TestsFound;
use crate::entrance::{FirstReference, MissedEntry};
use crate::error::{self, Error, complain};
use crate::progress::Progress;
use crate::project::Project;
use crate::reporting::{self, Output, Replays, Reports};
use crate::settings::rerun;
use crate::{exit, observe, output, patience, runtime};
use murphy_config::{TYPED, Usage};

/// What the scenarios of a run have in common.
pub(super) struct Run<'r> {
    args: &'r RunArgs,
    context: &'r Context,
    project: Project,
    reports: Reports,
    known: Option<BaselineFilter>,
    /// The names of the scenarios: the file's, or the tests of one.
    names: RefCell<Vec<String>>,
    /// What was seen of the tests of those that stand for several.
    suites: RefCell<Vec<Suite>>,
    /// Where all its campaigns are kept, once there is one.
    store: RefCell<Option<Arc<Store>>>,
    /// The bugs that were told of as they were found.
    told: RefCell<BugsFound>,
    /// How many of the scenarios were begun.
    begun: Cell<usize>,
}

pub(crate) fn run(args: &RunArgs, context: &Context) -> Result<u8, Error> {
    let run = Run::open(args, context)?;
    match runtime::block_on(run.all()) {
        // While a system was brought up, or looked at without faults.
        Err(Error::Interrupted) => {
            run.say_what_was_not_begun();
            Err(Error::Interrupted)
        }
        done => done?,
    }
}

/// What came of one scenario.
struct Done {
    code: u8,
    /// Its campaign stays ours until the run is over, so that no other goes on
    /// with it meanwhile.
    recorder: Recorder,
    /// Whether there was more to try.
    is_stopped: bool,
    /// Whether a signal stopped it.
    interrupted: bool,
    /// Whether executions could not be carried out any more.
    broken: bool,
}

/// What came of all scenarios.
pub(super) struct Pass {
    codes: Vec<u8>,
    all: Vec<Done>,
    store: Option<Arc<Store>>,
}

impl Pass {
    /// Whether a signal ended it.
    pub(super) fn is_interrupted(&self) -> bool {
        self.all.last().is_some_and(|last| last.interrupted)
    }

    /// Takes note that all was reported. Not where one was stopped: the run
    /// itself can then be resumed, and the others need not be run again.
    pub(super) fn tell(&self) {
        if let Some(store) = &self.store {
            campaign_record::tell(store, self.all.iter().map(|done| &done.recorder));
        }
    }

    /// What it comes to.
    pub(super) fn code(&self) -> u8 {
        exit::worst(&self.codes)
    }
}

impl<'r> Run<'r> {
    /// What the arguments mean; all that can be known to be wrong before
    /// anything is started ends here.
    pub(super) fn open(args: &'r RunArgs, context: &'r Context) -> Result<Self, Error> {
        if args.campaign.quiet {
            output::be_quiet();
        }
        let project = Project::open(args.named_project(), context)?;
        let project = project.with_each(&args.tests.typed())?;
        let run = Run {
            args,
            context,
            reports: Reports::of(&args.campaign.report, &project.config.reports)?,
            known: BaselineFilter::open(&project, args.baseline.as_deref())?,
            names: RefCell::new(names(&project.scenarios)),
            suites: RefCell::default(),
            store: RefCell::default(),
            told: RefCell::default(),
            begun: Cell::default(),
            project,
        };
        if let Some(known) = &run.known {
            known.say_expired();
        }
        run.check_output()?;
        Ok(run)
    }

    /// Makes sure that what comes of the scenarios can be written.
    fn check_output(&self) -> Result<(), Usage> {
        let names = self.names.borrow();
        if self.in_json() && self.suites.borrow().is_empty() && names.len() > 1 {
            return Err(several_in_json(&names));
        }
        names
            .iter()
            .try_for_each(|name| self.reports_of(name).check())
    }

    fn in_json(&self) -> bool {
        self.args.search.format == Format::Json
    }

    fn reports_of(&self, scenario: &str) -> Reports {
        let is_several = self.names.borrow().len() > 1;
        self.reports.of_scenario(scenario, is_several)
    }

    /// The store of all its campaigns; opened anew where it could not write any
    /// more.
    fn store(&self) -> Result<Arc<Store>, Error> {
        let mut store = self.store.borrow_mut();
        if let Some(open) = store.as_ref().filter(|it| it.trouble().is_none()) {
            return Ok(open.clone());
        }
        Ok(store.insert(Arc::new(self.project.store()?)).clone())
    }

    /// The files that decide what comes of it.
    pub(super) fn watched(&self) -> Watched {
        let file = &self.project.config.file;
        Watched {
            directory: file.directory().to_owned(),
            file: file.path().to_owned(),
        }
    }

    /// All scenarios, one after the other, in one system.
    async fn all(&self) -> Result<u8, Error> {
        let mut shared = SharedSystem::default();
        let pass = self.pass(&mut shared).await?;
        let stopped = runtime::stop(shared.stop(), pass.is_interrupted()).await;
        let is_stopped = stopped.interrupted || pass.all.iter().any(|done| done.is_stopped);
        let code = stopped.with_result(pass.code());
        if !is_stopped {
            pass.tell();
        }
        Ok(code)
    }

    /// All scenarios once, in a system that stays up.
    pub(super) async fn pass(&self, shared: &mut SharedSystem) -> Result<Pass, Error> {
        let detail = self.args.campaign.detail();
        let mut codes = Vec::new();
        let mut all: Vec<Done> = Vec::new();
        let mut results: Vec<RunResult> = Vec::new();
        let (scenarios, code) = self.scenarios(shared).await?;
        codes.extend(code);
        self.names.replace(names(&scenarios));
        self.check_output()?;
        for (number, scenario) in (1..).zip(&scenarios) {
            self.begun.set(number);
            if scenarios.len() > 1 {
                output::progress(format_args!("scenario `{}`:", scenario.name));
            }
            if !all.is_empty() && detail == Detail::Full {
                output::write(|out| writeln!(out))?;
            }
            match one(self, scenario, shared).await {
                Ok((done, result)) => {
                    codes.push(done.code);
                    all.push(done);
                    results.push(result);
                }
                Err(error @ (Error::Usage(_) | Error::Config(_) | Error::Interrupted)) => {
                    if matches!(error, Error::Interrupted) {
                        self.say_what_was_not_begun();
                    }
                    self.show(&mut results)?;
                    shared.give_up().await;
                    return Err(error);
                }
                // A test that turns out to be unfit is left out like those
                // that fail at once.
                Err(
                    error
                    @ (Error::Reference { .. } | Error::Flaky { .. } | Error::Unstable { .. }),
                ) if self.project.suite_of(scenario).is_some() => {
                    results.push(RunResult::NotRun {
                        scenario: scenario.name.clone(),
                        why: error.in_one_line(),
                    });
                }
                // A scenario that cannot run does not stop the others.
                Err(error) => {
                    codes.push(error::report(&error));
                    results.push(RunResult::NotRun {
                        scenario: scenario.name.clone(),
                        why: error.in_one_line(),
                    });
                    shared.give_up().await;
                }
            }
            match all.last() {
                Some(last) if last.interrupted => {
                    self.say_what_was_not_begun();
                    break;
                }
                Some(last) if last.broken => shared.give_up().await,
                _ => {}
            }
        }
        self.show(&mut results)?;
        Ok(Pass {
            codes,
            all,
            store: self.store.take(),
        })
    }

    /// The scenarios to be searched: where one stands for the tests of a command,
    /// these, with what was seen of them at a first look. The exit code where
    /// that leaves none.
    async fn scenarios(
        &self,
        shared: &mut SharedSystem,
    ) -> Result<(Vec<ScenarioSpec>, Option<u8>), Error> {
        let mut all = Vec::new();
        let mut codes = Vec::new();
        for scenario in &self.project.scenarios {
            if !matches!(scenario.kind, ScenarioKind::Each(_)) {
                all.push(scenario.clone());
                continue;
            }
            let jobs = self.project.jobs(&self.args.search.typed());
            let name = format!("pid-{}", std::process::id());
            let system = shared.enter(&self.project, jobs, &name, Anew::No).await?;
            let found = TestsFound::look(&system, scenario, &self.args.tests.filter).await?;
            if !self.in_json() {
                let whole = self.args.campaign.detail() == Detail::Full;
                output::write(|out| found.write(whole, out))?;
            }
            codes.extend(found.code());
            self.suites.borrow_mut().push(found.suite);
            all.extend(found.scenarios);
        }
        Ok((all, codes.into_iter().max()))
    }

    /// Shows what came of all scenarios. One that could not be run and was the
    /// only one has had its say.
    fn show(&self, results: &mut [RunResult]) -> Result<(), Error> {
        let is_searched = |result: &RunResult| matches!(result, RunResult::Ran(_));
        let nothing = !results.iter().any(is_searched);
        let suites = self.suites.take();
        let one_in_json = self.in_json() && suites.is_empty();
        if one_in_json || (!self.in_json() && nothing) {
            return Ok(());
        }
        keep_entries_of_others(results.iter_mut().filter_map(RunResult::known));
        if self.in_json() {
            return output::write(|out| json::write_suites(&suites, results, out));
        }
        let detail = self.args.campaign.detail();
        let width = self.context.width;
        output::write(|out| terminal::write_run(results, detail, width, out))
    }

    /// Says of which scenarios nothing is known, because the run was stopped
    /// before.
    fn say_what_was_not_begun(&self) {
        let names = self.names.borrow();
        let left = names.get(self.begun.get()..).unwrap_or_default();
        if left.is_empty() || self.begun.get() == 0 {
            return;
        }
        let first = left.iter().take(MOST_NOT_BEGUN);
        let mut text: Vec<String> = first.map(|name| format!("`{name}`")).collect();
        let more = left.len().saturating_sub(MOST_NOT_BEGUN);
        text.extend((more > 0).then(|| format!("{more} more")));
        output::note(format_args!(
            "stopped before {} began: {}",
            counted(left.len(), "scenario"),
            text.join(", ")
        ));
    }
}

/// More scenarios than this that were not begun are only counted.
const MOST_NOT_BEGUN: usize = 6;

/// An entry of the baseline that another scenario needs can not go.
fn keep_entries_of_others<'k>(known: impl Iterator<Item = &'k mut Known>) {
    let known: Vec<&mut Known> = known.collect();
    let through = known.iter().flat_map(|it| it.through.values().cloned());
    let through: BTreeSet<String> = through.collect();
    for known in known {
        let is_needed = |id: &String| through.iter().any(|it| it.split(' ').next() == Some(id));
        known.stale.retain(|id| !is_needed(id));
    }
}

/// Whether services begin anew for a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anew {
    Yes,
    /// The tests of a suite follow one another, as they always do.
    No,
}

/// The system that the scenarios of a run share.
#[derive(Default)]
pub(crate) struct SharedSystem {
    running: Option<Arc<RunningSystem>>,
    /// The campaign it was started for: logs are below that.
    name: String,
    /// Whether it was said where logs are.
    has_told_logs: bool,
}

impl SharedSystem {
    /// The system, for another scenario: started the first time, restarted after
    /// that where each is to meet services that have just come up, and to show
    /// what they do then.
    async fn enter(
        &mut self,
        project: &Project,
        jobs: u32,
        name: &str,
        anew: Anew,
    ) -> Result<Arc<RunningSystem>, Error> {
        if let Some(running) = &self.running {
            if anew == Anew::Yes {
                running.restart().await?;
            }
            return Ok(running.clone());
        }
        let running = project.start(&project.scenarios, jobs, name, None).await?;
        self.name = name.to_owned();
        Ok(self.running.insert(running).clone())
    }

    /// The system, for tests that follow one another.
    pub(crate) async fn for_tests(
        &mut self,
        project: &Project,
        jobs: u32,
        name: &str,
    ) -> Result<Arc<RunningSystem>, Error> {
        self.enter(project, jobs, name, Anew::No).await
    }

    /// These files were saved: test runners load everything anew, and so do the
    /// services that may have read one of them.
    pub(super) async fn reload(&mut self, by_services: &[PathBuf]) -> Result<(), Error> {
        if let Some(running) = &self.running {
            running.stop_runners().await;
            running.restart_readers(by_services).await?;
        }
        Ok(())
    }

    /// Stops it, if it is there.
    pub(crate) async fn stop(&mut self) -> Result<(), SetupError> {
        match self.running.take().and_then(Arc::into_inner) {
            Some(running) => {
                murphy_project::left::say(&running);
                running.stop().await
            }
            None => Ok(()),
        }
    }

    /// The same where something is wrong already: the first thing that went
    /// wrong is the one to be told.
    pub(super) async fn give_up(&mut self) {
        let _ = self.stop().await;
    }
}

fn names(scenarios: &[ScenarioSpec]) -> Vec<String> {
    scenarios.iter().map(|it| it.name.clone()).collect()
}

fn several_in_json(names: &[String]) -> Usage {
    Usage::new("`--format json` prints one object, and there are several scenarios")
        .at("--format", "json", "json", "one scenario is expected")
        .hint(format!(
            "choose one with `--scenario`: {}; or write each with `--report json=PATH`",
            names.join(", ")
        ))
}

/// One scenario, from its settings to its exit code. A test that turns out to be
/// changed by its warm runner begins anew, with a process per execution.
async fn one(
    run: &Run<'_>,
    scenario: &ScenarioSpec,
    shared: &mut SharedSystem,
) -> Result<(Done, RunResult), Error> {
    match attempt(run, scenario, shared).await? {
        Attempt::Done(done, result) => Ok((*done, result)),
        Attempt::NotWarm(why) => {
            output::note(format_args!(
                "`{}` begins anew, with a process per execution: {why}",
                scenario.name
            ));
            match attempt(run, &scenario.fresh(), shared).await? {
                Attempt::Done(done, result) => Ok((*done, result)),
                Attempt::NotWarm(_) => unreachable!("it was not warm"),
            }
        }
    }
}

/// What came of trying to search a scenario.
enum Attempt {
    Done(Box<Done>, RunResult),
    /// Its warm runner could not be trusted any more.
    NotWarm(String),
}

async fn attempt(
    run: &Run<'_>,
    scenario: &ScenarioSpec,
    shared: &mut SharedSystem,
) -> Result<Attempt, Error> {
    let (args, project) = (run.args, &run.project);
    let mut campaign = project.campaign(scenario, &args.campaign.typed(&args.search))?;
    if let Some(note) = patience::note(&campaign, scenario) {
        output::note(format_args!("{note}"));
    }
    let mut kept = CampaignRecord::open(
        run.store()?,
        args.earlier(),
        args.saved(),
        project,
        scenario,
        &campaign,
        &own_files(run),
    )?;
    let reports = run.reports_of(&scenario.name);
    campaign.heading = Heading {
        about: about(scenario),
        explain_command: explain_command(args, project, scenario),
        explain_ending: explain_ending(&project.command),
        rerun_command: rerun::run_command(
            args.project.config.as_deref(),
            project,
            scenario,
            &args.search.typed(),
        ),
        declared_in: match project.suite_of(scenario).unwrap_or(scenario) {
            it if is_in_file(project, it) => format!("[scenario.{}]", it.name),
            _ => "the scenario in murphy.toml".to_owned(),
        },
        solo: None,
    };
    let anew = if project.suite_of(scenario).is_some() {
        Anew::No
    } else {
        Anew::Yes
    };
    let system = shared
        .enter(project, campaign.jobs, kept.name(), anew)
        .await?;
    let (world, correlation) = project.enter(system, scenario, campaign.jobs).await?;
    let was_warm = world.why_fresh().is_none();
    campaign.jobs = campaign.jobs.min(world.workers());
    campaign.heading.solo = murphy::why_one_at_a_time(&correlation);
    let mut first = FirstReference::default();
    let mut progress = Progress::new(run.context).after(run.told.take());
    let listeners = Listeners {
        progress: &mut progress,
        first: &mut first,
    };
    let done = campaign_in(&world, &campaign, &mut kept, &reports, listeners).await;
    run.told.replace(progress.told());
    let missed = first.missed(&world, &project.config.system, scenario);
    let not_warm = world.why_fresh().filter(|_| was_warm);
    world.stop().await?;
    if let Some(why) = not_warm {
        return Ok(Attempt::NotWarm(why));
    }
    let (done, interrupted) = done.map_err(|error| match &missed {
        Some(missed) => missed.explain(error),
        None => error,
    })?;
    kept.say_trouble();
    let broken = done.outcome.broken.clone();
    let short = done.outcome.certificate.incomplete.clone();
    let has_findings = !done.outcome.findings.is_empty();
    let (code, summary) = report(run, &campaign, done, &reports, missed.as_ref())?;
    if has_findings && !std::mem::replace(&mut shared.has_told_logs, true) {
        say_where_logs_are(&project.state().join("run").join(&shared.name).join("logs"));
    }
    let is_short = matches!(short, Some(Incomplete::Stopped { .. }));
    if is_short {
        output::note("`--resume` with the same arguments goes on where this one was stopped");
    }
    let done = Done {
        broken: broken.is_some(),
        code: reporting::with_broken(code, broken),
        recorder: kept.recorder,
        is_stopped: is_short || interrupted,
        interrupted,
    };
    Ok(Attempt::Done(
        Box::new(done),
        RunResult::Ran(Box::new(summary)),
    ))
}

/// Findings show the last lines of each log; empty logs are omitted.
fn say_where_logs_are(folder: &Path) {
    let mut logs = folder.read_dir().into_iter().flatten().flatten();
    if logs.any(|log| log.metadata().is_ok_and(|it| it.len() > 0)) {
        output::note(format_args!(
            "all that the services logged is in {}",
            folder.display()
        ));
    }
}

/// What Murphy writes and wrote, besides what is in its own directory.
fn own_files(run: &Run<'_>) -> Vec<PathBuf> {
    let project = &run.project;
    let mut files = vec![project.baseline(run.args.baseline.as_deref())];
    for name in run.names.borrow().iter() {
        files.extend(run.reports_of(name).paths().map(PathBuf::from));
    }
    output_files::with_earlier(project.state(), files)
}

/// Who hears of a campaign, besides what is kept of it.
struct Listeners<'l> {
    progress: &'l mut Progress,
    first: &'l mut FirstReference,
}

async fn campaign_in(
    world: &dyn World,
    campaign: &Campaign,
    kept: &mut CampaignRecord,
    reports: &Reports,
    listeners: Listeners<'_>,
) -> Result<(Finished, bool), Error> {
    let memory = std::mem::take(&mut kept.memory);
    let past = kept.past.take();
    let Listeners { progress, first } = listeners;
    let mut events = reports.events()?.map(Ndjson::new);
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut *progress, &mut kept.recorder, first];
    sinks.extend(events.as_mut().map(|events| events as &mut dyn Sink));
    let memory = match past {
        Some(past) => what_holds(world, &kept.versions, past).await?,
        None => memory,
    };
    say_what_is_remembered(&memory);
    let done = runtime::campaign(world, campaign, memory, &mut sinks).await;
    drop(sinks);
    progress.clear();
    if let Some(trouble) = events.as_ref().and_then(Ndjson::trouble) {
        complain(format_args!("the events could not be written: {trouble}"));
    }
    done.map_err(|failed| Error::of_campaign(failed, observe::HINT))
}

fn say_what_is_remembered(memory: &Memory) {
    let under_faults = memory.executions.keys().filter(|it| !it.is_empty());
    match under_faults.count() {
        0 => {}
        1 => output::note("reusing 1 stored execution"),
        count => output::note(format_args!("reusing {count} stored executions")),
    }
}

/// What of the last campaign still holds.
async fn what_holds(
    world: &dyn World,
    versions: &Versions,
    (identity, past): (murphy_model::Identity, Past),
) -> Result<Memory, Error> {
    let identity = std::sync::Arc::new(identity);
    let (now, _): (Observed, _) = world.record(&Faultload::none(), &identity).await?;
    let changed = since::changed(&past, versions, &now.execution.trace);
    let names: Vec<&str> = changed.iter().map(|service| &**service).collect();
    output::note(match names.is_empty() {
        true => "no service has changed since the last campaign".to_owned(),
        false => format!("changed since the last campaign: {}", names.join(", ")),
    });
    Ok(Memory {
        executions: since::unaffected(past, &changed),
        ..Memory::default()
    })
}

fn report(
    run: &Run<'_>,
    campaign: &Campaign,
    done: Finished,
    reports: &Reports,
    missed: Option<&MissedEntry>,
) -> Result<(u8, Summary), Error> {
    let (args, project) = (run.args, &run.project);
    let Finished {
        outcome,
        mut summary,
    } = done;
    let replays = Replays {
        scenario: &summary.scenario,
        identity: &outcome.chosen.identity,
        prefixes: &outcome.prefixes,
        system: &project.system(),
        state: project.state(),
    };
    let replays = replays.save(&summary.findings);
    summary.replay_command = reporting::replay_command(&replays);
    let known = run.known.as_ref();
    summary.known = known.map(|known| known.of(&summary, &args.search.typed()));
    let output = Output {
        format: args.search.format,
        detail: args.campaign.detail(),
        // That of a suite is part of one object for all of its tests.
        is_shown_later: !run.suites.borrow().is_empty(),
    };
    reporting::write(&summary, &replays, output, reports)?;
    let code = reporting::exit_code(&summary, args.campaign.require_complete);
    match missed {
        _ if outcome.broken.is_some() => {}
        Some(missed) if code == exit::NOTHING_INJECTED => complain(missed.complaint()),
        Some(missed) => output::say(missed.note()),
        None => reporting::say_what_is_missing(code, &summary, campaign.max_time),
    }
    Ok((code, summary))
}

/// The command that asks about this campaign, up to the faultload. What was
/// asked of the search is kept with the campaign.
fn explain_command(args: &RunArgs, project: &Project, scenario: &ScenarioSpec) -> String {
    let mut words = vec!["murphy explain".to_owned()];
    let mut add = |name: &str, value: &str| words.push(format!("{name} {}", quoted(value)));
    if let Some(config) = &args.project.config {
        add("--config", &config.display().to_string());
    }
    let is_only = project.command.is_empty() && project.config.scenarios.len() == 1;
    if project.suite_of(scenario).is_some() || (is_in_file(project, scenario) && !is_only) {
        add("--scenario", &scenario.name);
    }
    words.join(" ")
}

/// Whether a scenario is one of the file's, maybe with another command or more
/// arguments.
fn is_in_file(project: &Project, scenario: &ScenarioSpec) -> bool {
    project.command.is_empty() || scenario.name != TYPED
}

/// What follows the faultload in it: the test, if it is in no file. It is
/// printed and goes to reports, so what was typed with a secret shows none.
fn explain_ending(command: &[String]) -> String {
    match command.is_empty() {
        true => String::new(),
        false => format!(" -- {}", redact::command(command)),
    }
}

/// What a scenario does, in one line.
fn about(scenario: &ScenarioSpec) -> String {
    use murphy_system::spec::{RequestCall, ScenarioKind};
    match &scenario.kind {
        // It is printed; what it was typed with may be secret.
        ScenarioKind::Command(command) => redact::spoken(&command.command),
        ScenarioKind::Requests(requests) => {
            let text = |request: &murphy_system::spec::RequestSpec| match &request.call {
                RequestCall::Http { method, target, .. } => {
                    format!("{method} {target} at {}", request.service)
                }
                RequestCall::Grpc { method, .. } => format!("{method} at {}", request.service),
            };
            let all: Vec<String> = requests.iter().map(text).collect();
            all.join(", then ")
        }
        ScenarioKind::Each(each) => redact::spoken(&each.runner.command.command),
        ScenarioKind::Test(test) => {
            format!("a test of {}", redact::spoken(&test.runner.command.command))
        }
        ScenarioKind::Function(_) => "a function".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use murphy_report::Known;

    use super::{explain_ending, keep_entries_of_others};

    #[test]
    fn an_entry_that_another_scenario_needs_is_not_stale() {
        let entry = "M-1 in scenario `buy`".to_owned();
        let mut buy = Known {
            stale: vec!["M-1".to_owned(), "M-2".to_owned()],
            ..Known::default()
        };
        let mut pay = Known {
            through: [("M-7".to_owned(), entry)].into(),
            ..Known::default()
        };
        keep_entries_of_others([&mut buy, &mut pay].into_iter());
        assert_eq!(buy.stale, ["M-2"]);
    }

    #[test]
    fn a_test_that_was_typed_with_a_secret_is_not_repeated() {
        let ending = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            explain_ending(&words)
        };
        assert_eq!(ending(&[]), "");
        assert_eq!(ending(&["pytest", "-k", "a b"]), " -- pytest -k \"a b\"");
        let secretive = ["test", "--token=s3cret", "--password", "x", "-q"];
        let shown = " -- test --token=[redacted] --password [redacted] -q";
        assert_eq!(ending(&secretive), shown);
    }
}

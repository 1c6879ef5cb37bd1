//! `murphy run`: test your own system.

use std::path::{Path, PathBuf};

use murphy_campaign::since::{self, Past, Versions};
use murphy_campaign::{Heading, Memory, Settings as Campaign, Sink, World};
use murphy_model::{Faultload, Incomplete, Observed};
use murphy_report::redact;
use murphy_report::shell::quoted;
use murphy_store::Ndjson;
use murphy_system::spec::ScenarioSpec;

use crate::args::{Format, RunArgs};
use crate::context::Context;
use crate::error::{Error, complain};
use crate::kept::{self, Kept};
use crate::known::KnownBefore;
use crate::progress::Progress;
use crate::project::Project;
use crate::reporting::{self, Replays, Reports};
use crate::runtime::Finished;
use crate::settings::Typed;
use crate::{exit, observe, output, patience, runtime, written};

/// What the scenarios of a run have in common.
struct Run<'r> {
    args: &'r RunArgs,
    context: &'r Context,
    project: Project,
    reports: Reports,
    known: Option<KnownBefore>,
}

pub(crate) fn run(args: &RunArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.named_project(), context)?;
    let run = Run {
        args,
        context,
        reports: Reports::of(&args.campaign.report, &project.config.reports)?,
        known: KnownBefore::open(&project, args.baseline.as_deref())?,
        project,
    };
    let scenarios = &run.project.scenarios;
    if args.search.format == Format::Json && scenarios.len() > 1 {
        return Err(several_in_json(&run.project).into());
    }
    for scenario in scenarios {
        let reports = run.reports.of_scenario(&scenario.name, scenarios.len() > 1);
        reports.check()?;
    }
    let mut codes = Vec::new();
    let mut all: Vec<Done> = Vec::new();
    let is_alone = scenarios.len() == 1;
    for scenario in scenarios {
        if !is_alone {
            output::say(format_args!("scenario `{}`:", scenario.name));
        }
        if !all.is_empty() {
            output::write(|out| writeln!(out))?;
        }
        codes.push(match one(&run, scenario) {
            Ok(done) => {
                let code = done.code;
                all.push(done);
                code
            }
            // One that cannot be run keeps no other from being run.
            Err(error @ (Error::Usage(_) | Error::Config(_) | Error::Interrupted)) => {
                return Err(error);
            }
            Err(error) => error.report(),
        });
        let signals = [exit::INTERRUPTED, exit::TERMINATED, exit::HUNG_UP];
        if codes.iter().any(|code| signals.contains(code)) {
            break;
        }
    }
    tell(&all);
    Ok(exit::worst(&codes))
}

/// What came of one scenario.
struct Done {
    code: u8,
    /// Its campaign stays ours until the run is over, so that no other goes on
    /// with it meanwhile.
    kept: Kept,
    /// Whether there was more to try.
    is_stopped: bool,
}

/// Takes note that all was reported. Where one was stopped the run itself can
/// be gone on with, and the others then need not be run again.
fn tell(all: &[Done]) {
    if !all.iter().any(|done| done.is_stopped) {
        kept::tell(all.iter().map(|done| &done.kept));
    }
}

fn several_in_json(project: &Project) -> murphy_config::Usage {
    let names: Vec<&str> = project.scenarios.iter().map(|s| s.name.as_str()).collect();
    murphy_config::Usage::new("`--format json` prints one object, and there are several scenarios")
        .at("--format", "json", "json", "one scenario is expected")
        .hint(format!(
            "choose one with `--scenario`: {}; or write each with `--report json=PATH`",
            names.join(", ")
        ))
}

/// One scenario, from its settings to its exit code.
fn one(run: &Run<'_>, scenario: &ScenarioSpec) -> Result<Done, Error> {
    let (args, project) = (run.args, &run.project);
    let mut campaign = project.campaign(scenario, Typed::campaign(&args.search, &args.campaign))?;
    if let Some(note) = patience::note(&campaign, scenario) {
        output::say(format_args!("note: {note}"));
    }
    let mut kept = Kept::open(args, project, scenario, &campaign, &own_files(run))?;
    let among_several = project.scenarios.len() > 1;
    let reports = run.reports.of_scenario(&scenario.name, among_several);
    campaign.heading = Heading {
        about: about(scenario),
        explain_command: explain_command(args, project, scenario),
        explain_ending: explain_ending(&project.command),
        solo: None,
    };
    let (done, stopped) = runtime::block_on(async {
        let up = project.bring_up(scenario, campaign.jobs, kept.name());
        let (world, correlation) = up.await?;
        campaign.jobs = campaign.jobs.min(world.workers());
        campaign.heading.solo = murphy::why_one_at_a_time(&correlation);
        let done = campaign_in(&world, &campaign, &mut kept, run.context, &reports).await;
        let interrupted = done.as_ref().is_ok_and(|done| done.interrupted);
        let mut stopped = runtime::stop(world.stop(), interrupted).await;
        let done = done?;
        // What is broken already need not be torn down well.
        stopped.trouble = done.outcome.broken.clone().or(stopped.trouble);
        Ok::<_, Error>((done, stopped))
    })??;
    kept.say_trouble();
    let short = done.outcome.certificate.incomplete.clone();
    let has_findings = !done.outcome.findings.is_empty();
    let code = report(run, &campaign, done, &reports)?;
    if has_findings {
        say_where_logs_are(&project.state().join("run").join(kept.name()).join("logs"));
    }
    let is_short = matches!(short, Some(Incomplete::Stopped { .. }));
    if is_short {
        output::say("note: `--resume` with the same arguments goes on where this one was stopped");
    }
    let interrupted = stopped.interrupted;
    Ok(Done {
        code: stopped.with_result(code),
        kept,
        is_stopped: is_short || interrupted,
    })
}

/// Findings show but the end of what was logged; nothing is said where nothing
/// was.
fn say_where_logs_are(folder: &Path) {
    let mut logs = folder.read_dir().into_iter().flatten().flatten();
    if logs.any(|log| log.metadata().is_ok_and(|it| it.len() > 0)) {
        output::say(format_args!(
            "note: all that the services logged is in {}",
            folder.display()
        ));
    }
}

/// What Murphy writes and wrote, besides what is in its own directory.
fn own_files(run: &Run<'_>) -> Vec<PathBuf> {
    let project = &run.project;
    let several = project.scenarios.len() > 1;
    let mut files = vec![project.baseline(run.args.baseline.as_deref())];
    for scenario in &project.scenarios {
        let reports = run.reports.of_scenario(&scenario.name, several);
        files.extend(reports.paths().map(PathBuf::from));
    }
    written::with_earlier(project.state(), files)
}

async fn campaign_in(
    world: &dyn World,
    campaign: &Campaign,
    kept: &mut Kept,
    context: &Context,
    reports: &Reports,
) -> Result<Finished, Error> {
    let memory = std::mem::take(&mut kept.memory);
    let past = kept.past.take();
    let mut progress = Progress::new(context);
    let mut events = reports.events()?.map(Ndjson::new);
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut progress, &mut kept.recorder];
    sinks.extend(events.as_mut().map(|events| events as &mut dyn Sink));
    let memory = match past {
        Some(past) => what_holds(world, &kept.versions, past).await?,
        None => memory,
    };
    say_what_is_remembered(&memory);
    let done = runtime::campaign(world, campaign, memory, &mut sinks).await;
    drop(sinks);
    if let Some(trouble) = events.as_ref().and_then(Ndjson::trouble) {
        complain(format_args!("the events could not be written: {trouble}"));
    }
    done.map_err(|failed| Error::of_campaign(failed, observe::HINT))
}

fn say_what_is_remembered(memory: &Memory) {
    let under_faults = memory.executions.keys().filter(|it| !it.is_empty());
    match under_faults.count() {
        0 => {}
        1 => output::say("note: reusing 1 stored execution"),
        count => output::say(format_args!("note: reusing {count} stored executions")),
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
    output::say(match names.is_empty() {
        true => "note: no service has changed since the last campaign".to_owned(),
        false => format!(
            "note: changed since the last campaign: {}",
            names.join(", ")
        ),
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
) -> Result<u8, Error> {
    let (args, project) = (run.args, &run.project);
    let Finished {
        outcome,
        mut summary,
        ..
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
    summary.known = known.map(|known| known.of(&summary, &args.search));
    reporting::write(&summary, &replays, args.search.format, reports)?;
    let code = reporting::exit_code(&summary, args.campaign.require_complete);
    if outcome.broken.is_none() {
        reporting::say_what_is_missing(code, &summary, campaign.max_time);
    }
    Ok(code)
}

/// The command that asks about this campaign, up to the faultload. What was
/// asked of the search is kept with the campaign.
fn explain_command(args: &RunArgs, project: &Project, scenario: &ScenarioSpec) -> String {
    let mut words = vec!["murphy explain".to_owned()];
    let mut add = |name: &str, value: &str| words.push(format!("{name} {}", quoted(value)));
    if let Some(config) = &args.project.config {
        add("--config", &config.display().to_string());
    }
    if project.command.is_empty() && project.config.scenarios.len() > 1 {
        add("--scenario", &scenario.name);
    }
    words.join(" ")
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
            redact::owned(&all.join(", then "))
        }
        ScenarioKind::Function(_) => "a function".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::explain_ending;

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

//! `murphy replay`: does a finding still show?

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use murphy_campaign::{World, redacted};
use murphy_model::{Faultload, Observed, Verdict};
use murphy_oracle::{Oracle, Reference, judge};
use murphy_report::terminal;

use crate::args::{ProjectArgs, ReplayArgs, SearchArgs, SystemArgs};
use crate::config::{Config, STORE};
use crate::context::Context;
use crate::error::Error;
use crate::project::Project;
use crate::replays::{Replay, System};
use crate::settings::Settings;
use crate::usage::Usage;
use crate::worlds::Demo;
use crate::{exit, observe, output, runtime};

/// What became of a finding.
enum Word {
    /// It still shows.
    Failed { complaint: String },
    /// All faults struck, and nothing is held against it.
    Fixed,
    /// Not all faults struck: nothing can be said.
    NotReached { missing: Vec<String> },
}

pub(crate) fn run(args: &ReplayArgs, context: &Context) -> Result<u8, Error> {
    let replay = Replay::find(&args.what, &state(args, context))?;
    let faultload = replay.faultload()?;
    let (word, observed) = match &replay.system {
        System::Demo { .. } => in_demo(&replay, &faultload)?,
        System::Project { .. } => in_project(&replay, &faultload, args, context)?,
    };
    output::write(|out| write(&replay, &word, &observed, out))?;
    Ok(match word {
        Word::Failed { .. } => exit::FINDINGS,
        Word::Fixed => exit::OK,
        Word::NotReached { .. } => exit::NOTHING_INJECTED,
    })
}

/// Where findings are kept: as the nearest murphy.toml says, or here.
fn state(args: &ReplayArgs, context: &Context) -> PathBuf {
    let variables = |name: &str| context.variable(name);
    let config = Config::load(args.config.as_deref(), &context.directory(), &variables);
    config.map_or_else(|_| PathBuf::from(STORE), |config| config.store.directory)
}

fn in_demo(replay: &Replay, faultload: &Faultload) -> Result<(Word, Observed), Error> {
    let System::Demo {
        app,
        set,
        simulate,
        keep_state,
    } = &replay.system
    else {
        unreachable!("asked for example systems only");
    };
    let modes: Vec<String> = faultload.iter().map(|(_, mode)| mode.to_string()).collect();
    let system = SystemArgs {
        simulate: *simulate,
        set: set.clone(),
        keep_state: *keep_state,
        ..SystemArgs::default()
    };
    let search = SearchArgs {
        modes: Some(modes.join(",")).filter(|modes| !modes.is_empty()),
        ..SearchArgs::default()
    };
    let settings = Settings::of_system("murphy replay", app, &system, &search)?;
    let oracles = settings.campaign.oracles;
    runtime::block_on(async {
        let world = Demo::open(settings.place).await?;
        play(
            &world,
            replay,
            faultload,
            &oracles,
            &settings.reference_hint,
        )
        .await
    })?
}

fn in_project(
    replay: &Replay,
    faultload: &Faultload,
    args: &ReplayArgs,
    context: &Context,
) -> Result<(Word, Observed), Error> {
    let System::Project {
        config,
        command,
        directory,
    } = &replay.system
    else {
        unreachable!("asked for projects only");
    };
    let given = ProjectArgs {
        config: Some(args.config.clone().unwrap_or_else(|| config.clone())),
        scenario: match command.is_empty() {
            true => vec![replay.scenario.clone()],
            false => Vec::new(),
        },
        command: command.clone(),
    };
    let project = Project::open_in(&given, context, directory)?;
    let scenario = &project.scenarios[0];
    let campaign = project.campaign(scenario, &SearchArgs::default(), None)?;
    runtime::block_on(async {
        let (world, _) = project.bring_up(scenario, 1, "replay").await?;
        let done = play(&world, replay, faultload, &campaign.oracles, observe::HINT).await;
        let stopped = world.stop().await;
        let done = done?;
        stopped?;
        Ok(done)
    })?
}

async fn play(
    world: &impl World,
    replay: &Replay,
    faultload: &Faultload,
    oracles: &murphy_oracle::Settings,
    hint: &str,
) -> Result<(Word, Observed), Error> {
    let identity = Arc::new(replay.identity()?);
    let (reference, _) = world.reference(&identity).await?;
    let reference = redacted(reference);
    if let Verdict::Failed { why } = reference.execution.verdict {
        return Err(Error::Reference {
            complaint: why,
            output: reference.output,
            hint: hint.to_owned(),
        });
    }
    let reference = Reference::of([&reference]);
    let observed = redacted(world.run(0, faultload, &identity).await?);
    Ok((word(replay, &observed, &reference, oracles)?, observed))
}

fn word(
    replay: &Replay,
    observed: &Observed,
    reference: &Reference,
    oracles: &murphy_oracle::Settings,
) -> Result<Word, Usage> {
    let oracle: Oracle = replay
        .oracle
        .parse()
        .map_err(|error: murphy_oracle::UnknownOracle| {
            Usage::new(format!(
                "the replay file of {} is damaged: {error}",
                replay.id
            ))
        })?;
    let complaints = judge(observed, reference, oracles);
    let same = complaints.into_iter().find(|(spoke, ..)| *spoke == oracle);
    if let Some((_, _, complaint)) = same {
        return Ok(Word::Failed {
            complaint: complaint.summary,
        });
    }
    let execution = &observed.execution;
    let struck = execution.trace.struck();
    let missing: Vec<String> = execution
        .faultload
        .faults()
        .filter(|fault| !struck.faults().any(|other| other == *fault))
        .map(|fault| fault.to_string())
        .collect();
    Ok(match (&execution.verdict, missing.is_empty()) {
        (Verdict::NotExercised { missing }, _) => Word::NotReached {
            missing: missing.iter().map(|fault| fault.to_string()).collect(),
        },
        (_, false) => Word::NotReached { missing },
        (_, true) => Word::Fixed,
    })
}

fn write(
    replay: &Replay,
    word: &Word,
    observed: &Observed,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let Replay { id, scenario, .. } = replay;
    match word {
        Word::Failed { complaint } => writeln!(out, "{id} FAILED: {complaint}")?,
        Word::Fixed => writeln!(
            out,
            "{id} FIXED: all its faults struck, and `{scenario}` is content"
        )?,
        Word::NotReached { missing } => {
            writeln!(out, "{id} NOT REACHED: these faults had nothing to strike")?;
            for fault in missing {
                writeln!(out, "  {fault}")?;
            }
        }
    }
    for fault in &replay.faultload {
        writeln!(out, "  with {fault}")?;
    }
    terminal::write_calls(&observed.execution.trace, out)?;
    match (&observed.output, word) {
        (Some(output), Word::Failed { .. }) => {
            writeln!(out, "\nWhat was printed")?;
            output
                .lines()
                .try_for_each(|line| writeln!(out, "  | {line}"))
        }
        _ => Ok(()),
    }
}

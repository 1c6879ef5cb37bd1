//! `murphy replay`: does a finding still show?

use std::io::Write;
use std::path::PathBuf;

use murphy_model::{Faultload, Observed, Verdict};
use murphy_oracle::Oracle;
use murphy_report::terminal;

use crate::args::ReplayArgs;
use crate::config::{Config, STORE};
use crate::context::Context;
use crate::error::Error;
use crate::reopened::Reopened;
use crate::replays::Replay;
use crate::usage::Usage;
use crate::{exit, output, runtime};

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
    let (word, observed) = runtime::block_on(play(&replay, &faultload, args, context))??;
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

async fn play(
    replay: &Replay,
    faultload: &Faultload,
    args: &ReplayArgs,
    context: &Context,
) -> Result<(Word, Observed), Error> {
    let modes: Vec<String> = faultload.iter().map(|(_, mode)| mode.to_string()).collect();
    let config = args.config.as_deref();
    let system = Reopened::of_replay(replay, modes.join(","), config, context).await?;
    let done = system.run(faultload).await;
    let stopped = system.stop().await;
    let (observed, said) = done?;
    stopped?;
    Ok((word(replay, &observed, said)?, observed))
}

fn word(replay: &Replay, observed: &Observed, said: Vec<(Oracle, String)>) -> Result<Word, Usage> {
    let oracle: Oracle = replay
        .oracle
        .parse()
        .map_err(|error: murphy_oracle::UnknownOracle| {
            Usage::new(format!(
                "the replay file of {} is damaged: {error}",
                replay.id
            ))
        })?;
    let same = said.into_iter().find(|(spoke, _)| *spoke == oracle);
    if let Some((_, complaint)) = same {
        return Ok(Word::Failed { complaint });
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

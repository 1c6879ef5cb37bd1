//! `murphy replay`: does a finding still show?

use std::path::{Path, PathBuf};

use murphy::replays::{Replay, Replayed, Word};
use murphy_model::Faultload;

use crate::args::ReplayArgs;
use crate::config::{Config, STORE};
use crate::context::Context;
use crate::error::Error;
use crate::reopened::Reopened;
use crate::runtime::{self, Stopped};
use crate::{exit, output};

pub(crate) fn run(args: &ReplayArgs, context: &Context) -> Result<u8, Error> {
    let replay = Replay::find(&args.what, &state(args, context));
    // A demo keeps its findings where it was run, whatever project that is in.
    let replay = replay.or_else(|unknown| {
        let here = Replay::find(&args.what, Path::new(STORE));
        here.map_err(|_| unknown)
    })?;
    let (replayed, stopped) = runtime::block_on(play(replay, args, context))??;
    output::write(|out| replayed.write(out))?;
    Ok(stopped.with_result(match replayed.word() {
        Word::Failed { .. } => exit::FINDINGS,
        Word::Fixed => exit::OK,
        Word::NotReached { .. } | Word::NotAlone => exit::NOTHING_INJECTED,
    }))
}

/// Where findings are kept: as the nearest murphy.toml says, or here.
fn state(args: &ReplayArgs, context: &Context) -> PathBuf {
    let variables = |name: &str| context.variable(name);
    let config = Config::load(args.config.as_deref(), &context.directory(), &variables);
    config.map_or_else(|_| PathBuf::from(STORE), |config| config.store.directory)
}

async fn play(
    replay: Replay,
    args: &ReplayArgs,
    context: &Context,
) -> Result<(Replayed, Stopped), Error> {
    let (prefix, faultload) = replay.executions()?;
    let faults = prefix.iter().chain([&faultload]).flat_map(Faultload::iter);
    let modes: Vec<String> = faults.map(|(_, mode)| mode.to_string()).collect();
    let config = args.config.as_deref();
    let system = Reopened::of_replay(&replay, modes.join(","), config, context).await?;
    let done = system.run_after(&prefix, &faultload).await;
    let stopped = runtime::stop(system.stop(), false).await;
    let (before, observed, held) = done?;
    let replayed = Replayed::new(replay, observed, &held)?.after(&before);
    Ok((replayed, stopped))
}

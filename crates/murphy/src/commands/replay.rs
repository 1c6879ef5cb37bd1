//! `murphy replay`: does a finding still show?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use murphy::replays::{Replay, Replayed, Word};
use murphy_model::{Faultload, Mode};

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
    let variants = replay.variants()?;
    let (replayed, stopped) = runtime::block_on(play(replay, &variants, args, context))??;
    output::write(|out| replayed.write(out))?;
    Ok(stopped.with_result(match replayed.word() {
        Word::Failed { .. } => exit::FINDINGS,
        Word::Fixed => exit::OK,
        Word::NotReached { .. } => exit::NOTHING_INJECTED,
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
    variants: &[Faultload],
    args: &ReplayArgs,
    context: &Context,
) -> Result<(Replayed, Stopped), Error> {
    let modes: BTreeSet<Mode> = variants.iter().flat_map(Faultload::modes).collect();
    let modes: Vec<String> = modes.iter().map(Mode::to_string).collect();
    let config = args.config.as_deref();
    let system = Reopened::of_replay(&replay, modes.join(","), config, context).await?;
    let replayed = play_all(&replay, variants, &system).await;
    let stopped = runtime::stop(system.stop(), false).await;
    Ok((replayed?, stopped))
}

/// One execution for each variant, up to the first that fails.
async fn play_all(
    replay: &Replay,
    variants: &[Faultload],
    system: &Reopened,
) -> Result<Replayed, Error> {
    let mut all: Option<Replayed> = None;
    for variant in variants {
        let (observed, held) = system.run(variant).await?;
        let one = Replayed::new(replay.clone(), observed, &held)?;
        let has_failed = matches!(one.word(), Word::Failed { .. });
        all = Some(match all {
            Some(before) => before.and(one),
            None => one,
        });
        if has_failed {
            break;
        }
    }
    Ok(all.expect("a finding has a faultload"))
}

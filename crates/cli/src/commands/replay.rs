//! `murphy replay`: does a finding still show? [`all`] asks it of every one.

mod all;

use std::path::Path;

use murphy::replays::{Replay, ReplayResult, Replayed};
use murphy_model::Mode;

use murphy_project::suite::SuiteRecord;

use super::suite;
use crate::args::ReplayArgs;
use crate::context::Context;
use crate::error::Error;
use crate::own_project::OwnProject;
use crate::replay_system::ReplaySystem;
use crate::runtime::{self, Stopped};
use crate::{exit, output};
use murphy_config::STORE;

pub(crate) fn run(args: &ReplayArgs, context: &Context) -> Result<u8, Error> {
    let own = OwnProject::find(args.config.as_deref(), context);
    let Some(what) = &args.what else {
        return all::run(args, &own, context);
    };
    let replay = Replay::find(what, own.store());
    // A demo keeps its findings where it was run, whatever project that is in.
    let replay = replay.or_else(|unknown| {
        let here = Replay::find(what, Path::new(STORE));
        here.map_err(|_| unknown)
    });
    let replay = match replay {
        Ok(replay) => replay,
        // Findings of suites share the names.
        Err(unknown) => match SuiteRecord::find(args.config.as_deref(), what, context) {
            Ok((typed, finding)) => return suite::replay_found(&typed, &finding, context),
            Err(_) => return Err(unknown.into()),
        },
    };
    if !args.trust {
        own.check(&replay)?;
    }
    let (replayed, stopped) = runtime::block_on(play(replay, args, context))??;
    output::write(|out| replayed.write(out))?;
    Ok(stopped.with_result(code(replayed.result())))
}

/// The exit code of one finding.
fn code(result: &ReplayResult) -> u8 {
    match result {
        ReplayResult::Failed { .. } => exit::FINDINGS,
        ReplayResult::Fixed => exit::OK,
        ReplayResult::NotReached { .. } | ReplayResult::NotAlone => exit::NOTHING_INJECTED,
    }
}

async fn play(
    replay: Replay,
    args: &ReplayArgs,
    context: &Context,
) -> Result<(Replayed, Stopped), Error> {
    let plan = replay.plan();
    let modes: Vec<String> = plan.modes().iter().map(Mode::to_string).collect();
    let config = args.config.as_deref();
    let system = ReplaySystem::of_replay(&replay, modes.join(","), config, context).await?;
    let ReplaySystem { world, reference } = system;
    let replayed = reference.replay(&*world, &replay, &plan).await;
    let stopped = runtime::stop(world.stop(), false).await;
    Ok((replayed??, stopped))
}

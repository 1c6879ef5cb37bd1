//! Whether the choice holds what it promises: the systems of the results,
//! brought up once more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use murphy::harden::{Choice, Problem};
use murphy::replays::Replay;
use murphy_config::{Config, STORE, Usage};
use murphy_model::nearest;
use murphy_report::hardening::{Combination, Verified};

use crate::args::HardenArgs;
use crate::context::Context;
use crate::error::Error;
use crate::own_project::OwnProject;
use crate::replay_system::ReplaySystem;
use crate::runtime::{self, Stopped};

/// Injects what is left of every combination, scenario by scenario; also what
/// came of stopping each system, to be told when the result has been.
pub(super) fn verify(
    args: &HardenArgs,
    problem: &Problem,
    choice: &Choice,
    config: Option<&Config>,
    context: &Context,
) -> Result<(Verified, Vec<Stopped>), Error> {
    let mut by_scenario: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, one) in problem.combinations.iter().enumerate() {
        by_scenario.entry(&one.scenario).or_default().push(at);
    }
    let mut verified = Verified {
        budget: args.budget.unwrap_or(choice.steps.len()),
        injected: 0,
        remain: BTreeSet::new(),
    };
    let state = config.map_or(Path::new(STORE), |config| &config.store.directory);
    let mut stopped = Vec::new();
    for (scenario, numbers) in by_scenario {
        let ended = runtime::block_on(async {
            let combinations = numbers.iter().map(|at| &problem.combinations[*at]);
            let combinations: Vec<&Combination> = combinations.collect();
            let system = open(args, scenario, &combinations, state, context).await?;
            let ReplaySystem { world, reference } = &system;
            let work = problem.verify(choice, &numbers, &**world, reference, &mut verified);
            let done = work.await;
            let ended = runtime::stop(system.world.stop(), false).await;
            done.map(|()| ended).map_err(Error::from)
        })??;
        // Verified in part tells nothing.
        if ended.interrupted {
            return Err(Error::Interrupted);
        }
        stopped.push(ended);
    }
    Ok((verified, stopped))
}

async fn open(
    args: &HardenArgs,
    scenario: &str,
    combinations: &[&Combination],
    state: &Path,
    context: &Context,
) -> Result<ReplaySystem, Error> {
    let modes = modes(combinations);
    if let Some(app) = &args.app {
        check_app(app, scenario)?;
        return ReplaySystem::of_app("murphy harden --app", app, &args.system(), modes).await;
    }
    // A replay file of the scenario knows the system.
    let findings = combinations.iter().flat_map(|one| &one.findings);
    let mut replays = findings.map(|id| Replay::find(id, state));
    let replay = replays
        .find_map(Result::ok)
        .ok_or_else(|| no_replay(scenario, state))?;
    let config = args.config.as_deref();
    OwnProject::find(config, context).check(&replay)?;
    ReplaySystem::of_replay(&replay, modes, config, context).await
}

/// Every mode that may be injected: an example system has to know them.
fn modes(combinations: &[&Combination]) -> String {
    let faultloads = combinations.iter().flat_map(|one| &one.faultloads);
    let modes = faultloads.flat_map(|it| it.iter());
    let modes: BTreeSet<String> = modes.map(|(_, mode)| mode.to_string()).collect();
    modes.into_iter().collect::<Vec<_>>().join(",")
}

fn check_app(app: &str, scenario: &str) -> Result<(), Usage> {
    if app == scenario {
        return Ok(());
    }
    let hint = match nearest(app, [scenario]) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("choose results with `--scenario {app}`, or leave out `--app`"),
    };
    Err(Usage::new(format!(
        "the results are of `{scenario}`, not of the example system `{app}`"
    ))
    .at("--app", app, app, "not the system of all results")
    .hint(hint))
}

fn no_replay(scenario: &str, state: &Path) -> Usage {
    let hint = match murphy_corpus::find(scenario) {
        Some(_) => format!(
            "`{scenario}` is also an example system: if that is meant, add `--app {scenario}` and its switches with `--set`"
        ),
        None => "run the campaign again here: `murphy run` writes them".to_owned(),
    };
    let folder = state.display();
    Usage::new(format!(
        "it is not known how `{scenario}` is run: {folder} holds no replay file of its findings"
    ))
    .hint(hint)
}

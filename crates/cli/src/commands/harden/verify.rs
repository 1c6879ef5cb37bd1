//! Whether the choice holds what it promises: inject again and see.
//!
//! Owns what counts as hardened: a fault at a hardened call site does not
//! reach its caller, so it is left out, and what is left of the faultload is
//! injected. A combination still fails if an oracle that speaks of it speaks
//! again under what is left of any of its faultloads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use murphy::replays::Replay;
use murphy_model::{Faultload, nearest};
use murphy_report::hardening::{Combination, Verified};

use super::choice::Choice;
use super::problem::Problem;
use crate::args::HardenArgs;
use crate::context::Context;
use crate::error::Error;
use crate::own_project::OwnProject;
use crate::replay_system::ReplaySystem;
use crate::runtime::{self, Stopped};
use murphy_config::Usage;
use murphy_config::{Config, STORE};

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
        budget: args.budget.unwrap_or(choice.chosen.len()),
        injected: 0,
        remain: BTreeSet::new(),
    };
    let verifier = Verifier {
        args,
        problem,
        choice,
        state: state(config),
        context,
    };
    let mut stopped = Vec::new();
    for (scenario, combinations) in by_scenario {
        let work = verifier.scenario(scenario, &combinations, &mut verified);
        let ended = runtime::block_on(work)??;
        // Verified in part tells nothing.
        if ended.interrupted {
            return Err(Error::Interrupted);
        }
        stopped.push(ended);
    }
    Ok((verified, stopped))
}

/// Where replay files are.
fn state(config: Option<&Config>) -> PathBuf {
    config.map_or_else(
        || PathBuf::from(STORE),
        |config| config.store.directory.clone(),
    )
}

struct Verifier<'a> {
    args: &'a HardenArgs,
    problem: &'a Problem,
    choice: &'a Choice,
    state: PathBuf,
    context: &'a Context,
}

impl Verifier<'_> {
    /// All combinations of one scenario, in its system.
    async fn scenario(
        &self,
        scenario: &str,
        combinations: &[usize],
        verified: &mut Verified,
    ) -> Result<Stopped, Error> {
        let system = self.open(scenario, combinations).await?;
        let mut seen = Seen::default();
        let mut remain = BTreeSet::new();
        let mut broken = None;
        for at in combinations {
            match self
                .fails(&self.problem.combinations[*at], &system, &mut seen)
                .await
            {
                Ok(true) => drop(remain.insert(*at)),
                Ok(false) => {}
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        let stopped = runtime::stop(system.stop(), false).await;
        if let Some(error) = broken {
            return Err(error);
        }
        verified.injected += seen.0.len();
        verified.remain.extend(remain);
        Ok(stopped)
    }

    /// Whether a combination fails under what is left of it.
    async fn fails(
        &self,
        one: &Combination,
        system: &ReplaySystem,
        seen: &mut Seen,
    ) -> Result<bool, Error> {
        for faultload in &one.faultloads {
            let left = self.problem.sites.remaining(faultload, &self.choice.chosen);
            // Without faults it is the reference, which went well.
            if left.is_empty() {
                continue;
            }
            if !seen.oracles(&left, system).await?.is_disjoint(&one.oracles) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn open(&self, scenario: &str, combinations: &[usize]) -> Result<ReplaySystem, Error> {
        let combinations = combinations
            .iter()
            .map(|at| &self.problem.combinations[*at]);
        let combinations: Vec<&Combination> = combinations.collect();
        let modes = modes(&combinations);
        if let Some(app) = &self.args.app {
            check_app(app, scenario)?;
            let given = self.args.system();
            return ReplaySystem::of_app("murphy harden --app", app, &given, modes).await;
        }
        let replay = self.replay(scenario, &combinations)?;
        let config = self.args.config.as_deref();
        OwnProject::find(config, self.context).check(&replay)?;
        ReplaySystem::of_replay(&replay, modes, config, self.context).await
    }

    /// A replay file of the scenario: it knows the system.
    fn replay(&self, scenario: &str, combinations: &[&Combination]) -> Result<Replay, Usage> {
        let findings = combinations.iter().flat_map(|one| &one.findings);
        let mut replays = findings.map(|id| Replay::find(id, &self.state));
        let found = replays.find_map(Result::ok);
        found.ok_or_else(|| no_replay(scenario, &self.state))
    }
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

/// The names of the oracles that spoke, by what was injected.
#[derive(Default)]
struct Seen(BTreeMap<Faultload, BTreeSet<String>>);

impl Seen {
    async fn oracles(
        &mut self,
        faultload: &Faultload,
        system: &ReplaySystem,
    ) -> Result<&BTreeSet<String>, Error> {
        if !self.0.contains_key(faultload) {
            let (_, held) = system.run(faultload).await?;
            let names = held.iter().map(|one| one.oracle.name().to_owned());
            self.0.insert(faultload.clone(), names.collect());
        }
        Ok(&self.0[faultload])
    }
}

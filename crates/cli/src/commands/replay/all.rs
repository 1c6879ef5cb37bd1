//! `murphy replay --all`: every finding of the last run, once more.
//!
//! Owns the order and the lines. The system is started once; every scenario
//! enters it in turn, and a finding that cannot be replayed keeps no other from
//! being replayed.

use std::collections::BTreeMap;
use std::sync::Arc;

use murphy::replays::{ReferenceRun, Replay, ReplayResult, System};
use murphy_campaign::World as _;
use murphy_model::{Identity, Severity};
use murphy_report::call_of;
use murphy_report::number::counted;
use murphy_report::terminal::visible;
use murphy_system::spec::ScenarioSpec;
use murphy_system::{LiveWorld, RunningSystem};

use super::code;
use crate::args::ReplayArgs;
use crate::context::Context;
use crate::error::Error;
use crate::own_project::OwnProject;
use crate::project::Project;
use crate::replay_system::project_of;
use crate::stored::{Found, Stored};
use crate::{campaign_record, error, exit, observe, output, runtime};
use murphy_config::Usage;
use murphy_project::typed::Typed;

/// A finding to be replayed, and how it is told.
struct One {
    replay: Replay,
    class: &'static str,
    call: String,
}

pub(super) fn run(args: &ReplayArgs, own: &OwnProject, context: &Context) -> Result<u8, Error> {
    let stored = Stored::open(args.config.as_deref(), context)?;
    let mut campaigns = stored.last_run()?;
    if let Some(scenario) = &args.scenario {
        campaigns.retain(|entry| entry.scenario == *scenario);
        if campaigns.is_empty() {
            return Err(not_run(scenario).into());
        }
    }
    let system = campaigns.first();
    let system = system.and_then(|entry| campaign_record::system(&entry.settings));
    // What a campaign did not write any more is written now.
    for entry in &campaigns {
        stored.summary(entry)?;
    }
    let mut found = stored.findings(campaigns)?;
    // Warnings do not fail the build, and many of them are meant so.
    found.retain(|it| it.finding.severity == Severity::Fail);
    if found.is_empty() {
        output::write(|out| {
            writeln!(
                out,
                "The last run found nothing: there is nothing to replay"
            )
        })?;
        return Ok(exit::OK);
    }
    let system = system.filter(|system| matches!(system, System::Project { .. }));
    let system = system.ok_or_else(|| only_its_program(&found))?;
    let by_scenario = by_scenario(found, args, own)?;
    let scenarios = by_scenario.keys().cloned().collect();
    let project = project_of(&system, scenarios, args.config.as_deref(), context)?;
    runtime::block_on(replay_all(&project, &by_scenario))?
}

/// The findings by scenario. Those of state that is left behind come last:
/// replaying them leaves it behind.
fn by_scenario(
    found: Vec<Found>,
    args: &ReplayArgs,
    own: &OwnProject,
) -> Result<BTreeMap<String, Vec<One>>, Error> {
    let mut all: BTreeMap<String, Vec<One>> = BTreeMap::new();
    for Found { entry, finding } in found {
        let replay = Replay::read(&Replay::file(&finding.id, own.store()))?;
        if !args.trust {
            own.check(&replay)?;
        }
        all.entry(entry.scenario).or_default().push(One {
            replay,
            class: finding.class.name(),
            call: call_of(&finding),
        });
    }
    for of_scenario in all.values_mut() {
        of_scenario.sort_by_key(|one| one.replay.after.is_some());
    }
    Ok(all)
}

/// How many there were of each.
#[derive(Default)]
struct Tally {
    fixed: usize,
    failed: usize,
    not_reached: usize,
}

async fn replay_all(
    project: &Project,
    by_scenario: &BTreeMap<String, Vec<One>>,
) -> Result<u8, Error> {
    let system = project.start(&project.scenarios, 1, "replay", None).await?;
    let (mut codes, mut tally) = (Vec::new(), Tally::default());
    for scenario in &project.scenarios {
        let findings = by_scenario.get(&scenario.name);
        let findings = findings.map_or(&[][..], Vec::as_slice);
        if project.scenarios.len() > 1 {
            output::write(|out| writeln!(out, "{}", visible(&scenario.name)))?;
        }
        let done = of_scenario(project, &system, scenario, findings, &mut tally).await;
        match done {
            Ok(of_scenario) => codes.extend(of_scenario),
            // A scenario that cannot run does not stop the others.
            Err(error) => codes.push(error::report(&error)),
        }
    }
    let stopping = async {
        match Arc::into_inner(system) {
            Some(system) => system.stop().await,
            None => Ok(()),
        }
    };
    let stopped = runtime::stop(stopping, false).await;
    tally.tell()?;
    Ok(stopped.with_result(exit::worst(&codes)))
}

async fn of_scenario(
    project: &Project,
    system: &Arc<RunningSystem>,
    scenario: &ScenarioSpec,
    findings: &[One],
    tally: &mut Tally,
) -> Result<Vec<u8>, Error> {
    let Some(first) = findings.first() else {
        return Ok(Vec::new());
    };
    let (world, _) = project.enter(system.clone(), scenario, 1).await?;
    let identity = first.replay.identity.clone();
    let reference = reference(project, &world, scenario, identity).await;
    let done = match reference {
        Ok(reference) => lines(&world, &reference, findings, tally).await,
        Err(error) => Err(error),
    };
    world.stop().await?;
    done
}

async fn reference(
    project: &Project,
    world: &LiveWorld,
    scenario: &ScenarioSpec,
    identity: Identity,
) -> Result<ReferenceRun, Error> {
    let campaign = project.campaign(scenario, &Typed::default())?;
    match ReferenceRun::find(world, identity, campaign.oracles).await? {
        Ok(reference) => Ok(reference),
        Err(unfit) => Err(Error::Reference {
            complaint: unfit.complaint,
            output: unfit.output,
            hint: observe::HINT.to_owned(),
        }),
    }
}

/// Replays them one by one, and tells of each as soon as it is known.
async fn lines(
    world: &LiveWorld,
    reference: &ReferenceRun,
    findings: &[One],
    tally: &mut Tally,
) -> Result<Vec<u8>, Error> {
    let mut codes = Vec::new();
    for one in findings {
        let plan = one.replay.plan();
        let replayed = reference.replay(world, &one.replay, &plan).await??;
        let result = replayed.result();
        codes.push(code(result));
        let word = tally.count(result);
        let One {
            replay,
            class,
            call,
        } = one;
        let line = format!("{word:<11}  {}  {class}  {call}", replay.id);
        output::write(|out| writeln!(out, "{}", visible(&line)))?;
        if one.replay.after.is_some() {
            world.restart().await?;
        }
    }
    Ok(codes)
}

impl Tally {
    /// Counts a result; the word for it.
    fn count(&mut self, result: &ReplayResult) -> &'static str {
        let (word, count) = match result {
            ReplayResult::Fixed => ("FIXED", &mut self.fixed),
            ReplayResult::Failed { .. } => ("FAILED", &mut self.failed),
            ReplayResult::NotReached { .. } | ReplayResult::NotAlone => {
                ("NOT REACHED", &mut self.not_reached)
            }
        };
        *count += 1;
        word
    }

    fn tell(&self) -> Result<(), Error> {
        let all = self.fixed + self.failed + self.not_reached;
        output::write(|out| {
            writeln!(
                out,
                "\n{} replayed: {} FIXED, {} FAILED, {} NOT REACHED",
                counted(all, "finding"),
                self.fixed,
                self.failed,
                self.not_reached
            )?;
            match all > self.fixed {
                true => writeln!(out, "`murphy replay ID` shows the calls of one of them"),
                false => Ok(()),
            }
        })
    }
}

fn not_run(scenario: &str) -> Usage {
    Usage::new(format!("the last run has no campaign on `{scenario}`"))
        .at("--scenario", scenario, scenario, "not in the last run")
        .hint("`murphy report --list` shows the campaigns that are stored")
}

fn only_its_program(found: &[Found]) -> Usage {
    let id = &found[0].finding.id;
    Usage::new("the last campaign was run by a Rust program: only that can run its scenario").hint(
        format!("replay its findings there, with `Campaign::replay(\"{id}\")`"),
    )
}

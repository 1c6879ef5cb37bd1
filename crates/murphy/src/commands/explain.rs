//! `murphy explain`: what became of a faultload, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use murphy_campaign::live::spec::ScenarioSpec;
use murphy_campaign::store::Store;
use murphy_campaign::{BrokenWorld, Case, Chosen, Memory, Outcome, Searcher, World};
use murphy_model::{Faultload, Frame, Identity, Observed, Point, Target, Verdict, nearest};
use murphy_registry::Recorded;
use murphy_report::{Explained, Fate, Meaning, json, terminal};
use murphy_search::{Explanation, NeverSeen, Tree};

use crate::args::{ExplainArgs, Format, ProjectArgs};
use crate::context::Context;
use crate::error::Error;
use crate::project::Project;
use crate::settings::Question;
use crate::usage::Usage;
use crate::worlds::Demo;
use crate::{exit, output, runtime};

/// More meanings than this are better told apart by asking more exactly.
const MOST_MEANINGS: usize = 8;

/// More meanings than this are not even looked at.
const MOST_LOOKED_AT: usize = 256;

/// More suggestions than this are not read.
const MOST_SUGGESTIONS: usize = 5;

pub(crate) fn run(args: &ExplainArgs, context: &Context) -> Result<u8, Error> {
    let (scenario, faultload, outcome) = match &args.app {
        Some(app) => of_demo(app, args)?,
        None => of_project(args, context)?,
    };
    let explained = explain(&scenario, faultload, &outcome)
        .map_err(|never| never_seen(&never, &args.faultload, &outcome.points))?;
    output::write(|out| match args.search.format {
        Format::Human => terminal::write_explained(&explained, out),
        Format::Json => json::write_explained(&explained, out),
    })?;
    Ok(exit::OK)
}

fn of_demo(app: &str, args: &ExplainArgs) -> Result<(String, Faultload, Outcome), Error> {
    let Question {
        settings,
        faultload,
    } = Question::of(app, args)?;
    let (outcome, _) = runtime::block_on(async {
        let world = Demo::open(settings.place).await?;
        let campaign = &settings.campaign;
        runtime::campaign(&world, campaign, Memory::default(), &mut [])
            .await
            .map_err(|failed| Error::of_campaign(failed, &settings.reference_hint))
    })??;
    Ok((settings.campaign.scenario, faultload, outcome))
}

/// Goes through the last campaign once more, from what was kept of it.
fn of_project(
    args: &ExplainArgs,
    context: &Context,
) -> Result<(String, Faultload, Outcome), Error> {
    let faultload: Faultload = args
        .faultload
        .parse()
        .map_err(|error| Usage::syntax("FAULTLOAD", &error))?;
    let place = ProjectArgs {
        config: args.config.clone(),
        scenario: args.scenario.iter().cloned().collect(),
        command: Vec::new(),
    };
    let project = Project::open(&place, context)?;
    let scenario = only(&project)?;
    let campaign = project.campaign(scenario, &args.search, None)?;
    let store = Store::open_existing(project.state())?;
    let last = match &store {
        Some(store) => store.last_ended(&scenario.name)?,
        None => None,
    };
    let last = last.ok_or_else(|| {
        Usage::new(format!("no campaign on `{}` has ended yet", scenario.name))
            .hint("run `murphy run` first; explanations are about what it did")
    })?;
    let memory = Memory {
        campaign: None,
        chosen: last.identity.map(Chosen::exactly),
        executions: last.executions,
    };
    let (outcome, _) = runtime::block_on(runtime::campaign(&Nowhere, &campaign, memory, &mut []))?
        .map_err(|failed| Error::of_campaign(failed, ""))?;
    Ok((campaign.scenario, faultload, outcome))
}

fn only(project: &Project) -> Result<&ScenarioSpec, Usage> {
    match &project.scenarios[..] {
        [only] => Ok(only),
        several => {
            let names: Vec<&str> = several.iter().map(|it| it.name.as_str()).collect();
            Err(Usage::new("there are several scenarios").hint(format!(
                "choose one with `--scenario`: {}",
                names.join(", ")
            )))
        }
    }
}

/// Where nothing is run: all that is asked for was kept.
struct Nowhere;

impl Nowhere {
    fn broken() -> BrokenWorld {
        BrokenWorld {
            message: "the last campaign on this scenario was another search".to_owned(),
            hint: Some(
                "give the arguments that `murphy run` was given, or run it again".to_owned(),
            ),
            logs: Vec::new(),
        }
    }
}

impl World for Nowhere {
    fn workers(&self) -> u32 {
        1
    }

    async fn run(&self, _: u32, _: &Faultload, _: &Arc<Identity>) -> Result<Observed, BrokenWorld> {
        Err(Nowhere::broken())
    }

    async fn reference(
        &self,
        _: &Arc<Identity>,
    ) -> Result<(Observed, Option<Recorded>), BrokenWorld> {
        Err(Nowhere::broken())
    }
}

fn explain(scenario: &str, asked: Faultload, outcome: &Outcome) -> Result<Explained, NeverSeen> {
    let Searcher::Tree(tree) = &outcome.searcher else {
        unreachable!("explanations are asked of the tree strategy")
    };
    let complaints = complaints(&outcome.cases);
    let faultloads = tree.resolve(&asked, MOST_LOOKED_AT)?;
    let meanings: Result<Vec<Meaning>, NeverSeen> = faultloads
        .into_iter()
        .map(|faultload| meaning(faultload, tree, &complaints))
        .collect();
    // A call that comes after different histories has a point for each; what
    // was asked about is most likely what can happen.
    let (possible, impossible): (Vec<Meaning>, Vec<Meaning>) =
        meanings?.into_iter().partition(|m| m.fate.is_possible());
    let (mut meanings, impossible) = match possible.is_empty() {
        true => (impossible, 0),
        false => (possible, impossible.len()),
    };
    let more = meanings.len() > MOST_MEANINGS;
    meanings.truncate(MOST_MEANINGS);
    Ok(Explained {
        scenario: scenario.to_owned(),
        asked,
        points: outcome.points.clone(),
        meanings,
        impossible,
        more,
    })
}

/// What the scenario complained about, by number of the execution.
fn complaints(cases: &[Case]) -> BTreeMap<usize, String> {
    let complaint = |case: &Case| match &case.verdict {
        Verdict::Failed { why } => Some((case.number, why.clone())),
        _ => None,
    };
    cases.iter().filter_map(complaint).collect()
}

fn meaning(
    faultload: Faultload,
    tree: &Tree,
    complaints: &BTreeMap<usize, String>,
) -> Result<Meaning, NeverSeen> {
    let fate = match tree.explain(&faultload)? {
        Explanation::Run { number } => Fate::Run {
            number,
            complaint: complaints.get(&number).cloned(),
        },
        Explanation::Skipped {
            policy,
            reasons,
            predicted,
        } => Fate::Skipped {
            policy: policy.name(),
            possible: !policy.says_impossible(),
            reasons,
            predicted,
        },
        Explanation::Open { reason } => Fate::Open { reason },
    };
    Ok(Meaning { faultload, fate })
}

/// A target that fits no call is a usage error: mistyped, most likely.
fn never_seen(never: &NeverSeen, text: &str, points: &[Point]) -> Usage {
    let target = never.0.to_string();
    let part = if text.contains(&target) {
        &target
    } else {
        text
    };
    Usage::new(never.to_string())
        .at("FAULTLOAD", text, part, "no such call in any execution")
        .hint(suggestion(&never.0, points))
}

/// Calls to the service that was meant, in a form that can be pasted.
fn suggestion(target: &Target, points: &[Point]) -> String {
    let services: BTreeSet<&str> = points.iter().map(|p| &*p.frame().destination).collect();
    let meant = destination(target).and_then(|name| nearest(&name, services.iter().copied()));
    let Some(meant) = meant else {
        let services: Vec<&str> = services.into_iter().collect();
        return format!("the services called are {}", services.join(", "));
    };
    let to_meant = points.iter().filter(|p| &*p.frame().destination == meant);
    let calls: BTreeSet<String> = to_meant.map(|p| anywhere(p.frame())).collect();
    let shown: Vec<String> = calls.into_iter().take(MOST_SUGGESTIONS).collect();
    format!("calls to `{meant}` that were seen: {}", shown.join(", "))
}

fn anywhere(frame: &Frame) -> String {
    let bare = Frame::new(&frame.destination, frame.interface.clone()).nth(frame.count);
    format!("`** > {bare}`")
}

fn destination(target: &Target) -> Option<String> {
    match target {
        Target::Call(point) | Target::Every(point) => Some(point.frame().destination.to_string()),
        Target::Matching(pattern) => {
            let last = pattern.frames.last()?;
            last.destination.literal().map(|name| name.to_string())
        }
    }
}

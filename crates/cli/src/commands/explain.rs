//! `murphy explain`: what became of a faultload, and why; or what a finding is
//! about.

use std::collections::{BTreeMap, BTreeSet};

use murphy_campaign::{Memory, Searcher};
use murphy_model::{Faultload, Frame, Point, Target, Verdict, nearest};
use murphy_report::{Explained, Fate, Meaning, json, terminal};
use murphy_search::{Explanation, NeverSeen};
use murphy_system::spec::ScenarioSpec;

use crate::args::{ExplainArgs, Format};
use crate::baseline_filter::BaselineFilter;
use crate::context::Context;
use crate::error::Error;
use crate::past_execution::{PastExecution, last_search};
use crate::project::Project;
use crate::settings::Question;
use crate::stored::{Found, Stored};
use crate::worlds;
use crate::{campaign_record, exit, output, runtime};
use murphy_config::Usage;

/// More meanings than this are better distinguished by a more exact question.
const MOST_MEANINGS: usize = 8;

/// More meanings than this are not even looked at.
const MOST_LOOKED_AT: usize = 256;

/// Fewer digits may be meant as something else.
const LEAST_DIGITS: usize = 4;

/// More suggestions than this are not read.
const MOST_SUGGESTIONS: usize = 5;

pub(crate) fn run(args: &ExplainArgs, context: &Context) -> Result<u8, Error> {
    let asked = args.faultload.trim();
    if let Ok(number) = asked.parse() {
        let shown = one_execution(number, args, context);
        return match (shown, is_name(asked)) {
            // A name may begin with digits only.
            (Err(Error::Usage(no_execution)), true) => {
                one_finding(asked, args, context).map_err(|_| no_execution.into())
            }
            (shown, _) => shown,
        };
    }
    if is_name(asked) {
        return one_finding(asked, args, context);
    }
    let search = match &args.app {
        Some(app) => of_demo(app, args)?,
        None => of_project(args, context)?,
    };
    let explained = search
        .explained()
        .map_err(|never| never_seen(&never, &args.faultload, &search.searcher.points()))?;
    output::write(|out| match args.search.format {
        Format::Human => terminal::write_explained(&explained, out),
        Format::Json => json::write_explained(&explained, out),
    })?;
    Ok(exit::OK)
}

/// A search that can be asked, and the question.
struct Search {
    scenario: String,
    asked: Faultload,
    searcher: Searcher,
    /// What the scenario complained about, by number of the execution.
    complaints: BTreeMap<usize, String>,
}

fn of_demo(app: &str, args: &ExplainArgs) -> Result<Search, Error> {
    let Question {
        settings,
        faultload,
    } = Question::of(app, args.system.typed(), &args.typed(), &args.faultload)?;
    let (done, _) = runtime::block_on(async {
        let world = worlds::open(settings.place).await?;
        let campaign = &settings.campaign;
        runtime::campaign(&*world, campaign, Memory::default(), &mut [])
            .await
            .map_err(|failed| Error::of_campaign(failed, &settings.reference_hint))
    })??;
    if let Some(broken) = done.outcome.broken {
        return Err(Error::Broken(broken));
    }
    let cases = done.summary.cases.iter();
    let verdicts = cases.map(|case| (case.number, &case.verdict));
    Ok(Search {
        scenario: settings.campaign.scenario,
        asked: faultload,
        complaints: complaints(verdicts),
        searcher: done.outcome.searcher,
    })
}

/// Shows one execution of the last campaign, with what was printed.
fn one_execution(number: usize, args: &ExplainArgs, context: &Context) -> Result<u8, Error> {
    if args.app.is_some() {
        let refused = Usage::new("example systems are run anew and keep no executions");
        return Err(refused.hint("give the faultload instead").into());
    }
    let project = Project::open(args.project(), context)?;
    let scenario = only(&project)?;
    let found = PastExecution::find(number, &project, scenario)?;
    output::write(|out| found.write(out, true))?;
    Ok(exit::OK)
}

/// Whether this is the name of a finding or the beginning of one: `M-` and
/// digits, or enough digits alone. No faultload looks like that.
fn is_name(text: &str) -> bool {
    let digits = text.strip_prefix("M-").or(text.strip_prefix("m-"));
    let least = match digits {
        Some(_) => 0,
        None => LEAST_DIGITS,
    };
    let digits = digits.unwrap_or(text);
    digits.len() >= least && digits.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Explains a finding of the last campaigns.
fn one_finding(typed: &str, args: &ExplainArgs, context: &Context) -> Result<u8, Error> {
    if args.app.is_some() {
        let refused = Usage::new("example systems are run anew and keep no findings");
        return Err(refused
            .hint("give the faultload instead, or see it again with `murphy replay`")
            .into());
    }
    let stored = Stored::open(args.config.as_deref(), context)?;
    let mut found = stored.named(typed, "murphy explain")?;
    if let Some(scenario) = &args.scenario {
        found.retain(|it| it.entry.scenario == *scenario);
    }
    let Some(Found { entry, finding }) = found.into_iter().next() else {
        return Err(Usage::new(format!("`{typed}` is of another scenario"))
            .hint("leave out `--scenario`: the name is enough")
            .into());
    };
    let (mut summary, _) = stored.summary(&entry)?;
    let known = BaselineFilter::open_file(stored.baseline(None), None)?;
    let search = campaign_record::asked(&entry.settings).search;
    summary.known = known.map(|known| known.of(&summary, &search));
    output::write(|out| match args.search.format {
        Format::Human => terminal::write_finding(&summary, &finding, out),
        Format::Json => json::write_finding(&summary, &finding, out),
    })?;
    Ok(exit::OK)
}

/// Goes through the last campaign once more, from what was kept of it.
fn of_project(args: &ExplainArgs, context: &Context) -> Result<Search, Error> {
    let faultload: Faultload = args
        .faultload
        .parse()
        .map_err(|error| Usage::syntax("FAULTLOAD", &error))?;
    let project = Project::open(args.project(), context)?;
    let scenario = only(&project)?;
    let (campaign, retraced) = last_search(&project, scenario, &args.typed())?;
    let verdicts = retraced.verdicts.iter().map(|(number, it)| (*number, it));
    Ok(Search {
        scenario: campaign.scenario,
        asked: faultload,
        complaints: complaints(verdicts),
        searcher: retraced.searcher,
    })
}

pub(crate) fn only(project: &Project) -> Result<&ScenarioSpec, Usage> {
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

impl Search {
    fn explained(&self) -> Result<Explained, NeverSeen> {
        let faultloads = self.searcher.resolve(&self.asked, MOST_LOOKED_AT)?;
        let meanings = faultloads.into_iter().map(|it| self.meaning(it));
        let meanings: Result<Vec<Meaning>, NeverSeen> = meanings.collect();
        // A call that comes after different histories has a point for each;
        // what was asked about is most likely what can happen.
        let (possible, impossible): (Vec<Meaning>, Vec<Meaning>) =
            meanings?.into_iter().partition(|m| m.fate.is_possible());
        let (mut meanings, impossible) = match possible.is_empty() {
            true => (impossible, 0),
            false => (possible, impossible.len()),
        };
        let more = meanings.len() > MOST_MEANINGS;
        meanings.truncate(MOST_MEANINGS);
        Ok(Explained {
            scenario: self.scenario.clone(),
            asked: self.asked.clone(),
            points: self.searcher.points(),
            meanings,
            impossible,
            more,
        })
    }

    fn meaning(&self, faultload: Faultload) -> Result<Meaning, NeverSeen> {
        let fate = match self.searcher.explain(&faultload)? {
            Explanation::Run { number } => Fate::Run {
                number,
                complaint: self.complaints.get(&number).cloned(),
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
            Explanation::Implied { reasons } => Fate::Skipped {
                policy: LINEAGE,
                possible: true,
                reasons,
                predicted: None,
            },
            Explanation::Open { reason } => Fate::Open { reason },
        };
        Ok(Meaning { faultload, fate })
    }
}

/// The only strategy that concludes more than its policies say.
const LINEAGE: &str = "lineage";

/// What the scenario complained about, by number of the execution.
fn complaints<'v>(verdicts: impl Iterator<Item = (usize, &'v Verdict)>) -> BTreeMap<usize, String> {
    let complaint = |(number, verdict): (usize, &Verdict)| match verdict {
        Verdict::Failed { why } => Some((number, why.clone())),
        _ => None,
    };
    verdicts.filter_map(complaint).collect()
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
    let bare = Frame::new(&frame.destination, frame.interface.clone());
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

//! The scenario without faults, a few times: is it fit to be tested with them?
//!
//! Owns the refusal: faults tell nothing about a test that fails without them
//! or of whose calls none are the same every time. Which parts of requests vary, and what is left
//! out of calls' names because of it, is [`crate::infer_identity`]'s business.

use std::sync::Arc;

use murphy_model::{
    BackgroundCall, Event, Faultload, Identity, Observed, Point, Sink, Trace, Verdict,
};
use murphy_registry::{Arrival, Recorded};

use crate::answer_masks;
use crate::background;
use crate::first_run::Trials;
use crate::infer_identity::{self, Compared, Varies};
use crate::left_out;
use crate::settings::{IdentityChoice, Settings};
use crate::world::World;

/// How calls are identified, and what was left out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedIdentity {
    /// How calls are identified.
    pub identity: Identity,
    /// What was left out, and why, one sentence each.
    pub masked: Vec<String>,
    /// Calls that are made only in the first run after a start.
    pub first_run: Vec<Point>,
}

impl ResolvedIdentity {
    /// This identity, with nothing left out of it.
    pub fn exactly(identity: Identity) -> Self {
        ResolvedIdentity {
            identity,
            masked: Vec::new(),
            first_run: Vec::new(),
        }
    }
}

/// Why a scenario is not tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It fails without faults.
    Fails {
        /// What it said.
        complaint: String,
        /// What it printed.
        output: Option<String>,
    },
    /// It fails without faults, but not always.
    Flaky {
        /// Which of the references failed first, from 1.
        number: usize,
        /// How many there were up to then.
        passed: usize,
        /// What it said.
        complaint: String,
        /// What it printed.
        output: Option<String>,
    },
    /// It makes different calls from one time to the next.
    Unstable {
        /// What varies.
        varies: Vec<Varies>,
    },
    /// Every execution is said to begin as after a start, but these calls are
    /// made only in the first.
    NotCold {
        /// The calls.
        at: Vec<Point>,
    },
}

/// What the references show, where the scenario is fit to be tested.
#[derive(Clone, Debug)]
pub struct ReferenceRuns {
    /// The first of them, its calls named as they will be.
    pub observed: Observed,
    /// How calls are identified.
    pub chosen: ResolvedIdentity,
    /// How many runs were compared; none where requests are not seen.
    pub compared: usize,
    /// The query that each of its calls was made with, in their order, without
    /// what does not count; empty where there was none or a body besides, and
    /// for all calls where requests are not seen.
    pub queries: Vec<String>,
}

/// Runs the references and settles how calls are identified.
pub async fn run(
    world: &dyn World,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<ReferenceRuns, crate::Failed> {
    let none = Faultload::none();
    let mut number = 0;
    let mut make = async |start: &Arc<Identity>| {
        number += 1;
        let (observed, recorded) = world.record(&none, start).await?;
        sink.note(&Event::ReferenceRan {
            number,
            observed: Arc::new(observed.clone()),
        });
        check_passed(number, &observed)?;
        Ok::<_, crate::Failed>((observed, recorded))
    };
    let mut start = Arc::new(settings.identity.start().clone());
    let wanted = settings.references.max(1);
    let mut references: Vec<Reference> = Vec::new();
    for _ in 0..wanted {
        references.push(make(&start).await?);
    }
    let mut trials = Trials::of(world);
    let mut background = in_background(settings, &references);
    if start.background.is_empty() && !background.is_empty() {
        // Some of them were seen under other calls, and calls under them.
        Arc::make_mut(&mut start).background = background.clone();
        references.clear();
        for _ in 0..wanted {
            references.push(make(&start).await?);
        }
        background::extend(&mut background, in_background(settings, &references));
    }
    let settled = match settle(settings, &references, &background) {
        Err(varies) if is_first_run(&varies) => {
            // The first one made calls that the system makes once: it was a
            // trial like those before.
            trials.runs.push(references.remove(0).0);
            references.push(make(&start).await?);
            settle(settings, &references, &background)
        }
        settled => settled,
    };
    let mut runs = match settled {
        Ok(runs) => runs,
        Err(varies) => settle_without_guesses(settings, &references, background, varies)?,
    };
    let ReferenceRuns {
        observed, chosen, ..
    } = &mut runs;
    chosen.first_run = trials.first_run_calls(observed, &chosen.identity, settings);
    match world.claims_to_be_cold() && !chosen.first_run.is_empty() {
        true => Err(Refused::NotCold {
            at: runs.chosen.first_run,
        }
        .into()),
        false => Ok(runs),
    }
}

/// The query of each request that has no body, without the parameters that do
/// not count: together with the path it identifies the call.
fn queries_of(recorded: &Recorded, masked: &[String]) -> Vec<String> {
    let counts = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default();
        !parameter.is_empty() && !masked.iter().any(|masked| masked == name)
    };
    let query = |request: &Arrival| match request.body.is_empty() {
        true => {
            let parameters = request.query.split('&').filter(counts);
            parameters.collect::<Vec<_>>().join("&")
        }
        false => String::new(),
    };
    recorded.requests.iter().map(query).collect()
}

/// Whether all that varies is that the first reference made more calls.
fn is_first_run(varies: &[Varies]) -> bool {
    varies.iter().all(|varies| match varies {
        Varies::Calls { counts, .. } => match &counts[..] {
            [first, others @ ..] if others.len() > 1 => others
                .iter()
                .all(|count| count < first && *count == others[0]),
            _ => false,
        },
        Varies::Replies { .. } => false,
    })
}

fn check_passed(number: usize, observed: &Observed) -> Result<(), Refused> {
    let Verdict::Failed { why } = &observed.execution.verdict else {
        return Ok(());
    };
    let (complaint, output) = (why.clone(), observed.printed());
    Err(match number {
        1 => Refused::Fails { complaint, output },
        _ => Refused::Flaky {
            number,
            passed: number - 1,
            complaint,
            output,
        },
    })
}

type Reference = (Observed, Option<Recorded>);

/// The calls that are not tested, because nothing says for which request they
/// are made.
fn in_background(settings: &Settings, references: &[Reference]) -> Vec<BackgroundCall> {
    match &settings.identity {
        IdentityChoice::Auto(..) => background::made_while_idle(&recorded(references)),
        IdentityChoice::Given(identity) => identity.background.clone(),
    }
}

fn recorded(references: &[Reference]) -> Vec<&Recorded> {
    references.iter().filter_map(|(_, r)| r.as_ref()).collect()
}

/// Settles it without the calls that vary because it is a guess who made them:
/// a worker that hands on no trace context is seen under whatever request is
/// under way. What varies besides is left out, too, where anything else is left.
fn settle_without_guesses(
    settings: &Settings,
    references: &[Reference],
    mut background: Vec<BackgroundCall>,
    mut varies: Vec<Varies>,
) -> Result<ReferenceRuns, Refused> {
    loop {
        let more = match &settings.identity {
            IdentityChoice::Auto(..) => {
                background::varying(&varies, &recorded(references), &background)
            }
            IdentityChoice::Given(_) => Vec::new(),
        };
        if more.is_empty() {
            let rest = settle_without_varying(settings, references, &background);
            return rest.ok_or(Refused::Unstable { varies });
        }
        background::extend(&mut background, more);
        varies = match settle(settings, references, &background) {
            Ok(runs) => return Ok(runs),
            Err(varies) => varies,
        };
    }
}

/// Settles it without what varies, if there is anything else to be tested.
fn settle_without_varying(
    settings: &Settings,
    references: &[Reference],
    background: &[BackgroundCall],
) -> Option<ReferenceRuns> {
    let foreground = references.iter();
    let foreground: Vec<_> = foreground
        .map(|it| background::without(it, background))
        .collect();
    let recorded: Option<Vec<&Recorded>> = foreground.iter().map(|(_, r)| r.as_ref()).collect();
    let options = &settings.options;
    let chosen = left_out::fewest(&settings.identity, &recorded?, &options.filter)?;
    let identity = Arc::new(chosen.identity.clone());
    let stable = foreground.iter().filter_map(|(observed, recorded)| {
        let recorded = recorded.as_ref()?;
        Some(left_out::without((observed, recorded), &identity))
    });
    let (observed, stable): (Vec<_>, Vec<_>) = stable.unzip();
    let stable: Vec<&Recorded> = stable.iter().collect();
    let trace = infer_identity::attempt(&identity, &stable, &options.filter).ok()?;
    left_out::can_fail(&trace, options).then(|| {
        let first = observed.first().expect("at least one reference");
        completed(chosen, trace, first, &stable, background)
    })
}

/// The reference to be learnt from, with its calls named as they will be.
fn settle(
    settings: &Settings,
    references: &[Reference],
    background: &[BackgroundCall],
) -> Result<ReferenceRuns, Vec<Varies>> {
    let foreground = references.iter();
    let foreground = foreground.map(|it| background::without(it, background));
    let references: &[Reference] = &foreground.collect::<Vec<_>>();
    let recorded: Option<Vec<&Recorded>> = references.iter().map(|(_, r)| r.as_ref()).collect();
    let filter = &settings.options.filter;
    let (chosen, trace) = match (&settings.identity, &recorded) {
        (IdentityChoice::Auto(start, may), Some(recorded)) => {
            infer_identity::most_precise(start, *may, recorded, filter)?
        }
        (choice, _) => {
            let traces: Vec<_> = references.iter().map(|(o, _)| &o.execution.trace).collect();
            let count = choice.start().count;
            infer_identity::check(&traces, Compared { count, filter })?;
            let first = traces.first().expect("at least one reference");
            (
                ResolvedIdentity::exactly(choice.start().clone()),
                (*first).clone(),
            )
        }
    };
    let (observed, _) = references.first().expect("at least one reference");
    let recorded = recorded.unwrap_or_default();
    Ok(completed(chosen, trace, observed, &recorded, background))
}

/// All that there is to say of references of which these are the requests, and
/// of the first of which this is the trace.
fn completed(
    mut chosen: ResolvedIdentity,
    trace: Trace,
    first: &Observed,
    recorded: &[&Recorded],
    background: &[BackgroundCall],
) -> ReferenceRuns {
    let trace = answer_masks::apply(&mut chosen, trace, recorded);
    let mut observed = first.clone();
    observed.execution.trace = trace;
    chosen.identity.background = background.to_vec();
    let queries = recorded.first();
    let queries = queries.map(|it| queries_of(it, &chosen.identity.masked));
    ReferenceRuns {
        observed,
        chosen,
        compared: recorded.len(),
        queries: queries.unwrap_or_default(),
    }
}

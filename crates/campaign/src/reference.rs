//! The scenario without faults, a few times: is it fit to be tested with them?
//!
//! Owns the refusal: faults tell nothing about a test that fails without them
//! or whose calls come and go. Which parts of requests vary, and what is left
//! out of calls' names because of it, is [`crate::infer_identity`]'s business.

use std::collections::BTreeSet;
use std::sync::Arc;

use murphy_model::{
    Event, Faultload, Frame, Identity, Interface, Link, Observed, Place, Point, Sink, Verdict,
};
use murphy_registry::{Arrival, Recorded};

use crate::answer_masks;
use crate::first_run::Trials;
use crate::infer_identity::{self, Compared, Varies};
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
        /// Patterns for what varies only because it is a guess who made it:
        /// left out of the search, it may come and go.
        guessed: Vec<String>,
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
    let start = Arc::new(settings.identity.start().clone());
    let none = Faultload::none();
    let mut references: Vec<(Observed, Option<Recorded>)> = Vec::new();
    let mut make = async |number: usize| {
        let (observed, recorded) = world.record(&none, &start).await?;
        sink.note(&Event::ReferenceRan {
            number,
            observed: Arc::new(observed.clone()),
        });
        check_passed(number, &observed)?;
        Ok::<_, crate::Failed>((observed, recorded))
    };
    let wanted = settings.references.max(1);
    for number in 1..=wanted {
        references.push(make(number).await?);
    }
    let mut trials = Trials::of(world);
    let settled = match settle(settings, &references) {
        Err(Refused::Unstable { varies, .. }) if is_first_run(&varies) => {
            // The first one made calls that the system makes once: it was a
            // trial like those before.
            trials.runs.push(references.remove(0).0);
            references.push(make(wanted + 1).await?);
            settle(settings, &references)
        }
        settled => settled,
    };
    let (observed, mut chosen) = settled?;
    let requests = references.first().and_then(|(_, it)| it.as_ref());
    let queries = requests.map(|it| queries(it, &chosen.identity.masked));
    chosen.first_run = trials.first_run_calls(&observed, settings);
    match world.claims_to_be_cold() && !chosen.first_run.is_empty() {
        true => Err(Refused::NotCold {
            at: chosen.first_run,
        }
        .into()),
        false => Ok(ReferenceRuns {
            observed,
            chosen,
            queries: queries.unwrap_or_default(),
        }),
    }
}

/// The query of each request that has no body, without the parameters that do
/// not count: together with the path it identifies the call.
fn queries(recorded: &Recorded, masked: &[String]) -> Vec<String> {
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

/// What varies below a call whose caller was a guess in some reference: a worker
/// that hands on no trace context is seen under whatever request is under way.
fn guessed(varies: &[Varies], references: &[(Observed, Option<Recorded>)]) -> Vec<String> {
    let mut unsure: BTreeSet<Place> = BTreeSet::new();
    for (observed, _) in references {
        let calls = observed.execution.trace.calls().iter();
        let links = calls
            .zip(&observed.details)
            .map(|(call, it)| (call, it.link));
        let is_unsure = |link: &Link| matches!(link, Link::Ambiguous | Link::Orphan);
        let calls = links.filter(|(_, link)| is_unsure(link));
        unsure.extend(calls.map(|(call, _)| Place::of(&call.point)));
    }
    let pattern = |varies: &Varies| {
        let frames = varies.at().frames();
        let is_unsure = |frame: &&Frame| {
            let like = |place: &Place| {
                place.service == frame.destination && alike(&place.interface, &frame.interface)
            };
            unsure.iter().any(like)
        };
        let last = frames.iter().rposition(is_unsure)?;
        let text = |frame: &&Frame| format!("{} {}", frame.destination, frame.interface);
        let texts: Vec<String> = frames[last..].iter().map(text).collect();
        Some(format!("** > {}", texts.join(" > ").replace("{}", "*")))
    };
    let patterns: BTreeSet<String> = varies.iter().filter_map(pattern).collect();
    patterns.into_iter().collect()
}

/// Whether two interfaces are one, but for parts of the path that vary.
fn alike(one: &Interface, other: &Interface) -> bool {
    match (one, other) {
        (Interface::Http { method, path }, Interface::Http { method: m, path: p }) => {
            let segments = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
            let (left, right) = (segments(path), segments(p));
            let is_same = |(l, r): (&String, &String)| l == r || l == "{}" || r == "{}";
            method == m && left.len() == right.len() && left.iter().zip(&right).all(is_same)
        }
        _ => one == other,
    }
}

/// The reference to be learnt from, with its calls named as they will be.
fn settle(
    settings: &Settings,
    references: &[(Observed, Option<Recorded>)],
) -> Result<(Observed, ResolvedIdentity), Refused> {
    let recorded: Option<Vec<&Recorded>> = references.iter().map(|(_, r)| r.as_ref()).collect();
    let refused = |varies: Vec<Varies>| Refused::Unstable {
        guessed: guessed(&varies, references),
        varies,
    };
    let filter = &settings.options.filter;
    let (mut chosen, trace) = match (&settings.identity, &recorded) {
        (IdentityChoice::Auto(start, may), Some(recorded)) => {
            let settled = infer_identity::most_precise(start, *may, recorded, filter);
            settled.map_err(refused)?
        }
        (choice, _) => {
            let traces: Vec<_> = references.iter().map(|(o, _)| &o.execution.trace).collect();
            let count = choice.start().count;
            infer_identity::check(&traces, Compared { count, filter }).map_err(refused)?;
            let first = traces.first().expect("at least one reference");
            (
                ResolvedIdentity::exactly(choice.start().clone()),
                (*first).clone(),
            )
        }
    };
    let trace = answer_masks::apply(&mut chosen, trace, &recorded.unwrap_or_default());
    let (observed, _) = references.first().expect("at least one reference");
    let mut observed = observed.clone();
    observed.execution.trace = trace;
    Ok((observed, chosen))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{Call, CallId, Detail, Execution, Pattern, Reply, Trace};

    use super::*;

    const MAIL: &str = "gate POST /buy > mail POST /messages";

    /// Who buys is told something by a worker, which then asks for the order.
    fn reference(link: Link) -> (Observed, Option<Recorded>) {
        let points = [
            "gate POST /buy",
            MAIL,
            &format!("{MAIL} > shop GET /orders/{{}}"),
        ];
        let call = |(at, point): (usize, &&str)| Call {
            point: point.parse().unwrap(),
            parent: at.checked_sub(1).map(|parent| CallId(parent as u32)),
            arrived: at as u32,
            finished: Some(9 - at as u32),
            reply: Some(Reply::Status(200)),
            injected: None,
            body: None,
        };
        let detail = |link| Detail {
            arrived: Duration::ZERO,
            finished: None,
            gave_up: None,
            organic: None,
            landed: None,
            body_cut: false,
            idempotency_key: None,
            link,
        };
        let execution = Execution {
            faultload: Faultload::none(),
            trace: Trace::new(points.iter().enumerate().map(call).collect()),
            verdict: Verdict::Passed,
        };
        let observed = Observed {
            details: [Link::Certain, link, Link::Inferred].map(detail).into(),
            ..Observed::bare(execution, Duration::ZERO)
        };
        (observed, None)
    }

    fn varying(at: &str) -> Varies {
        Varies::Calls {
            at: at.parse().unwrap(),
            counts: vec![1, 0],
        }
    }

    #[test]
    fn what_varies_below_a_guess_is_named_by_patterns_that_leave_it_out() {
        let varies = [
            varying(MAIL),
            varying("gate GET /list > mail POST /messages"),
            varying(&format!("{MAIL} > shop GET /orders/{{}}")),
            varying("gate POST /buy > stock GET /items"),
        ];
        let patterns = guessed(&varies, &[reference(Link::Ambiguous)]);
        let expected = [
            "** > mail POST /messages",
            "** > mail POST /messages > shop GET /orders/*",
        ];
        assert_eq!(patterns, expected);
        for (varies, is_left_out) in varies.iter().zip([true, true, true, false]) {
            let mut all = patterns.iter().map(|it| it.parse::<Pattern>().unwrap());
            let matched = all.any(|pattern| pattern.matches(varies.at()));
            assert_eq!(matched, is_left_out, "{varies}");
        }
        assert!(guessed(&varies, &[reference(Link::Certain)]).is_empty());
    }
}

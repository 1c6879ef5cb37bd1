//! Runs a campaign: strategy, simulator and oracles, from the reference to the
//! certificate.
//!
//! Owns the loop and its clock. What to try is the strategy's decision, what a
//! failure means the oracles'; executions that the strategy threw away are
//! not judged, so that findings do not depend on how many ran at once.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use murphy_model::{Certificate, Execution, Faultload, Finding, Incomplete, Point, Trace, Verdict};
use murphy_oracle::Findings;
use murphy_report::Timing;
use murphy_search::{Explanation, Random, Step, Strategy, Ticket, Tree, audit};

use crate::args::StrategyArg;
use crate::progress::{Progress, Standing};
use crate::settings::Plan;

/// What came of a campaign.
pub(crate) struct Outcome {
    pub(crate) certificate: Certificate,
    pub(crate) findings: Vec<Finding>,
    /// What the scenario complained about, by number of the execution.
    pub(crate) complaints: BTreeMap<usize, String>,
    pub(crate) reference: Trace,
    pub(crate) points: Vec<Point>,
    /// Whether any fault struck in any execution.
    pub(crate) injected: bool,
    pub(crate) timing: Timing,
    pub(crate) searcher: Searcher,
}

/// The scenario fails without faults.
pub(crate) struct ReferenceFailed {
    pub(crate) complaint: String,
}

/// The strategy of a campaign.
pub(crate) enum Searcher {
    Tree(Box<Tree>),
    Random(Box<Random>),
}

impl Searcher {
    fn new(plan: &Plan) -> Self {
        let options = plan.options.clone();
        match plan.strategy {
            StrategyArg::Tree => Searcher::Tree(Box::new(Tree::new(options))),
            StrategyArg::Random => Searcher::Random(Box::new(Random::new(options, plan.seed))),
        }
    }

    fn strategy(&mut self) -> &mut dyn Strategy {
        match self {
            Searcher::Tree(tree) => tree.as_mut(),
            Searcher::Random(random) => random.as_mut(),
        }
    }

    fn points(&self) -> Vec<Point> {
        let points = match self {
            Searcher::Tree(tree) => tree.points(),
            Searcher::Random(random) => random.points(),
        };
        points.into_iter().cloned().collect()
    }

    /// The number under which an execution was taken in; `None` if it was
    /// thrown away. The random strategy takes in all, in the order proposed.
    fn number(&self, ticket: Ticket, faultload: &Faultload) -> Option<usize> {
        match self {
            Searcher::Tree(tree) => match tree.explain(faultload) {
                Ok(Explanation::Run { number }) => Some(number),
                _ => None,
            },
            Searcher::Random(_) => usize::try_from(ticket.0).ok(),
        }
    }

    fn standing(&self, executed: usize, failed: usize) -> Standing {
        let (explored, skipped, waiting) = match self {
            Searcher::Tree(tree) => (tree.explored(), tree.skipped(), tree.waiting()),
            Searcher::Random(_) => (executed, 0, 0),
        };
        Standing {
            explored,
            skipped,
            waiting,
            failed,
        }
    }
}

/// Runs a campaign to its end.
pub(crate) fn run(mut plan: Plan, progress: &mut Progress) -> Result<Outcome, ReferenceFailed> {
    let began = Instant::now();
    let mut searcher = Searcher::new(&plan);
    let mut seen = Seen::default();
    let mut certificate = explore(&mut plan, &mut searcher, &mut seen, began, progress)?;
    if let (Some(most), Searcher::Tree(tree)) = (plan.audit, &searcher) {
        let result = audit(tree, most, plan.seed, |faultload| {
            plan.simulator.run(faultload)
        });
        if result.agreed < result.sampled {
            certificate.incomplete.get_or_insert(Incomplete::Audit);
        }
        certificate.audit = Some(result);
    }
    progress.clear();
    let timing = Timing {
        total: began.elapsed(),
        reference: seen.reference_took,
    };
    Ok(outcome(plan.scenario, certificate, seen, timing, searcher))
}

/// What is kept of the executions: only failing ones whole.
#[derive(Default)]
struct Seen {
    executed: usize,
    injected: bool,
    failing: Vec<(Ticket, Execution)>,
    reference: Trace,
    reference_took: Duration,
}

fn explore(
    plan: &mut Plan,
    searcher: &mut Searcher,
    seen: &mut Seen,
    began: Instant,
    progress: &mut Progress,
) -> Result<Certificate, ReferenceFailed> {
    let mut under_way: VecDeque<(Ticket, Faultload)> = VecDeque::new();
    loop {
        let room = under_way.len() < plan.jobs;
        match room.then(|| searcher.strategy().next()) {
            Some(Step::Try(ticket, faultload)) => under_way.push_back((ticket, faultload)),
            Some(Step::Done(certificate)) => return Ok(*certificate),
            Some(Step::Wait) | None => {
                let (ticket, faultload) = under_way
                    .pop_front()
                    .expect("a strategy waits only for executions under way");
                let execution = execute(plan, &faultload, ticket, seen)?;
                searcher.strategy().learn(ticket, execution);
                progress.update(|| searcher.standing(seen.executed, seen.failing.len()));
            }
        }
        if plan.max_time.is_some_and(|most| began.elapsed() >= most) {
            searcher.strategy().stop();
        }
    }
}

fn execute(
    plan: &mut Plan,
    faultload: &Faultload,
    ticket: Ticket,
    seen: &mut Seen,
) -> Result<Execution, ReferenceFailed> {
    let began = Instant::now();
    let execution = plan.simulator.run(faultload);
    seen.executed += 1;
    if seen.executed == 1 {
        seen.reference_took = began.elapsed();
        seen.reference = execution.trace.clone();
        if let Verdict::Failed { why } = execution.verdict {
            return Err(ReferenceFailed { complaint: why });
        }
    }
    let mut calls = execution.trace.calls().iter();
    seen.injected |= calls.any(|call| call.injected.is_some());
    if execution.verdict.is_failure() {
        seen.failing.push((ticket, execution.clone()));
    }
    Ok(execution)
}

fn outcome(
    scenario: &str,
    certificate: Certificate,
    seen: Seen,
    timing: Timing,
    searcher: Searcher,
) -> Outcome {
    let mut findings = Findings::new(scenario);
    let mut complaints = BTreeMap::new();
    for (ticket, execution) in &seen.failing {
        let Some(number) = searcher.number(*ticket, &execution.faultload) else {
            continue;
        };
        findings.judge(number, execution);
        if let Verdict::Failed { why } = &execution.verdict {
            complaints.insert(number, why.clone());
        }
    }
    Outcome {
        certificate,
        findings: findings.into_findings(),
        complaints,
        reference: seen.reference,
        points: searcher.points(),
        injected: seen.injected,
        timing,
        searcher,
    }
}

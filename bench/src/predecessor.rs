//! The predecessor's way of exploring, for comparison in one run.
//!
//! Re-implemented from its published description: after every execution the
//! faults that were injected are extended by every mode at every point that was left
//! alone; a faultload is dropped when it was considered before or holds a
//! fault below another, and pruned when some fault cannot be injected or when
//! every caller's replies are contained in those of an earlier execution. Owns
//! nothing that the product uses. Reachability is asked of the simulator, so
//! this is the procedure at its best: its inferred rules cost more and know
//! less.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use murphy_corpus::Simulator;
use murphy_model::{CallId, Execution, Fault, Faultload, Mode, Point, Reply, Target, Trace};

/// What the procedure came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Executions.
    pub explored: usize,
    /// Faultloads made, run or not.
    pub considered: usize,
}

type Replies = BTreeSet<(Point, Option<Reply>)>;

/// Explores a system the predecessor's way.
pub fn explore(simulator: &mut Simulator, modes: &dyn Fn(&Point) -> Vec<Mode>) -> Outcome {
    let mut queue = VecDeque::from([Faultload::none()]);
    let mut considered = HashSet::from([Faultload::none()]);
    let mut history: Vec<Replies> = Vec::new();
    let mut outcome = Outcome::default();
    while let Some(faultload) = queue.pop_front() {
        let execution = simulator.run(&faultload);
        if execution.trace.injected() != faultload || is_redundant(&execution.trace, &history) {
            continue;
        }
        outcome.explored += 1;
        history.push(replies(&execution.trace));
        for larger in extensions(&execution, modes) {
            if considered.insert(larger.clone()) && !hides(&larger) {
                queue.push_back(larger);
            }
        }
    }
    outcome.considered = considered.len();
    outcome
}

fn replies(trace: &Trace) -> Replies {
    let calls = trace.calls().iter();
    calls.map(|call| (call.point.clone(), call.reply)).collect()
}

fn is_redundant(trace: &Trace, history: &[Replies]) -> bool {
    let mut by_caller: HashMap<Option<CallId>, Vec<(Point, Option<Reply>)>> = HashMap::new();
    for call in trace.calls() {
        let reply = (call.point.clone(), call.reply);
        by_caller.entry(call.parent).or_default().push(reply);
    }
    by_caller.remove(&None);
    let seen = |replies: &Vec<(Point, Option<Reply>)>| {
        let contains = |earlier: &Replies| replies.iter().all(|reply| earlier.contains(reply));
        history.iter().any(contains)
    };
    !history.is_empty() && by_caller.values().all(seen)
}

/// In post-order, as published: nested calls before the calls they are made from.
fn extensions(execution: &Execution, modes: &dyn Fn(&Point) -> Vec<Mode>) -> Vec<Faultload> {
    let trace = &execution.trace;
    let mut order = Vec::new();
    trace
        .entries()
        .for_each(|entry| post_order(trace, entry, &mut order));
    let mut larger = Vec::new();
    for call in order.into_iter().map(|id| trace.call(id)) {
        if call.parent.is_none() || call.injected.is_some() {
            continue;
        }
        for mode in modes(&call.point) {
            let fault = Fault::at(call.point.clone(), mode);
            larger.extend(Faultload::new(execution.faultload.faults().chain([fault])).ok());
        }
    }
    larger
}

fn post_order(trace: &Trace, id: CallId, order: &mut Vec<CallId>) {
    for child in trace.children(Some(id)) {
        post_order(trace, child, order);
    }
    order.push(id);
}

fn hides(faultload: &Faultload) -> bool {
    let points: HashSet<&Point> = faultload
        .iter()
        .filter_map(|(target, _)| match target {
            Target::Call(point) => Some(point),
            _ => None,
        })
        .collect();
    points
        .iter()
        .any(|point| point.ancestors().any(|above| points.contains(above)))
}

//! Attempts: which calls are the same one made again.
//!
//! Owns the difference between trying again and having more to ask. Calls of
//! one caller that ask the same of the same service are alike; a run of them
//! in which each follows the failure of the one before is a retry, provided
//! that there are more of them than without faults. A loop over things that
//! look alike is none.

use murphy_model::{CallId, Trace};

use crate::case::failed;
use crate::reference::Reference;

/// Calls that are alike: same caller, service, interface and payload, in order
/// of arrival. Single calls are groups of one.
pub(crate) fn repeats(trace: &Trace) -> Vec<Vec<CallId>> {
    // Whoever called is distinguished fastest, the interface slowest.
    let kind = |id: CallId| {
        let frame = trace.call(id).point.frame();
        let parent = trace.call(id).parent;
        (parent, frame.payload, &frame.destination, &frame.interface)
    };
    let mut ids: Vec<CallId> = trace.ids().collect();
    ids.sort_by(|a, b| kind(*a).cmp(&kind(*b)));
    let alike = |a: &CallId, b: &CallId| kind(*a) == kind(*b);
    let mut groups: Vec<Vec<CallId>> = ids.chunk_by(alike).map(<[CallId]>::to_vec).collect();
    groups.sort();
    groups
}

/// Calls that are alike and more than there are without faults.
pub(crate) fn extra_repeats<'t>(
    trace: &'t Trace,
    reference: &'t Reference,
) -> impl Iterator<Item = Vec<CallId>> {
    let is_extra = |group: &Vec<CallId>| {
        let payload = trace.call(group[0]).point.frame().payload;
        let usual = match reference.alike(&trace.edge(group[0]), payload) {
            Some(usual) => usual.max(1),
            // Of a caller never seen before only what was sent tells whether
            // it asked the same thing twice.
            None if payload.is_some() => 1,
            None => group.len(),
        };
        group.len() > usual
    };
    let groups = repeats(trace).into_iter();
    // Most calls are made once; asking the reference about those costs.
    groups.filter(|group| group.len() > 1).filter(is_extra)
}

/// Every run of two or more attempts, each made after the one before failed.
pub(crate) fn retries(trace: &Trace, reference: &Reference) -> Vec<Vec<CallId>> {
    let mut runs = Vec::new();
    for group in extra_repeats(trace, reference) {
        let again =
            |a: &CallId, b: &CallId| failed(trace.call(*a).reply) && trace.finished_before(*a, *b);
        let attempts = group.chunk_by(again).filter(|run| run.len() > 1);
        runs.extend(attempts.map(<[CallId]>::to_vec));
    }
    runs
}

/// Every call made while one alike was under way, beyond what is usual.
pub(crate) fn hedges(trace: &Trace, reference: &Reference) -> Vec<CallId> {
    let mut hedges = Vec::new();
    for group in extra_repeats(trace, reference) {
        let pairs = group.windows(2);
        hedges.extend(pairs.filter(|p| trace.overlap(p[0], p[1])).map(|p| p[1]));
    }
    hedges
}

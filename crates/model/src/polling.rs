//! Calls that a service makes over and over while it serves nobody.
//!
//! Owns how they are recognised in an execution that was recorded. A thread
//! that looks for work is never done, so nobody can wait for its last call.

use std::collections::HashMap;

use crate::{CallId, Detail, Link, Point, Trace};

/// How many equal calls a service makes while it serves nobody before it is
/// taken to go on for good: more than most retries.
pub const POLLS: usize = 3;

/// The calls that were made more than [`POLLS`] times while their caller served
/// nobody, in the order they arrived. What fails may be a retry and does not
/// count.
pub fn polling(trace: &Trace, details: &[Detail]) -> Vec<CallId> {
    let ids = trace.ids().take(details.len());
    let is_idle = |id: &CallId| is_idle(trace, *id, details[id.0 as usize].link);
    let failed = |id: &CallId| trace.call(*id).reply.is_some_and(|it| it.is_failure());
    let idle = ids.filter(|id| is_idle(id) && !failed(id));
    let idle: Vec<(CallId, Point)> = idle.map(|id| (id, kind(trace, id, details))).collect();
    let mut counts: HashMap<&Point, usize> = HashMap::new();
    for (_, kind) in &idle {
        *counts.entry(kind).or_default() += 1;
    }
    let goes_on = idle.iter().filter(|(_, kind)| counts[kind] > POLLS);
    goes_on.map(|(id, _)| *id).collect()
}

/// Whether a call was made while its caller served nobody.
pub fn is_idle(trace: &Trace, id: CallId, link: Link) -> bool {
    let call = trace.call(id);
    let is_after = |parent: CallId| {
        let ended = trace.call(parent).finished;
        ended.is_some_and(|ended| ended < call.arrived)
    };
    match link {
        Link::Background | Link::Orphan => true,
        Link::Inferred => call.parent.is_some_and(is_after),
        Link::Certain | Link::Spans | Link::Ambiguous => false,
    }
}

/// What equal calls have in common. Of a service that has served one call, it
/// may well be the work for that call, so what it sends counts.
fn kind(trace: &Trace, id: CallId, details: &[Detail]) -> Point {
    let point = &trace.call(id).point;
    match details[id.0 as usize].link {
        Link::Inferred => point.without_predecessors().attempt(1),
        _ => Point::entry(crate::Frame::new(
            &point.frame().destination,
            point.frame().interface.clone(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Call;

    #[test]
    fn a_call_is_polling_from_its_fourth_time_while_its_caller_serves_nobody() {
        let cases = [
            (Link::Background, 4, 4),
            (Link::Background, 3, 0),
            (Link::Inferred, 4, 4),
            // The test's own, or a call that says who made it.
            (Link::Certain, 9, 0),
        ];
        for (link, calls, expected) in cases {
            let call = |(at, parent): (u32, Option<u32>)| Call {
                point: match parent {
                    None => "shop GET /".parse().unwrap(),
                    Some(_) => "shop GET / > jobs GET /next".parse().unwrap(),
                },
                parent: parent.map(CallId),
                arrived: 2 * at,
                finished: Some(2 * at + 1),
                reply: None,
                injected: None,
                body: None,
            };
            let polls = (1..=calls).map(|at| call((at, Some(0))));
            let all: Vec<Call> = std::iter::once(call((0, None))).chain(polls).collect();
            let detail = |link| Detail {
                arrived: std::time::Duration::ZERO,
                finished: None,
                gave_up: None,
                organic: None,
                landed: None,
                body_cut: false,
                idempotency_key: None,
                link,
            };
            let mut details = vec![detail(link); all.len()];
            details[0] = detail(Link::Certain);
            let found = polling(&Trace::new(all), &details);
            assert_eq!(found.len(), expected, "{link:?}, {calls} calls");
        }
    }
}

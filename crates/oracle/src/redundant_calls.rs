//! Redundant calls: the same thing asked twice, without need.
//!
//! Owns when calls are surely the same: nothing failed, both ask the same
//! service for the same thing with the same payload, and no part of the path
//! was taken for a variable. A smell and no bug.

use std::collections::BTreeMap;

use murphy_model::{BugClass, CallId, Frame, Interface, PayloadHash, Place};

use crate::case::Case;
use crate::complaint::Complaint;

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    if case.any_fault() {
        return Vec::new();
    }
    let trace = case.trace();
    let mut made: BTreeMap<(CallId, Place, Option<PayloadHash>), Vec<CallId>> = BTreeMap::new();
    for id in trace.ids().filter(|id| is_telling(case, *id)) {
        let call = trace.call(id);
        let Some(entry) = trace.ancestors(id).last() else {
            continue;
        };
        let kind = (entry, Place::of(&call.point), call.point.frame().payload);
        made.entry(kind).or_default().push(id);
    }
    let repeated = made.into_values().filter(|ids| ids.len() > 1);
    repeated.map(|ids| complaint(case, &ids)).collect()
}

/// Whether the call went well and all that it asks for is known.
fn is_telling(case: &Case<'_>, id: CallId) -> bool {
    let call = case.trace().call(id);
    let Frame {
        interface, payload, ..
    } = call.point.frame();
    let known = match interface {
        Interface::Http { method, path } => {
            !path.contains("{}") && (payload.is_some() || ["GET", "HEAD"].contains(&&**method))
        }
        Interface::Grpc { .. } => payload.is_some(),
    };
    known && call.reply.is_some_and(|reply| reply.is_ok())
}

fn complaint(case: &Case<'_>, ids: &[CallId]) -> Complaint {
    let mut callers: Vec<String> = ids.iter().map(|id| case.caller(*id)).collect();
    callers.dedup();
    let summary = format!(
        "{} is called more than once for the same, by {}",
        case.name(ids[0]),
        callers.join(" and ")
    );
    Complaint::new(summary, BugClass::Waste, Some(ids[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn only_calls_that_are_surely_the_same_are_redundant() {
        let body = "{body=11111111111111111111111111111111}";
        let other = "{body=22222222222222222222222222222222}";
        let two = |first: &str, second: &str| {
            Story::new(vec![call("a GET /"), call(first), call(second)])
        };
        let cases = [
            (
                "twice",
                two("a GET / > b GET /x", "a GET / > b GET /x #2"),
                1,
            ),
            (
                "by different callers",
                Story::new(vec![
                    call("a GET /"),
                    call("a GET / > b GET /x"),
                    call("a GET / > c GET /"),
                    call("a GET / > c GET / > b GET /x"),
                ]),
                1,
            ),
            (
                "another payload",
                two(
                    &format!("a GET / > b GET /x {body}"),
                    &format!("a GET / > b GET /x {other}"),
                ),
                0,
            ),
            (
                "the same payload",
                two(
                    &format!("a GET / > b POST /x {body}"),
                    &format!("a GET / > b POST /x #2 {body}"),
                ),
                1,
            ),
            (
                "unknown payload",
                two("a GET / > b POST /x", "a GET / > b POST /x #2"),
                0,
            ),
            (
                "unknown segment",
                two("a GET / > b GET /{}", "a GET / > b GET /{} #2"),
                0,
            ),
            (
                "under a fault",
                Story::new(vec![
                    call("a GET /"),
                    call("a GET / > b GET /x").injected("500"),
                    call("a GET / > b GET /x #2"),
                ]),
                0,
            ),
        ];
        for (name, story, expected) in cases {
            let said = judged(judge, &Settings::default(), &[], &story);
            assert_eq!(said.len(), expected, "{name}: {said:?}");
        }
    }
}

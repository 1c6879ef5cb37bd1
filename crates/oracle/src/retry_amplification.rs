//! Retry amplification: attempts multiply, level by level.
//!
//! Owns when it is too much: a call that is tried again inside a call that is
//! itself tried again (two levels of three attempts are nine calls), or more
//! attempts at one place within one request than are allowed.

use std::collections::{BTreeMap, BTreeSet};

use murphy_model::{BugClass, CallId, Place};

use crate::attempts::retries;
use crate::case::Case;
use crate::complaint::Complaint;

pub(crate) fn judge(case: &Case<'_>) -> Vec<Complaint> {
    let runs = retries(case.trace(), case.reference);
    let nested = nested(case, &runs);
    nested.into_iter().chain(too_many(case, &runs)).collect()
}

fn nested(case: &Case<'_>, runs: &[Vec<CallId>]) -> Vec<Complaint> {
    let attempts: BTreeSet<CallId> = runs.iter().flatten().copied().collect();
    let within = |run: &&Vec<CallId>| {
        let mut above = case.trace().ancestors(run[0]);
        above
            .find(|id| attempts.contains(id))
            .map(|id| (run[0], id))
    };
    let nested = runs.iter().filter_map(|run| within(&run));
    let complaint = |(inner, outer): (CallId, CallId)| {
        let summary = format!(
            "{} tries {} again within {}, which is itself tried again: attempts multiply",
            case.caller(inner),
            case.name(inner),
            case.name(outer)
        );
        Complaint::new(summary, BugClass::Retry, Some(inner))
    };
    nested.map(complaint).collect()
}

fn too_many(case: &Case<'_>, runs: &[Vec<CallId>]) -> Vec<Complaint> {
    let trace = case.trace();
    let most = case.settings.most_attempts;
    let mut attempts: BTreeMap<(CallId, Place), Vec<CallId>> = BTreeMap::new();
    for id in runs.iter().flatten() {
        let entry = trace.ancestors(*id).last().unwrap_or(*id);
        let place = Place::of(&trace.call(*id).point);
        attempts.entry((entry, place)).or_default().push(*id);
    }
    let crowds = attempts.into_values().filter(|ids| ids.len() > most);
    let complaint = |ids: Vec<CallId>| {
        let name = case.name(ids[0]);
        let summary = format!("{name} is tried more than {most} times within one request");
        Complaint::new(summary, BugClass::Retry, Some(ids[0]))
    };
    crowds.map(complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, Told, call, judged};

    fn reference() -> Story {
        Story::new(vec![
            call("a GET /"),
            call("a GET / > b GET /"),
            call("a GET / > b GET / > c GET /"),
        ])
    }

    fn attempts(count: u32) -> Vec<Told> {
        let attempt = |n| call(&format!("a GET / > b GET / #{n}")).injected("500");
        let mut calls = vec![call("a GET /")];
        calls.extend((1..=count).map(attempt));
        calls
    }

    #[test]
    fn retries_inside_retries_multiply() {
        let both = Story::new(vec![
            call("a GET /"),
            call("a GET / > b GET /").answers("503"),
            call("a GET / > b GET / > c GET /").injected("500"),
            call("a GET / > b GET / > c GET / #2").injected("500"),
            call("a GET / > b GET / #2"),
            call("a GET / > b GET / #2 > c GET /"),
        ]);
        let one_level = Story::new(vec![
            call("a GET /"),
            call("a GET / > b GET /").answers("503"),
            call("a GET / > b GET / > c GET /").injected("500"),
            call("a GET / > b GET / #2"),
            call("a GET / > b GET / #2 > c GET /"),
        ]);
        let said = judged(judge, &Settings::default(), &[reference()], &both);
        assert_eq!(
            said[0].summary,
            "`b` tries `c GET /` again within `b GET /`, which is itself tried again: attempts multiply"
        );
        assert_eq!(said.len(), 1);
        let said = judged(judge, &Settings::default(), &[reference()], &one_level);
        assert_eq!(said, []);
    }

    #[test]
    fn many_attempts_count_and_calls_that_are_many_anyway_do_not() {
        let said = |references: &[Story], count| {
            let story = Story::new(attempts(count));
            judged(judge, &Settings::default(), references, &story).len()
        };
        assert_eq!(said(&[reference()], 10), 0);
        assert_eq!(said(&[reference()], 11), 1);
        let loop_of_eleven = |n| call(&format!("a GET / > b GET / #{n}"));
        let mut calls = vec![call("a GET /")];
        calls.extend((1..=11).map(loop_of_eleven));
        assert_eq!(said(&[Story::new(calls)], 11), 0);
    }
}

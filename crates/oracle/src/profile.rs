//! The resilience profile: what every edge was seen to do about failures.
//!
//! Owns what is read from the traffic, execution by execution; what is kept
//! grows with the edges and not with the executions. Times are known only
//! where calls have details.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{CallId, Edge, EdgeProfile, Observed, Span, Trace};

use crate::attempts::{hedges, retries};
use crate::case::{failed, gave_up, was_abandoned};
use crate::reference::Reference;

/// What every edge was seen to do about failures.
#[derive(Debug)]
pub struct Profile {
    reference: Arc<Reference>,
    edges: BTreeMap<Edge, EdgeProfile>,
}

impl Profile {
    /// Nothing seen yet; the reference tells retries from loops.
    pub fn new(reference: Arc<Reference>) -> Self {
        Profile {
            reference,
            edges: BTreeMap::new(),
        }
    }

    /// Notes what an execution shows.
    pub fn take(&mut self, observed: &Observed) {
        let trace = &observed.execution.trace;
        for id in trace.ids() {
            let row = self.row(trace, id);
            row.calls += 1;
            row.failed += usize::from(failed(trace.call(id).reply));
        }
        self.take_timeouts(observed);
        let runs = retries(trace, &self.reference);
        for run in &runs {
            self.take_run(observed, run);
        }
        for id in hedges(trace, &self.reference) {
            self.row(trace, id).hedged += 1;
        }
        self.take_endings(trace, &runs);
    }

    /// What was seen so far, by edge.
    pub fn rows(&self) -> Vec<EdgeProfile> {
        self.edges.values().cloned().collect()
    }

    fn row(&mut self, trace: &Trace, id: CallId) -> &mut EdgeProfile {
        let edge = trace.edge(id);
        let new = || EdgeProfile {
            edge: edge.clone(),
            calls: 0,
            failed: 0,
            attempts: 1,
            backoff: None,
            timeout: None,
            recovered: 0,
            fallbacks: 0,
            propagated: 0,
            hedged: 0,
        };
        self.edges.entry(edge.clone()).or_insert_with(new)
    }

    /// A caller that was itself given up on before says nothing about its own
    /// patience.
    fn take_timeouts(&mut self, observed: &Observed) {
        let trace = &observed.execution.trace;
        for id in trace.ids().filter(|id| gave_up(observed, *id)) {
            let after = observed.detail(id).and_then(|detail| detail.gave_up);
            if let (Some(after), false) = (after, was_abandoned(observed, id)) {
                let row = self.row(trace, id);
                row.timeout = Some(Span::with(row.timeout, after));
            }
        }
    }

    fn take_run(&mut self, observed: &Observed, run: &[CallId]) {
        let row = self.row(&observed.execution.trace, run[0]);
        row.attempts = row.attempts.max(run.len());
        for pair in run.windows(2) {
            if let Some(pause) = pause(observed, pair[0], pair[1]) {
                row.backoff = Some(Span::with(row.backoff, pause));
            }
        }
    }

    /// What became of failures in the end: a failed attempt that was followed
    /// by another is none.
    fn take_endings(&mut self, trace: &Trace, runs: &[Vec<CallId>]) {
        for run in runs {
            let last = run[run.len() - 1];
            if trace
                .call(last)
                .reply
                .is_some_and(|reply| !reply.is_failure())
            {
                self.row(trace, last).recovered += 1;
            }
        }
        let followed = |id: CallId| {
            let mut before = runs.iter().map(|run| &run[..run.len() - 1]);
            before.any(|before| before.contains(&id))
        };
        for id in trace.ids() {
            let call = trace.call(id);
            let Some(caller) = call.parent else { continue };
            if !failed(call.reply) || followed(id) {
                continue;
            }
            match trace.call(caller).reply {
                Some(reply) if !reply.is_failure() => self.row(trace, id).fallbacks += 1,
                Some(_) => self.row(trace, id).propagated += 1,
                None => {}
            }
        }
    }
}

fn pause(observed: &Observed, attempt: CallId, next: CallId) -> Option<Duration> {
    let ended = observed.detail(attempt)?.finished?;
    Some(observed.detail(next)?.arrived.saturating_sub(ended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Story, call};

    fn reference() -> Story {
        Story::new(vec![
            call("a GET /"),
            call("a GET / > b GET /"),
            call("a GET / > c GET /"),
        ])
    }

    fn rows(stories: &[Story]) -> BTreeMap<String, EdgeProfile> {
        let reference = Reference::of([&reference().observed()]);
        let mut profile = Profile::new(Arc::new(reference));
        for story in stories {
            profile.take(&story.observed());
        }
        let rows = profile.rows().into_iter();
        rows.map(|row| (row.edge.callee.to_string(), row)).collect()
    }

    #[test]
    fn attempts_pauses_and_timeouts_are_read_from_the_traffic() {
        let story = Story::new(vec![
            call("a GET /").during(0, 30),
            call("a GET / > b GET /")
                .gave_up(300)
                .injected("hang")
                .during(1, 4),
            call("a GET / > b GET / #2")
                .gave_up(350)
                .injected("hang")
                .during(5, 8),
            call("a GET / > b GET / #3").during(12, 13),
            call("a GET / > c GET /").injected("500").during(14, 15),
        ]);
        let rows = rows(&[reference(), story.detailed()]);
        let b = &rows["b GET /"];
        assert_eq!((b.calls, b.failed, b.attempts, b.recovered), (4, 2, 3, 1));
        let ms = Duration::from_millis;
        let span = |least, most| {
            Some(Span {
                least: ms(least),
                most: ms(most),
            })
        };
        assert_eq!(b.backoff, span(100, 400));
        assert_eq!(b.timeout, span(300, 350));
        assert_eq!((b.fallbacks, b.propagated, b.hedged), (0, 0, 0));
        let c = &rows["c GET /"];
        assert_eq!((c.fallbacks, c.propagated, c.attempts), (1, 0, 1));
        assert_eq!((c.backoff, c.timeout), (None, None));
    }

    #[test]
    fn failures_that_reach_the_caller_and_calls_side_by_side_are_counted() {
        let propagated = Story::new(vec![
            call("a GET /").answers("503"),
            call("a GET / > b GET /").injected("500"),
        ]);
        let hedged = Story::new(vec![
            call("a GET /").during(0, 9),
            call("a GET / > b GET /").during(1, 5),
            call("a GET / > b GET / #2").during(2, 4),
        ]);
        let rows = rows(&[propagated, hedged]);
        let b = &rows["b GET /"];
        assert_eq!((b.propagated, b.fallbacks, b.hedged), (1, 0, 1));
    }

    #[test]
    fn a_redirect_is_no_failure() {
        let story = Story::new(vec![
            call("a GET /").answers("302"),
            call("a GET / > b GET /").answers("304"),
            call("a GET / > c GET /").injected("500"),
        ]);
        let rows = rows(&[story]);
        assert_eq!((rows["a GET /"].failed, rows["b GET /"].failed), (0, 0));
        let c = &rows["c GET /"];
        assert_eq!((c.failed, c.fallbacks, c.propagated), (1, 1, 0));
    }

    #[test]
    fn who_leaves_a_body_unread_shows_no_patience() {
        let story = Story::new(vec![
            call("a GET /").during(0, 9),
            call("a GET / > b GET /").left_unread(5).during(1, 3),
        ]);
        assert_eq!(rows(&[story.detailed()])["b GET /"].timeout, None);
    }

    #[test]
    fn who_is_given_up_on_does_not_show_its_own_patience() {
        let story = Story::new(vec![
            call("a GET /").answers("503").during(0, 9),
            call("a GET / > b GET /").gave_up(100).during(1, 3),
            call("a GET / > b GET / > d GET /")
                .gave_up(110)
                .injected("hang")
                .during(2, 4),
        ]);
        let rows = rows(&[story.detailed()]);
        assert!(rows["b GET /"].timeout.is_some());
        assert_eq!(rows["d GET /"].timeout, None);
    }
}

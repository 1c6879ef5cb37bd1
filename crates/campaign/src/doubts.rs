//! What was seen of executions that is not certain.
//!
//! A record can be uncertain where a search takes it for certain: who made a
//! call was inferred, or a call came when nobody waited for it any more. Owns
//! gathering that while a campaign runs, once for each call, and what it means
//! for the certificate. What a search finds out about the system itself is the
//! search's to tell.

use std::collections::BTreeMap;

use murphy_model::{Call, Certificate, Flag, Incomplete, Link, Observed, Point};

/// What makes a call doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    Guessed,
    Orphan,
    Unfinished,
}

/// What is doubtful in the executions of a campaign.
#[derive(Default)]
pub(crate) struct Doubts {
    /// With the first execution that showed it.
    calls: BTreeMap<(Doubt, Point), usize>,
}

impl Doubts {
    /// Looks at an execution that counts, which has this number.
    pub(crate) fn take(&mut self, number: usize, observed: &Observed) {
        let calls = observed.execution.trace.calls();
        let is_held_up = calls.iter().any(|call| is_open(call) && is_struck(call));
        for (call, detail) in calls.iter().zip(&observed.details) {
            let link = doubt_of(detail.link).filter(|_| is_amid(call, calls));
            let unfinished = is_open(call) && !observed.quiet && !is_held_up;
            for doubt in link
                .into_iter()
                .chain(unfinished.then_some(Doubt::Unfinished))
            {
                let first = self.calls.entry((doubt, call.point.clone()));
                let first = first.or_insert(number);
                *first = number.min(*first);
            }
        }
    }

    /// Notes in the certificate what is doubtful; `late` calls arrived when
    /// their executions were over.
    pub(crate) fn note_in(self, certificate: &mut Certificate, late: usize) {
        let is_orphan = |(doubt, _): &(Doubt, Point)| *doubt == Doubt::Orphan;
        if self.calls.keys().any(is_orphan) {
            certificate.incomplete.get_or_insert(Incomplete::Orphans);
        }
        let flags = self
            .calls
            .into_iter()
            .map(|((doubt, at), execution)| match doubt {
                Doubt::Guessed => Flag::Guessed { at, execution },
                Doubt::Orphan => Flag::Orphan { at, execution },
                Doubt::Unfinished => Flag::Unfinished { at, execution },
            });
        certificate.flags.extend(flags);
        if late > 0 {
            certificate.incomplete.get_or_insert(Incomplete::Late);
            certificate.flags.push(Flag::Late { calls: late });
        }
    }
}

fn doubt_of(link: Link) -> Option<Doubt> {
    match link {
        Link::Ambiguous => Some(Doubt::Guessed),
        Link::Orphan => Some(Doubt::Orphan),
        Link::Certain | Link::Spans | Link::Inferred => None,
    }
}

/// Whether others were under way when a call arrived. Where nothing was, and
/// nothing says who calls, it is the scenario's own, as a test's calls to
/// addresses of its own are.
fn is_amid(call: &Call, calls: &[Call]) -> bool {
    let is_under_way = |other: &Call| {
        other.arrived < call.arrived && other.finished.is_none_or(|at| at > call.arrived)
    };
    calls.iter().any(is_under_way)
}

fn is_open(call: &Call) -> bool {
    call.finished.is_none()
}

/// A call that a fault leaves hanging also keeps those above it waiting.
fn is_struck(call: &Call) -> bool {
    call.injected.is_some()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{CallId, Detail, Execution, Faultload, Trace, Verdict};

    use super::*;

    /// A call: who made it, when it arrived and ended, how that is known.
    type Sketch = (&'static str, Option<u32>, u32, Option<u32>, Link);

    fn seen(calls: &[Sketch], quiet: bool) -> Observed {
        let call = |&(point, parent, arrived, finished, _): &Sketch| Call {
            point: point.parse().unwrap(),
            parent: parent.map(CallId),
            arrived,
            finished,
            reply: None,
            injected: None,
            body: None,
        };
        let detail = |&(.., link): &Sketch| Detail {
            arrived: Duration::ZERO,
            finished: None,
            gave_up: None,
            organic: None,
            landed: None,
            body_cut: false,
            link,
        };
        let execution = Execution {
            faultload: Faultload::none(),
            trace: Trace::new(calls.iter().map(call).collect()),
            verdict: Verdict::Passed,
        };
        Observed {
            details: calls.iter().map(detail).collect(),
            quiet,
            ..Observed::bare(execution, Duration::ZERO)
        }
    }

    fn noted(observed: &Observed, late: usize) -> (Vec<Flag>, Option<Incomplete>) {
        let mut doubts = Doubts::default();
        doubts.take(7, observed);
        doubts.take(8, observed);
        let mut certificate = Certificate {
            points: 0,
            conditional: 0,
            space: Default::default(),
            explored: 2,
            considered: 2,
            pruned: Default::default(),
            skips: None,
            not_exercised: 0,
            speculative: 0,
            bound: None,
            incomplete: None,
            assumptions: Vec::new(),
            flags: Vec::new(),
            audit: None,
            minimal: None,
        };
        doubts.note_in(&mut certificate, late);
        (certificate.flags, certificate.incomplete)
    }

    const SHOP: Sketch = ("shop GET /", None, 0, Some(9), Link::Certain);

    #[test]
    fn a_call_that_nobody_made_is_told_once_and_is_no_complete_search() {
        let poll = ("stock GET /poll", None, 1, Some(2), Link::Orphan);
        let at = poll.0.parse().unwrap();
        let expected = vec![Flag::Orphan { at, execution: 7 }];
        let told = noted(&seen(&[SHOP, poll], true), 0);
        assert_eq!(told, (expected, Some(Incomplete::Orphans)));
    }

    #[test]
    fn what_comes_while_nothing_is_under_way_is_the_tests_own() {
        let first = ("shop GET /", None, 0, Some(1), Link::Orphan);
        let second = ("shop GET /again", None, 2, Some(3), Link::Orphan);
        assert_eq!(noted(&seen(&[first, second], true), 0), (vec![], None));
    }

    #[test]
    fn a_guessed_caller_is_told() {
        let guess = (
            "shop GET / > stock GET /",
            Some(0),
            1,
            Some(2),
            Link::Ambiguous,
        );
        let at = guess.0.parse().unwrap();
        let expected = vec![Flag::Guessed { at, execution: 7 }];
        assert_eq!(noted(&seen(&[SHOP, guess], true), 0), (expected, None));
    }

    #[test]
    fn a_call_that_never_ends_is_told_unless_a_fault_holds_it_up() {
        let slow = ("shop GET / > stock GET /", Some(0), 1, None, Link::Certain);
        let mut observed = seen(&[SHOP, slow], false);
        let at = slow.0.parse().unwrap();
        let expected = vec![Flag::Unfinished { at, execution: 7 }];
        assert_eq!(noted(&observed, 0), (expected, None));
        let mut calls = observed.execution.trace.calls().to_vec();
        calls[1].injected = Some(format!("{} = hang", slow.0).parse().unwrap());
        observed.execution.trace = Trace::new(calls);
        assert_eq!(noted(&observed, 0), (vec![], None));
    }

    #[test]
    fn late_calls_are_no_complete_search() {
        let expected = (vec![Flag::Late { calls: 3 }], Some(Incomplete::Late));
        assert_eq!(noted(&seen(&[SHOP], true), 3), expected);
    }
}

//! What was seen of executions that is not certain.
//!
//! A record can be uncertain where a search takes it for certain: who made a
//! call was inferred, or a call came when nobody waited for it any more. Owns
//! gathering that while a campaign runs, once for each call, and what it means
//! for the certificate. What a search finds out about the system itself is the
//! search's to tell.

use std::collections::{BTreeMap, BTreeSet};

use murphy_model::{
    Call, Certificate, Detail, Faultload, Flag, Incomplete, Link, Observed, Point, Target,
};
use murphy_registry::Unattributed;

use crate::world::World;

/// What makes a call doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    Twin,
    Guessed,
    Orphan,
    Unfinished,
}

/// What is doubtful in the executions of a campaign.
#[derive(Default)]
pub(crate) struct Uncertainty {
    /// With the first execution that showed it.
    calls: BTreeMap<(Doubt, Point), usize>,
    /// The services to which a call of an execution was seen.
    called: BTreeSet<String>,
    /// Whether who made a call was inferred from what was in flight.
    is_inferred: bool,
    /// Whether a call was taken for the test's own because nothing was in
    /// flight at an address that others may have been given, too.
    is_taken_for_the_tests: bool,
    /// Calls that belong to no execution, with the execution after which each
    /// was first noticed.
    unattributed: BTreeMap<Point, usize>,
}

/// What is assumed where callers are inferred.
const ONE_AT_A_TIME: &str = "a service makes one call at a time where its calls bring no trace context (callers are inferred from what is in flight)";

/// What is assumed where it is not known whose process calls.
const THE_TESTS_OWN: &str = "what reaches a fixed address (`listen`) while no call is under way is the test's own, unless Murphy started its caller";

impl Uncertainty {
    /// Looks at an execution that counts, which has this number.
    pub(crate) fn take(&mut self, number: usize, observed: &Observed) {
        let calls = observed.execution.trace.calls();
        let is_held_up = calls.iter().any(|call| is_open(call) && is_injected(call));
        for id in observed.execution.trace.ids() {
            if observed.execution.trace.has_twin(id) {
                let at = first_of_all(&observed.execution.trace.call(id).point);
                self.note(Doubt::Twin, at, number);
            }
        }
        for (call, detail) in calls.iter().zip(&observed.details) {
            let callee = &*call.point.frame().destination;
            if !self.called.contains(callee) {
                self.called.insert(callee.to_owned());
            }
            let is_inferred = detail.link == Link::Inferred;
            self.is_inferred |= is_inferred && call.parent.is_some();
            self.is_taken_for_the_tests |= is_inferred && call.parent.is_none();
            let link = doubt_of(call, detail, observed);
            let unfinished = is_open(call) && !observed.quiet && !is_held_up;
            for doubt in link
                .into_iter()
                .chain(unfinished.then_some(Doubt::Unfinished))
            {
                self.note(doubt, call.point.clone(), number);
            }
        }
    }

    fn note(&mut self, doubt: Doubt, at: Point, number: usize) {
        let first = self.calls.entry((doubt, at)).or_insert(number);
        *first = number.min(*first);
    }

    /// These calls had arrived by the end of the execution with this number,
    /// and belong to none.
    pub(crate) fn were_missed(&mut self, number: usize, missed: Vec<Unattributed>) {
        for Unattributed { at, .. } in missed {
            self.unattributed.entry(at).or_insert(number);
        }
    }

    /// Whether a fault is aimed at one of several equal calls that were made
    /// at the same time.
    pub(crate) fn is_aimed_at_twin(&self, faultload: &Faultload) -> bool {
        faultload.iter().any(|(target, _)| match target {
            Target::Call(point) => {
                let twin = (Doubt::Twin, first_of_all(point));
                self.calls.contains_key(&twin)
            }
            Target::Every(_) | Target::Matching(_) => false,
        })
    }

    /// The services of these calls were called, though not by an execution
    /// that counts.
    pub(crate) fn were_called(&mut self, calls: &[Point]) {
        let services = calls.iter().map(|it| it.frame().destination.to_string());
        self.called.extend(services);
    }

    /// Notes in the certificate what is doubtful, and what the world saw that
    /// no execution shows.
    pub(crate) fn note_in(self, certificate: &mut Certificate, world: &dyn World) {
        let is_orphan = |(doubt, _): &(Doubt, Point)| *doubt == Doubt::Orphan;
        let is_twin = |(doubt, _): &(Doubt, Point)| *doubt == Doubt::Twin;
        if self.calls.keys().any(is_orphan) {
            certificate.incomplete.get_or_insert(Incomplete::Orphans);
        }
        if self.calls.keys().any(is_twin) {
            certificate.incomplete.get_or_insert(Incomplete::Twins);
        }
        let is_guess = |(doubt, _): &(Doubt, Point)| *doubt == Doubt::Guessed;
        if self.calls.keys().any(is_guess) {
            certificate.incomplete.get_or_insert(Incomplete::Guessed);
        }
        if self.is_inferred {
            certificate.assumptions.push(ONE_AT_A_TIME.to_owned());
        }
        if self.is_taken_for_the_tests {
            certificate.assumptions.push(THE_TESTS_OWN.to_owned());
        }
        let flags = self
            .calls
            .into_iter()
            .map(|((doubt, at), execution)| match doubt {
                Doubt::Twin => Flag::Twins { at, execution },
                Doubt::Guessed => Flag::Guessed { at, execution },
                Doubt::Orphan => Flag::Orphan { at, execution },
                Doubt::Unfinished => Flag::Unfinished { at, execution },
            });
        certificate.flags.extend(flags);
        for missed in world.unattributed() {
            certificate
                .incomplete
                .get_or_insert(Incomplete::Unattributed);
            let (at, calls) = (missed.at, missed.calls);
            let noticed = self.unattributed.get(&at).copied();
            certificate.flags.push(Flag::Unattributed {
                at,
                calls,
                execution: noticed.unwrap_or(certificate.explored),
            });
        }
        let expected = world.services().into_iter();
        for service in expected.filter(|it| !self.called.contains(it)) {
            certificate.incomplete.get_or_insert(Incomplete::Uncalled);
            certificate.flags.push(Flag::Uncalled { service });
        }
        let late = world.late();
        if late > 0 {
            certificate.incomplete.get_or_insert(Incomplete::Late);
            certificate.flags.push(Flag::Late { calls: late });
        }
    }
}

/// The expected services to which an execution shows no call.
pub fn uncalled(observed: &Observed, expected: Vec<String>) -> Vec<String> {
    let calls = observed.execution.trace.calls().iter();
    let called: BTreeSet<&str> = calls.map(|it| &*it.point.frame().destination).collect();
    let uncalled = expected.into_iter();
    uncalled
        .filter(|it| !called.contains(it.as_str()))
        .collect()
}

/// What nobody is known to have made may be the test's own, where it has the
/// address; but not when the test is over.
fn doubt_of(call: &Call, detail: &Detail, observed: &Observed) -> Option<Doubt> {
    let is_late = detail.arrived > observed.took;
    match detail.link {
        Link::Ambiguous | Link::Background => Some(Doubt::Guessed),
        Link::Orphan => Some(Doubt::Orphan),
        Link::Inferred if call.parent.is_none() && is_late => Some(Doubt::Orphan),
        Link::Inferred if outlives(call, detail, observed) => Some(Doubt::Guessed),
        Link::Certain | Link::Spans | Link::Inferred => None,
    }
}

/// The first of the attempts that a call is one of.
fn first_of_all(point: &Point) -> Point {
    point.attempt(1)
}

/// Whether a call was under way when the one that is taken for its caller ended,
/// and went on. Who waits for an answer does not answer before, so it may well
/// be somebody else's.
fn outlives(call: &Call, detail: &Detail, observed: &Observed) -> bool {
    let parent = call.parent.map(|id| observed.execution.trace.call(id));
    let ended = parent.and_then(|parent| parent.finished);
    let goes_on = ended
        .zip(call.finished)
        .is_some_and(|(ended, finished)| call.arrived < ended && ended < finished);
    goes_on && !is_injected(call) && detail.gave_up.is_none()
}

fn is_open(call: &Call) -> bool {
    call.finished.is_none()
}

/// A call that a fault leaves hanging also keeps those above it waiting.
fn is_injected(call: &Call) -> bool {
    call.injected.is_some()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{CallId, Execution, Faultload, Trace, Verdict};

    use super::*;
    use crate::{Executing, Job};

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
            idempotency_key: None,
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

    /// A world that saw so many late calls, one that belongs to nobody for each
    /// of these, and expects calls to these services.
    #[derive(Default)]
    struct Seen {
        late: usize,
        unattributed: Vec<&'static str>,
        services: Vec<&'static str>,
    }

    impl World for Seen {
        fn workers(&self) -> u32 {
            1
        }

        fn late(&self) -> usize {
            self.late
        }

        fn unattributed(&self) -> Vec<Unattributed> {
            let all = self.unattributed.iter().map(|at| Unattributed {
                at: at.parse().unwrap(),
                calls: 1,
            });
            all.collect()
        }

        fn services(&self) -> Vec<String> {
            self.services.iter().map(|it| (*it).to_owned()).collect()
        }

        fn execute<'w>(&'w self, _: Job<'w>) -> Executing<'w> {
            unreachable!("nothing is run")
        }
    }

    fn noted(observed: &Observed, late: usize) -> (Vec<Flag>, Option<Incomplete>) {
        let world = Seen {
            late,
            ..Seen::default()
        };
        noted_in(observed, &world)
    }

    fn noted_in(observed: &Observed, world: &Seen) -> (Vec<Flag>, Option<Incomplete>) {
        let mut doubts = Uncertainty::default();
        for number in [7, 8] {
            doubts.take(number, observed);
            doubts.were_missed(number, world.unattributed());
        }
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
        doubts.note_in(&mut certificate, world);
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
    fn what_nobody_made_is_the_tests_own_until_the_test_is_over() {
        let first = ("shop GET /", None, 0, Some(1), Link::Inferred);
        let second = ("shop GET /again", None, 2, Some(3), Link::Inferred);
        let mut observed = seen(&[first, second], true);
        assert_eq!(noted(&observed, 0), (vec![], None));
        observed.details[1].arrived = Duration::from_millis(150);
        let at = second.0.parse().unwrap();
        let expected = vec![Flag::Orphan { at, execution: 7 }];
        let told = noted(&observed, 0);
        assert_eq!(told, (expected, Some(Incomplete::Orphans)));
    }

    #[test]
    fn no_call_is_lost_in_silence() {
        let world = Seen {
            unattributed: vec!["rates GET /items/sku-3fa9c1d2"],
            services: vec!["mail", "shop"],
            ..Seen::default()
        };
        let missed = Flag::Unattributed {
            at: world.unattributed[0].parse().unwrap(),
            calls: 1,
            execution: 7,
        };
        let uncalled = Flag::Uncalled {
            service: "mail".to_owned(),
        };
        let told = noted_in(&seen(&[SHOP], true), &world);
        let expected = (vec![missed, uncalled], Some(Incomplete::Unattributed));
        assert_eq!(told, expected);
        let world = Seen {
            services: vec!["mail"],
            ..Seen::default()
        };
        let (_, incomplete) = noted_in(&seen(&[SHOP], true), &world);
        assert_eq!(incomplete, Some(Incomplete::Uncalled));
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
        let incomplete = Some(Incomplete::Guessed);
        assert_eq!(
            noted(&seen(&[SHOP, guess], true), 0),
            (expected, incomplete)
        );
    }

    #[test]
    fn who_answers_before_its_call_ended_may_not_have_made_it() {
        let under_shop = |number| (number, Some(0), Link::Inferred);
        let told = |(finished, parent, link)| {
            let call = ("shop GET / > ads GET /", parent, 1, Some(finished), link);
            noted(&seen(&[SHOP, call], true), 0).1
        };
        assert_eq!(told(under_shop(8)), None);
        assert_eq!(told(under_shop(10)), Some(Incomplete::Guessed));
        assert_eq!(told((10, Some(0), Link::Certain)), None);
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

//! Whether a warm runner can be trusted.
//!
//! A test that runs again in the same process may meet what an earlier run left
//! there: a module's cache, a changed global, a thread. Owns finding that out,
//! so that it is never blamed on a fault: a test is compared in a warm and in a
//! fresh process before anything is injected, and a run without faults is made
//! in the warm one after every execution that did not pass, and now and then.
//! Where the warm process differs and fresh ones do not, the test falls back to
//! a process per execution.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use murphy_model::{Faultload, Observed, Verdict};

use super::Aftermath;

/// After so many executions that passed a warm runner is checked, too.
const EVERY: u32 = 20;

/// How a test is run, and what is known of it without faults.
#[derive(Default)]
pub(crate) struct Warmth {
    state: Mutex<State>,
    /// Executions since the runner was last known to be as it was.
    unchecked: AtomicU32,
}

#[derive(Default)]
struct State {
    /// Why every execution has a process of its own.
    fresh: Option<String>,
    /// What a run without faults looks like.
    usual: Option<Shape>,
}

/// What a run without faults looks like: whether it passed, and its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    complaint: Option<String>,
    calls: Vec<String>,
}

impl Shape {
    /// Of a run that was named by interface, so that values which change with
    /// every run do not count.
    pub(crate) fn of(observed: &Observed) -> Self {
        let calls = observed.execution.trace.calls().iter();
        let reply = |call: &murphy_model::Call| call.reply.map(|it| it.to_string());
        let text = |call: &murphy_model::Call| {
            format!("{} {}", call.point, reply(call).unwrap_or_default())
        };
        let mut calls: Vec<String> = calls.map(text).collect();
        calls.sort();
        Shape {
            complaint: match &observed.execution.verdict {
                Verdict::Failed { why } | Verdict::Refused { why } => Some(why.clone()),
                Verdict::Passed | Verdict::NotExercised { .. } => None,
            },
            calls,
        }
    }

    /// How this one, of a warm process, differs from that of a fresh one.
    fn differs_from(&self, fresh: &Shape) -> Option<String> {
        if self == fresh {
            return None;
        }
        if self.complaint != fresh.complaint {
            let how = self.complaint.as_ref();
            return Some(match how {
                Some(why) => format!("in a process that ran it before it fails: {why}"),
                None => {
                    "in a process that ran it before it passes, in a new one it does not".to_owned()
                }
            });
        }
        let missing = fresh.calls.iter().find(|it| !self.calls.contains(it));
        let more = self.calls.iter().find(|it| !fresh.calls.contains(it));
        Some(match (missing, more) {
            (Some(call), _) => format!("in a process that ran it before it makes no call `{call}`"),
            (None, Some(call)) => format!("in a process that ran it before it calls `{call}`, too"),
            (None, None) => {
                "in a process that ran it before it makes another number of calls".to_owned()
            }
        })
    }
}

impl Warmth {
    /// Every execution has a process of its own, for this reason.
    pub(crate) fn set_fresh(&self, why: impl Into<String>) {
        self.state().fresh = Some(why.into());
    }

    /// Why every execution has a process of its own, if so.
    pub(crate) fn why_fresh(&self) -> Option<String> {
        self.state().fresh.clone()
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.state().fresh.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// This is what a run without faults looks like.
    pub(crate) fn set_usual(&self, shape: Shape) {
        self.state().usual = Some(shape);
    }

    pub(crate) fn usual(&self) -> Option<Shape> {
        self.state().usual.clone()
    }

    /// Whether the runner is to be checked after this execution.
    pub(crate) fn wants_check(&self, faultload: &Faultload, verdict: &Verdict) -> bool {
        if faultload.is_empty() {
            // Nothing was injected: the test is flaky, or it is the runner's doing.
            return *verdict != Verdict::Passed;
        }
        let unchecked = self.unchecked.fetch_add(1, Ordering::Relaxed) + 1;
        *verdict != Verdict::Passed || unchecked >= EVERY
    }

    /// The runner is as it was.
    pub(crate) fn checked(&self) {
        self.unchecked.store(0, Ordering::Relaxed);
    }
}

/// Why a test cannot be run in a warm process, going by two runs in fresh ones
/// and one in a warm one; `None` if it can, or if it is unstable anyway.
pub(crate) fn why_not_warm(warm: &Shape, fresh: &Shape, again: &Shape) -> Option<String> {
    match fresh == again {
        true => warm.differs_from(fresh),
        false => None,
    }
}

/// Why a test cannot be run in a warm process, going by what it leaves there.
pub(crate) fn why_not_after(aftermath: &Aftermath) -> Option<String> {
    if let Some(why) = &aftermath.lost {
        return Some(why.clone());
    }
    let threads = aftermath
        .changed
        .iter()
        .find(|it| it.starts_with("threads"));
    threads.map(|threads| format!("it leaves threads running ({threads})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(complaint: Option<&str>, calls: &[&str]) -> Shape {
        Shape {
            complaint: complaint.map(str::to_owned),
            calls: calls.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn a_test_that_differs_in_a_warm_process_is_not_run_there() {
        let usual = shape(None, &["shop GET / 200", "cart GET / 200"]);
        let less = shape(None, &["shop GET / 200"]);
        let fails = shape(Some("assert 2 == 1"), &["shop GET / 200"]);
        let cases = [
            (&usual, &usual, &usual, None),
            (&less, &usual, &usual, Some("no call `cart GET / 200`")),
            (&usual, &less, &less, Some("it calls `cart GET / 200`, too")),
            (&fails, &usual, &usual, Some("it fails: assert 2 == 1")),
            // Unstable by itself: that is another story.
            (&less, &usual, &less, None),
        ];
        for (warm, fresh, again, expected) in cases {
            let why = why_not_warm(warm, fresh, again);
            match expected {
                None => assert_eq!(why, None),
                Some(text) => assert!(why.unwrap().contains(text), "{text}"),
            }
        }
    }
}

//! Whether a scenario gets in its own way.
//!
//! Where two create the same user one fails, and whatever fault is injected at
//! that moment would be blamed for it. Owns trying that out, before anything is
//! injected, and what counts as a clash. Whether the scenario passes alone, and
//! always makes the same calls, is for the references to say.

use std::time::Duration;

use futures_util::future::try_join_all;
use murphy_model::{Faultload, Observed, Point, Verdict};
use murphy_report::redact;

use super::LiveWorld;
use super::correlate::{by_interface, job, late, missing};
use murphy_campaign::{SetupError, World as _};

/// The most of a complaint that is told.
const COMPLAINT: usize = 200;

/// How a scenario gets in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interference {
    /// How many ran at once.
    pub at_once: u32,
    /// What came of it.
    pub how: InterferenceKind,
}

/// What came of scenarios that ran at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterferenceKind {
    /// Some failed, which alone pass.
    Failed {
        /// How many.
        count: usize,
        /// What the first of them said, in one line.
        why: String,
    },
    /// One made this call more often than alone, or less.
    OtherCalls(Point),
}

/// What was seen of scenarios that ran at once.
pub(super) struct Beside {
    pub(super) clash: Option<Interference>,
    /// How late the last call came, if any did.
    pub(super) late: Option<Duration>,
}

impl LiveWorld {
    /// Runs the scenario so many times at once, without faults, and compares
    /// that with how it went alone. It also makes the connections that so many
    /// executions need.
    pub(super) async fn run_beside_itself(
        &self,
        at_once: u32,
        alone: &Observed,
    ) -> Result<Beside, SetupError> {
        let at_once = at_once.min(self.workers());
        let all = (0..at_once).map(|worker| self.look_beside(worker));
        let all = try_join_all(all).await;
        let all = all.map_err(|broken| overwhelmed(broken, at_once))?;
        let clash = match clashed(alone, &all) {
            Some(how) if self.stands(&how, alone).await? => Some(Interference { at_once, how }),
            _ => None,
        };
        let late = all.iter().filter_map(late).max();
        Ok(Beside { clash, late })
    }

    /// A service that ends meanwhile counts against it: nothing is run again.
    async fn look_beside(&self, worker: u32) -> Result<Observed, SetupError> {
        let _together = self.system.together.read().await;
        let (none, identity) = (Faultload::none(), by_interface());
        let (job, how) = (job(worker, &none, &identity), self.looking(false));
        let looked = self.execute_once(job, how, self.is_fresh()).await?;
        Ok(looked.observed)
    }

    /// Whether it is for being at once: not where the scenario is just as moody
    /// alone, or makes some calls only the first time.
    async fn stands(&self, how: &InterferenceKind, alone: &Observed) -> Result<bool, SetupError> {
        let again = self.look(false).await?;
        let goes_as_before = match how {
            InterferenceKind::Failed { .. } => true,
            InterferenceKind::OtherCalls(_) => other_call(alone, &again).is_none(),
        };
        Ok(has_passed(&again) && goes_as_before)
    }
}

/// Whether a scenario passed.
pub(super) fn has_passed(observed: &Observed) -> bool {
    complaint(observed).is_none()
}

fn complaint(observed: &Observed) -> Option<&str> {
    match &observed.execution.verdict {
        Verdict::Failed { why } => Some(why),
        _ => None,
    }
}

fn clashed(alone: &Observed, all: &[Observed]) -> Option<InterferenceKind> {
    let complaints: Vec<&str> = all.iter().filter_map(complaint).collect();
    if let Some(first) = complaints.first() {
        return Some(InterferenceKind::Failed {
            count: complaints.len(),
            why: in_short(first),
        });
    }
    let mut others = all.iter().filter_map(|beside| other_call(alone, beside));
    others.next().map(InterferenceKind::OtherCalls)
}

/// A call that one made more often than the other.
fn other_call(one: &Observed, other: &Observed) -> Option<Point> {
    let more = missing(one, other, callee);
    let less = missing(other, one, callee);
    more.into_iter().chain(less).next()
}

/// Whom a call is for and what kind it is. Not its path: who runs at once may
/// well work on data of its own.
fn callee(point: &Point) -> (String, String) {
    let frame = point.frame();
    let interface = frame.interface.to_string();
    let method = interface.split(' ').next().unwrap_or_default();
    (frame.destination.to_string(), method.to_owned())
}

/// One line, without secrets.
fn in_short(complaint: &str) -> String {
    let line = redact::owned(complaint.lines().next().unwrap_or_default());
    match line.char_indices().nth(COMPLAINT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn overwhelmed(broken: SetupError, at_once: u32) -> SetupError {
    let message = format!(
        "{}; {at_once} copies of the test were running in parallel, without faults",
        broken.message
    );
    let fewer = "fewer `--jobs` ask less of the services";
    SetupError {
        message,
        hint: Some(match broken.hint {
            Some(hint) => format!("{hint}; {fewer}"),
            None => fewer.to_owned(),
        }),
        ..broken
    }
}

#[cfg(test)]
mod tests {
    use murphy_model::{Call, Execution, Trace};

    use super::*;

    fn made(points: &[&str]) -> Observed {
        let call = |point: &&str| Call {
            point: point.parse().unwrap(),
            parent: None,
            arrived: 0,
            finished: Some(1),
            reply: None,
            injected: None,
            body: None,
        };
        let execution = Execution {
            faultload: Faultload::none(),
            trace: Trace::new(points.iter().map(call).collect()),
            verdict: Verdict::Passed,
        };
        Observed::bare(execution, Duration::ZERO)
    }

    fn failed(why: &str) -> Observed {
        let mut observed = made(&[]);
        let why = why.to_owned();
        observed.execution.verdict = Verdict::Failed { why };
        observed
    }

    #[test]
    fn other_calls_than_alone_are_a_clash_and_other_paths_are_none() {
        let (shop, cart) = ("shop GET /", "shop GET / > cart GET /of/0");
        let alone = made(&[shop, cart]);
        let clashed = |calls: &[&str]| clashed(&alone, &[made(&[shop, cart]), made(calls)]);
        assert_eq!(clashed(&[shop, cart]), None);
        assert_eq!(clashed(&[shop, "shop GET / > cart GET /of/w1"]), None);
        let other = |call: &str| Some(InterferenceKind::OtherCalls(call.parse().unwrap()));
        assert_eq!(clashed(&[shop, cart, cart]), other(cart));
        assert_eq!(clashed(&[shop]), other(cart));
        let posts = "shop GET / > cart POST /of/0";
        assert_eq!(clashed(&[shop, posts]), other(posts));
    }

    #[test]
    fn failures_are_counted_and_told_in_a_line_without_secrets() {
        let first = failed("exit code 1: password=hunter2 is taken\n  left: 1");
        let all = [made(&[]), first, failed("exit code 2")];
        let Some(InterferenceKind::Failed { count, why }) = clashed(&made(&[]), &all) else {
            panic!("two failed");
        };
        assert_eq!(count, 2);
        assert!(why.starts_with("exit code 1: password="), "{why}");
        assert!(!why.contains("hunter2") && !why.contains('\n'), "{why}");
        assert_eq!(in_short(&"é".repeat(300)).chars().count(), COMPLAINT + 1);
    }

    #[test]
    fn a_service_that_goes_down_then_is_told_with_what_was_done_to_it() {
        let down = SetupError::new("service `cart` is down");
        let told = overwhelmed(down, 8);
        let expected =
            "service `cart` is down; 8 copies of the test were running in parallel, without faults";
        assert_eq!(told.message, expected);
        assert!(told.hint.unwrap().contains("--jobs"));
    }
}

//! Payloads that vary on failure paths.
//!
//! What a call made only after a failure sends, the references do not show. If
//! it holds a time stamp, every execution shows another call, and a fault
//! planned for one of them never finds it. Owns noticing that, and which
//! fields to leave out; that the search then starts over is the campaign's
//! business.

use murphy_model::{Faultload, Observed, Point, Target, Verdict};
use murphy_registry::Recorded;

use crate::infer_identity;
use crate::reference::ResolvedIdentity;
use crate::settings::{IdentityChoice, Settings};

/// A planned call that was not made, while one was made that differs from it
/// in what it sends alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VaryingCall {
    /// What led there: the faults that were injected.
    pub(crate) faultload: Faultload,
    /// The call that was made.
    pub(crate) made: Point,
}

impl VaryingCall {
    /// Looks for one in an execution.
    pub(crate) fn of(observed: &Observed) -> Option<Self> {
        let execution = &observed.execution;
        let Verdict::NotExercised { missing } = &execution.verdict else {
            return None;
        };
        let calls = execution.trace.calls();
        let planned = missing.iter().filter_map(|fault| match &fault.target {
            Target::Call(point) | Target::Every(point) => Some(point),
            Target::Matching(_) => None,
        });
        let made = planned.into_iter().find_map(|planned| {
            let is_made = calls.iter().any(|call| call.point == *planned);
            let alike = |point: &&Point| point.same_but_for_payloads(planned);
            let mut points = calls.iter().map(|call| &call.point);
            points.find(alike).filter(|_| !is_made).cloned()
        })?;
        let kept = execution.faultload.faults();
        let kept = kept.filter(|fault| !missing.contains(fault));
        Some(VaryingCall {
            faultload: Faultload::new(kept).ok()?,
            made,
        })
    }
}

/// Leaves out what differs between executions under the same faultload, or all
/// payloads if no single field explains it. Says whether anything is left out
/// that was not before: nothing is if all of them show the same calls.
pub(crate) fn loosen(
    chosen: &mut ResolvedIdentity,
    settings: &Settings,
    seen: &[Recorded],
) -> bool {
    let IdentityChoice::Auto(_, may) = &settings.identity else {
        return false;
    };
    let seen: Vec<&Recorded> = seen.iter().collect();
    let filter = &settings.options.filter;
    let agree = |chosen: &ResolvedIdentity| {
        infer_identity::attempt(&chosen.identity, &seen, filter).is_ok()
    };
    if agree(chosen) {
        return false;
    }
    let before = chosen.identity.clone();
    infer_identity::mask_what_differs(chosen, *may, &seen);
    if !agree(chosen) {
        infer_identity::without_payload(chosen, *may, &seen);
    }
    chosen.identity != before
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{Execution, Fault, Mode, Trace};

    use super::*;

    fn executed(planned: &str, made: &[&str]) -> Observed {
        let faultload: Faultload = planned.parse().unwrap();
        let calls = made.iter().map(|point| murphy_model::Call {
            point: point.parse().unwrap(),
            parent: None,
            arrived: 0,
            finished: Some(1),
            reply: None,
            injected: faultload.faults().find(
                |fault| matches!(&fault.target, Target::Call(at) if at.to_string() == *point),
            ),
            body: None,
        });
        let trace = Trace::new(calls.collect());
        let missing: Vec<Fault> = faultload
            .faults()
            .filter(|fault| {
                trace
                    .calls()
                    .iter()
                    .all(|c| c.injected.as_ref() != Some(fault))
            })
            .collect();
        let verdict = match missing.is_empty() {
            true => Verdict::Passed,
            false => Verdict::NotExercised { missing },
        };
        let execution = Execution {
            faultload,
            trace,
            verdict,
        };
        Observed::bare(execution, Duration::ZERO)
    }

    const ONE: &str = "a GET / > log POST /e {body=00000000000000000000000000000001}";
    const TWO: &str = "a GET / > log POST /e {body=00000000000000000000000000000002}";
    const CART: &str = "a GET / > cart GET /c";

    #[test]
    fn a_call_that_was_made_with_another_body_is_noticed() {
        let observed = executed(&format!("{CART} = 503, {ONE} = 503"), &[CART, TWO]);
        let varying = VaryingCall::of(&observed).expect("another body");
        assert_eq!(varying.made.to_string(), TWO);
        let cart = Fault::at(CART.parse().unwrap(), Mode::status(503));
        assert_eq!(varying.faultload, Faultload::new([cart]).unwrap());
    }

    #[test]
    fn a_call_that_was_made_or_is_not_made_at_all_is_not() {
        let planned = format!("{CART} = 503, {ONE} = 503");
        for made in [&[CART, ONE][..], &[CART], &[CART, ONE, TWO]] {
            assert_eq!(VaryingCall::of(&executed(&planned, made)), None, "{made:?}");
        }
    }
}

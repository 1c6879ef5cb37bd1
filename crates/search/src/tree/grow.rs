//! Growing faultloads: what an execution makes worth trying.
//!
//! Owns where new faultloads come from. They are never drawn from the power
//! set of points: a faultload is made for one open branch of one service's
//! decisions, and consists of the faults that lead to that branch and the
//! fault (or the faults below) that opens it.

use std::collections::HashSet;

use crate::catalogue::{Catalogue, FaultKey, FaultSet, PointId};
use crate::model::observation::{Label, Observation, Seen};
use crate::model::{Model, News};
use crate::options::{Options, Reduction};
use crate::policy::retry::Retries;

use super::frontier::Candidate;

/// How many faults are combined anew at a caller that contradicted itself. All
/// combinations would not end: nothing it does can be predicted any more.
const DISPUTED: usize = 2;

/// Everything growth looks at.
pub(crate) struct Growth<'a> {
    pub(crate) options: &'a Options,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) model: &'a Model,
    pub(crate) retries: &'a Retries,
    /// Places whose modes were distinguished already.
    pub(crate) defined: &'a mut HashSet<PointId>,
    pub(crate) grown: Vec<Candidate>,
}

impl Growth<'_> {
    /// With service encapsulation: one faultload per open branch.
    pub(crate) fn open_branches(&mut self, seen: &Observation, news: &News) {
        let last_injected = seen.last_injected();
        for index in seen.post_order() {
            let call = &seen.calls[index];
            let later = last_injected.is_none_or(|last| index > last);
            let driver = seen.injected_before(index);
            let again = later && driver.len() < DISPUTED && self.is_disputed(call);
            if news.fresh.contains(&index) || again {
                self.branches_at(call.caller, call.point, &driver);
            }
            if news.replies.contains(&index) {
                self.new_reply(call, &seen.injected_below(index));
            }
        }
        for caller in &news.rebuilt {
            self.all_branches(*caller);
        }
    }

    /// Without service encapsulation: everything injected, and one more
    /// fault that is injected after it. Every faultload that can be injected in full
    /// comes up exactly once this way, from itself less its last fault.
    pub(crate) fn all_combinations(&mut self, seen: &Observation) {
        let last_injected = seen.last_injected();
        for index in seen.post_order() {
            let call = &seen.calls[index];
            let later = last_injected.is_none_or(|last| index > last);
            if later && call.injected.is_none() {
                self.direct(call.point, &seen.injected);
            }
        }
    }

    /// A service that contradicted itself is not taken at its word: its calls
    /// are combined anew after every execution.
    fn is_disputed(&self, call: &Seen) -> bool {
        self.model.any_disputed
            && self
                .model
                .decisions(call.caller)
                .is_some_and(|decisions| decisions.disputed)
    }

    /// Every way the call at a point can go, once the driver has led there.
    fn branches_at(&mut self, caller: Option<PointId>, point: PointId, driver: &FaultSet) {
        // A persistent fault that led here leaves only one way.
        if self.catalogue.fault_at(driver, point).is_some() {
            return;
        }
        self.direct(point, driver);
        for reply in self.model.own_replies(caller, point) {
            self.own_reply(caller, point, reply.label, driver, &reply.below);
        }
    }

    /// A reply that the callee gives by itself, by faults below it:
    /// as it is, unless a fault can bring it about more directly, and with
    /// every fault that lets it through in its own way (late, say).
    fn own_reply(
        &mut self,
        caller: Option<PointId>,
        point: PointId,
        label: Label,
        driver: &FaultSet,
        below: &FaultSet,
    ) {
        let Some(led) = driver.union(below.keys()) else {
            return;
        };
        for mode in &self.catalogue.entry(point).modes {
            if self.catalogue.mode(*mode).reply().is_none() {
                self.add(led.union(&[FaultKey::at(point, *mode)]), None);
            }
        }
        if !self.injectable(caller, point, label) {
            self.add(Some(led), None);
        }
    }

    /// A fault of each mode at the point itself.
    fn direct(&mut self, point: PointId, driver: &FaultSet) {
        if self.options.reduces(Reduction::Retry) && self.retries.attempts.contains_key(&point) {
            return;
        }
        let entry = self.catalogue.entry(point);
        let modes = &entry.modes;
        let defines = (!modes.is_empty() && self.defined.insert(entry.place)).then_some(point);
        let persistent = self.retries.retried.contains(&point);
        for every in [false, true] {
            if every && !persistent {
                continue;
            }
            for mode in modes {
                let fault = FaultKey {
                    point,
                    every,
                    mode: *mode,
                };
                self.add(driver.union(&[fault]), defines);
            }
        }
    }

    /// A callee was seen to give a reply of its own for the first time:
    /// wherever it is called, the caller's reaction to that reply is open,
    /// unless a fault can bring the reply about more directly.
    fn new_reply(&mut self, call: &Seen, below: &FaultSet) {
        let Some(decisions) = self.model.decisions(call.caller) else {
            return;
        };
        let here = decisions
            .choices()
            .filter(|choice| choice.child == call.point);
        let drivers: Vec<FaultSet> = here.map(|choice| choice.driver.clone()).collect();
        for driver in drivers {
            self.own_reply(call.caller, call.point, call.label, &driver, below);
        }
    }

    /// Whether a fault at the point itself shows its caller this reply.
    fn injectable(&self, caller: Option<PointId>, point: PointId, label: Label) -> bool {
        let distinguished = self.model.distinguishes(caller);
        let retry = self.options.reduces(Reduction::Retry);
        if distinguished || (retry && self.retries.attempts.contains_key(&point)) {
            return false;
        }
        let modes = &self.catalogue.entry(point).modes;
        modes.iter().any(|mode| {
            let mode = self.catalogue.mode(*mode);
            let shows = |reply| {
                label.reply == Some(reply) && label.body == self.model.bodies.of_injected(reply)
            };
            mode.is_blocking() && mode.reply().is_some_and(shows)
        })
    }

    /// All branches of a caller whose decisions were distinguished anew.
    fn all_branches(&mut self, caller: Option<PointId>) {
        let Some(decisions) = self.model.decisions(caller) else {
            return;
        };
        let choices: Vec<(PointId, FaultSet)> = decisions
            .choices()
            .map(|choice| (choice.child, choice.driver.clone()))
            .collect();
        for (child, driver) in choices {
            self.branches_at(caller, child, &driver);
        }
    }

    fn add(&mut self, faults: Option<FaultSet>, defines: Option<PointId>) {
        self.grown
            .extend(faults.map(|faults| Candidate { faults, defines }));
    }
}

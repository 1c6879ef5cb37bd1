//! How calls fail: for all, for a service, for particular calls.
//!
//! Owns which rule counts. What a service fails with when no rule says so is
//! what its protocol can return, which is known only once it was seen.

use std::collections::BTreeMap;

use murphy_model::{Mode, Pattern, Point};

/// How calls fail.
#[derive(Debug, Default)]
pub(crate) struct ModeRules {
    /// Where nothing more particular is said; `None`: what the callee's
    /// protocol can return.
    pub(crate) usual: Option<Vec<Mode>>,
    /// By the service that is called.
    pub(crate) services: BTreeMap<String, Vec<Mode>>,
    /// By the call; the first that matches counts.
    pub(crate) calls: Vec<(Pattern, Vec<Mode>)>,
}

impl ModeRules {
    /// How the call at `point` fails: as its pattern says, or its service, or
    /// as calls usually do; `None` if the file leaves it open.
    #[cfg_attr(not(test), allow(dead_code, reason = "for who runs a campaign"))]
    pub(crate) fn of(&self, point: &Point) -> Option<&[Mode]> {
        let of_call = self.calls.iter().find(|(at, _)| at.matches(point));
        let of_service = || self.services.get(&*point.frame().destination);
        of_call
            .map(|(_, modes)| modes)
            .or_else(of_service)
            .or(self.usual.as_ref())
            .map(Vec::as_slice)
    }
}

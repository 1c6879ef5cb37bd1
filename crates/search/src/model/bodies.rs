//! The bodies of answers, as far as callers may act on them.
//!
//! A callee that answers 200 with a fallback says something else than one
//! that answers 200 as usual. Owns the classes of bodies: for every point the
//! first body that was seen is the base (the reference's, where it makes the
//! call), and a body that differs from it is degraded. Which answers have a
//! body to compare, and what is masked in it, was decided by whoever recorded
//! the call.

use std::collections::{HashMap, HashSet};

use murphy_model::{Call, PayloadHash, Place, Reply};

use crate::catalogue::PointId;
use crate::options::Replies;

/// The class of a body among those of its point; the first one seen is the
/// base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BodyClass(u8);

impl BodyClass {
    /// As first seen, or not looked at.
    pub(crate) const BASE: BodyClass = BodyClass(0);
    const DEGRADED: BodyClass = BodyClass(1);
    /// Of a successful answer that was injected: no callee sends that.
    const INJECTED: BodyClass = BodyClass(255);
    /// Bodies beyond this many at one point share a class: a callee with that
    /// many fallbacks is taken to be one whose bodies hardly matter.
    const LAST: BodyClass = BodyClass(15);
}

/// The bodies seen so far.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    replies: Replies,
    seen: HashMap<PointId, Vec<PayloadHash>>,
    /// Whose bodies vary by themselves, so that they tell nothing.
    ignored: HashSet<Place>,
}

impl Bodies {
    /// None seen yet, where this is what callers see of a reply.
    pub(crate) fn new(replies: Replies) -> Self {
        Bodies {
            replies,
            ..Bodies::default()
        }
    }

    /// The class of the body that comes with an injected reply.
    pub(crate) fn of_injected(&self, reply: Reply) -> BodyClass {
        match self.replies {
            Replies::Classes | Replies::Bodies if reply.is_ok() => BodyClass::INJECTED,
            _ => BodyClass::BASE,
        }
    }

    /// The class of a call's body; a body not seen before may make a new one.
    pub(crate) fn learn(&mut self, point: PointId, call: &Call) -> BodyClass {
        let Some(body) = self.compared(call) else {
            return self.without_body(call);
        };
        let replies = self.replies;
        let seen = self.seen.entry(point).or_default();
        let known = seen.iter().position(|other| *other == body);
        let at = known.unwrap_or(seen.len());
        if known.is_none() && at <= usize::from(BodyClass::LAST.0) {
            seen.push(body);
        }
        class(at, replies)
    }

    /// The class of a call's body by what is known; `None` if no body like it
    /// was seen at its point.
    pub(crate) fn class(&self, point: PointId, call: &Call) -> Option<BodyClass> {
        let Some(body) = self.compared(call) else {
            return Some(self.without_body(call));
        };
        let replies = self.replies;
        let seen = self.seen.get(&point)?;
        let known = seen.iter().position(|other| *other == body);
        match replies {
            // Which other body it is does not matter, even if it is a new one.
            Replies::Classes => Some(class(known.unwrap_or(1), replies)),
            _ => known.map(|at| class(at, replies)),
        }
    }

    /// Leaves the bodies of these answers out from now on; says whether they
    /// were looked at until now.
    pub(crate) fn ignore(&mut self, place: Place) -> bool {
        self.ignored.insert(place)
    }

    /// The class of a call that has no body to compare.
    fn without_body(&self, call: &Call) -> BodyClass {
        match call.mode().and_then(|mode| mode.reply()) {
            Some(reply) if call.reply == Some(reply) => self.of_injected(reply),
            _ => BodyClass::BASE,
        }
    }

    fn compared(&self, call: &Call) -> Option<PayloadHash> {
        let replies = self.replies;
        let succeeded = call.reply.is_some_and(|reply| reply.is_ok());
        let body = call
            .body
            .filter(|_| succeeded && replies != Replies::Status)?;
        let ignored = !self.ignored.is_empty() && self.ignored.contains(&Place::of(&call.point));
        (!ignored).then_some(body)
    }
}

fn class(at: usize, replies: Replies) -> BodyClass {
    match (at, replies) {
        (0, _) | (_, Replies::Status) => BodyClass::BASE,
        (_, Replies::Classes) => BodyClass::DEGRADED,
        (at, Replies::Bodies) => {
            let at = u8::try_from(at).map_or(BodyClass::LAST, BodyClass);
            at.min(BodyClass::LAST)
        }
    }
}

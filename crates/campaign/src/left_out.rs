//! Calls that come and go without faults, and what can be tested beside them.
//!
//! Owns finding the fewest calls without which all references are alike, taking
//! them out, and what the certificate says of them. Calls whose caller is a
//! guess are [`crate::background`]'s. Later executions are recorded without
//! them: the registry knows them by the identity.

use std::sync::Arc;

use murphy_model::{Certificate, Flag, Identity, Incomplete, LeftOutCall, Observed, Point, Trace};
use murphy_registry::Recorded;
use murphy_search::{Filter, Options};

use crate::infer_identity::{self, Varies};
use crate::reference::ResolvedIdentity;
use crate::settings::IdentityChoice;

/// The identity under which the fewest calls vary, and these; among equals the
/// most precise. Nothing if what is left varies, too.
pub(crate) fn fewest(
    choice: &IdentityChoice,
    references: &[&Recorded],
    filter: &Filter,
) -> Option<ResolvedIdentity> {
    let mut best: Option<ResolvedIdentity> = None;
    let candidates: Vec<ResolvedIdentity> = match choice {
        IdentityChoice::Given(identity) => vec![ResolvedIdentity::exactly(identity.clone())],
        IdentityChoice::Auto(start, may) => {
            infer_identity::candidates(start, *may, references).collect()
        }
    };
    for mut chosen in candidates {
        let Err(varies) = infer_identity::attempt(&chosen.identity, references, filter) else {
            return Some(chosen);
        };
        let identity = Arc::new(chosen.identity.clone());
        let seen = references.iter();
        let seen: Vec<Trace> = seen
            .map(|it| infer_identity::renamed(&identity, it))
            .collect();
        chosen.identity.left_out = topmost(&varies, &seen);
        let fewer =
            |best: &ResolvedIdentity| chosen.identity.left_out.len() < best.identity.left_out.len();
        if best.as_ref().is_none_or(fewer) {
            best = Some(chosen);
        }
    }
    best
}

/// What varies, without what is called for it.
fn topmost(varies: &[Varies], seen: &[Trace]) -> Vec<LeftOutCall> {
    let mut found: Vec<LeftOutCall> = Vec::new();
    let mut varies: Vec<&Varies> = varies.iter().collect();
    varies.sort_by_key(|it| it.at().depth());
    for one in varies {
        if !found.iter().any(|it| it.is_above(one.at())) {
            found.push(described(one, seen));
        }
    }
    found
}

/// A call that varies, all its attempts counted together.
fn described(varies: &Varies, seen: &[Trace]) -> LeftOutCall {
    let call = LeftOutCall::new(varies.at(), varies.how());
    let count = |trace: &Trace| trace.calls().iter().filter(|it| call.is(&it.point)).count();
    let counts: Vec<usize> = seen.iter().map(count).collect();
    let is_number = counts.iter().any(|it| *it != counts[0]);
    match varies {
        Varies::Calls { at, .. } if is_number => LeftOutCall {
            how: Varies::Calls {
                at: at.clone(),
                counts,
            }
            .how(),
            ..call
        },
        _ => call,
    }
}

/// A reference without the calls that this identity leaves out.
pub(crate) fn without(
    (observed, recorded): (&Observed, &Recorded),
    identity: &Arc<Identity>,
) -> (Observed, Recorded) {
    let named = infer_identity::renamed(identity, recorded);
    let recorded = recorded.without(|id| identity.leaves_out(&named.call(id).point));
    let mut observed = observed.clone();
    observed.execution.trace = recorded.trace.clone();
    observed.details = recorded.details.clone();
    (observed, recorded)
}

/// Whether a fault can be injected into any of these calls.
pub(crate) fn can_fail(trace: &Trace, options: &Options) -> bool {
    let mut calls = trace.calls().iter();
    let can_fail = |at: &Point| options.filter.allows(at) && !options.modes.of(at).is_empty();
    calls.any(|call| (call.parent.is_some() || options.entries) && can_fail(&call.point))
}

/// What is said of the calls that are left out.
pub fn flags(identity: &Identity) -> impl Iterator<Item = Flag> + '_ {
    identity
        .left_out
        .iter()
        .map(|LeftOutCall { at, how }| Flag::Varies {
            at: at.clone(),
            how: how.clone(),
        })
}

/// Says which calls were not tested, because they vary without faults.
pub(crate) fn note_in(certificate: &mut Certificate, identity: &Identity) {
    if !identity.left_out.is_empty() {
        certificate.incomplete.get_or_insert(Incomplete::Varies);
    }
    certificate.flags.extend(flags(identity));
}

/// The calls that are left out.
pub(crate) fn points(identity: &Identity) -> Vec<Point> {
    identity.left_out.iter().map(|it| it.at.clone()).collect()
}

//! Calls that services make in the background: a worker thread that sends
//! mails, a scheduler that asks for jobs.
//!
//! Without trace context such a call would be seen under whatever request is
//! under way when it is made, and no two executions would be alike. Owns
//! finding them in the reference runs, taking them out, and what the
//! certificate says of them. Later executions are recorded without them: the
//! registry knows them by the identity.

use murphy_model::{
    BackgroundCall, CallId, Certificate, Flag, Frame, Identity, Incomplete, Interface, Link,
    Observed, Pattern, Place, Point, polling,
};
use murphy_registry::{Parent, Recorded};
use murphy_search::Filter;

use crate::infer_identity::{Varies, template};

/// The calls of the references that a service made while it served nobody,
/// after it had served several calls or none: nothing says for which of them.
/// One that goes on for good is made for no call, whatever its service served.
pub(crate) fn made_while_idle(references: &[&Recorded]) -> Vec<BackgroundCall> {
    let mut found: Vec<BackgroundCall> = Vec::new();
    for recorded in references {
        let goes_on = polling(&recorded.trace, &recorded.details);
        let is_idle = |id: &CallId| {
            let link = recorded.detail(*id).link;
            matches!(link, Link::Background | Link::Orphan) || goes_on.contains(id)
        };
        let calls = recorded.trace.ids().filter(is_idle);
        let calls = calls.filter_map(|id| described(recorded, id));
        for call in calls.filter(|it| it.caller.is_some()) {
            add(&mut found, call);
        }
    }
    found
}

/// The calls that vary, or that something varies below, among those whose
/// caller was a guess in some reference and that are not known yet.
pub(crate) fn varying(
    varies: &[Varies],
    references: &[&Recorded],
    known: &[BackgroundCall],
) -> Vec<BackgroundCall> {
    let mut found: Vec<BackgroundCall> = Vec::new();
    for recorded in references {
        for call in recorded.doubtful().filter_map(|id| described(recorded, id)) {
            let is_known = known.iter().any(|it| it.is_same(&call));
            if varies.iter().any(|it| call.is_above(it.at())) && !is_known {
                add(&mut found, call);
            }
        }
    }
    found
}

/// Adds calls that are not known yet.
pub(crate) fn extend(known: &mut Vec<BackgroundCall>, more: Vec<BackgroundCall>) {
    more.into_iter().for_each(|call| add(known, call));
}

fn add(found: &mut Vec<BackgroundCall>, call: BackgroundCall) {
    match found.iter_mut().find_map(|it| merged(it, &call)) {
        Some((it, interface)) => {
            it.callee.interface = interface;
            let is_new = |place: &Place| !it.makes.contains(place);
            let new: Vec<Place> = call.makes.into_iter().filter(is_new).collect();
            it.makes.extend(new);
        }
        None => found.push(call),
    }
}

/// A call, unless it says itself for which other it was made.
fn described(recorded: &Recorded, id: CallId) -> Option<BackgroundCall> {
    let CallId(at) = id;
    let Parent::Infer { caller, .. } = &recorded.requests.get(at as usize)?.claim.parent else {
        return None;
    };
    let is_certain = recorded.detail(id).link == Link::Spans;
    let below = recorded
        .trace
        .ids()
        .filter(|it| is_below(recorded, *it, id));
    (!is_certain).then(|| BackgroundCall {
        caller: caller.clone(),
        callee: Place::of(&recorded.trace.call(id).point),
        makes: below
            .map(|it| Place::of(&recorded.trace.call(it).point))
            .collect(),
    })
}

/// Whether a call was made for another, and nobody else could have made it or
/// what led to it.
fn is_below(recorded: &Recorded, id: CallId, above: CallId) -> bool {
    let call = recorded.trace.call(id);
    let is_guess = recorded.detail(id).link == Link::Ambiguous;
    call.parent
        .is_some_and(|parent| !is_guess && (parent == above || is_below(recorded, parent, above)))
}

/// What stands for both of two calls that are one but for a segment of the path.
fn merged<'b>(
    known: &'b mut BackgroundCall,
    call: &BackgroundCall,
) -> Option<(&'b mut BackgroundCall, Interface)> {
    let (one, other) = (&known.callee, &call.callee);
    if known.caller != call.caller || one.service != other.service {
        return None;
    }
    let interface = match (&one.interface, &other.interface) {
        (one, other) if one == other => one.clone(),
        (Interface::Http { method, path }, Interface::Http { method: m, path: p })
            if method == m =>
        {
            Interface::http(method, &template(path, p)?)
        }
        _ => return None,
    };
    Some((known, interface))
}

/// A reference without the calls in the background.
pub(crate) fn without(
    reference: &(Observed, Option<Recorded>),
    background: &[BackgroundCall],
) -> (Observed, Option<Recorded>) {
    let (observed, recorded) = reference;
    let Some(recorded) = recorded else {
        return reference.clone();
    };
    let is_background = |id: CallId| {
        let call = described(recorded, id);
        call.is_some_and(|BackgroundCall { caller, callee, .. }| {
            let mut known = background.iter();
            known.any(|it| it.is(caller.as_deref(), &callee.service, &callee.interface))
        })
    };
    let recorded = recorded.without(is_background);
    let mut observed = observed.clone();
    observed.execution.trace = recorded.trace.clone();
    observed.details = recorded.details.clone();
    (observed, Some(recorded))
}

/// Says which calls were not tested, because they are made in the background.
pub(crate) fn note_in(certificate: &mut Certificate, identity: &Identity, filter: &Filter) {
    let flags = flags(identity, filter);
    if !flags.is_empty() {
        certificate.incomplete.get_or_insert(Incomplete::Background);
    }
    certificate.flags.extend(flags);
}

/// What is said of the calls in the background; those that the user leaves out
/// are no news.
fn flags(identity: &Identity, filter: &Filter) -> Vec<Flag> {
    let is_asked_for = |at: &Point| {
        let among = |patterns: &[Pattern]| patterns.iter().any(|it| it.matches(at));
        (filter.only.is_empty() || among(&filter.only)) && !among(&filter.except)
    };
    let calls = identity.background.iter().zip(points(identity));
    let calls = calls.filter(|(_, at)| is_asked_for(at));
    let flag = |(call, at): (&BackgroundCall, Point)| Flag::Background {
        caller: call.caller.as_deref().map(str::to_owned),
        at,
    };
    calls.map(flag).collect()
}

/// The calls in the background, each without who made it.
pub(crate) fn points(identity: &Identity) -> Vec<Point> {
    let point = |call: &BackgroundCall| {
        let Place { service, interface } = &call.callee;
        Point::entry(Frame::new(service, interface.clone()))
    };
    identity.background.iter().map(point).collect()
}

//! What of the last campaign still holds after a change.
//!
//! Owns the rule by which an execution is reused: no service that
//! changed was at work in it. A service has changed if its version is another
//! one, or if it does something else in the reference (a changed call graph).
//! Everything else about a service is taken to be as it was; the assumption is
//! named in the certificate.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use murphy_model::{Call, CallId, Faultload, Observed, Point, Reply, Trace};

/// What a campaign relies on that took executions of the last one.
pub(crate) const ASSUMPTION: &str = "what was not run again would go as in the last campaign: services that did not change still do the same";

/// The versions of services, as far as they are known.
pub type Versions = BTreeMap<String, String>;

/// What a campaign that was run before showed.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The versions of its services.
    pub versions: Versions,
    /// Its execution without faults.
    pub reference: Trace,
    /// Its executions by what was to fail.
    pub executions: HashMap<Faultload, Observed>,
}

/// The services that are not what they were.
pub fn changed(past: &Past, versions: &Versions, reference: &Trace) -> BTreeSet<Arc<str>> {
    let (before, now) = (behaviours(&past.reference), behaviours(reference));
    let seen = before.keys().chain(now.keys()).map(|it| Arc::clone(it));
    // Some services are at work only after a failure.
    let told = past.versions.keys().chain(versions.keys());
    let services = seen.chain(told.map(|name| Arc::from(name.as_str())));
    let differs = |service: &Arc<str>| {
        let name: &str = service;
        // Of a service without a version nothing is known but what it does.
        let version = versions.get(name) != past.versions.get(name);
        version || before.get(service) != now.get(service)
    };
    services.filter(differs).collect()
}

/// The executions of the past in which none of these services was at work.
pub fn unaffected(past: Past, changed: &BTreeSet<Arc<str>>) -> HashMap<Faultload, Observed> {
    let holds = |observed: &Observed| {
        let calls = observed.execution.trace.calls();
        !calls.iter().filter(|call| reached(call)).any(|call| {
            let service = &call.point.frame().destination;
            changed.contains(service)
        })
    };
    let executions = past.executions.into_iter();
    executions.filter(|(_, observed)| holds(observed)).collect()
}

/// Whether the callee saw the call.
fn reached(call: &Call) -> bool {
    !call.mode().is_some_and(|mode| mode.is_blocking())
}

/// What a service does: how it answers each call, and which calls it makes
/// meanwhile.
type Behaviour<'t> = BTreeSet<(&'t Point, Option<Reply>, Vec<&'t Point>)>;

fn behaviours(trace: &Trace) -> BTreeMap<&Arc<str>, Behaviour<'_>> {
    let mut behaviours: BTreeMap<&Arc<str>, Behaviour<'_>> = BTreeMap::new();
    for id in trace.ids() {
        let call = trace.call(id);
        let service = &call.point.frame().destination;
        let made = made(trace, id);
        let behaviour = behaviours.entry(service).or_default();
        behaviour.insert((&call.point, call.reply, made));
    }
    behaviours
}

fn made(trace: &Trace, id: CallId) -> Vec<&Point> {
    let mut made: Vec<&Point> = trace
        .children(Some(id))
        .map(|child| &trace.call(child).point)
        .collect();
    made.sort();
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use murphy_model::{Execution, Fault, Frame, Interface, Mode, Verdict};

    fn point(path: &[&str]) -> Point {
        let frame = |name: &&str| Frame::new(name, Interface::http("GET", "/"));
        let mut frames = path.iter().map(frame);
        let entry = Point::entry(frames.next().unwrap());
        frames.fold(entry, |point, frame| point.child(frame))
    }

    /// A call: its path, its parent and the fault that hit it.
    type Made<'c> = (&'c [&'c str], Option<u32>, Option<Mode>);

    /// Calls in order.
    fn trace(calls: &[Made<'_>]) -> Trace {
        let call = |(at, (path, parent, mode)): (usize, &Made<'_>)| {
            let point = point(path);
            Call {
                injected: mode.map(|mode| Fault::at(point.clone(), mode)),
                body: None,
                point,
                parent: parent.map(CallId),
                arrived: at as u32,
                finished: Some(100 - at as u32),
                reply: Some(Reply::Status(200)),
            }
        };
        Trace::new(calls.iter().enumerate().map(call).collect())
    }

    fn past() -> Past {
        let reference = trace(&[
            (&["shop"], None, None),
            (&["shop", "cart"], Some(0), None),
            (&["shop", "stock"], Some(0), None),
        ]);
        let fault = |path: &[&str]| {
            let fault = Fault::at(point(path), Mode::status(503));
            Faultload::new([fault]).unwrap()
        };
        let execution = |faultload: &Faultload, trace: Trace| {
            let execution = Execution {
                faultload: faultload.clone(),
                trace,
                verdict: Verdict::Passed,
            };
            Observed::bare(execution, std::time::Duration::ZERO)
        };
        let no_cart = fault(&["shop", "cart"]);
        let down = Some(Mode::status(503));
        let without_cart = trace(&[(&["shop"], None, None), (&["shop", "cart"], Some(0), down)]);
        Past {
            versions: Versions::from([("cart".into(), "1".into())]),
            executions: HashMap::from([(no_cart.clone(), execution(&no_cart, without_cart))]),
            reference,
        }
    }

    #[test]
    fn nothing_changed_nothing_is_affected() {
        let past = past();
        let changed = changed(&past, &past.versions.clone(), &past.reference.clone());
        assert_eq!(changed, BTreeSet::new());
        assert_eq!(unaffected(past, &changed).len(), 1);
    }

    #[test]
    fn another_version_affects_what_its_service_took_part_in() {
        let past = past();
        let versions = Versions::from([("cart".into(), "2".into())]);
        let changed = changed(&past, &versions, &past.reference.clone());
        assert_eq!(changed, BTreeSet::from(["cart".into()]));
        // The one execution kept the call from ever reaching the cart.
        assert_eq!(unaffected(past.clone(), &changed).len(), 1);
        assert_eq!(unaffected(past, &BTreeSet::from(["shop".into()])).len(), 0);
    }

    #[test]
    fn a_service_that_is_at_work_only_after_failures_can_change_too() {
        let mut past = past();
        past.versions.insert("top".to_owned(), "1".to_owned());
        let mut versions = past.versions.clone();
        versions.insert("top".to_owned(), "2".to_owned());
        let changed = changed(&past, &versions, &past.reference);
        assert_eq!(changed, BTreeSet::from(["top".into()]));
    }

    #[test]
    fn a_service_that_makes_other_calls_has_changed() {
        let past = past();
        let reference = trace(&[(&["shop"], None, None), (&["shop", "cart"], Some(0), None)]);
        let changed = changed(&past, &past.versions.clone(), &reference);
        assert_eq!(changed, BTreeSet::from(["shop".into(), "stock".into()]));
    }
}

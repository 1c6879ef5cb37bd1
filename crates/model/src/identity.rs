//! Identity: which call is this?
//!
//! Owns the one computation of a [`Point`] from a request, for the simulator
//! and for the proxies. An [`Identifier`] follows one execution: told of each
//! arrival and each answer, it names every call. Which components take part is
//! set by [`Identity`]; finding a setting that is stable for a system is the
//! campaign's job.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{
    AnswerMasks, Frame, Interface, PathTemplates, PayloadHash, Point, Predecessors, Sibling, json,
};
use crate::{BackgroundCall, LeftOutCall};

/// Which components identify a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The chain of calls that led to this one. Off: the call alone.
    pub path: bool,
    /// What is sent.
    pub payload: bool,
    /// The caller's completed calls.
    pub predecessors: bool,
    /// Where in the caller's code, if a client library supplies it.
    pub call_site: bool,
    /// How many calls went before that are equal in everything else.
    pub count: bool,
    /// How concrete paths become templates.
    #[serde(default, skip_serializing_if = "json::is_default")]
    pub templates: PathTemplates,
    /// Names of JSON fields and query parameters the payload leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// What is left out when the bodies of answers are compared.
    #[serde(default, skip_serializing_if = "json::is_default")]
    pub answers: AnswerMasks,
    /// Calls that services make in the background. Where nothing on the wire
    /// says who made them, they belong to no other call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundCall>,
    /// Calls that vary without faults: they are in no trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutCall>,
}

impl Default for Identity {
    /// Everything but predecessors, which concurrent callers make unstable.
    fn default() -> Self {
        Identity {
            path: true,
            payload: true,
            predecessors: false,
            call_site: true,
            count: true,
            templates: PathTemplates::default(),
            masked: Vec::new(),
            answers: AnswerMasks::default(),
            background: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl Identity {
    /// The components that can be switched, by name.
    pub const COMPONENTS: [&'static str; 5] =
        ["path", "payload", "predecessors", "call_site", "count"];

    /// Whether this request, which does not say for which call it was made, is
    /// one that is made in the background.
    pub fn is_background(&self, caller: Option<&str>, callee: &str, interface: &Interface) -> bool {
        let mut known = self.background.iter();
        known.any(|it| it.is(caller, callee, interface))
    }

    /// Whether a call in the background is known to lead to this one.
    pub fn is_made_in_background(&self, callee: &str, interface: &Interface) -> bool {
        self.background.iter().any(|it| it.makes(callee, interface))
    }

    /// Whether a call is one that is in no trace, or was made for one.
    pub fn leaves_out(&self, point: &Point) -> bool {
        self.left_out.iter().any(|it| it.is_above(point))
    }

    /// Switches a component by its name.
    pub fn set(&mut self, component: &str, on: bool) -> Result<(), UnknownComponent> {
        let switch = match component {
            "path" => &mut self.path,
            "payload" => &mut self.payload,
            "predecessors" => &mut self.predecessors,
            "call_site" => &mut self.call_site,
            "count" => &mut self.count,
            _ => return Err(UnknownComponent(component.to_owned())),
        };
        *switch = on;
        Ok(())
    }
}

/// A name that is no component of identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("identity has no component `{0}`; it has {all}", all = Identity::COMPONENTS.join(", "))]
pub struct UnknownComponent(String);

/// A request as it arrives, before it has a name.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The service it is sent to.
    pub destination: &'a Arc<str>,
    /// What it asks for, with the concrete path.
    pub interface: &'a Interface,
    /// The query, without `?`; empty if there is none.
    pub query: &'a str,
    /// The body; empty if there is none.
    pub body: &'a [u8],
    /// The call site, if the caller's client library supplies one.
    pub site: Option<&'a str>,
}

/// Names the calls of one execution.
#[derive(Clone, Debug)]
pub struct Identifier {
    identity: Arc<Identity>,
    counts: FxHashMap<Point, u32>,
    completed: FxHashMap<Option<Point>, BTreeMap<Sibling, u32>>,
}

impl Identifier {
    /// A fresh execution under this identity.
    pub fn new(identity: Arc<Identity>) -> Self {
        Identifier {
            identity,
            counts: FxHashMap::default(),
            completed: FxHashMap::default(),
        }
    }

    /// Names a call made while `parent` was served (`None`: by the scenario).
    ///
    /// Not idempotent: asking twice counts two calls.
    pub fn arrive(&mut self, parent: Option<&Point>, arrival: Arrival<'_>) -> Point {
        let (first, count) = self.count(parent, arrival);
        match count {
            1 => first,
            _ => first.with_count(count),
        }
    }

    /// The same in two parts: the point of the first call that is equal in
    /// everything else, and the count. Whoever keeps many calls keeps the point
    /// of all attempts once.
    pub fn count(&mut self, parent: Option<&Point>, arrival: Arrival<'_>) -> (Point, u32) {
        let parent = parent.filter(|_| self.identity.path);
        let frame = self.uncounted_frame(parent, arrival);
        let first = match parent {
            Some(parent) => parent.child(frame),
            None => Point::entry(frame),
        };
        if !self.identity.count {
            return (first, 1);
        }
        let mut known = match self.counts.entry(first) {
            Entry::Vacant(new) => new.insert_entry(0),
            Entry::Occupied(known) => known,
        };
        *known.get_mut() += 1;
        (known.key().clone(), *known.get())
    }

    /// The count of a call that is equal to the first one at `first` in all
    /// that was sent; `None` where that does not tell what it is called.
    pub fn count_on(&mut self, first: &Point) -> Option<u32> {
        if self.identity.predecessors {
            return None;
        }
        if !self.identity.count {
            return Some(1);
        }
        let count = self.counts.get_mut(first)?;
        *count += 1;
        Some(*count)
    }

    /// Notes that the call at `point` was answered, for its later siblings.
    pub fn finish(&mut self, point: &Point) {
        self.finish_attempt(point, point.frame().count);
    }

    /// The same for the `count`-th attempt of the call at `point`.
    pub fn finish_attempt(&mut self, point: &Point, count: u32) {
        if !self.identity.predecessors {
            return;
        }
        let frame = point.frame();
        let completed = self.completed.entry(point.parent().cloned()).or_default();
        let highest = completed.entry(sibling(frame)).or_default();
        *highest = count.max(*highest);
    }

    /// What tells the body of an answer to the call at `point` from others;
    /// `None` where bodies say nothing.
    pub fn answer(&self, point: &Point, body: &[u8]) -> Option<PayloadHash> {
        self.identity.answers.hash(point, body)
    }

    fn uncounted_frame(&self, parent: Option<&Point>, arrival: Arrival<'_>) -> Frame {
        let identity = &*self.identity;
        let interface = match arrival.interface {
            Interface::Http { method, path } => Interface::Http {
                method: method.clone(),
                path: identity
                    .templates
                    .changed(path)
                    .unwrap_or_else(|| path.clone()),
            },
            grpc => grpc.clone(),
        };
        let payload = identity
            .payload
            .then(|| PayloadHash::of(arrival.query, arrival.body, &identity.masked));
        let mut frame = Frame {
            destination: arrival.destination.clone(),
            interface,
            payload: payload.flatten(),
            predecessors: None,
            site: arrival.site.filter(|_| identity.call_site).map(Arc::from),
            count: 1,
        };
        frame.predecessors = identity
            .predecessors
            .then(|| self.predecessors(parent, &frame));
        frame
    }

    /// A call is not its own predecessor: a retry would otherwise look like a
    /// different call than the attempt it repeats.
    fn predecessors(&self, parent: Option<&Point>, frame: &Frame) -> Predecessors {
        let mut completed = self
            .completed
            .get(&parent.cloned())
            .cloned()
            .unwrap_or_default();
        completed.remove(&sibling(frame));
        Predecessors(Arc::new(completed))
    }
}

fn sibling(frame: &Frame) -> Sibling {
    Sibling {
        destination: frame.destination.clone(),
        interface: frame.interface.clone(),
        payload: frame.payload,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Run(Identifier);

    impl Run {
        fn with(identity: Identity) -> Self {
            Run(Identifier::new(Arc::new(identity)))
        }

        fn call(&mut self, parent: Option<&Point>, to: &str, path: &str, body: &str) -> Point {
            let interface = Interface::http("GET", path);
            let arrival = Arrival {
                destination: &to.into(),
                interface: &interface,
                query: "",
                body: body.as_bytes(),
                site: Some("app.py:41"),
            };
            self.0.arrive(parent, arrival)
        }
    }

    #[test]
    fn a_repeated_call_is_counted_per_parent() {
        let mut run = Run::with(Identity::default());
        let a = run.call(None, "a", "/", "");
        let b = run.call(None, "b", "/", "");
        let counts: Vec<u32> = [&a, &a, &b]
            .map(|parent| run.call(Some(parent), "c", "/", "").frame().count)
            .into();
        assert_eq!(counts, [1, 2, 1]);
    }

    #[test]
    fn a_retry_keeps_the_predecessors_of_the_first_attempt() {
        let mut run = Run::with(Identity {
            predecessors: true,
            ..Identity::default()
        });
        let entry = run.call(None, "entry", "/", "");
        let cart = run.call(Some(&entry), "cart", "/", "");
        run.0.finish(&cart);
        let quote = run.call(Some(&entry), "quote", "/", "");
        run.0.finish(&quote);
        let retry = run.call(Some(&entry), "quote", "/", "");
        assert!(retry.same_call(&quote));
        assert_eq!(retry.frame().count, 2);
        let cart_again = run.call(Some(&entry), "cart", "/", "");
        assert!(!cart_again.same_call(&cart));
        assert_eq!(cart_again.frame().count, 1);
    }

    #[test]
    fn a_call_in_flight_is_no_predecessor() {
        let mut run = Run::with(Identity {
            predecessors: true,
            ..Identity::default()
        });
        let first = run.call(None, "a", "/", "");
        let overlapping = run.call(None, "b", "/", "");
        assert_eq!(overlapping.frame().predecessors, first.frame().predecessors);
    }

    #[test]
    fn each_component_can_be_switched_off() {
        let all = Identity::default();
        let cases = [
            (
                "path",
                Identity {
                    path: false,
                    ..all.clone()
                },
            ),
            (
                "payload",
                Identity {
                    payload: false,
                    ..all.clone()
                },
            ),
            (
                "call site",
                Identity {
                    call_site: false,
                    ..all.clone()
                },
            ),
            (
                "count",
                Identity {
                    count: false,
                    ..all.clone()
                },
            ),
        ];
        let last = |identity: Identity| {
            let mut run = Run::with(identity);
            let entry = run.call(None, "entry", "/", "");
            run.call(Some(&entry), "a", "/1", "x");
            run.call(Some(&entry), "a", "/2", "x")
        };
        let full = last(all);
        assert_eq!((full.depth(), full.frame().count), (2, 2));
        for (component, identity) in cases {
            let point = last(identity);
            assert_ne!(point, full, "without {component}");
        }
    }
}

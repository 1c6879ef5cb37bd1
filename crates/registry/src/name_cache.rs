//! Calls that repeat an earlier one word for word.
//!
//! Owns recognising them: a name is made of templates and hashes, and takes
//! memory, but a repetition has the name of what it repeats, and only counts
//! on. Services ask for the same things again and again, retries above all.

use std::sync::Arc;

use murphy_model::{CallId, Interface, Point};

use crate::control::Arrival;

/// How many calls are remembered. Those that get in each other's way are only
/// named anew.
const PLACES: usize = 16;

/// Of longer requests no copy is kept.
const LONGEST: usize = 512;

/// The calls of an execution that were named lately.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    /// None, or as many as there are places.
    places: Vec<Option<Known>>,
}

#[derive(Debug)]
struct Known {
    parent: Option<CallId>,
    destination: Arc<str>,
    interface: Interface,
    query: Box<str>,
    body: Box<[u8]>,
    first: Point,
}

impl Alike {
    /// The point of the first call like this one, if it is remembered.
    pub(crate) fn get(&self, parent: Option<CallId>, arrival: &Arrival) -> Option<&Point> {
        let known = self.places.get(place(parent, arrival))?.as_ref()?;
        let alike = known.parent == parent
            && Arc::ptr_eq(&known.destination, &arrival.destination)
            && is_same_memory(&known.interface, &arrival.interface)
            && is_same(known.query.as_bytes(), arrival.query.as_bytes())
            && is_same(&known.body, &arrival.body)
            && arrival.site.is_none();
        alike.then_some(&known.first)
    }

    /// A call like this one has this point, when it is the first.
    pub(crate) fn remember(&mut self, parent: Option<CallId>, arrival: &Arrival, first: &Point) {
        if arrival.site.is_some() || arrival.query.len() + arrival.body.len() > LONGEST {
            return;
        }
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        self.places[place(parent, arrival)] = Some(Known {
            parent,
            destination: arrival.destination.clone(),
            interface: arrival.interface.clone(),
            query: arrival.query.as_str().into(),
            body: arrival.body.as_ref().into(),
            first: first.clone(),
        });
    }
}

/// Mostly both are empty. Some processors then take longer to compare them than
/// for everything else here: where nothing is compared, no memory need be.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

/// Proxies give the same memory to the same interface; to look at every letter
/// of others would not be worth it.
fn is_same_memory(one: &Interface, other: &Interface) -> bool {
    let ((a, b), (c, d)) = (texts(one), texts(other));
    Arc::ptr_eq(a, c) && Arc::ptr_eq(b, d)
}

fn texts(interface: &Interface) -> (&Arc<str>, &Arc<str>) {
    match interface {
        Interface::Http { method, path } => (method, path),
        Interface::Grpc { service, method } => (service, method),
    }
}

fn place(parent: Option<CallId>, arrival: &Arrival) -> usize {
    let (_, second) = texts(&arrival.interface);
    let memory = second.as_ptr().addr() >> 4;
    let parent = parent.map_or(0, |parent| parent.0 as usize + 1);
    let last = arrival.body.last().map_or(0, |byte| usize::from(*byte));
    let sent = arrival.query.len() + arrival.body.len() + last;
    (memory ^ memory >> 6)
        .wrapping_add(parent)
        .wrapping_add(sent)
        % PLACES
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use murphy_model::Frame;

    use super::*;
    use crate::control::{ExecutionId, Owner, Parent};

    fn arrival(like: Option<&Arrival>, query: &str, body: &'static str) -> Arrival {
        let interface = like.map(|like| like.interface.clone());
        let destination = like.map(|like| like.destination.clone());
        Arrival {
            claim: Owner {
                execution: ExecutionId(1),
                parent: Parent::Entry,
            },
            destination: destination.unwrap_or_else(|| "cart".into()),
            interface: interface.unwrap_or_else(|| Interface::http("GET", "/cart")),
            query: query.to_owned(),
            body: Bytes::from_static(body.as_bytes()),
            body_cut: false,
            idempotency_key: None,
            site: None,
            hints: Vec::new(),
            over_tls: None,
            noted: Vec::new(),
        }
    }

    #[test]
    fn only_what_is_the_same_in_every_word_is_taken_for_it() {
        for (query, body) in [("", ""), ("a=1", "x"), ("", "{}")] {
            let call = arrival(None, query, body);
            let parent = Some(CallId(0));
            let point = Point::entry(Frame::new("cart", call.interface.clone()));
            let mut alike = Alike::default();
            assert_eq!(alike.get(parent, &call), None);
            alike.remember(parent, &call, &point);
            let again = arrival(Some(&call), query, body);
            assert_eq!(alike.get(parent, &again), Some(&point));
            let others = [
                arrival(Some(&call), "b=1", body),
                arrival(Some(&call), query, "y"),
                arrival(None, query, body),
                Arrival {
                    destination: "shop".into(),
                    ..again.clone()
                },
                Arrival {
                    site: Some("app.py:41".to_owned()),
                    ..again.clone()
                },
            ];
            for other in others {
                assert_eq!(alike.get(parent, &other), None, "{other:?}");
            }
            for parent in [None, Some(CallId(1)), Some(CallId(16))] {
                assert_eq!(alike.get(parent, &again), None);
            }
        }
    }

    #[test]
    fn what_is_long_or_comes_from_a_place_in_the_code_is_not_remembered() {
        let long = "x".repeat(LONGEST + 1);
        let placed = Arrival {
            site: Some("app.py:41".to_owned()),
            ..arrival(None, "", "")
        };
        for call in [arrival(None, &long, ""), placed] {
            let point = Point::entry(Frame::new("cart", call.interface.clone()));
            let mut alike = Alike::default();
            alike.remember(None, &call, &point);
            assert_eq!(alike.get(None, &call), None);
            assert!(alike.places.is_empty());
        }
    }
}

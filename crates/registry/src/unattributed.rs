//! Requests that were passed on while executions ran and belong to none of
//! them: they brought no context, and their listener does not say whose they
//! are.
//!
//! Owns counting them by service and interface, within bounds. What they mean
//! is for whoever runs the executions.

use std::collections::BTreeMap;
use std::sync::Arc;

use murphy_model::{Frame, Interface, Point};

/// How many interfaces of one service are distinguished. Where paths vary without
/// end, these are enough to name the call; the rest is counted with the last.
const MOST_INTERFACES: usize = 8;

/// A call that belongs to no execution, and how often it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unattributed {
    /// The call, without who made it.
    pub at: Point,
    /// How often it was seen.
    pub calls: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Counts(BTreeMap<Arc<str>, Vec<(Interface, usize)>>);

impl Counts {
    pub(crate) fn add(&mut self, service: &Arc<str>, interface: &Interface) {
        let known = self.0.entry(service.clone()).or_default();
        let is_full = known.len() >= MOST_INTERFACES;
        match known.iter_mut().find(|(it, _)| it == interface) {
            Some((_, count)) => *count += 1,
            None if is_full => known[MOST_INTERFACES - 1].1 += 1,
            None => known.push((interface.clone(), 1)),
        }
    }

    pub(crate) fn all(&self) -> Vec<Unattributed> {
        let services = self.0.iter();
        let all = services.flat_map(|(service, interfaces)| {
            interfaces.iter().map(|(interface, calls)| Unattributed {
                at: Point::entry(Frame::new(service, interface.clone())),
                calls: *calls,
            })
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_vary_without_end_are_counted_within_bounds() {
        let mut counts = Counts::default();
        for number in 0..100 {
            let interface = Interface::http("GET", &format!("/items/sku-{number:x}"));
            counts.add(&"rates".into(), &interface);
        }
        let all = counts.all();
        assert_eq!(all.len(), MOST_INTERFACES);
        assert_eq!(all.iter().map(|it| it.calls).sum::<usize>(), 100);
        assert_eq!(all[0].at.to_string(), "rates GET /items/sku-0");
    }
}

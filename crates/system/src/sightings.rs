//! Which carriers came back with the calls between services.
//!
//! Owns what was seen at the proxies, before anything of ours was stamped: per
//! service that was called and per carrier, on how many calls our mark or ids
//! were there. The test's own requests do not count, since nothing was handed
//! on to them, but the ids that they brought are to come back too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use murphy_proxy::carriers::Carriers;
use murphy_proxy::{Sighting, Witness};
use murphy_registry::{ContextHint, Parent, TraceKey};

/// One carrier, alone.
struct Column {
    name: String,
    /// `None` if it is not in use, so that nothing was stamped.
    carrier: Option<Carriers>,
}

/// What was seen.
#[derive(Default)]
struct Seen {
    /// Ids that came with the test's own requests.
    brought: BTreeSet<u128>,
    /// Whether nothing more counts.
    is_closed: bool,
    /// By service.
    calls: BTreeMap<String, Counts>,
}

#[derive(Clone, Default)]
struct Counts {
    calls: usize,
    /// By column.
    came_back: Vec<usize>,
}

/// Which carriers came back with the calls between services.
pub struct Sightings {
    columns: Arc<[Column]>,
    seen: Arc<Mutex<Seen>>,
}

/// Whether a carrier came back with the calls to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// On every call.
    Always,
    /// On some.
    Sometimes,
    /// On none.
    Never,
    /// It is not in use.
    Unused,
}

/// What came back with the calls to a service.
pub struct Row {
    /// The service that was called.
    pub service: String,
    /// How many calls there were.
    pub calls: usize,
    /// By carrier, as in [`Sightings::columns`].
    pub cells: Vec<Cell>,
    /// Whether some carrier in use can hold our own mark and did.
    marked: bool,
}

impl Row {
    /// Whether our own mark came back with every call.
    pub fn is_certain(&self) -> bool {
        self.marked
    }

    /// Whether at least ids came back with every call.
    pub fn is_known(&self) -> bool {
        self.cells.contains(&Cell::Always)
    }
}

impl Sightings {
    /// Of the usual carriers, and whatever others are in use.
    pub fn of(used: &Carriers) -> Self {
        let used: Vec<String> = used.to_string().split(',').map(str::to_owned).collect();
        let known = Carriers::NAMES
            .iter()
            .filter(|name| **name != "header:NAME");
        let mut names: Vec<String> = known.map(|name| (*name).to_owned()).collect();
        let headers = used.iter().filter(|name| name.starts_with("header:"));
        names.extend(headers.cloned());
        let column = |name: String| Column {
            carrier: match used.contains(&name) {
                true => Some(name.parse().expect("a carrier's own name")),
                false => None,
            },
            name,
        };
        Sightings {
            columns: names.into_iter().map(column).collect(),
            seen: Arc::default(),
        }
    }

    /// Takes note of what it is shown.
    pub fn witness(&self) -> Witness {
        let (columns, seen) = (self.columns.clone(), self.seen.clone());
        Arc::new(move |sighting| lock(&seen).note(&columns, sighting))
    }

    /// What was seen until now does not count.
    pub fn forget(&self) {
        *lock(&self.seen) = Seen::default();
    }

    /// What is seen from now on does not count.
    pub fn close(&self) {
        lock(&self.seen).is_closed = true;
    }

    /// The names of all carriers.
    pub fn columns(&self) -> Vec<&str> {
        self.columns.iter().map(|it| it.name.as_str()).collect()
    }

    /// What came back, by service.
    pub fn rows(&self) -> Vec<Row> {
        let seen = lock(&self.seen);
        let row = |(service, counts): (&String, &Counts)| {
            let columns = self.columns.iter().zip(&counts.came_back);
            let cells: Vec<Cell> = columns
                .map(|(column, n)| match (&column.carrier, *n) {
                    (None, _) => Cell::Unused,
                    (Some(_), 0) => Cell::Never,
                    (Some(_), n) if n == counts.calls => Cell::Always,
                    (Some(_), _) => Cell::Sometimes,
                })
                .collect();
            let carries_mark = |name: &str| {
                ["tracestate", "baggage"].contains(&name) || name.starts_with("header:")
            };
            let marks = self.columns.iter().zip(&cells);
            let marked = marks
                .filter(|(column, _)| carries_mark(&column.name))
                .any(|(_, cell)| *cell == Cell::Always);
            Row {
                service: service.clone(),
                calls: counts.calls,
                cells,
                marked,
            }
        };
        seen.calls.iter().map(row).collect()
    }
}

impl Seen {
    fn note(&mut self, columns: &[Column], sighting: &Sighting<'_>) {
        if self.is_closed {
            return;
        }
        let hints = columns.iter().map(|column| match &column.carrier {
            Some(carrier) => carrier.read(sighting.headers),
            None => Vec::new(),
        });
        let hints: Vec<Vec<ContextHint>> = hints.collect();
        if sighting.claim.parent == Parent::Entry {
            self.brought
                .extend(hints.iter().flatten().filter_map(trace));
            return;
        }
        let ours = sighting.claim.execution;
        let is_ours = |clue: &ContextHint| match clue {
            ContextHint::Stamp(key) => key.execution == ours,
            ContextHint::Trace(TraceKey(id), _) => {
                *id == ours.trace().0 || self.brought.contains(id)
            }
        };
        let came_back: Vec<bool> = hints.iter().map(|it| it.iter().any(is_ours)).collect();
        let counts = self.calls.entry(sighting.service.to_owned()).or_default();
        counts.calls += 1;
        counts.came_back.resize(columns.len(), 0);
        for (count, came_back) in counts.came_back.iter_mut().zip(came_back) {
            *count += usize::from(came_back);
        }
    }
}

fn trace(clue: &ContextHint) -> Option<u128> {
    match clue {
        ContextHint::Trace(TraceKey(id), _) => Some(*id),
        ContextHint::Stamp(_) => None,
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(|broken| broken.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;
    use murphy_registry::{ExecutionId, Owner, Spans};

    fn show(sightings: &Sightings, entry: bool, lines: &[(&'static str, &str)]) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let parent = match entry {
            true => Parent::Entry,
            false => Parent::Infer {
                spans: Spans::default(),
                caller: None,
                maybe_test: false,
            },
        };
        let claim = Owner {
            execution: ExecutionId(0xab),
            parent,
        };
        sightings.witness()(&Sighting {
            service: "cart",
            claim: &claim,
            headers: &headers,
        });
    }

    const MARK: (&str, &str) = ("tracestate", "murphy=00000000000000ab-0");
    const IDS: (&str, &str) = (
        "traceparent",
        "00-000000000000000000000000000000ab-00f067aa0ba902b7-01",
    );

    fn cells(sightings: &Sightings) -> Vec<Cell> {
        let rows = sightings.rows();
        assert_eq!((rows.len(), rows[0].service.as_str()), (1, "cart"));
        rows.into_iter().next().unwrap().cells
    }

    #[test]
    fn what_came_back_on_every_call_survives() {
        use Cell::*;
        let sightings = Sightings::of(&Carriers::default());
        show(&sightings, true, &[]);
        assert!(sightings.rows().is_empty());
        show(&sightings, false, &[MARK, IDS]);
        let unused = [Unused; 3];
        assert_eq!(cells(&sightings)[..3], [Always, Never, Always]);
        assert_eq!(cells(&sightings)[3..], unused);
        assert!(sightings.rows()[0].is_certain());
        show(&sightings, false, &[IDS]);
        assert_eq!(cells(&sightings)[..3], [Sometimes, Never, Always]);
        let row = &sightings.rows()[0];
        assert!(!row.is_certain() && row.is_known() && row.calls == 2);
        sightings.forget();
        assert!(sightings.rows().is_empty());
    }

    #[test]
    fn the_marks_of_others_are_not_ours() {
        let sightings = Sightings::of(&"tracestate,traceparent,header:x-my".parse().unwrap());
        let others = [
            ("tracestate", "murphy=00000000000000ac-0"),
            (
                "traceparent",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ),
        ];
        show(&sightings, false, &others);
        assert!(!sightings.rows()[0].is_known());
        // Unless they are what the test itself brought.
        sightings.forget();
        show(&sightings, true, &others[1..]);
        show(&sightings, false, &others);
        assert_eq!(cells(&sightings)[2], Cell::Always);
        assert_eq!(sightings.columns().last(), Some(&"header:x-my"));
    }
}

//! What happens without faults: which tests can be relied on, and which cloud
//! calls they make.
//!
//! Only what all reference runs agree on counts: a call that comes and goes
//! cannot be aimed at.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::attempt::Attempt;
use crate::case::{CaseRun, TestEnd};
use crate::shot::Record;
use crate::site::{SiteKey, TestPhase};

/// A cloud call that every reference run makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenCall {
    pub(crate) site: SiteKey,
    pub(crate) phase: TestPhase,
    pub(crate) line: Option<String>,
    pub(crate) ordinal: u32,
    pub(crate) line_ordinal: u32,
    /// The answers to its first attempt.
    pub(crate) statuses: Vec<Option<u16>>,
}

impl SeenCall {
    pub(crate) fn all_below(&self, limit: u16) -> bool {
        let is_below = |status: &Option<u16>| status.is_some_and(|status| status < limit);
        self.statuses.iter().all(is_below)
    }
}

/// A test that passed in all reference runs.
#[derive(Clone, Debug)]
pub(crate) struct TestReference {
    pub(crate) took: Duration,
    pub(crate) calls: Vec<SeenCall>,
    /// Errors that services answered with: no sign of trouble.
    pub(crate) errors: BTreeSet<(SiteKey, u16)>,
    /// Requests that change something.
    pub(crate) changes: BTreeSet<Change>,
    /// Paths whose changes differ from run to run, so that nothing follows from another one.
    pub(crate) volatile_paths: BTreeSet<(String, String)>,
}

/// A request that changes something, as two executions are compared by.
pub(crate) type Change = (String, String, String, u64);

pub(crate) fn change(attempt: &Attempt) -> Change {
    let Attempt {
        method,
        path,
        query,
        body_hash,
        ..
    } = attempt;
    (method.clone(), path.clone(), query.clone(), *body_hash)
}

/// The suite without faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reference {
    /// The tests that passed every time.
    pub(crate) tests: BTreeMap<String, TestReference>,
    pub(crate) flaky: Vec<String>,
    pub(crate) baseline_failures: Vec<String>,
    pub(crate) skipped: usize,
    /// Cloud calls and attempts of the first run, of all tests.
    pub(crate) calls: usize,
    pub(crate) attempts: usize,
    pub(crate) wall: Duration,
    pub(crate) frames: Frames,
}

impl Reference {
    /// Of the runs of every test.
    pub(crate) fn of(runs: &BTreeMap<String, Vec<CaseRun>>) -> Self {
        let mut reference = Reference::default();
        for (test, runs) in runs {
            let ends: BTreeSet<TestEnd> = runs.iter().map(|run| run.result.outcome).collect();
            if let Some(first) = runs.first() {
                reference.calls += first.record.calls.len();
                reference.attempts += first.record.attempts.len();
                reference.wall += first.took;
                reference.frames.learn(&first.record);
            }
            match ends.iter().collect::<Vec<_>>()[..] {
                [TestEnd::Passed] => {
                    let seen = TestReference::of(runs);
                    reference.tests.insert(test.clone(), seen);
                }
                [TestEnd::Skipped | TestEnd::Vanished] | [] => reference.skipped += 1,
                _ if ends.contains(&TestEnd::Passed) => reference.flaky.push(test.clone()),
                _ => reference.baseline_failures.push(test.clone()),
            }
        }
        reference
    }

    /// Sites of the application that were seen.
    pub(crate) fn sites(&self) -> BTreeSet<&SiteKey> {
        let calls = self.tests.values().flat_map(|test| &test.calls);
        calls
            .map(|call| &call.site)
            .filter(|site| site.is_in_application())
            .collect()
    }
}

impl TestReference {
    fn of(runs: &[CaseRun]) -> Self {
        let records: Vec<&Record> = runs.iter().map(|run| &run.record).collect();
        let changes: Vec<BTreeSet<Change>> = records.iter().map(|record| changes(record)).collect();
        let all: BTreeSet<Change> = changes.iter().flatten().cloned().collect();
        let is_volatile = |change: &&Change| changes.iter().any(|run| !run.contains(*change));
        let volatile = all.iter().filter(is_volatile);
        TestReference {
            took: runs.iter().map(|run| run.took).max().unwrap_or_default(),
            calls: common_calls(&records),
            errors: records.iter().flat_map(|record| errors(record)).collect(),
            volatile_paths: volatile
                .map(|(method, path, ..)| (method.clone(), path.clone()))
                .collect(),
            changes: all,
        }
    }
}

/// The requests of a record that change something.
fn changes(record: &Record) -> BTreeSet<Change> {
    let changing = record
        .attempts
        .iter()
        .filter(|attempt| attempt.is_mutating());
    changing.map(change).collect()
}

/// Errors that services answered with, and from which sites.
fn errors(record: &Record) -> impl Iterator<Item = (SiteKey, u16)> {
    record.attempts.iter().filter_map(move |attempt| {
        let status = attempt.status().filter(|status| *status >= 400)?;
        Some((record.calls[attempt.call].site.clone(), status))
    })
}

/// The calls of the first record that all others have.
fn common_calls(records: &[&Record]) -> Vec<SeenCall> {
    let Some((first, others)) = records.split_first() else {
        return Vec::new();
    };
    let same = |record: &Record, place: usize| {
        let wanted = &first.calls[place];
        record.calls.iter().position(|call| {
            (&call.site, call.phase, &call.line, call.ordinal)
                == (&wanted.site, wanted.phase, &wanted.line, wanted.ordinal)
        })
    };
    let mut common = Vec::new();
    for (place, call) in first.calls.iter().enumerate() {
        let places = others.iter().map(|other| same(other, place));
        let Some(places) = places.collect::<Option<Vec<usize>>>() else {
            continue;
        };
        let everywhere: Vec<(&Record, usize)> = std::iter::once((*first, place))
            .chain(others.iter().copied().zip(places))
            .collect();
        let status = |(record, place): &(&Record, usize)| {
            record.attempts_of(*place).next().and_then(Attempt::status)
        };
        common.push(SeenCall {
            site: call.site.clone(),
            phase: call.phase,
            line: call.line.clone(),
            ordinal: call.ordinal,
            line_ordinal: call.line_ordinal,
            statuses: everywhere.iter().map(status).collect(),
        });
    }
    common
}

/// The frames of the application, and the operations that each leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    operations: BTreeMap<String, BTreeSet<String>>,
    files: BTreeSet<String>,
}

impl Frames {
    fn learn(&mut self, record: &Record) {
        for call in &record.calls {
            for frame in &call.site.stack {
                let operations = self.operations.entry(frame.clone()).or_default();
                operations.insert(call.site.operation.clone());
                self.files.insert(file(frame).to_owned());
            }
        }
    }

    /// The chain up to the first frame that leads to this operation alone; all
    /// of it, if none does.
    pub(crate) fn specific<'s>(&self, site: &'s SiteKey) -> &'s [String] {
        let is_specific = |frame: &String| {
            let operations = self.operations.get(frame);
            operations.is_none_or(|operations| operations.len() == 1)
        };
        match site.stack.iter().position(is_specific) {
            Some(place) => &site.stack[..=place],
            None => &site.stack,
        }
    }

    /// Whether a frame is in a file of the application, as far as is known.
    pub(crate) fn is_application(&self, frame: &str) -> bool {
        self.files.contains(file(frame))
    }
}

/// The file of `store.py:41:put`.
fn file(frame: &str) -> &str {
    let mut parts = frame.rsplitn(3, ':');
    let (_, _) = (parts.next(), parts.next());
    parts.next().unwrap_or(frame)
}

/// A frame without its line, which changes whenever somebody edits the file above it.
pub(crate) fn without_line(frame: &str) -> String {
    let parts: Vec<&str> = frame.rsplitn(3, ':').collect();
    match parts[..] {
        [function, _, file] => format!("{file}:{function}"),
        _ => frame.to_owned(),
    }
}

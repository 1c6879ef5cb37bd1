//! What came of a run over the tests of suites, as an object.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::json::SummaryObject;
use crate::redact;
use crate::terminal::RunResult;

/// What was seen of the tests of a suite before anything was injected.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The scenario that stands for its tests.
    pub scenario: String,
    /// The name and version of its runner, if it told.
    pub runner: String,
    /// How many tests were listed.
    pub listed: usize,
    /// The calls between services, each with the tests that make it.
    pub calls: BTreeMap<String, BTreeSet<String>>,
    /// The tests that are left out, and why.
    pub left_out: Vec<(String, String)>,
    /// What could not be read, a line each.
    pub problems: Vec<String>,
    /// Services that no test calls.
    pub uncalled: BTreeSet<String>,
    /// How many endpoints services describe.
    pub described: usize,
    /// Those that no test reaches: the service, and what is called.
    pub unreached: Vec<(String, String)>,
    /// The fixtures that tests share, with how many do.
    pub shares: BTreeMap<String, usize>,
}

#[derive(Serialize)]
pub(super) struct SuitesObject<'s> {
    suites: Vec<SuiteObject<'s>>,
    scenarios: Vec<SummaryObject<'s>>,
    not_run: Vec<NotRunObject<'s>>,
}

#[derive(Serialize)]
struct SuiteObject<'s> {
    scenario: &'s str,
    runner: &'s str,
    listed: usize,
    calls: Vec<CallObject<'s>>,
    left_out: Vec<NotRunObject<'s>>,
    problems: Vec<String>,
    uncalled: &'s BTreeSet<String>,
    endpoints: EndpointsObject<'s>,
    shared_fixtures: &'s BTreeMap<String, usize>,
}

#[derive(Serialize)]
struct CallObject<'s> {
    call: &'s str,
    tests: &'s BTreeSet<String>,
}

#[derive(Serialize)]
struct NotRunObject<'s> {
    scenario: &'s str,
    why: String,
}

#[derive(Serialize)]
struct EndpointsObject<'s> {
    described: usize,
    unreached: Vec<EndpointObject<'s>>,
}

#[derive(Serialize)]
struct EndpointObject<'s> {
    service: &'s str,
    interface: &'s str,
}

impl<'s> SuitesObject<'s> {
    pub(super) fn new(suites: &'s [Suite], results: &'s [RunResult]) -> Self {
        let mut object = SuitesObject {
            suites: suites.iter().map(SuiteObject::new).collect(),
            scenarios: Vec::new(),
            not_run: Vec::new(),
        };
        for result in results {
            match result {
                RunResult::Ran(summary) => object.scenarios.push(SummaryObject::new(summary)),
                RunResult::NotRun { scenario, why } => {
                    object.not_run.push(NotRunObject::new(scenario, why));
                }
            }
        }
        object
    }
}

impl<'s> SuiteObject<'s> {
    fn new(suite: &'s Suite) -> Self {
        let calls = suite.calls.iter();
        let left_out = suite.left_out.iter();
        let unreached = suite.unreached.iter();
        SuiteObject {
            scenario: &suite.scenario,
            runner: &suite.runner,
            listed: suite.listed,
            calls: calls
                .map(|(call, tests)| CallObject { call, tests })
                .collect(),
            left_out: left_out
                .map(|(test, why)| NotRunObject::new(test, why))
                .collect(),
            problems: suite
                .problems
                .iter()
                .map(|line| redact::owned(line))
                .collect(),
            uncalled: &suite.uncalled,
            endpoints: EndpointsObject {
                described: suite.described,
                unreached: unreached
                    .map(|(service, interface)| EndpointObject { service, interface })
                    .collect(),
            },
            shared_fixtures: &suite.shares,
        }
    }
}

impl<'s> NotRunObject<'s> {
    fn new(scenario: &'s str, why: &str) -> Self {
        let why = redact::owned(why);
        NotRunObject { scenario, why }
    }
}

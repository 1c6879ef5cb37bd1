//! The plan: which calls of which tests are aimed at, under which policies.
//!
//! Owns coverage and the rules by which a policy is not worth running on a
//! call; in which round a case is run is the session's business. For C1 to C4
//! a site is its innermost frame, as in the paper; for the others it is the
//! operation with the chain of frames.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::Aim;
use crate::edge_cover::{WeightedEdge, edge_cover};
use crate::exclusion::{Exclusions, Reason};
use crate::policy::Policy;
use crate::reference::{Reference, SeenCall};
use crate::settings::SuiteSettings;
use crate::site::{SiteKey, TestPhase};

/// Which calls are aimed at.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// The first call of every test.
    C1,
    /// Every innermost frame once, in its cheapest test.
    C2,
    /// Every test and every innermost frame at least once, at the least cost.
    C3,
    /// Every innermost frame in every test.
    C4,
    /// Every operation and chain of frames in every test.
    #[default]
    C5,
    /// As C5, and calls that other lines of the test lead to count apart.
    C6,
    /// Every operation and chain of frames once, in its cheapest test.
    Quick,
}

impl Coverage {
    /// All of them.
    pub const ALL: [Coverage; 7] = [
        Coverage::C1,
        Coverage::C2,
        Coverage::C3,
        Coverage::C4,
        Coverage::C5,
        Coverage::C6,
        Coverage::Quick,
    ];

    /// The name in flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            Coverage::C1 => "c1",
            Coverage::C2 => "c2",
            Coverage::C3 => "c3",
            Coverage::C4 => "c4",
            Coverage::C5 => "c5",
            Coverage::C6 => "c6",
            Coverage::Quick => "quick",
        }
    }

    /// The coverage with this name.
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |coverage: &Coverage| coverage.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(is_it)
    }
}

/// A call of a test that is aimed at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) test: String,
    pub(crate) site: SiteKey,
    pub(crate) phase: TestPhase,
    pub(crate) line: Option<String>,
    pub(crate) ordinal: u32,
}

impl Target {
    pub(crate) fn aim(&self, policy: Policy) -> Aim {
        Aim {
            site: self.site.clone(),
            phase: self.phase,
            ordinal: self.ordinal,
            policy,
            line: self.line.clone(),
        }
    }
}

/// What is to be run, before anything is known about how calls are retried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) targets: BTreeMap<Policy, Vec<Target>>,
    pub(crate) exclusions: Exclusions,
}

/// What a plan comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanSummary {
    /// Which calls are aimed at.
    pub coverage: Coverage,
    /// Faults, of all policies.
    pub cases: usize,
    /// Rounds, if no test fails.
    pub rounds: usize,
    /// How many of the faults are injected in the first round, all at once.
    pub group_cases: usize,
    /// What that takes, if no test fails and one round is run at a time.
    pub estimate_ms: u64,
    /// Faults by policy.
    pub by_policy: BTreeMap<Policy, usize>,
}

impl Plan {
    pub(crate) fn of(reference: &Reference, settings: &SuiteSettings) -> Self {
        let mut plan = Plan::default();
        plan.exclude_tests(reference);
        plan.exclude_calls(reference, settings);
        for policy in &settings.policies {
            let targets = plan.targets(reference, settings, *policy);
            plan.targets.insert(*policy, targets);
        }
        plan
    }

    fn exclude_tests(&mut self, reference: &Reference) {
        for test in &reference.flaky {
            self.exclusions.test(Reason::Flaky, test);
        }
        for test in &reference.baseline_failures {
            self.exclusions.test(Reason::BaselineFailing, test);
        }
    }

    fn exclude_calls(&mut self, reference: &Reference, settings: &SuiteSettings) {
        for (test, seen) in &reference.tests {
            for call in &seen.calls {
                let reason = match call {
                    call if !settings.phases.contains(&call.phase) => Reason::Phase,
                    call if !is_in_application(call, settings) => Reason::TestCode,
                    _ => continue,
                };
                self.exclusions.call(reason, test, &call.site, None);
            }
        }
    }

    /// The calls that a policy is aimed at.
    fn targets(
        &mut self,
        reference: &Reference,
        settings: &SuiteSettings,
        policy: Policy,
    ) -> Vec<Target> {
        let mut choices = Vec::new();
        for (test, seen) in &reference.tests {
            let mut places: BTreeMap<Place, Vec<&SeenCall>> = BTreeMap::new();
            let mut order = Vec::new();
            let is_meant = |call: &&SeenCall| {
                settings.phases.contains(&call.phase) && is_in_application(call, settings)
            };
            for call in seen.calls.iter().filter(is_meant) {
                let place = Place::of(call, settings);
                let calls = places.entry(place.clone()).or_default();
                if calls.is_empty() {
                    order.push(place);
                }
                calls.push(call);
            }
            for place in order {
                let calls = &places[&place];
                match calls.iter().find(|call| is_worth(policy, call)) {
                    Some(call) => choices.push(Choice {
                        place,
                        weight: seen.took + settings.start_up + settings.backoff,
                        target: target(test, call, settings),
                    }),
                    None => {
                        let site = &calls[0].site;
                        let policy = Some(policy);
                        let reason = Reason::ReferenceError;
                        self.exclusions.call(reason, test, site, policy);
                    }
                }
            }
        }
        choose(settings.coverage, choices)
    }

    /// What it comes to.
    pub(crate) fn summary(&self, reference: &Reference, settings: &SuiteSettings) -> PlanSummary {
        let grouped = settings.group.then_some(Policy::P1);
        let mut of_test: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
        let mut cases = 0;
        for (policy, targets) in &self.targets {
            cases += targets.len();
            for target in targets {
                let (alone, is_grouped) = of_test.entry(&target.test).or_default();
                match Some(*policy) == grouped {
                    true => *is_grouped = true,
                    false => *alone += 1,
                }
            }
        }
        let group_cases = grouped.and_then(|policy| self.targets.get(&policy));
        let single: usize = of_test.values().map(|(alone, _)| alone).sum();
        let longest = of_test.values().map(|(alone, _)| *alone).max();
        let batches = match settings.batch {
            true => longest.unwrap_or(0),
            false => single,
        };
        let rounds = batches + usize::from(of_test.values().any(|(_, is_grouped)| *is_grouped));
        let of_tests = of_test.iter().map(|(test, (alone, is_grouped))| {
            let executions = alone + usize::from(*is_grouped);
            (reference.tests[*test].took + settings.backoff) * executions as u32
        });
        let time = of_tests.sum::<Duration>() + settings.start_up * rounds as u32;
        PlanSummary {
            coverage: settings.coverage,
            cases,
            rounds,
            group_cases: group_cases.map_or(0, Vec::len),
            estimate_ms: time.as_millis() as u64,
            by_policy: self
                .targets
                .iter()
                .map(|(policy, targets)| (*policy, targets.len()))
                .collect(),
        }
    }
}

/// Without a library nobody knows who calls: all calls may be the application's.
fn is_in_application(call: &SeenCall, settings: &SuiteSettings) -> bool {
    settings.generic || call.site.is_in_application()
}

/// Whether a policy can show anything at a call that is answered like this.
fn is_worth(policy: Policy, call: &SeenCall) -> bool {
    let limit = if policy.loses_first_answer() {
        300
    } else {
        400
    };
    call.all_below(limit)
}

fn target(test: &str, call: &SeenCall, settings: &SuiteSettings) -> Target {
    let by_line = settings.coverage == Coverage::C6;
    Target {
        test: test.to_owned(),
        site: call.site.clone(),
        phase: call.phase,
        line: call.line.clone().filter(|_| by_line),
        ordinal: match by_line && call.line.is_some() {
            true => call.line_ordinal,
            false => call.ordinal,
        },
    }
}

/// What counts as the same site: everything that differs between coverages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Innermost(String),
    Chain(SiteKey),
    Line(SiteKey, Option<String>),
    /// Without a library: the n-th call of an operation.
    Ordinal(SiteKey, u32),
}

impl Place {
    fn of(call: &SeenCall, settings: &SuiteSettings) -> Self {
        let site = || call.site.clone();
        match settings.coverage {
            _ if settings.generic => Place::Ordinal(site(), call.ordinal),
            Coverage::C5 | Coverage::Quick => Place::Chain(site()),
            Coverage::C6 => Place::Line(site(), call.line.clone()),
            _ => Place::Innermost(call.site.innermost().unwrap_or_default().to_owned()),
        }
    }
}

/// A call that may be chosen: one for each place of each test, in order.
struct Choice {
    place: Place,
    weight: Duration,
    target: Target,
}

fn choose(coverage: Coverage, choices: Vec<Choice>) -> Vec<Target> {
    let chosen = match coverage {
        Coverage::C1 => first_of_tests(&choices),
        Coverage::C2 | Coverage::Quick => cheapest_of_places(&choices),
        Coverage::C3 => cover(&choices),
        Coverage::C4 | Coverage::C5 | Coverage::C6 => (0..choices.len()).collect(),
    };
    let mut choices: Vec<Option<Choice>> = choices.into_iter().map(Some).collect();
    let mut take = |place: usize| choices[place].take().map(|choice| choice.target);
    chosen.into_iter().filter_map(&mut take).collect()
}

fn first_of_tests(choices: &[Choice]) -> Vec<usize> {
    let mut tests = BTreeSet::new();
    let is_new = |place: &usize| tests.insert(&choices[*place].target.test);
    (0..choices.len()).filter(is_new).collect()
}

fn cheapest_of_places(choices: &[Choice]) -> Vec<usize> {
    let mut cheapest: BTreeMap<&Place, usize> = BTreeMap::new();
    for (at, choice) in choices.iter().enumerate() {
        let best = cheapest.entry(&choice.place).or_insert(at);
        if choice.weight < choices[*best].weight {
            *best = at;
        }
    }
    let mut chosen: Vec<usize> = cheapest.into_values().collect();
    chosen.sort_unstable();
    chosen
}

fn cover(choices: &[Choice]) -> Vec<usize> {
    let mut tests: BTreeMap<&str, usize> = BTreeMap::new();
    let mut places: BTreeMap<&Place, usize> = BTreeMap::new();
    let mut edges = Vec::new();
    for choice in choices {
        let (test, place) = (tests.len(), places.len());
        edges.push(WeightedEdge {
            left: *tests.entry(&choice.target.test).or_insert(test),
            right: *places.entry(&choice.place).or_insert(place),
            weight: choice.weight.as_micros() as u64,
        });
    }
    edge_cover(&edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::TestReference;

    fn call(operation: &str, stack: &[&str], line: u32, ordinal: u32, status: u16) -> SeenCall {
        SeenCall {
            site: SiteKey {
                service: "s3".to_owned(),
                operation: operation.to_owned(),
                stack: stack.iter().map(|frame| (*frame).to_owned()).collect(),
            },
            phase: TestPhase::Call,
            line: Some(format!("test.py:{line}")),
            ordinal,
            line_ordinal: 1,
            statuses: vec![Some(status); 2],
        }
    }

    fn reference(tests: Vec<(u64, Vec<SeenCall>)>) -> Reference {
        let test = |(number, (ms, calls))| {
            let seen = TestReference {
                took: Duration::from_millis(ms),
                calls,
                errors: BTreeSet::new(),
                changes: BTreeSet::new(),
                volatile_paths: BTreeSet::new(),
            };
            (format!("t{number:03}"), seen)
        };
        Reference {
            tests: tests.into_iter().enumerate().map(test).collect(),
            ..Reference::default()
        }
    }

    fn settings(coverage: Coverage) -> SuiteSettings {
        SuiteSettings {
            coverage,
            ..SuiteSettings::default()
        }
    }

    /// How many calls P1 is aimed at.
    fn count(reference: &Reference, coverage: Coverage) -> usize {
        let plan = Plan::of(reference, &settings(coverage));
        plan.targets[&Policy::P1].len()
    }

    /// A suite of random tests whose calls go through few innermost frames.
    fn random_suite(random: &mut fastrand::Rng) -> Reference {
        let operations = ["Put", "Get", "List"];
        let inner = ["w.py:1:call", "w.py:2:call"];
        let outer = ["a.py:1:save", "a.py:9:load", "b.py:4:go"];
        let tests = (0..random.usize(1..=7)).map(|_| {
            let mut counts: BTreeMap<SiteKey, u32> = BTreeMap::new();
            let calls = (0..random.usize(0..8)).map(|_| {
                let stack = [
                    *random.choice(inner).as_ref().unwrap(),
                    random.choice(outer).unwrap(),
                ];
                let operation = random.choice(operations).unwrap();
                let mut call = call(operation, &stack, random.u32(1..4), 1, 200);
                let count = counts.entry(call.site.clone()).or_default();
                *count += 1;
                call.ordinal = *count;
                call
            });
            let calls = calls.collect();
            (random.u64(1..50), calls)
        });
        reference(tests.collect::<Vec<_>>())
    }

    #[test]
    fn counts_are_those_of_an_enumeration() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..400 {
            let suite = random_suite(&mut random);
            let all = || {
                let tests = suite.tests.iter();
                tests.flat_map(|(test, seen)| seen.calls.iter().map(move |call| (test, call)))
            };
            let distinct = |key: &dyn Fn((&String, &SeenCall)) -> String| {
                all().map(key).collect::<BTreeSet<String>>().len()
            };
            let inner = |call: &SeenCall| call.site.stack[0].clone();
            let chain = |call: &SeenCall| format!("{} {:?}", call.site.operation, call.site.stack);
            let expected = [
                (Coverage::C1, distinct(&|(test, _)| test.clone())),
                (Coverage::C2, distinct(&|(_, call)| inner(call))),
                (
                    Coverage::C4,
                    distinct(&|(test, call)| format!("{test} {}", inner(call))),
                ),
                (
                    Coverage::C5,
                    distinct(&|(test, call)| format!("{test} {}", chain(call))),
                ),
                (
                    Coverage::C6,
                    distinct(&|(test, call)| format!("{test} {} {:?}", chain(call), call.line)),
                ),
                (Coverage::Quick, distinct(&|(_, call)| chain(call))),
            ];
            for (coverage, expected) in expected {
                assert_eq!(count(&suite, coverage), expected, "{coverage:?}");
            }
        }
    }

    #[test]
    fn c3_costs_what_the_best_subset_of_c4_costs() {
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..60 {
            let suite = random_suite(&mut random);
            let cost = |targets: &[Target]| -> Duration {
                targets
                    .iter()
                    .map(|target| suite.tests[&target.test].took)
                    .sum()
            };
            let all = Plan::of(&suite, &settings(Coverage::C4)).targets[&Policy::P1].clone();
            let vertices = |targets: &[Target]| -> BTreeSet<String> {
                let both = |target: &Target| [target.test.clone(), target.site.stack[0].clone()];
                targets.iter().flat_map(both).collect()
            };
            let subsets = (0..1u32 << all.len()).map(|set| -> Vec<Target> {
                let is_in = |place: &usize| set & (1 << place) != 0;
                (0..all.len())
                    .filter(is_in)
                    .map(|place| all[place].clone())
                    .collect()
            });
            let covering = subsets.filter(|subset| vertices(subset) == vertices(&all));
            let best = covering.map(|subset| cost(&subset)).min().unwrap();
            let plan = Plan::of(&suite, &settings(Coverage::C3));
            assert_eq!(cost(&plan.targets[&Policy::P1]), best);
        }
    }

    #[test]
    fn a_call_that_is_answered_by_an_error_is_not_aimed_at_but_the_next_of_its_site_is() {
        let put = |ordinal, status| call("Put", &["a.py:1:put"], 1, ordinal, status);
        type Row = (&'static str, Vec<SeenCall>, Option<u32>, Option<u32>);
        let cases: [Row; 4] = [
            (
                "all is well",
                vec![put(1, 200), put(2, 200)],
                Some(1),
                Some(1),
            ),
            (
                "the second is",
                vec![put(1, 404), put(2, 200)],
                Some(2),
                Some(2),
            ),
            (
                "a redirect loses nothing",
                vec![put(1, 304), put(2, 200)],
                Some(2),
                Some(1),
            ),
            ("none is", vec![put(1, 404), put(2, 409)], None, None),
        ];
        for (what, calls, p1, p3) in cases {
            let plan = Plan::of(&reference(vec![(1, calls)]), &settings(Coverage::C5));
            let ordinal = |policy| plan.targets[&policy].first().map(|target| target.ordinal);
            assert_eq!(
                (ordinal(Policy::P1), ordinal(Policy::P3)),
                (p1, p3),
                "{what}"
            );
            let excluded = plan.exclusions.list();
            let reasons: Vec<Reason> = excluded.iter().map(|one| one.reason).collect();
            let expected = if p1.is_none() {
                vec![Reason::ReferenceError]
            } else {
                vec![]
            };
            assert_eq!(reasons, expected, "{what}");
        }
    }

    #[test]
    fn other_phases_and_calls_of_the_test_itself_are_not_aimed_at() {
        let teardown = SeenCall {
            phase: TestPhase::Teardown,
            ..call("Put", &["a.py:1:put"], 1, 1, 200)
        };
        let own = call("Put", &[], 1, 1, 200);
        let suite = reference(vec![(1, vec![teardown, own])]);
        let plan = Plan::of(&suite, &settings(Coverage::C5));
        assert_eq!(plan.targets[&Policy::P1], []);
        let excluded = plan.exclusions.list();
        let reasons: Vec<Reason> = excluded.iter().map(|one| one.reason).collect();
        assert_eq!(reasons, [Reason::Phase, Reason::TestCode]);

        let generic = SuiteSettings {
            generic: true,
            ..SuiteSettings::default()
        };
        assert_eq!(Plan::of(&suite, &generic).targets[&Policy::P1].len(), 1);
    }

    #[test]
    fn a_forecast_counts_the_group_once_and_the_longest_test_per_round() {
        let calls = |n: usize| -> Vec<SeenCall> {
            let frames: Vec<String> = (0..n).map(|n| format!("a.py:{n}:f")).collect();
            frames
                .iter()
                .map(|frame| call("Put", &[frame.as_str()], 1, 1, 200))
                .collect()
        };
        let suite = reference(vec![(100, calls(3)), (10, calls(1))]);
        let settings = SuiteSettings {
            start_up: Duration::from_millis(1000),
            ..SuiteSettings::default()
        };
        let summary = Plan::of(&suite, &settings).summary(&suite, &settings);
        assert_eq!(summary.cases, 16);
        assert_eq!(summary.group_cases, 4);
        assert_eq!(summary.rounds, 1 + 9);
        assert_eq!(summary.estimate_ms, 10 * 1000 + 10 * 100 + 4 * 10);
        let alone = SuiteSettings {
            group: false,
            batch: false,
            ..settings
        };
        assert_eq!(Plan::of(&suite, &alone).summary(&suite, &alone).rounds, 16);
    }
}

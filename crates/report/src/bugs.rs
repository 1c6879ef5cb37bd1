//! Bugs: findings that are one thing to whoever mends them.
//!
//! Owns when findings, of one scenario or of several, are the same bug: the same
//! call sites fail, or only hand on that one below does, and the same comes of
//! it. A suite that buys in five tests meets one missing fallback five times.
//! What several oracles hold against the same faults of a scenario is one bug
//! too, and so is what an oracle warns of in one caller. Every finding keeps its
//! name, its smallest faultload and its replay; only what is shown in full is one
//! of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use murphy_model::{
    BugClass, Edge, Faultload, Finding, Found, Mode, Point, Reply, Severity, Target,
};
use murphy_oracle::{Oracle, answer_above_faults, failing_calls};

use crate::Summary;

/// Findings that are one bug.
pub(crate) struct Bug<'s> {
    /// The same call sites with the same symptom; never empty.
    same: Vec<(&'s Summary, &'s Finding)>,
    /// What else is held against its executions, or against its caller.
    also: Vec<(&'s Summary, &'s Finding)>,
}

impl<'s> Bug<'s> {
    /// The finding to be shown: the one with the fewest faults.
    pub(crate) fn shown(&self) -> (&'s Summary, &'s Finding) {
        self.same[0]
    }

    /// The others that show the same at the same call sites.
    pub(crate) fn others(&self) -> &[(&'s Summary, &'s Finding)] {
        &self.same[1..]
    }

    /// Other complaints about its executions, and the same one about other calls
    /// of its caller.
    pub(crate) fn also(&self) -> &[(&'s Summary, &'s Finding)] {
        &self.also
    }

    /// In how many executions it was seen.
    pub(crate) fn seen(&self) -> usize {
        if let [(_, only)] = self.same.as_slice() {
            return only.seen;
        }
        // One execution may show several of them.
        let executions = self.same.iter().flat_map(|(summary, finding)| {
            let cases = summary.cases.iter();
            let shows = cases.filter(|case| case.findings.contains(&finding.id));
            shows.map(|case| (&summary.scenario, case.number))
        });
        executions.collect::<BTreeSet<_>>().len()
    }

    /// In how many scenarios.
    pub(crate) fn scenarios(&self) -> usize {
        let names = self.same.iter().map(|(summary, _)| &summary.scenario);
        names.collect::<BTreeSet<_>>().len()
    }

    /// Below how many requests of the scenarios its faults were injected.
    pub(crate) fn requests(&self) -> usize {
        let entries = self.same.iter().flat_map(|(summary, finding)| {
            let faultloads = finding.also.iter().chain([&finding.faultload]);
            let points = faultloads.flat_map(points);
            points.map(|point| (&summary.scenario, entry(point)))
        });
        entries.collect::<BTreeSet<_>>().len()
    }
}

/// The bugs of these scenarios: failures before warnings, the fewest faults first.
pub(crate) fn of<'s>(summaries: impl IntoIterator<Item = &'s Summary>) -> Vec<Bug<'s>> {
    let mut bugs: Vec<Bug<'s>> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for summary in summaries {
        for finding in &summary.findings {
            let next = bugs.len();
            let key = Key::of(finding, summary.excuse(&finding.id).is_some());
            let place = *places.entry(key).or_insert(next);
            match bugs.get_mut(place) {
                Some(bug) => bug.same.push((summary, finding)),
                None => bugs.push(Bug {
                    same: vec![(summary, finding)],
                    also: Vec::new(),
                }),
            }
        }
    }
    for bug in &mut bugs {
        bug.same.sort_by_key(|(_, finding)| finding.faultload.len());
    }
    bugs.sort_by_key(|bug| {
        let (_, finding) = bug.shown();
        (std::cmp::Reverse(finding.severity), finding.faultload.len())
    });
    merged(bugs)
}

/// The bugs with those left out that another one tells beside its own.
fn merged(bugs: Vec<Bug<'_>>) -> Vec<Bug<'_>> {
    let mut merged: Vec<Bug<'_>> = Vec::new();
    let mut places: HashMap<Ground, usize> = HashMap::new();
    for bug in bugs {
        let same = bug.same.iter();
        let grounds = same.flat_map(|(summary, finding)| {
            let is_known = summary.excuse(&finding.id).is_some();
            grounds(finding, &summary.scenario, is_known)
        });
        let grounds: Vec<Ground> = grounds.collect();
        let first = grounds.iter().find_map(|ground| {
            let first = *places.get(ground)?;
            let is_caller = matches!(ground.what, What::Caller { .. });
            let another_oracle = merged[first].shown().1.oracle != bug.shown().1.oracle;
            (is_caller || another_oracle).then_some(first)
        });
        match first {
            Some(first) => merged[first].also.extend(bug.same),
            None => {
                let next = merged.len();
                for ground in grounds {
                    places.entry(ground).or_insert(next);
                }
                merged.push(bug);
            }
        }
    }
    merged
}

/// On what a finding is one with another.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Ground {
    /// What is new must not be hidden behind what is known.
    is_known: bool,
    what: What,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum What {
    /// The faults of a scenario that show it.
    Faults {
        scenario: String,
        faults: Vec<(Site, Mode)>,
        /// The execution, where there are none.
        execution: Option<usize>,
    },
    /// The service that is warned of, by this oracle.
    Caller {
        oracle: String,
        class: BugClass,
        service: String,
    },
}

fn grounds(finding: &Finding, scenario: &str, is_known: bool) -> Vec<Ground> {
    let ground = |what| Ground { is_known, what };
    let faults = finding.faultload.iter();
    let mut faults: Vec<(Site, Mode)> = faults.map(|(at, mode)| (site(at), mode)).collect();
    faults.sort();
    let caller = finding.edge.as_ref().and_then(Point::parent);
    let caller = caller.filter(|_| finding.severity == Severity::Warn && blames_edges(finding));
    let caller = caller.map(|caller| What::Caller {
        oracle: finding.oracle.to_string(),
        class: finding.class,
        service: caller.frame().destination.to_string(),
    });
    let faults = What::Faults {
        scenario: scenario.to_owned(),
        execution: faults.is_empty().then_some(finding.execution),
        faults,
    };
    [Some(faults), caller]
        .into_iter()
        .flatten()
        .map(ground)
        .collect()
}

/// The bugs that were found until now, while their campaigns still run: what is
/// told of as it is found is counted as it is counted in the end.
#[derive(Debug, Default)]
pub struct BugsFound {
    keys: HashSet<Key>,
    /// The oracle that spoke first, and whether it fails the build.
    grounds: HashMap<Ground, (String, Severity)>,
    failures: usize,
}

impl BugsFound {
    /// Whether this is a bug, or a warning, that was not found before. What the
    /// baseline knows is not looked at.
    pub fn take(&mut self, scenario: &str, found: &Found) -> bool {
        let finding = Finding {
            id: format!("{scenario}: {}", found.summary),
            severity: found.severity,
            class: found.class,
            oracle: found.oracle.clone(),
            faultload: found.faultload.clone(),
            summary: found.summary.clone(),
            edge: found.edge.clone(),
            execution: found.execution,
            shown: found.shown.clone(),
            seen: 1,
            also: Vec::new(),
        };
        let grounds = grounds(&finding, scenario, false);
        let is_line_of_another = grounds.iter().any(|ground| {
            let first = self.grounds.get(ground);
            let is_caller = matches!(ground.what, What::Caller { .. });
            first.is_some_and(|(oracle, severity)| {
                *severity >= finding.severity && (is_caller || *oracle != finding.oracle)
            })
        });
        let is_first = self.keys.insert(Key::of(&finding, false));
        if is_line_of_another {
            return false;
        }
        for ground in grounds {
            let told = self.grounds.get(&ground);
            if told.is_none_or(|(_, severity)| *severity < finding.severity) {
                let first = (finding.oracle.to_string(), finding.severity);
                self.grounds.insert(ground, first);
            }
        }
        self.failures += usize::from(is_first && finding.severity == Severity::Fail);
        is_first
    }

    /// How many of them fail the build.
    pub fn failures(&self) -> usize {
        self.failures
    }
}

/// A finding, and what reports tell as lines of it: other complaints about its
/// executions and its caller.
pub fn with_complaints<'s>(summary: &'s Summary, id: &str) -> Vec<&'s Finding> {
    let findings = summary.findings.iter().filter(|it| it.id == id);
    let bugs = of([summary]);
    let bug = bugs.iter().filter(|it| it.shown().1.id == id);
    let also = bug.flat_map(Bug::also).map(|(_, it)| *it);
    findings.chain(also).collect()
}

/// What a bug is told by in whatever scenario it shows, for people to read; empty
/// where only the finding's own name tells it.
pub fn bug_name(finding: &Finding) -> String {
    let sites: Vec<String> = sites(finding).iter().map(Site::to_string).collect();
    if sites.concat().is_empty() {
        return String::new();
    }
    let answer = answer_above_faults(&finding.shown.trace);
    let answer = answer.map_or_else(|| "none".to_owned(), |it| it.to_string());
    let (oracle, class) = (&finding.oracle, finding.class.name());
    format!("{oracle} {class}, answer {answer}: {}", sites.join(", "))
}

/// What findings of one bug have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    severity: Severity,
    /// What is new must not be hidden behind what is known.
    is_known: bool,
    oracle: String,
    class: BugClass,
    sites: BTreeSet<Site>,
    /// What the scenario got for the request above the faults.
    answer: Option<Reply>,
}

/// A part of a bug's place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Site {
    /// A call that fails, or that is to blame, whoever asked for it.
    Edge(Edge),
    /// Calls that a pattern names.
    Pattern(String),
    /// None is known: a finding by itself.
    Alone(String),
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Site::Edge(edge) => edge.fmt(f),
            Site::Pattern(text) => f.write_str(text),
            // Its name says nothing in another scenario.
            Site::Alone(_) => Ok(()),
        }
    }
}

impl Key {
    fn of(finding: &Finding, is_known: bool) -> Self {
        Key {
            severity: finding.severity,
            is_known,
            oracle: finding.oracle.to_string(),
            class: finding.class,
            sites: sites(finding),
            answer: answer_above_faults(&finding.shown.trace),
        }
    }
}

fn site(target: &Target) -> Site {
    match target {
        Target::Call(point) | Target::Every(point) => Site::Edge(Edge::of(point)),
        Target::Matching(_) => Site::Pattern(target.to_string()),
    }
}

fn blames_edges(finding: &Finding) -> bool {
    let oracle = finding.oracle.parse::<Oracle>();
    oracle.is_ok_and(Oracle::blames_edges)
}

fn sites(finding: &Finding) -> BTreeSet<Site> {
    let trace = &finding.shown.trace;
    let failing = failing_calls(trace).into_iter();
    let failing = failing.map(|id| Site::Edge(Edge::of(&trace.call(id).point)));
    let failing: BTreeSet<Site> = failing.collect();
    let faults: BTreeSet<Site> = finding.faultload.iter().map(|(at, _)| site(at)).collect();
    match &finding.edge {
        Some(edge) if blames_edges(finding) => [Site::Edge(Edge::of(edge))].into(),
        _ if faults.is_empty() => [Site::Alone(finding.id.clone())].into(),
        // A fault further down that callers only hand on is the same failure.
        _ if is_of_scenario(finding) && !failing.is_empty() => failing,
        _ => faults,
    }
}

/// Whether it is the scenario's word about calls that are named one by one.
fn is_of_scenario(finding: &Finding) -> bool {
    let is_pattern = |target: &Target| matches!(target, Target::Matching(_));
    let mut targets = finding.faultload.iter().map(|(target, _)| target);
    finding.oracle == Oracle::Scenario.name() && !targets.any(is_pattern)
}

fn points(faultload: &Faultload) -> impl Iterator<Item = &Point> {
    faultload.iter().filter_map(|(target, _)| match target {
        Target::Call(point) | Target::Every(point) => Some(point),
        Target::Matching(_) => None,
    })
}

/// The request of the scenario that a call belongs to.
fn entry(point: &Point) -> &Point {
    point.ancestors().last().unwrap_or(point)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use std::time::Duration;

    use murphy_model::{Call, CallId, Shown, Trace, Verdict};

    use super::*;
    use crate::{Case, Known, summary};

    const CART: &str = "shop POST /buy > cart GET /cart";

    /// The test's request was answered so when this call failed.
    fn finding(id: &str, point: &str, answer: u16, class: BugClass) -> Finding {
        let point: Point = point.parse().unwrap();
        let call = |point: &Point, parent, reply| Call {
            point: point.clone(),
            parent,
            arrived: 0,
            finished: Some(1),
            reply: Some(Reply::Status(reply)),
            injected: None,
            body: None,
        };
        let faultload: Faultload = format!("{point} = 503").parse().unwrap();
        let mut failed = call(&point, Some(CallId(0)), 503);
        failed.injected = faultload.faults().next();
        let calls = vec![call(entry(&point), None, answer), failed];
        Finding {
            id: id.to_owned(),
            severity: Severity::Fail,
            class,
            oracle: "scenario".into(),
            faultload,
            summary: format!("test {id} failed"),
            edge: None,
            execution: 2,
            shown: Arc::new(Shown {
                trace: Trace::new(calls),
                details: Vec::new(),
            }),
            seen: 2,
            also: Vec::new(),
        }
    }

    /// Its findings show in one execution, the first of them also in another.
    fn scenario(name: &str, findings: Vec<Finding>) -> Summary {
        let ids = |number: usize| findings.iter().take(number).map(|it| it.id.clone());
        let case = |(number, shown): (usize, usize)| Case {
            number,
            faultload: Faultload::none(),
            verdict: Verdict::Passed,
            took: Duration::ZERO,
            findings: ids(shown).collect(),
            output: None,
        };
        let cases = match findings.len() {
            1 => vec![(1, 1)],
            all => vec![(1, all), (2, 1)],
        };
        Summary {
            cases: cases.into_iter().map(case).collect(),
            scenario: name.to_owned(),
            findings,
            ..summary::empty()
        }
    }

    /// The names of the findings of every bug.
    fn grouped(summaries: &[Summary]) -> Vec<Vec<String>> {
        let ids = |bug: &Bug<'_>| bug.same.iter().map(|(_, it)| it.id.clone()).collect();
        of(summaries).iter().map(ids).collect()
    }

    #[test]
    fn one_call_site_with_one_symptom_is_one_bug_in_all_tests_and_scenarios() {
        use BugClass::{NoHandling, SilentViolation};
        let again = CART.replace("/buy", "/buy #2");
        let elsewhere = "shop POST /buy > stock GET /stock";
        let summaries = [
            scenario(
                "buys",
                vec![
                    finding("first test", CART, 500, NoHandling),
                    finding("second test", &again, 500, NoHandling),
                    finding("another symptom", CART, 200, SilentViolation),
                    finding("another call", elsewhere, 500, NoHandling),
                ],
            ),
            scenario("pays", vec![finding("third", CART, 500, NoHandling)]),
        ];
        let bugs = of(&summaries);
        assert_eq!(
            grouped(&summaries),
            [
                vec!["first test", "second test", "third"],
                vec!["another symptom"],
                vec!["another call"],
            ]
        );
        let first = &bugs[0];
        assert_eq!((first.scenarios(), first.requests()), (2, 3));
        assert_eq!(first.seen(), 3, "one of two executions shows two of them");
    }

    /// The same with other faults, each below callers that answered so.
    fn with(finding: Finding, faults: &[(&str, &str, &[u16])]) -> Finding {
        let mut calls = finding.shown.trace.calls()[..1].to_vec();
        for (path, mode, handed_on) in faults {
            let point: Point = path.parse().unwrap();
            let faultload: Faultload = format!("{point} = {mode}").parse().unwrap();
            let mut chain: Vec<&Point> = point.ancestors().collect();
            chain.reverse();
            let mut parent = CallId(0);
            for (depth, point) in chain[1..].iter().chain([&&point]).enumerate() {
                let reply = handed_on.get(depth).copied().unwrap_or(503);
                let injected = handed_on.len() == depth;
                calls.push(Call {
                    point: (*point).clone(),
                    parent: Some(parent),
                    arrived: 0,
                    finished: Some(1),
                    reply: Some(Reply::Status(reply)),
                    injected: faultload.faults().next().filter(|_| injected),
                    body: None,
                });
                parent = CallId(u32::try_from(calls.len() - 1).unwrap());
            }
        }
        let faultload = faults
            .iter()
            .map(|(path, mode, _)| format!("{path} = {mode}"));
        let faultload = faultload.collect::<Vec<_>>().join(", ");
        Finding {
            faultload: faultload.parse().unwrap(),
            shown: Arc::new(Shown {
                trace: Trace::new(calls),
                details: Vec::new(),
            }),
            ..finding
        }
    }

    #[test]
    fn one_edge_with_two_symptoms_is_two_bugs_and_with_two_modes_one() {
        use BugClass::{NoHandling, Retry, SilentViolation};
        let stock = "shop POST /buy > stock POST /take";
        let on = |id: &str, mode: &str, answer: u16, class: BugClass| {
            with(finding(id, stock, answer, class), &[(stock, mode, &[])])
        };
        let summary = scenario(
            "buys",
            vec![
                on("failed", "503", 500, NoHandling),
                on("broken off", "reset", 500, NoHandling),
                on("lost answer", "after:reset", 500, Retry),
                on("swallowed", "after:503", 201, SilentViolation),
            ],
        );
        assert_eq!(
            grouped(&[summary]),
            [
                vec!["failed", "broken off"],
                vec!["lost answer"],
                vec!["swallowed"]
            ]
        );
    }

    #[test]
    fn one_failure_at_two_depths_is_one_bug_unless_somebody_made_another_of_it() {
        let list = "shop POST /buy > catalogue GET /prices";
        let pricing = "shop POST /buy > pricing GET /prices";
        let below = "shop POST /buy > pricing GET /prices > catalogue GET /prices";
        let stock = "shop POST /buy > stock POST /take";
        let free = |id: &str, faults: &[(&str, &str, &[u16])]| {
            with(finding(id, list, 201, BugClass::SilentViolation), faults)
        };
        let summary = scenario(
            "buys",
            vec![
                free("callers", &[(pricing, "503", &[]), (list, "503", &[])]),
                free("handed on", &[(below, "503", &[502]), (list, "503", &[])]),
                free("not found", &[(below, "503", &[404]), (list, "503", &[])]),
                free("of others", &[(stock, "503", &[]), (list, "503", &[])]),
            ],
        );
        assert_eq!(
            grouped(&[summary]),
            [
                vec!["callers", "handed on"],
                vec!["not found"],
                vec!["of others"]
            ]
        );
    }

    /// A complaint of another oracle about the edge of this point.
    fn complaint(id: &str, oracle: &'static str, edge: &str, of: Finding) -> Finding {
        Finding {
            id: id.to_owned(),
            oracle: oracle.into(),
            edge: Some(edge.parse().unwrap()),
            ..of
        }
    }

    #[test]
    fn what_two_oracles_hold_against_one_execution_is_one_bug() {
        let again = CART.replace("/buy", "/buy #2");
        let failed = || finding("failed", CART, 500, BugClass::NoHandling);
        let retried = finding("", CART, 500, BugClass::Retry);
        let elsewhere = finding(
            "",
            "shop POST /buy > stock GET /stock",
            500,
            BugClass::Retry,
        );
        let summary = scenario(
            "buys",
            vec![
                failed(),
                finding("again", &again, 500, BugClass::NoHandling),
                complaint("retried", "retry-not-idempotent", CART, retried),
                complaint("elsewhere", "retry-not-idempotent", CART, elsewhere.clone()),
            ],
        );
        let names = |all: &[(&Summary, &Finding)]| -> Vec<String> {
            all.iter().map(|(_, it)| it.id.clone()).collect()
        };
        let all = [summary];
        let bugs = of(&all);
        // One edge is to blame for both, and so both are told beside the failure.
        assert_eq!(bugs.len(), 1);
        assert_eq!(names(bugs[0].others()), ["again"]);
        assert_eq!(names(bugs[0].also()), ["retried", "elsewhere"]);
        let ids: Vec<&str> = with_complaints(&all[0], "failed")
            .iter()
            .map(|it| it.id.as_str())
            .collect();
        // Its lines are taken as known with it, the same bug in another test is not.
        assert_eq!(ids, ["failed", "retried", "elsewhere"]);
        let another = [
            scenario(
                "pays",
                vec![complaint("x", "retry-not-idempotent", CART, elsewhere)],
            ),
            scenario("buys", vec![failed()]),
        ];
        assert_eq!(of(&another).len(), 2, "other faults, another scenario");
    }

    #[test]
    fn what_an_oracle_warns_of_in_one_caller_is_told_once() {
        let warning = |id: &str, point: &str| Finding {
            severity: Severity::Warn,
            ..complaint(
                id,
                "wrong-status",
                point,
                finding(id, point, 503, BugClass::NoHandling),
            )
        };
        let summary = scenario(
            "buys",
            vec![
                warning("cart", CART),
                warning("stock", "shop POST /buy > stock GET /stock"),
                warning("other", "till POST /pay > bank POST /pay"),
            ],
        );
        let all = [summary];
        let told = of(&all);
        let told: Vec<(&str, usize)> = told
            .iter()
            .map(|bug| (bug.shown().1.id.as_str(), bug.also().len()))
            .collect();
        assert_eq!(told, [("cart", 1), ("other", 0)]);
    }

    #[test]
    fn what_is_new_is_not_hidden_behind_what_is_known() {
        let mut summary = scenario(
            "buys",
            vec![
                finding("known", CART, 500, BugClass::NoHandling),
                finding("new", CART, 500, BugClass::NoHandling),
            ],
        );
        summary.known = Some(Known {
            reasons: [("known".to_owned(), "until v2".to_owned())].into(),
            ..Known::default()
        });
        assert_eq!(grouped(&[summary]), [vec!["known"], vec!["new"]]);
    }
}

//! Bugs: findings that are one thing to whoever mends them.
//!
//! Owns when findings, of one scenario or of several, are the same bug: the same
//! call sites fail, and the same comes of it. A suite that buys in five tests
//! meets one missing fallback five times. Every finding keeps its name, its
//! smallest faultload and its replay; only what is shown in full is one of them.

use std::collections::{BTreeSet, HashMap};

use murphy_model::{BugClass, Edge, Faultload, Finding, Point, Reply, Severity, Target};
use murphy_oracle::{Oracle, answer_above_faults};

use crate::Summary;

/// Findings that are one bug; never empty.
pub(crate) struct Bug<'s>(Vec<(&'s Summary, &'s Finding)>);

impl<'s> Bug<'s> {
    /// The finding to be shown: the one with the fewest faults.
    pub(crate) fn shown(&self) -> (&'s Summary, &'s Finding) {
        self.0[0]
    }

    /// The others.
    pub(crate) fn others(&self) -> &[(&'s Summary, &'s Finding)] {
        &self.0[1..]
    }

    /// In how many executions it was seen.
    pub(crate) fn seen(&self) -> usize {
        if let [(_, only)] = self.0.as_slice() {
            return only.seen;
        }
        // One execution may show several of them.
        let executions = self.0.iter().flat_map(|(summary, finding)| {
            let cases = summary.cases.iter();
            let shows = cases.filter(|case| case.findings.contains(&finding.id));
            shows.map(|case| (&summary.scenario, case.number))
        });
        executions.collect::<BTreeSet<_>>().len()
    }

    /// In how many scenarios.
    pub(crate) fn scenarios(&self) -> usize {
        let names = self.0.iter().map(|(summary, _)| &summary.scenario);
        names.collect::<BTreeSet<_>>().len()
    }

    /// Below how many requests of the scenarios its faults were injected.
    pub(crate) fn requests(&self) -> usize {
        let entries = self.0.iter().flat_map(|(summary, finding)| {
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
            let place = *places.entry(Key::of(finding, summary)).or_insert(next);
            match bugs.get_mut(place) {
                Some(bug) => bug.0.push((summary, finding)),
                None => bugs.push(Bug(vec![(summary, finding)])),
            }
        }
    }
    for bug in &mut bugs {
        bug.0.sort_by_key(|(_, finding)| finding.faultload.len());
    }
    bugs.sort_by_key(|bug| {
        let (_, finding) = bug.shown();
        (std::cmp::Reverse(finding.severity), finding.faultload.len())
    });
    bugs
}

/// What findings of one bug have in common.
#[derive(PartialEq, Eq, Hash)]
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
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Site {
    /// A call that fails, or that is to blame, whoever asked for it.
    Edge(Edge),
    /// Calls that a pattern names.
    Pattern(String),
    /// None is known: a finding by itself.
    Alone(String),
}

impl Key {
    fn of(finding: &Finding, summary: &Summary) -> Self {
        Key {
            severity: finding.severity,
            is_known: summary.excuse(&finding.id).is_some(),
            oracle: finding.oracle.to_string(),
            class: finding.class,
            sites: sites(finding),
            answer: answer_above_faults(&finding.shown.trace),
        }
    }
}

fn sites(finding: &Finding) -> BTreeSet<Site> {
    let site = |(target, _): (&Target, _)| match target {
        Target::Call(point) | Target::Every(point) => Site::Edge(Edge::of(point)),
        Target::Matching(_) => Site::Pattern(target.to_string()),
    };
    let faults: BTreeSet<Site> = finding.faultload.iter().map(site).collect();
    let oracle = finding.oracle.parse::<Oracle>();
    match &finding.edge {
        Some(edge) if oracle.is_ok_and(Oracle::blames_edges) => [Site::Edge(Edge::of(edge))].into(),
        _ if faults.is_empty() => [Site::Alone(finding.id.clone())].into(),
        _ => faults,
    }
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
        let ids = |bug: &Bug<'_>| bug.0.iter().map(|(_, it)| it.id.clone()).collect();
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

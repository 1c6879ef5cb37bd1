//! What fails together: combinations of call sites, from what was found.
//!
//! Owns what counts as one combination: a set of call sites in one scenario,
//! however many faultloads and findings show it. Each becomes a clause of
//! which one call site must be hardened (FastFI, equation 4).

use std::collections::{BTreeMap, BTreeSet};

use murphy_campaign::{SetupError, World};
use murphy_hitting::Set;
use murphy_model::{Faultload, Severity};
use murphy_report::hardening::{Combination, LeftOut, Site, Verified};

use super::Choice;
use super::found::{Failure, Found};
use super::sites::Sites;
use crate::replays::ReferenceRun;

/// What there is to cover, and with what.
pub struct Problem {
    pub(super) sites: Sites,
    /// By scenario, then by call sites.
    pub combinations: Vec<Combination>,
    /// Findings that no hardening answers.
    pub left_out: LeftOut,
}

impl Problem {
    /// What was found; `high` are the scenarios that must not fail. Warnings
    /// count if that is wanted.
    pub fn of(found: &[Found], high: &BTreeSet<String>, warnings: bool) -> Self {
        let mut left_out = LeftOut {
            untested: found.iter().map(|it| it.untested).sum(),
            ..LeftOut::default()
        };
        let all = found.iter().flat_map(|it| {
            it.failures
                .iter()
                .map(|failure| (it.scenario.as_str(), failure))
        });
        let (counted, others): (Vec<_>, Vec<_>) = all.partition(|(_, failure)| {
            let severe = warnings || failure.severity == Severity::Fail;
            severe && !failure.faultload.is_empty()
        });
        leave_out(&others, warnings, &mut left_out);
        let sites = Sites::of(counted.iter().map(|(_, failure)| &failure.faultload));
        let combinations = combinations(&counted, &sites, high);
        Problem {
            sites,
            combinations,
            left_out,
        }
    }

    /// The call sites at their numbers.
    pub fn sites(&self) -> &[Site] {
        self.sites.names()
    }

    /// Injects again what the choice leaves of these combinations, and takes
    /// note of those that still fail.
    ///
    /// A fault at a hardened call site does not reach its caller, so it is left
    /// out, and what is left of the faultload is injected. A combination still
    /// fails if an oracle that speaks of it speaks again under what is left of
    /// any of its faultloads.
    pub async fn verify(
        &self,
        choice: &Choice,
        combinations: &[usize],
        world: &dyn World,
        reference: &ReferenceRun,
        verified: &mut Verified,
    ) -> Result<(), SetupError> {
        // The names of the oracles that spoke, by what was injected.
        let mut spoke: BTreeMap<Faultload, BTreeSet<String>> = BTreeMap::new();
        for at in combinations {
            let one = &self.combinations[*at];
            for faultload in &one.faultloads {
                let left = self.sites.remaining(faultload, &choice.chosen);
                // Without faults it is the reference, which went well.
                if left.is_empty() {
                    continue;
                }
                if !spoke.contains_key(&left) {
                    let (_, complaints) = reference.run(world, &left).await?;
                    let names = complaints.iter().map(|it| it.oracle.name().to_owned());
                    spoke.insert(left.clone(), names.collect());
                }
                if !spoke[&left].is_disjoint(&one.oracles) {
                    verified.remain.insert(*at);
                    break;
                }
            }
        }
        verified.injected += spoke.len();
        Ok(())
    }

    /// The call sites of every combination.
    pub(super) fn clauses(&self) -> impl Iterator<Item = Set> {
        let combinations = self.combinations.iter();
        combinations.map(|one| one.sites.iter().copied().collect())
    }
}

fn leave_out(others: &[(&str, &Failure)], warnings: bool, left_out: &mut LeftOut) {
    let mut warned = BTreeSet::new();
    for (scenario, failure) in others {
        match failure.severity {
            Severity::Warn if !warnings => {
                warned.insert((scenario, &failure.finding));
            }
            _ => left_out.without_faults.extend(failure.finding.clone()),
        }
    }
    left_out.warnings = warned.len();
}

fn combinations(
    counted: &[(&str, &Failure)],
    sites: &Sites,
    high: &BTreeSet<String>,
) -> Vec<Combination> {
    let mut all: BTreeMap<(&str, Vec<usize>), Combination> = BTreeMap::new();
    for (scenario, failure) in counted {
        let injected: Vec<usize> = sites.injected(&failure.faultload).iter().collect();
        let entry = all.entry((scenario, injected.clone()));
        let one = entry.or_insert_with(|| Combination {
            scenario: (*scenario).to_owned(),
            high: high.contains(*scenario),
            sites: injected,
            findings: BTreeSet::new(),
            oracles: BTreeSet::new(),
            faultloads: BTreeSet::new(),
        });
        one.findings.extend(failure.finding.clone());
        one.oracles.insert(failure.oracle.clone());
        one.faultloads.insert(failure.faultload.clone());
    }
    all.into_values().collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn failure(finding: &str, severity: Severity, faultload: &str) -> Failure {
        Failure {
            finding: Some(finding.to_owned()),
            oracle: "scenario".to_owned(),
            severity,
            faultload: match faultload {
                "" => Faultload::none(),
                text => text.parse().unwrap(),
            },
        }
    }

    fn found(scenario: &str, failures: Vec<Failure>) -> Found {
        Found {
            failures,
            scenario: scenario.to_owned(),
            ..Found::default()
        }
    }

    /// A scenario that fails if all these services do.
    pub(in super::super) fn failing(scenario: &str, services: &[&str]) -> Found {
        let fault = |service: &&str| format!("shop GET / > {service} GET / = 503");
        let faults: Vec<String> = services.iter().map(fault).collect();
        let failure = failure("M-1", Severity::Fail, &faults.join(", "));
        found(scenario, vec![failure])
    }

    #[test]
    fn faultloads_in_other_modes_are_one_combination() {
        let buy = found(
            "buy",
            vec![
                failure("M-1", Severity::Fail, "shop GET / > cart GET / = 503"),
                failure("M-2", Severity::Fail, "shop GET / > cart GET / #2 = reset"),
            ],
        );
        let problem = Problem::of(&[buy], &BTreeSet::new(), false);
        let [one] = &problem.combinations[..] else {
            panic!("{:?}", problem.combinations);
        };
        assert_eq!(one.findings, ["M-1".to_owned(), "M-2".to_owned()].into());
        assert_eq!(one.faultloads.len(), 2);
    }

    #[test]
    fn each_scenario_has_combinations_of_its_own() {
        let found = [failing("buy", &["cart"]), failing("browse", &["cart"])];
        let problem = Problem::of(&found, &["buy".to_owned()].into(), false);
        let all: Vec<(&str, bool)> = problem
            .combinations
            .iter()
            .map(|it| (it.scenario.as_str(), it.high))
            .collect();
        assert_eq!(all, [("browse", false), ("buy", true)]);
        assert_eq!(problem.sites.names().len(), 1);
    }

    #[test]
    fn warnings_count_on_request_and_what_needs_no_fault_never_does() {
        let buy = found(
            "buy",
            vec![
                failure("M-1", Severity::Warn, "shop GET / > cart GET / = 503"),
                failure("M-1", Severity::Warn, "shop GET / > cart GET / = 500"),
                failure("M-2", Severity::Fail, ""),
            ],
        );
        let without = Problem::of(std::slice::from_ref(&buy), &BTreeSet::new(), false);
        assert_eq!(
            (without.combinations.len(), without.left_out.warnings),
            (0, 1)
        );
        assert_eq!(without.left_out.without_faults, ["M-2".to_owned()].into());
        let with = Problem::of(&[buy], &BTreeSet::new(), true);
        assert_eq!((with.combinations.len(), with.left_out.warnings), (1, 0));
    }
}

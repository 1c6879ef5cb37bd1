//! Which call sites to harden, for every format.
//!
//! Owns the answer's shape and the figures that follow from it; finding the
//! answer is up to who knows the campaigns. The figures are those of FastFI
//! (section 4.5): CR_b, MCG_b and AFVR_b.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use murphy_model::Faultload;

/// What brings scenarios down, and where to stop it within a budget.
#[derive(Clone, Debug)]
pub struct Hardening {
    /// Where the findings come from.
    pub campaigns: Vec<Examined>,
    /// Every call site that has a part in a failure; others refer to them by
    /// their places here.
    pub sites: Vec<Site>,
    /// What fails; others refer to them by their places here.
    pub combinations: Vec<Combination>,
    /// What was found and does not count.
    pub left_out: LeftOut,
    /// How many call sites may be hardened; `None`: as many as it takes.
    pub budget: Option<usize>,
    /// The call sites to harden, the largest gain first.
    pub steps: Vec<Step>,
    /// What other budgets would cover.
    pub curve: Curve,
    /// What injecting again has shown, if it was tried.
    pub verified: Option<Verified>,
}

/// A call site: who calls whom for what, replicas as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// Who calls, and what it was asked for; `None` for the scenario itself.
    pub caller: Option<String>,
    /// Who is called, and for what.
    pub callee: String,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.caller {
            Some(caller) => write!(f, "{caller} > {}", self.callee),
            None => f.write_str(&self.callee),
        }
    }
}

/// A campaign whose findings were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The scenario's name.
    pub scenario: String,
    /// The campaign's name, or the file that tells of it.
    pub source: String,
    /// How many findings it has, those that do not count included.
    pub findings: usize,
    /// Whether everything that brings the scenario down must be covered.
    pub high: bool,
}

/// Call sites that bring a scenario down by failing together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The scenario's name.
    pub scenario: String,
    /// Whether it must be covered.
    pub high: bool,
    /// The call sites, in ascending order.
    pub sites: Vec<usize>,
    /// The findings that say so, by id.
    pub findings: BTreeSet<String>,
    /// The oracles that speak up when it fails, by name.
    pub oracles: BTreeSet<String>,
    /// The faultloads that show it, in other modes or at other replicas.
    pub faultloads: BTreeSet<Faultload>,
}

/// Findings that no hardening answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many warnings there are.
    pub warnings: usize,
    /// How many say that a fault was never injected.
    pub untested: usize,
    /// Those that show without any fault, by id.
    pub without_faults: BTreeSet<String>,
}

/// A call site to harden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The call site.
    pub site: usize,
    /// The combinations that it has a part in.
    pub covers: Vec<usize>,
    /// Those of them that no earlier step covers.
    pub gains: Vec<usize>,
}

/// What each budget would cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// One row a budget, ascending.
    pub rows: Vec<Row>,
    /// The smallest budget that covers what must be covered.
    pub feasible: usize,
    /// The smallest budget that covers everything.
    pub complete: usize,
}

/// What one budget would cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The budget.
    pub budget: usize,
    /// The best choice within it; `None` if it does not do for what must be
    /// covered.
    pub best: Option<Best>,
}

/// The best choice within a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// The call sites, in ascending order.
    pub sites: Vec<usize>,
    /// How many combinations it covers of those that need not be: CN_b.
    pub covered: usize,
}

/// What injecting again has shown: of every combination only the faults at
/// call sites that are not hardened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many call sites count as hardened.
    pub budget: usize,
    /// How many executions it took.
    pub injected: usize,
    /// The combinations that still fail.
    pub remain: BTreeSet<usize>,
}

impl Hardening {
    /// How many combinations need not be covered.
    pub fn low(&self) -> usize {
        self.combinations.iter().filter(|one| !one.high).count()
    }

    /// CR_b: the share that a choice covers of the combinations that need not
    /// be, from 0 to 1; `None` if there are none.
    pub fn rate(&self, best: &Best) -> Option<f64> {
        let low = self.low();
        (low > 0).then(|| best.covered as f64 / low as f64)
    }

    /// MCG_b: how many combinations the row covers more than the one before,
    /// for each call site more; `None` for the first that does.
    pub fn gain(&self, row: usize) -> Option<f64> {
        let before = self.curve.rows.get(row.checked_sub(1)?)?;
        let now = self.curve.rows.get(row)?;
        let (was, is) = (before.best.as_ref()?, now.best.as_ref()?);
        let more = is.covered as f64 - was.covered as f64;
        Some(more / (now.budget - before.budget) as f64)
    }

    /// The combinations that no step covers.
    pub fn uncovered(&self) -> BTreeSet<usize> {
        let covered: BTreeSet<usize> = self
            .steps
            .iter()
            .flat_map(|step| step.covers.iter().copied())
            .collect();
        let all = 0..self.combinations.len();
        all.filter(|one| !covered.contains(one)).collect()
    }

    /// AFVR_b if these combinations fail after hardening: the share that
    /// fails of those of one scenario, on average over the scenarios.
    pub fn validity(&self, failing: &BTreeSet<usize>) -> f64 {
        let mut scenarios: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (at, one) in self.combinations.iter().enumerate() {
            let (fail, all) = scenarios.entry(&one.scenario).or_default();
            *fail += usize::from(failing.contains(&at));
            *all += 1;
        }
        let shares = scenarios.values().map(|(fail, all)| share(*fail, *all));
        shares.sum::<f64>() / scenarios.len().max(1) as f64
    }

    /// AFVR_b as a choice promises it: what it does not cover still fails.
    pub fn promised_validity(&self, best: &Best) -> f64 {
        let fails = |one: &Combination| !one.sites.iter().any(|site| best.sites.contains(site));
        let all = self.combinations.iter().enumerate();
        let failing = all.filter(|(_, one)| fails(one)).map(|(at, _)| at);
        self.validity(&failing.collect())
    }

    /// Combinations that count as covered and fail all the same.
    pub fn surprises(&self) -> BTreeSet<usize> {
        let uncovered = self.uncovered();
        let remain = self.verified.iter().flat_map(|it| it.remain.iter());
        remain
            .copied()
            .filter(|one| !uncovered.contains(one))
            .collect()
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn site(callee: &str) -> Site {
        Site {
            caller: Some("shop GET /".to_owned()),
            callee: format!("{callee} GET /"),
        }
    }

    fn combination(scenario: &str, high: bool, sites: &[usize], finding: &str) -> Combination {
        let faults = sites.iter().map(|site| {
            format!(
                "shop GET / > {} GET / = 503",
                ["cart", "pay", "stock"][*site]
            )
        });
        let faultload = faults.collect::<Vec<_>>().join(", ").parse().unwrap();
        Combination {
            scenario: scenario.to_owned(),
            high,
            sites: sites.to_owned(),
            findings: [finding.to_owned()].into(),
            oracles: ["scenario".to_owned()].into(),
            faultloads: [faultload].into(),
        }
    }

    /// Two scenarios and three call sites, of which one may be hardened.
    pub(crate) fn example() -> Hardening {
        let examined = |scenario: &str, high| Examined {
            scenario: scenario.to_owned(),
            source: format!("{scenario}.json"),
            findings: 2,
            high,
        };
        let best = |sites: &[usize], covered| Best {
            sites: sites.to_owned(),
            covered,
        };
        Hardening {
            campaigns: vec![examined("browse", false), examined("buy", true)],
            sites: ["cart", "pay", "stock"].map(site).into(),
            combinations: vec![
                combination("browse", false, &[0], "M-1"),
                combination("browse", false, &[1, 2], "M-2"),
                combination("buy", true, &[0], "M-3"),
            ],
            left_out: LeftOut::default(),
            budget: Some(1),
            steps: vec![Step {
                site: 0,
                covers: vec![0, 2],
                gains: vec![0, 2],
            }],
            curve: Curve {
                rows: vec![
                    Row {
                        budget: 0,
                        best: None,
                    },
                    Row {
                        budget: 1,
                        best: Some(best(&[0], 1)),
                    },
                    Row {
                        budget: 2,
                        best: Some(best(&[0, 1], 2)),
                    },
                ],
                feasible: 1,
                complete: 2,
            },
            verified: None,
        }
    }

    #[test]
    fn rates_and_gains_are_about_what_need_not_be_covered() {
        let hardening = example();
        let rates: Vec<Option<f64>> = hardening
            .curve
            .rows
            .iter()
            .map(|row| row.best.as_ref().and_then(|best| hardening.rate(best)))
            .collect();
        assert_eq!(rates, [None, Some(0.5), Some(1.0)]);
        let gains: Vec<Option<f64>> = (0..3).map(|row| hardening.gain(row)).collect();
        assert_eq!(gains, [None, None, Some(1.0)]);
    }

    #[test]
    fn validity_is_an_average_over_scenarios_not_over_combinations() {
        let mut hardening = example();
        assert_eq!(hardening.uncovered(), [1].into());
        // Half of what brings `browse` down, nothing of `buy`.
        assert_eq!(hardening.validity(&hardening.uncovered()), 0.25);
        assert_eq!(hardening.validity(&[2].into()), 0.5);
        hardening.verified = Some(Verified {
            budget: 1,
            injected: 3,
            remain: [1, 2].into(),
        });
        assert_eq!(hardening.surprises(), [2].into());
        hardening.combinations.clear();
        assert_eq!(hardening.validity(&BTreeSet::new()), 0.0);
    }
}

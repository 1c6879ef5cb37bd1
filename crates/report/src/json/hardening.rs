//! What to harden, as one object.
//!
//! Call sites are texts wherever they appear. Shares are numbers from 0 to 1,
//! with four digits.

use std::collections::BTreeSet;

use murphy_model::Faultload;
use serde::Serialize;

use crate::hardening::{Combination, Examined, Hardening, LeftOut, Row, Site, Step, Verified};

/// `budget` is null if none was asked for; then `harden` is the smallest
/// choice that covers everything. `uncovered` holds the combinations that
/// `harden` leaves.
#[derive(Serialize)]
pub(super) struct HardeningObject<'h> {
    campaigns: Vec<ExaminedObject<'h>>,
    sites: Vec<SiteObject<'h>>,
    combinations: usize,
    high_combinations: usize,
    budget: Option<usize>,
    harden: Vec<StepObject<'h>>,
    uncovered: Vec<CombinationObject<'h>>,
    smallest_budget: SmallestObject,
    curve: Vec<RowObject>,
    left_out: LeftOutObject<'h>,
    verified: Option<VerifiedObject<'h>>,
}

impl<'h> HardeningObject<'h> {
    pub(super) fn new(hardening: &'h Hardening) -> Self {
        let rows = 0..hardening.curve.rows.len();
        let uncovered = hardening.uncovered();
        HardeningObject {
            campaigns: hardening
                .campaigns
                .iter()
                .map(ExaminedObject::new)
                .collect(),
            sites: hardening
                .sites
                .iter()
                .enumerate()
                .map(|(at, site)| SiteObject::new(at, site, hardening))
                .collect(),
            combinations: hardening.combinations.len(),
            high_combinations: hardening.combinations.len() - hardening.low(),
            budget: hardening.budget,
            harden: hardening
                .steps
                .iter()
                .map(|step| StepObject::new(step, hardening))
                .collect(),
            uncovered: combinations(&uncovered, hardening),
            smallest_budget: SmallestObject {
                high: hardening.curve.feasible,
                all: hardening.curve.complete,
            },
            curve: rows.map(|row| RowObject::new(row, hardening)).collect(),
            left_out: LeftOutObject::new(&hardening.left_out),
            verified: hardening
                .verified
                .as_ref()
                .map(|verified| VerifiedObject::new(verified, hardening)),
        }
    }
}

#[derive(Serialize)]
struct ExaminedObject<'h> {
    scenario: &'h str,
    source: &'h str,
    findings: usize,
    priority: &'static str,
}

impl<'h> ExaminedObject<'h> {
    fn new(examined: &'h Examined) -> Self {
        ExaminedObject {
            scenario: &examined.scenario,
            source: &examined.source,
            findings: examined.findings,
            priority: if examined.high { "high" } else { "low" },
        }
    }
}

/// `caller` is null where the scenario itself calls.
#[derive(Serialize)]
struct SiteObject<'h> {
    site: String,
    caller: Option<&'h str>,
    callee: &'h str,
    combinations: usize,
}

impl<'h> SiteObject<'h> {
    fn new(at: usize, site: &'h Site, hardening: &Hardening) -> Self {
        let with_it = |one: &&Combination| one.sites.contains(&at);
        SiteObject {
            site: site.to_string(),
            caller: site.caller.as_deref(),
            callee: &site.callee,
            combinations: hardening.combinations.iter().filter(with_it).count(),
        }
    }
}

#[derive(Serialize)]
struct StepObject<'h> {
    site: String,
    covers: usize,
    gain: usize,
    findings: BTreeSet<&'h str>,
}

impl<'h> StepObject<'h> {
    fn new(step: &Step, hardening: &'h Hardening) -> Self {
        let covered = step.covers.iter().map(|at| &hardening.combinations[*at]);
        StepObject {
            site: hardening.sites[step.site].to_string(),
            covers: step.covers.len(),
            gain: step.gains.len(),
            findings: covered.flat_map(findings).collect(),
        }
    }
}

fn findings(combination: &Combination) -> impl Iterator<Item = &str> {
    combination.findings.iter().map(String::as_str)
}

#[derive(Serialize)]
struct CombinationObject<'h> {
    scenario: &'h str,
    priority: &'static str,
    sites: Vec<String>,
    findings: Vec<&'h str>,
    faultloads: Vec<&'h Faultload>,
}

fn combinations<'h>(
    places: &BTreeSet<usize>,
    hardening: &'h Hardening,
) -> Vec<CombinationObject<'h>> {
    let object = |at: &usize| {
        let one = &hardening.combinations[*at];
        let sites = one.sites.iter();
        CombinationObject {
            scenario: &one.scenario,
            priority: if one.high { "high" } else { "low" },
            sites: sites
                .map(|site| hardening.sites[*site].to_string())
                .collect(),
            findings: findings(one).collect(),
            faultloads: one.faultloads.iter().collect(),
        }
    };
    places.iter().map(object).collect()
}

/// `high` covers what must be covered, `all` everything.
#[derive(Serialize)]
struct SmallestObject {
    high: usize,
    all: usize,
}

/// Null where the budget does not do for what must be covered; `mcg` also in
/// the first row that does, `cr` where nothing else is left to cover.
#[derive(Serialize)]
struct RowObject {
    budget: usize,
    sites: Option<Vec<String>>,
    covered: Option<usize>,
    cr: Option<f64>,
    mcg: Option<f64>,
    afvr: Option<f64>,
}

impl RowObject {
    fn new(at: usize, hardening: &Hardening) -> Self {
        let Row { budget, best } = &hardening.curve.rows[at];
        let best = best.as_ref();
        let name = |site: &usize| hardening.sites[*site].to_string();
        RowObject {
            budget: *budget,
            sites: best.map(|best| best.sites.iter().map(name).collect()),
            covered: best.map(|best| best.covered),
            cr: best.and_then(|best| hardening.rate(best)).map(four_digits),
            mcg: hardening.gain(at).map(four_digits),
            afvr: best
                .map(|best| hardening.promised_validity(best))
                .map(four_digits),
        }
    }
}

#[derive(Serialize)]
struct LeftOutObject<'h> {
    warnings: usize,
    untested: usize,
    without_faults: &'h BTreeSet<String>,
}

impl<'h> LeftOutObject<'h> {
    fn new(left_out: &'h LeftOut) -> Self {
        LeftOutObject {
            warnings: left_out.warnings,
            untested: left_out.untested,
            without_faults: &left_out.without_faults,
        }
    }
}

/// `surprises` count as covered and still fail.
#[derive(Serialize)]
struct VerifiedObject<'h> {
    budget: usize,
    executions: usize,
    afvr: f64,
    predicted_afvr: f64,
    still_fail: usize,
    surprises: Vec<CombinationObject<'h>>,
}

impl<'h> VerifiedObject<'h> {
    fn new(verified: &Verified, hardening: &'h Hardening) -> Self {
        VerifiedObject {
            budget: verified.budget,
            executions: verified.injected,
            afvr: four_digits(hardening.validity(&verified.remain)),
            predicted_afvr: four_digits(hardening.validity(&hardening.uncovered())),
            still_fail: verified.remain.len(),
            surprises: combinations(&hardening.surprises(), hardening),
        }
    }
}

/// More would be noise.
fn four_digits(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hardening::tests::example;

    #[test]
    fn what_is_not_known_is_null() {
        let hardening = Hardening {
            verified: Some(Verified {
                budget: 1,
                injected: 2,
                remain: [1].into(),
            }),
            ..example()
        };
        let object = serde_json::to_value(HardeningObject::new(&hardening)).unwrap();
        assert_eq!(
            object["curve"],
            json!([
                { "budget": 0, "sites": null, "covered": null, "cr": null, "mcg": null, "afvr": null },
                {
                    "budget": 1, "sites": ["shop GET / > cart GET /"],
                    "covered": 1, "cr": 0.5, "mcg": null, "afvr": 0.25
                },
                {
                    "budget": 2, "sites": ["shop GET / > cart GET /", "shop GET / > pay GET /"],
                    "covered": 2, "cr": 1.0, "mcg": 1.0, "afvr": 0.0
                },
            ])
        );
        assert_eq!(
            object["harden"],
            json!([{
                "site": "shop GET / > cart GET /", "covers": 2, "gain": 2,
                "findings": ["M-1", "M-3"]
            }])
        );
        assert_eq!(
            object["uncovered"][0]["faultloads"],
            json!([[
                "shop GET / > pay GET / = 503",
                "shop GET / > stock GET / = 503"
            ]])
        );
        assert_eq!(object["verified"]["afvr"], 0.25);
        assert_eq!(object["verified"]["predicted_afvr"], 0.25);
    }
}

//! `murphy plan`: how many cases there are and how long they may take, before
//! any of them is run.

use std::io::{self, Write};
use std::time::Duration;

use murphy_campaign::Settings as Campaign;
use murphy_campaign::live::spec::ScenarioSpec;
use murphy_report::number::counted;
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde_json::json;

use crate::args::{Format, PlanArgs};
use crate::context::Context;
use crate::error::Error;
use crate::observe::{self, Seen};
use crate::project::Project;
use crate::{exit, output};

/// Sizes beyond this are told together.
const MOST_SIZES: usize = 5;

pub(crate) fn run(args: &PlanArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.project, context)?;
    let mut all = Vec::new();
    for scenario in &project.scenarios {
        let campaign = project.campaign(scenario, &args.search, None)?;
        let seen = observe::references(&project, scenario, &campaign)?;
        let forecast = Forecast::of(&campaign, &seen);
        match args.search.format {
            Format::Human => output::write(|out| forecast.write(scenario, &campaign, out))?,
            Format::Json => all.push(forecast.object(scenario, &campaign)),
        }
    }
    if args.search.format == Format::Json {
        let text = serde_json::to_string_pretty(&json!({ "scenarios": all }));
        output::write(|out| writeln!(out, "{}", text.expect("texts and numbers")))?;
    }
    Ok(exit::OK)
}

/// How much there is to do at most.
struct Forecast {
    /// Points that can be made to fail.
    points: usize,
    /// Faultloads by number of faults, from none; up to the bound.
    sizes: Vec<BigUint>,
    /// How long one execution takes without faults.
    each: Duration,
}

impl Forecast {
    fn of(campaign: &Campaign, seen: &Seen) -> Self {
        let options = &campaign.options;
        let calls = seen.observed.execution.trace.calls().iter();
        let below = calls.filter(|call| call.parent.is_some());
        let allowed = below.filter(|call| options.filter.allows(&call.point));
        let modes = allowed.map(|call| options.modes.of(&call.point).len());
        let modes: Vec<usize> = modes.filter(|count| *count > 0).collect();
        let most = options.max_faults.unwrap_or(modes.len()).min(modes.len());
        Forecast {
            points: modes.len(),
            sizes: by_size(&modes, most),
            each: seen.observed.took,
        }
    }

    fn time(&self, cases: &BigUint, jobs: u32) -> String {
        let cases = cases.to_f64().unwrap_or(f64::INFINITY);
        let seconds = cases * self.each.as_secs_f64() / f64::from(jobs.max(1));
        match seconds {
            s if s < 1.0 => format!("{:.0} ms", s * 1e3),
            s if s < 120.0 => format!("{s:.0} s"),
            s if s < 7200.0 => format!("{:.0} min", s / 60.0),
            s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
            s if s < 31_536_000.0 => format!("{:.0} days", s / 86_400.0),
            _ => "years".to_owned(),
        }
    }

    /// Rows of a label and the number of faultloads it stands for.
    fn rows(&self) -> Vec<(String, BigUint)> {
        let single = self.sizes.iter().enumerate().skip(1).take(MOST_SIZES);
        let mut rows: Vec<(String, BigUint)> = single
            .map(|(size, cases)| (size.to_string(), cases.clone()))
            .collect();
        let more: BigUint = self.sizes.iter().skip(MOST_SIZES + 1).sum();
        if more > BigUint::ZERO {
            rows.push(("more".to_owned(), more));
        }
        rows.push(("all".to_owned(), self.sizes.iter().sum()));
        rows
    }

    fn write(
        &self,
        scenario: &ScenarioSpec,
        campaign: &Campaign,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Forecast { points, each, .. } = self;
        let jobs = campaign.jobs;
        writeln!(
            out,
            "{}: {} can be made to fail, in modes {}; one execution takes {each:.0?}",
            scenario.name,
            counted(points, "call"),
            campaign.modes.join(", ")
        )?;
        writeln!(
            out,
            "  {:>8}  {:>14}  time at most, {jobs} at once",
            "faults", "cases at most"
        )?;
        for (label, cases) in self.rows() {
            let time = self.time(&cases, jobs);
            writeln!(out, "  {label:>8}  {:>14}  {time}", cases.to_string())?;
        }
        writeln!(
            out,
            "What cannot happen or shows nothing new is skipped, which is known only while running: most likely far\nfewer are run. Calls that are only made after a failure come on top. `--max-faults` and `--max-time` bound it."
        )
    }

    fn object(&self, scenario: &ScenarioSpec, campaign: &Campaign) -> serde_json::Value {
        json!({
            "scenario": scenario.name,
            "points": self.points,
            "modes": campaign.modes,
            "execution_ms": self.each.as_secs_f64() * 1e3,
            "jobs": campaign.jobs,
            "cases_by_faults": self.sizes.iter().map(BigUint::to_string).collect::<Vec<_>>(),
        })
    }
}

/// How many ways there are to choose so many points and a mode for each: the
/// elementary symmetric polynomials of the numbers of modes.
fn by_size(modes: &[usize], most: usize) -> Vec<BigUint> {
    let mut sizes = vec![BigUint::ZERO; most + 1];
    sizes[0] = BigUint::from(1_u32);
    for count in modes {
        for size in (1..=most).rev() {
            let with_one_more = &sizes[size - 1] * BigUint::from(*count);
            sizes[size] += with_one_more;
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faultloads_are_counted_by_size() {
        let counts = |modes: &[usize], most| -> Vec<u32> {
            let sizes = by_size(modes, most);
            sizes.iter().map(|size| size.to_u32().unwrap()).collect()
        };
        assert_eq!(counts(&[4, 4], 2), [1, 8, 16]);
        assert_eq!(counts(&[1, 2, 3], 3), [1, 6, 11, 6]);
        assert_eq!(counts(&[1, 2, 3], 1), [1, 6]);
        assert_eq!(counts(&[], 0), [1]);
    }
}

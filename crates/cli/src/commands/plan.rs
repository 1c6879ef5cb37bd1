//! `murphy plan`: how many cases there are and how long they may take, before
//! any of them is run.

mod tests;

use std::io::{self, Write};
use std::time::Duration;

use murphy_campaign::Settings as Campaign;
use murphy_model::{Mode, Outcome, Point};
use murphy_report::number::{counted, rough_span};
use murphy_system::spec::{ScenarioKind, ScenarioSpec};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde_json::json;

use crate::args::{Format, PlanArgs};
use crate::context::Context;
use crate::error::Error;
use crate::observe::{self, Seen};
use crate::project::Project;
use crate::{exit, output, patience};

/// Sizes beyond this are told together.
const MOST_SIZES: usize = 5;

pub(crate) fn run(args: &PlanArgs, context: &Context) -> Result<u8, Error> {
    let project = Project::open(&args.project, context)?;
    let project = project.with_each(&args.tests.typed())?;
    let (mut all, mut codes) = (Vec::new(), Vec::new());
    for scenario in &project.scenarios {
        if matches!(scenario.kind, ScenarioKind::Each(_)) {
            let plan = tests::of(&project, scenario, args)?;
            match args.search.format {
                Format::Human => output::write(|out| plan.write(scenario, out))?,
                Format::Json => all.extend(plan.objects()),
            }
            codes.push(plan.code);
            if plan.interrupted {
                break;
            }
            continue;
        }
        let campaign = project.campaign(scenario, &args.search.typed().into())?;
        let (seen, stopped) = observe::references(&project, scenario, &campaign, campaign.jobs)?;
        let forecast = Forecast::of(scenario, &campaign, &seen);
        match args.search.format {
            Format::Human => output::write(|out| {
                forecast.write(scenario, &campaign, out)?;
                seen.unseen.write(out)
            })?,
            Format::Json => {
                let mut object = forecast.object(scenario);
                object["unseen"] = seen.unseen.object();
                all.push(object);
            }
        }
        let interrupted = stopped.interrupted;
        codes.push(stopped.with_result(exit::OK));
        if interrupted {
            break;
        }
    }
    if args.search.format == Format::Json {
        let text = serde_json::to_string_pretty(&json!({ "scenarios": all }));
        output::write(|out| writeln!(out, "{}", text.expect("texts and numbers")))?;
    }
    Ok(exit::worst(&codes))
}

/// How much there is to do at most.
struct Forecast {
    /// Points that can be injected.
    points: usize,
    /// How they can be injected.
    modes: Vec<String>,
    /// By number of faults, from none; up to the bound.
    sizes: Vec<Cases>,
    /// How long one execution takes without faults, all told.
    each: Duration,
    /// How much of that the restart of the services is, if there is one.
    restart: Option<Duration>,
    /// The longest that any mode holds a call up.
    longest: Duration,
    /// The longest that all of them together hold an execution up.
    timeout: Duration,
    /// Executions under way at once.
    at_once: u32,
}

/// Faultloads of one size, or of several.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cases {
    count: BigUint,
    /// What their faults hold up, in seconds, each waited out and all added
    /// up.
    held_up: f64,
}

/// How a point can be injected.
struct Ways {
    count: usize,
    /// What all of them hold up, in seconds, added up.
    held_up: f64,
}

impl Forecast {
    fn of(scenario: &ScenarioSpec, campaign: &Campaign, seen: &Seen) -> Self {
        let options = &campaign.options;
        let calls = seen.observed.execution.trace.calls().iter();
        let below = calls.filter(|call| call.parent.is_some());
        let allowed = below.filter(|call| options.filter.allows(&call.point));
        let points: Vec<Point> = allowed.map(|call| call.point.clone()).collect();
        let spans = points.iter().map(|point| {
            let modes = options.modes.of(point);
            let spans = modes.iter();
            let spans = spans.map(|mode| holds_up(mode, scenario.timeout));
            spans.collect::<Vec<Duration>>()
        });
        let spans: Vec<Vec<Duration>> = spans.filter(|modes| !modes.is_empty()).collect();
        let ways: Vec<Ways> = spans.iter().map(|spans| Ways::of(spans)).collect();
        let most = options.max_faults.unwrap_or(ways.len()).min(ways.len());
        Forecast {
            points: ways.len(),
            modes: murphy_search::mode_names_at(&options.modes, &campaign.modes, &points),
            sizes: by_size(&ways, most),
            each: seen.each,
            restart: seen.restart,
            longest: spans.into_iter().flatten().max().unwrap_or_default(),
            timeout: scenario.timeout,
            at_once: seen.at_once,
        }
    }

    /// About how many seconds these cases take.
    fn seconds(&self, cases: &Cases) -> f64 {
        let count = cases.count.to_f64().unwrap_or(f64::INFINITY);
        let held_up = cases.held_up.min(count * self.timeout.as_secs_f64());
        let alone = count * self.each.as_secs_f64() + held_up;
        alone / f64::from(self.at_once.max(1))
    }

    /// The faultloads of one fault.
    fn single(&self) -> Cases {
        self.sizes.get(1).cloned().unwrap_or_default()
    }

    /// All of them, without that of no fault.
    fn all(&self) -> Cases {
        Cases::sum(self.sizes.iter().skip(1))
    }

    /// Rows of a label and the faultloads it stands for.
    fn rows(&self) -> Vec<(String, Cases)> {
        let single = self.sizes.iter().enumerate().skip(1).take(MOST_SIZES);
        let mut rows: Vec<(String, Cases)> = single
            .map(|(size, cases)| (size.to_string(), cases.clone()))
            .collect();
        let more = Cases::sum(self.sizes.iter().skip(MOST_SIZES + 1));
        if more.count > BigUint::ZERO {
            rows.push(("more".to_owned(), more));
        }
        rows.push(("all".to_owned(), Cases::sum(&self.sizes)));
        rows
    }

    fn write(
        &self,
        scenario: &ScenarioSpec,
        campaign: &Campaign,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Forecast {
            points,
            each,
            longest,
            at_once,
            ..
        } = self;
        writeln!(
            out,
            "{}: {} can be injected, in modes {}; one execution takes about {each:.0?}",
            scenario.name,
            counted(points, "call"),
            self.modes.join(", ")
        )?;
        if let Some(restart) = self.restart {
            writeln!(
                out,
                "  of it the restart of the services takes about {restart:.0?}"
            )?;
        }
        if !longest.is_zero() {
            writeln!(
                out,
                "  a fault adds up to {longest:?}, which is counted in full: callers that give up sooner take less"
            )?;
        }
        if let Some(note) = patience::note(campaign, scenario) {
            writeln!(out, "  {note}")?;
        }
        writeln!(
            out,
            "  {:>8}  {:>14}  time for these, {at_once} at once",
            "faults", "cases at most"
        )?;
        for (label, cases) in self.rows() {
            let time = rough_span(self.seconds(&cases));
            let count = cases.count.to_string();
            writeln!(out, "  {label:>8}  {count:>14}  about {time}")?;
        }
        writeln!(
            out,
            "What cannot happen or shows nothing new is skipped, which is known only while running: most likely far\nfewer are run. Calls that are only made after a failure come on top. `--max-faults` and `--max-time` bound it."
        )
    }

    fn object(&self, scenario: &ScenarioSpec) -> serde_json::Value {
        let counts = self.sizes.iter().map(|cases| cases.count.to_string());
        json!({
            "scenario": scenario.name,
            "points": self.points,
            "modes": self.modes,
            "execution_ms": self.each.as_secs_f64() * 1e3,
            "restart_ms": self.restart.map(|restart| restart.as_secs_f64() * 1e3),
            "jobs": self.at_once,
            "cases_by_faults": counts.collect::<Vec<_>>(),
            "seconds_by_faults": self.sizes.iter().map(|it| self.seconds(it)).collect::<Vec<_>>(),
        })
    }
}

impl Ways {
    fn of(spans: &[Duration]) -> Self {
        Ways {
            count: spans.len(),
            held_up: spans.iter().map(Duration::as_secs_f64).sum(),
        }
    }
}

impl Cases {
    fn sum<'c>(all: impl IntoIterator<Item = &'c Cases>) -> Self {
        let mut sum = Cases::default();
        for cases in all {
            sum.count += &cases.count;
            sum.held_up += cases.held_up;
        }
        sum
    }

    /// Each of these with one more fault, in each of these ways.
    fn with(&self, ways: &Ways) -> Self {
        let count = self.count.to_f64().unwrap_or(f64::INFINITY);
        Cases {
            count: &self.count * BigUint::from(ways.count),
            held_up: self.held_up * ways.count as f64 + count * ways.held_up,
        }
    }
}

/// How many ways there are to choose so many points and a mode for each: the
/// elementary symmetric polynomials of the numbers of modes.
fn by_size(points: &[Ways], most: usize) -> Vec<Cases> {
    let mut sizes = vec![Cases::default(); most + 1];
    sizes[0].count = BigUint::from(1_u32);
    for ways in points {
        for size in (1..=most).rev() {
            let with_one_more = sizes[size - 1].with(ways);
            sizes[size] = Cases::sum([&sizes[size], &with_one_more]);
        }
    }
    sizes
}

/// How long a mode holds a call up if nobody gives up waiting; no longer than
/// the scenario may take. What a slow body takes depends on its length, which
/// is not known here.
fn holds_up(mode: &Mode, timeout: Duration) -> Duration {
    match mode.outcome() {
        Outcome::Hang => timeout,
        Outcome::Delay(span) => span.min(timeout),
        _ => Duration::ZERO,
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn faultloads_are_counted_by_size() {
        let counts = |modes: &[usize], most| -> Vec<u32> {
            let ways = modes.iter().map(|count| Ways::of(&vec![NOW; *count]));
            let sizes = by_size(&ways.collect::<Vec<_>>(), most);
            let counts = sizes.iter().map(|size| size.count.to_u32().unwrap());
            counts.collect()
        };
        assert_eq!(counts(&[4, 4], 2), [1, 8, 16]);
        assert_eq!(counts(&[1, 2, 3], 3), [1, 6, 11, 6]);
        assert_eq!(counts(&[1, 2, 3], 1), [1, 6]);
        assert_eq!(counts(&[], 0), [1]);
    }

    const NOW: Duration = Duration::ZERO;
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn every_fault_that_takes_time_counts() {
        let ways = [Ways::of(&[NOW, SECOND * 2]), Ways::of(&[SECOND])];
        let sizes = by_size(&ways, 2);
        let held_up: Vec<f64> = sizes.iter().map(|size| size.held_up).collect();
        // One fault: 0, 2 and 1 s. Two: 0 + 1 and 2 + 1 s.
        assert_eq!(held_up, [0.0, 3.0, 4.0]);
        let mut forecast = Forecast {
            points: 2,
            modes: Vec::new(),
            sizes,
            each: SECOND / 2,
            restart: None,
            longest: SECOND * 2,
            timeout: SECOND * 60,
            at_once: 1,
        };
        let all = Cases::sum(&forecast.sizes);
        assert_eq!(forecast.seconds(&all), 7.0 + 6.0 * 0.5);
        forecast.at_once = 2;
        assert_eq!(forecast.seconds(&all), 5.0);
        // However many faults: no execution takes longer than it may.
        forecast.timeout = SECOND;
        assert_eq!(forecast.seconds(&all), (6.0 * 1.0 + 6.0 * 0.5) / 2.0);
    }

    #[test]
    fn a_hang_lasts_until_the_scenario_may_take_no_longer() {
        let spans = ["503", "delay:2s", "delay:2m", "hang"].map(|text| {
            let modes = Mode::parse_list(text).unwrap();
            holds_up(&modes[0], SECOND * 60)
        });
        assert_eq!(spans, [NOW, SECOND * 2, SECOND * 60, SECOND * 60]);
    }
}
